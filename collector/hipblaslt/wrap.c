/*
 * hipblasLtMatmul() of a hipBLASLt that cannot log its calls: the line that later versions print is
 * written here, for `wavescope library-trace`. Where the library knows HIPBLASLT_LOG_MASK, it logs itself,
 * and this wrapper only passes the call on.
 *
 * Preloaded by library-trace; it has nothing to do with the collector's capture. Types of hipblaslt.h are
 * pointers or plain numbers, so its header is not needed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum { STATUS_INTERNAL_ERROR = 6 }; /* hipblasStatus_t */

/* hipblasLtMatrixLayoutAttribute_t, hipblasLtMatmulDescAttributes_t, hipblasOperation_t */
enum {
	LAYOUT_BATCH_COUNT = 0,
	LAYOUT_STRIDE = 1,
	LAYOUT_TYPE = 2,
	LAYOUT_ROWS = 4,
	LAYOUT_COLS = 5,
	LAYOUT_LD = 6
};
enum { DESC_TRANS_A = 0, DESC_TRANS_B = 1 };
enum { OP_NONE = 111, OP_TRANSPOSE = 112 };

typedef int matmul_function(void *handle, void *desc, const void *alpha, const void *a,
			    void *a_layout, const void *b, void *b_layout, const void *beta,
			    const void *c, void *c_layout, void *d, void *d_layout,
			    const void *algo, void *workspace, size_t workspace_bytes,
			    void *stream);
typedef int attribute_function(void *object, int attribute, void *to, size_t n_bytes,
			       size_t *n_written);

static struct {
	matmul_function *matmul;
	attribute_function *layout, *desc;
	bool logs_itself;
} real;

/* ---- the library ---- */

/* One that was opened privately is in nobody's scope but its user's: it is found by its name. */
static int open_by_name(struct dl_phdr_info *info, size_t n_bytes, void *out)
{
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	if (!name || strncmp(name, "/libhipblaslt.so", strlen("/libhipblaslt.so")) != 0)
		return 0;
	*(void **)out = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	return *(void **)out != NULL;
}

static void *find(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name), *library = NULL;

	if (!symbol && dl_iterate_phdr(open_by_name, &library) && library)
		symbol = dlsym(library, name);
	return symbol;
}

/* Whether the variable's name is among the texts of the library that has @ctx. */
static int look_for_variable(struct dl_phdr_info *info, size_t n_bytes, void *ctx)
{
	static const char name[] = "HIPBLASLT_LOG_MASK";
	uintptr_t function = (uintptr_t)real.matmul;
	bool in_it = false, found = false;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_R))
			continue;
		in_it |= function >= start && function < start + part->p_memsz;
		found |=
			memmem((const void *)start, part->p_filesz, name, sizeof(name) - 1) != NULL;
	}
	*(bool *)ctx |= in_it && found;
	return in_it;
}

static void find_real(void)
{
	*(void **)&real.matmul = find("hipblasLtMatmul");
	*(void **)&real.layout = find("hipblasLtMatrixLayoutGetAttribute");
	*(void **)&real.desc = find("hipblasLtMatmulDescGetAttribute");
	if (real.matmul)
		dl_iterate_phdr(look_for_variable, &real.logs_itself);
}

/* ---- one call ---- */

static const char *type_name(uint32_t type)
{
	static const struct {
		uint32_t type; /* hipDataType */
		const char *name;
	} names[] = {
		{ 0, "f32_r" },        { 1, "f64_r" },         { 2, "f16_r" }, { 3, "i8_r" },
		{ 10, "i32_r" },       { 14, "bf16_r" },       { 28, "f8_r" }, { 29, "bf8_r" },
		{ 1000, "f8_fnuz_r" }, { 1001, "bf8_fnuz_r" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].type == type)
			return names[i].name;
	return "unknown";
}

struct layout {
	uint64_t rows, cols;
	int64_t ld, stride;
	uint32_t type;
	int32_t n_batches;
};

static struct layout layout_of(void *object)
{
	struct layout to = { .n_batches = 1 };

	real.layout(object, LAYOUT_ROWS, &to.rows, sizeof(to.rows), NULL);
	real.layout(object, LAYOUT_COLS, &to.cols, sizeof(to.cols), NULL);
	real.layout(object, LAYOUT_LD, &to.ld, sizeof(to.ld), NULL);
	real.layout(object, LAYOUT_STRIDE, &to.stride, sizeof(to.stride), NULL);
	real.layout(object, LAYOUT_TYPE, &to.type, sizeof(to.type), NULL);
	real.layout(object, LAYOUT_BATCH_COUNT, &to.n_batches, sizeof(to.n_batches), NULL);
	return to;
}

static int32_t operation(void *desc, int which)
{
	int32_t value = OP_NONE;

	real.desc(desc, which, &value, sizeof(value), NULL);
	return value;
}

static char letter(int32_t op)
{
	return op == OP_NONE ? 'N' : op == OP_TRANSPOSE ? 'T' : 'C';
}

static void log_call(void *desc, void *a_layout, void *b_layout, void *c_layout, void *d_layout)
{
	struct layout a = layout_of(a_layout), b = layout_of(b_layout), c = layout_of(c_layout),
		      d = layout_of(d_layout);
	int32_t trans_a = operation(desc, DESC_TRANS_A), trans_b = operation(desc, DESC_TRANS_B);
	int saved_errno = errno, n;
	char line[1024];

	n = snprintf(
		line, sizeof(line),
		"hipblaslt-bench --api_method c -m %llu -n %llu -k %llu --lda %lld --ldb %lld "
		"--ldc "
		"%lld --ldd %lld --stride_a %lld --stride_b %lld --stride_c %lld --stride_d %lld "
		"--transA %c --transB %c --batch_count %d --a_type %s --b_type %s --c_type %s "
		"--d_type %s\n",
		(unsigned long long)d.rows, (unsigned long long)d.cols,
		(unsigned long long)(trans_a == OP_NONE ? a.cols : a.rows), (long long)a.ld,
		(long long)b.ld, (long long)c.ld, (long long)d.ld, (long long)a.stride,
		(long long)b.stride, (long long)c.stride, (long long)d.stride, letter(trans_a),
		letter(trans_b), (int)d.n_batches, type_name(a.type), type_name(b.type),
		type_name(c.type), type_name(d.type));
	/* one write, so that lines of several threads do not mix; a failure is the reader's loss */
	if (n > 0 && (size_t)n < sizeof(line) && write(STDERR_FILENO, line, (size_t)n) < 0)
		n = 0;
	errno = saved_errno;
}

PUBLIC matmul_function hipblasLtMatmul;
PUBLIC int hipblasLtMatmul(void *handle, void *desc, const void *alpha, const void *a,
			   void *a_layout, const void *b, void *b_layout, const void *beta,
			   const void *c, void *c_layout, void *d, void *d_layout, const void *algo,
			   void *workspace, size_t workspace_bytes, void *stream)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_real);
	if (!real.matmul)
		return STATUS_INTERNAL_ERROR;
	if (!real.logs_itself && real.layout && real.desc)
		log_call(desc, a_layout, b_layout, c_layout, d_layout);
	return real.matmul(handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d,
			   d_layout, algo, workspace, workspace_bytes, stream);
}
