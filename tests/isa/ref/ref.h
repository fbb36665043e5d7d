/*
 * ref: what every vector and scalar instruction computes, said a second time.
 *
 * Written from AMD's public ISA documents and LLVM's knowledge of the hardware, without looking at the
 * interpreter: scalar, one lane at a time, slow, and as close to the documents' own wording as C
 * allows. Floating point goes through fp.h, which computes exactly and rounds once.
 *
 * Inputs are raw register values *after* source modifiers and operand selection (ref_src_mod(),
 * ref_sdwa_src(), ref_dpp_source() do those), outputs are *before* output modifiers (ref_dst_mod()).
 * The integer "clamp" is part of an instruction's arithmetic and therefore an input.
 *
 * NaN      a NaN result is any quiet NaN: the documents do not say which payload survives. Only
 *          min/max/med3 with IEEE mode off may hand through a signalling one (REF_ANY_NAN).
 * Choice   where the documents leave two readings open, ref_out.alt holds the second one; each use
 *          says why. Where they say nothing at all, ref_out.skip is set.
 * Threads  everything here is pure.
 */
#ifndef WS_TESTS_ISA_REF_REF_H
#define WS_TESTS_ISA_REF_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ref_target { REF_GFX908, REF_GFX90A, REF_GFX942, REF_GFX950 };

/* The MODE register. */
#define REF_MODE_ROUND_F32(mode) ((mode)&3)         /* 0 nearest even, 1 up, 2 down, 3 to zero */
#define REF_MODE_ROUND_F64(mode) ((mode) >> 2 & 3)  /* f64 and f16 */
#define REF_MODE_DENORM_F32(mode) ((mode) >> 4 & 3) /* bit 0 keep inputs, bit 1 keep outputs */
#define REF_MODE_DENORM_F64(mode) ((mode) >> 6 & 3)
#define REF_MODE_DX10_CLAMP 0x100u
#define REF_MODE_IEEE 0x200u
#define REF_MODE_DEFAULT (0xf0u | REF_MODE_DX10_CLAMP | REF_MODE_IEEE)

struct ref_in {
	uint64_t s[3];
	uint64_t s2_hi; /* upper half of a 128-bit src2 */
	uint64_t d_old; /* destination before: accumulators, preserved halves */
	bool ci;        /* carry in, the mask bit of cndmask/div_fmas; SALU: SCC */
	bool clamp;     /* for integer results, which saturate inside */
	uint8_t op_sel, op_sel_hi, neg_lo,
		neg_hi; /* for mixed precision, dot, and parts of 32 bits */
	unsigned lane;
	uint32_t mode;
	enum ref_target target;
};

struct ref_out {
	uint64_t d, d_hi;
	uint64_t alt; /* valid if has_alt: an equally documented result */
	double slack; /* REF_SLACK rows: allowed absolute error */
	bool co;      /* carry out; comparison result */
	bool scc;
	bool scc_written, d_written; /* SALU; vector rows always write */
	bool has_alt, skip;
};

/* How the functions of all instructions spell them. */
typedef const struct ref_in in_t;
typedef struct ref_out out_t;

enum ref_flags {
	REF_ANY_NAN = 1, /* a NaN result may be signalling */
	REF_PK16 = 2,    /* fn is one half of a packed 16-bit instruction: ref_packed() */
	REF_PK32 = 4,
	REF_D16 = 8,       /* 16-bit result; zeroes the upper half of the register */
	REF_D16_KEEP = 16, /* 16-bit result; keeps the other half; op_sel bit 3 picks the half */
	REF_ICLAMP = 32,   /* clamp saturates the integer result (in.clamp) */
	REF_NO_OMOD = 64,  /* float result, but omod does not exist or is not documented */
	REF_APPROX =
		128,     /* tolerance is in ulps; denormals may be flushed whatever the mode says */
	REF_SLACK = 256, /* compare against ref_out.slack */
	REF_NORM16 = 512, /* each 16-bit half may be off by one: rounding is not documented */
	REF_FIXED_ROUND =
		1024, /* conversions whose rounding field is not documented: uniform modes only */
	REF_ANY_DENORM =
		4096, /* whether it obeys the denormal mode is not documented: both are right */
	REF_D16_EITHER = 2048, /* 16-bit result; whether the upper half is kept is not documented */
};

/* What the destination holds: decides how results are compared. */
enum ref_result { REF_INT, REF_F16, REF_F32, REF_F64, REF_V2F16, REF_V2F32, REF_MASK };

struct ref_row {
	const char *mnemonic;
	void (*fn)(const struct ref_in *in, struct ref_out *out);
	enum ref_result result;
	uint64_t tolerance; /* ulps, for REF_APPROX rows */
	uint32_t flags;     /* enum ref_flags */
	const char *notes;  /* NULL, or where the document is unclear */
};

/* One table per file, ended by a row without mnemonic. */
extern const struct ref_row ref_float_rows[], ref_special_rows[], ref_convert_rows[],
	ref_int_rows[], ref_packed_rows[], ref_compare_rows[], ref_salu_rows[], ref_small_rows[],
	ref_scaled_rows[];

