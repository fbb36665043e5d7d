/* known: what its files share. */
#ifndef WS_FIDELITY_KNOWN_PRIV_H
#define WS_FIDELITY_KNOWN_PRIV_H

#include "base/util.h"
#include "programs/fidelity/counted.h"

#define FID_KNOWN_BUFFER (64ull << 20)

/* In the order of the generations. */
enum fid_target { FID_GFX908, FID_GFX90A, FID_GFX942, FID_GFX950, FID_N_TARGETS };

/* Of a wave that reads 4 bytes per lane from LDS, without conflicts: gfx950 has 64 banks, the others 32. */
static inline double fid_lds_read_cycles(enum fid_target target)
{
	return target == FID_GFX950 ? 1 : 2;
}

struct fid_known {
	struct fid_counted counted;
	enum fid_target target;
	uint32_t n_dies;    /* each with an L2; workgroup i is for die i modulo their number */
	uint32_t n_engines; /* of all of them */
	uint64_t buffer;
	const char *warm;  /* the kernel that was run last */
	enum ws_status st; /* of the first failure; then nothing is run any more */
	struct ws_err *err;
};

/* What a counter has to be, summed over its instances. */
struct fid_expect {
	const char *counter;
	double value;
};

struct fid_known_call {
	const char *kernel;
	uint32_t grid, workgroup, lds_bytes; /* lanes */
	uint32_t grid_y, workgroup_y;        /* 0: 1 */
	uint32_t a, b, c, d;
	bool first;        /* the kernel has not been run: nor is it before it is counted */
	bool system_scope; /* its end writes L2 back */
};

/* Counts the first @n values of a run. False: it failed. */
bool fid_known_count(struct fid_known *known, const struct fid_known_call *call,
		     struct fid_counted_value *values, size_t n);
/* Runs, counts and prints a line per expectation. */
void fid_known_check(struct fid_known *known, const char *title, const struct fid_known_call *call,
		     const struct fid_expect *expected, size_t n);
void fid_known_print(const char *title, const char *what, const char *class, double expected,
		     double value);

/* clang-format off */
#define FID_CALL(kernel_, grid_, workgroup_, ...)                                                   \
	((struct fid_known_call){ .kernel = (kernel_), .grid = (grid_),                             \
				 .workgroup = (workgroup_), __VA_ARGS__ })
#define FID_KNOWN_CHECK(known, title, call, ...)                                                    \
	fid_known_check((known), (title), &call, (const struct fid_expect[]){ __VA_ARGS__ },         \
		       sizeof((const struct fid_expect[]){ __VA_ARGS__ }) / sizeof(struct fid_expect))
/* clang-format on */

/* Classes of vector instructions, which SQ_INSTS_VALU_ counts by name. */
/* clang-format off */
#define FID_CLASSES(X) \
	X(ADD_F16) X(MUL_F16) X(FMA_F16) X(TRANS_F16) X(ADD_F32) X(MUL_F32) X(FMA_F32) X(TRANS_F32) \
	X(ADD_F64) X(MUL_F64) X(FMA_F64) X(TRANS_F64) X(INT32) X(INT64) X(CVT) \
	X(MFMA_I8) X(MFMA_F16) X(MFMA_BF16) X(MFMA_F32) X(MFMA_F64) X(MFMA_F8) X(MFMA_F6F4)

enum fid_class {
#define FID_CLASS(name) FID_##name,
	FID_CLASSES(FID_CLASS)
#undef FID_CLASS
	FID_N_CLASSES, FID_OTHER = FID_N_CLASSES, /* other: counted in no class */
};
/* clang-format on */

/* Its own class counts @want instructions, and no other one counts any; from gfx90a on. */
void fid_known_class(struct fid_known *known, const struct fid_known_call *call,
		     enum fid_class class, double want);

/* Opens the runtime, and the buffer. */
enum ws_status fid_known_open(struct fid_known *known, struct ws_err *err);

void fid_known_matrices(struct fid_known *known);  /* classes of matrix instructions */
void fid_known_kinds(struct fid_known *known);     /* kinds of instructions, sizes of waves */
void fid_known_memory(struct fid_known *known);    /* vector memory, LDS, atomics, scratch */
void fid_known_occupancy(struct fid_known *known); /* what limits the waves of a CU */

#endif
