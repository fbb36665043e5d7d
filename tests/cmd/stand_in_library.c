/*
 * Stand-ins for AMD's libraries, which print what the real ones do when their logs are enabled. STAND_IN
 * is which: rocBLAS, MIOpen, hipBLASLt, and a hipBLASLt of before it could log.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define ROCBLAS 1
#define MIOPEN 2
#define HIPBLASLT 3
#define HIPBLASLT_SILENT 4

#if STAND_IN == ROCBLAS

PUBLIC int rocblas_sgemm(int m);
PUBLIC int rocblas_sgemm(int m)
{
	const char *layer = getenv("ROCBLAS_LAYER");
	int bits = layer ? atoi(layer) : 0;

	if (bits & 2)
		fprintf(stderr, "./rocblas-bench -f gemm -r f32_r -m %d -n 4 -k 4\n", m);
	if (bits & 4)
		fprintf(stderr, "- { rocblas_function: \"rocblas_sgemm\", M: %d, call_count: 1 }\n",
			m);
	return 0;
}

#elif STAND_IN == MIOPEN

PUBLIC int miopenConvolutionForward(int n);
PUBLIC int miopenConvolutionForward(int n)
{
	if (getenv("MIOPEN_ENABLE_LOGGING_CMD"))
		fprintf(stderr,
			"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n %d -c "
			"3\n",
			n);
	return 0;
}

#else

PUBLIC int hipblasLtMatrixLayoutGetAttribute(const uint64_t *layout, int which, void *to,
					     size_t n_bytes, size_t *n_written);
PUBLIC int hipblasLtMatrixLayoutGetAttribute(const uint64_t *layout, int which, void *to,
					     size_t n_bytes, size_t *n_written)
{
	memcpy(to, &layout[which], n_bytes);
	return 0;
}

PUBLIC int hipblasLtMatmulDescGetAttribute(const uint64_t *desc, int which, void *to,
					   size_t n_bytes, size_t *n_written);
PUBLIC int hipblasLtMatmulDescGetAttribute(const uint64_t *desc, int which, void *to,
					   size_t n_bytes, size_t *n_written)
{
	memcpy(to, &desc[which], n_bytes);
	return 0;
}

/* Returns what it was given, so that a test sees that all of it arrived. */
PUBLIC int hipblasLtMatmul(void *handle, void *desc, const void *alpha, const void *a,
			   uint64_t *a_layout, const void *b, uint64_t *b_layout, const void *beta,
			   const void *c, uint64_t *c_layout, void *d, uint64_t *d_layout,
			   const void *algo, void *workspace, size_t workspace_bytes, void *stream);
PUBLIC int hipblasLtMatmul(void *handle, void *desc, const void *alpha, const void *a,
			   uint64_t *a_layout, const void *b, uint64_t *b_layout, const void *beta,
			   const void *c, uint64_t *c_layout, void *d, uint64_t *d_layout,
			   const void *algo, void *workspace, size_t workspace_bytes, void *stream)
{
#if STAND_IN == HIPBLASLT
	const char *mask = getenv("HIPBLASLT_LOG_MASK");

	if (mask && atoi(mask) & 32 && !getenv("HIPBLASLT_LOG_LEVEL")) {
		printf("hipblaslt-bench --api_method c -m %llu --algo_method index\n",
		       (unsigned long long)d_layout[4]);
		fflush(stdout);
	}
#endif
	return (int)workspace_bytes + (stream == handle);
}

#endif
