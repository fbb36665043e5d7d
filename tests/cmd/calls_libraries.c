/* Calls the stand-ins of stand_in_library.c that the linker or the loader finds, and prints in between. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int matmul_function(void *, void *, const void *, const void *, uint64_t *, const void *,
			    uint64_t *, const void *, const void *, uint64_t *, void *, uint64_t *,
			    const void *, void *, size_t, void *);

/* As PyTorch's libraries find theirs: the symbol of the global scope first, which may be a wrapper. */
static void *symbol(const char *file, const char *name)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL), *found = dlsym(RTLD_DEFAULT, name);

	return found ? found : library ? dlsym(library, name) : NULL;
}

int main(int argc, char **argv)
{
	/* batches, stride, type, order, rows, columns, leading dimension */
	uint64_t a[7] = { 2, 96, 14, 0, 8, 12, 8 }, b[7] = { 2, 64, 14, 0, 8, 5, 8 };
	uint64_t d[7] = { 2, 60, 0, 0, 12, 5, 12 };
	uint64_t desc[2] = { 112, 111 };
	int (*gemm)(int) = (int (*)(int))symbol("librocblas.so", "rocblas_sgemm");
	int (*convolution)(int) = (int (*)(int))symbol("libMIOpen.so", "miopenConvolutionForward");
	matmul_function *matmul = (matmul_function *)symbol(argv[1], "hipblasLtMatmul");

	printf("begin\n");
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		if (gemm)
			gemm(4 + i / 2);
		if (convolution)
			convolution(16);
		if (matmul && matmul(desc, desc, NULL, NULL, a, NULL, b, NULL, NULL, d, NULL, d,
				     NULL, NULL, 40, desc) != 41)
			return 9;
	}
	fprintf(stderr, "no end");
	return argc > 2 ? atoi(argv[2]) : 0;
}