/* NULL: no such row. */
const struct ref_row *ref_find(const char *mnemonic);
size_t ref_n_rows(void);
const struct ref_row *ref_row_at(size_t index);

/* --- modifiers --------------------------------------------------------------------------------- */

/* bits: 16, 32 or 64. abs before neg. Integers have none. */
uint64_t ref_src_mod(unsigned bits, uint64_t value, bool neg, bool abs);
/*
 * Float results: omod (0 none, 1 *2, 2 *4, 3 /2), then clamp to [0, 1]. omod does nothing in IEEE
 * mode or where output denormals are kept; where it works it also turns -0 into +0.
 */
uint64_t ref_dst_mod(unsigned bits, uint64_t value, unsigned omod, bool clamp, uint32_t mode);

/* SDWA: sel 0-3 byte, 4-5 word, 6 dword. */
uint32_t ref_sdwa_src(uint32_t value, unsigned sel, bool sext);
enum { REF_UNUSED_PAD, REF_UNUSED_SEXT, REF_UNUSED_PRESERVE };
uint32_t ref_sdwa_dst(uint32_t result, uint32_t old, unsigned sel, unsigned unused);

/* DPP: the lane that `lane` reads, or -1 if there is none. */
int ref_dpp_source(unsigned dpp_ctrl, unsigned lane);
/* Does the row/bank mask let this lane be written? */
bool ref_dpp_enabled(unsigned row_mask, unsigned bank_mask, unsigned lane);

/* Runs the rows marked REF_PK16/REF_PK32 on both halves. in->s: whole registers (pairs). */
void ref_packed(const struct ref_row *row, const struct ref_in *in, struct ref_out *out);

/* --- matrix instructions ----------------------------------------------------------------------- */

enum ref_mfma_type {
	REF_MFMA_F32,
	REF_MFMA_F16,
	REF_MFMA_BF16,
	REF_MFMA_I8,
	REF_MFMA_F64,
	REF_MFMA_XF32,
	REF_MFMA_FP8, /* of the target: FNUZ on gfx942, OCP on gfx950 */
	REF_MFMA_BF8,
	REF_MFMA_FP6,
	REF_MFMA_BF6,
	REF_MFMA_FP4,
	REF_MFMA_N_TYPES
};

struct ref_mfma {
	const char *mnemonic;
	enum ref_mfma_type a, b; /* of the elements; f8f6f4: cbsz and blgp say */
	uint8_t m, k, blocks;    /* N = M */
	uint8_t k_per_lane;      /* elements of k in one lane's B registers; sparse: twice A's */
	bool sparse, f8f6f4, scaled;
};

/* Whole registers [reg][lane], as many as the shape takes. */
struct ref_mfma_in {
	const uint32_t (*a)[64], (*b)[64], (*c)[64];
	const uint32_t *index;               /* of sparse matrices: a register */
	const uint32_t *scale_a, *scale_b;   /* of the scaled ones */
	unsigned scale_byte_a, scale_byte_b; /* which byte of these registers */
	unsigned cbsz, abid, blgp, neg;      /* neg: of f64, bits of A, B and C */
};

/* NULL: no such instruction. */
const struct ref_mfma *ref_mfma_find(const char *mnemonic);
/*
 * D = A * B + C; slack[reg][lane] (f64: of the pair's first register) is the absolute error that any
 * order of accumulation may make, 0 where the result is exact. d must not overlap the inputs.
 */
void ref_mfma_run(const struct ref_mfma *op, enum ref_target target, const struct ref_mfma_in *in,
		  uint32_t (*d)[64], double (*slack)[64]);
enum ref_mfma_type ref_mfma_f8f6f4_type(unsigned field); /* cbsz, blgp: 0 to 4 */
unsigned ref_mfma_bits(enum ref_mfma_type type);         /* of an element */
/* The exact value of an element's bits, as a double; NaN and infinity where they are that. */
double ref_mfma_value(enum ref_mfma_type type, enum ref_target target, uint64_t bits);
unsigned ref_mfma_regs_cd(const struct ref_mfma *op);

/* --- conversions of 32 numbers ----------------------------------------------------------------- */

enum ref_pk32_kind {
	REF_PK32_NEAREST, /* to codes of six bits */
	REF_PK32_RANDOM,
	REF_PK32_INTERLEAVED, /* to nearest; even numbers are of the first source, odd ones of the second */
	REF_PK32_FROM, /* from codes */
};

struct ref_pk32 {
	const char *mnemonic;
	enum ref_mfma_type code, number;
	enum ref_pk32_kind kind;
};

struct ref_pk32_in { /* of one lane */
	uint32_t s0[32], s1[16], random, scale, mode;
};

/* NULL: no such instruction. */
const struct ref_pk32 *ref_pk32_find(const char *mnemonic);
void ref_pk32_run(const struct ref_pk32 *op, const struct ref_pk32_in *in, uint32_t *d); /* d[32] */

#endif
