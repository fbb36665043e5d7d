#include "softgpu/timing/inst.h"

#include <stdlib.h>
#include <string.h>

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool has(const char *s, const char *what)
{
	return strstr(s, what) != NULL;
}

/* ---- vector arithmetic ---- */

/* First match counts. `stem` begins the name behind v_ or v_pk_, `type` stands somewhere in it. */
static const struct {
	const char *stem, *type;
	uint8_t valu;
} classes[] = {
	{ "cvt_", "", SG_VALU_CVT },
	{ "fma_mix", "", SG_VALU_FMA_F32 },
	{ "mad_mix", "", SG_VALU_FMA_F32 },
	{ "rcp_", "f64", SG_VALU_TRANS_F64 },
	{ "rsq_", "f64", SG_VALU_TRANS_F64 },
	{ "sqrt_", "f64", SG_VALU_TRANS_F64 },
	{ "rcp_", "f32", SG_VALU_TRANS_F32 },
	{ "rsq_", "f32", SG_VALU_TRANS_F32 },
	{ "sqrt_", "f32", SG_VALU_TRANS_F32 },
	{ "exp_", "f32", SG_VALU_TRANS_F32 },
	{ "log_", "f32", SG_VALU_TRANS_F32 },
	{ "sin_", "f32", SG_VALU_TRANS_F32 },
	{ "cos_", "f32", SG_VALU_TRANS_F32 },
	{ "rcp_", "f16", SG_VALU_TRANS_F16 },
	{ "rsq_", "f16", SG_VALU_TRANS_F16 },
	{ "sqrt_", "f16", SG_VALU_TRANS_F16 },
	{ "exp_", "f16", SG_VALU_TRANS_F16 },
	{ "log_", "f16", SG_VALU_TRANS_F16 },
	{ "sin_", "f16", SG_VALU_TRANS_F16 },
	{ "cos_", "f16", SG_VALU_TRANS_F16 },
	{ "fma", "f64", SG_VALU_FMA_F64 },
	{ "fma", "f32", SG_VALU_FMA_F32 },
	{ "fma", "f16", SG_VALU_FMA_F16 },
	{ "div_fmas_", "f64", SG_VALU_FMA_F64 },
	{ "div_fmas_", "f32", SG_VALU_FMA_F32 },
	{ "mad", "f32", SG_VALU_FMA_F32 },
	{ "mad", "f16", SG_VALU_FMA_F16 },
	{ "mac", "f32", SG_VALU_FMA_F32 },
	{ "mac", "f16", SG_VALU_FMA_F16 },
	{ "add_", "f64", SG_VALU_ADD_F64 },
	{ "add_", "f32", SG_VALU_ADD_F32 },
	{ "add_", "f16", SG_VALU_ADD_F16 },
	{ "sub", "f32", SG_VALU_ADD_F32 },
	{ "sub", "f16", SG_VALU_ADD_F16 },
	{ "mul_", "f64", SG_VALU_MUL_F64 },
	{ "mul_", "f32", SG_VALU_MUL_F32 },
	{ "mul_", "f16", SG_VALU_MUL_F16 },
	/* recorded on MI200: neither moves nor 64-bit shifts are integer arithmetic */
	{ "lshlrev_b64", "", SG_VALU_OTHER },
	{ "lshrrev_b64", "", SG_VALU_OTHER },
	{ "ashrrev_i64", "", SG_VALU_OTHER },
	{ "mov", "", SG_VALU_OTHER },
	{ "cndmask", "", SG_VALU_OTHER },
	{ "read", "", SG_VALU_OTHER },
	{ "write", "", SG_VALU_OTHER },
	{ "swap", "", SG_VALU_OTHER },
	{ "accvgpr", "", SG_VALU_OTHER },
	{ "nop", "", SG_VALU_OTHER },
	{ "dot", "", SG_VALU_OTHER },
	{ "perm", "", SG_VALU_OTHER },
	{ "mad_u64", "", SG_VALU_INT64 },
	{ "mad_i64", "", SG_VALU_INT64 },
	{ "cmp", "i64", SG_VALU_INT64 },
	{ "cmp", "u64", SG_VALU_INT64 },
	{ "", "f64", SG_VALU_OTHER },
	{ "", "f32", SG_VALU_OTHER },
	{ "", "f16", SG_VALU_OTHER },
	{ "", "", SG_VALU_INT32 },
};

/* Quad-cycles of the vector unit beyond one, per target; first match. Public rates of the two chips; the
 * 64-bit shifts are recorded (SQ_ACTIVE_INST_VALU: 11 on MI100, 10 on MI200). */
static const struct {
	const char *stem, *type;
	uint8_t gfx908, gfx90a;
} rates[] = {
	{ "rcp_", "f64", 8, 4 },     { "rsq_", "f64", 8, 4 },     { "sqrt_", "f64", 8, 4 },
	{ "rcp_", "", 4, 4 },        { "rsq_", "", 4, 4 },        { "sqrt_", "", 4, 4 },
	{ "exp_", "", 4, 4 },        { "log_", "", 4, 4 },        { "sin_", "", 4, 4 },
	{ "cos_", "", 4, 4 },        { "mul_lo_u32", "", 4, 4 },  { "mul_hi_u32", "", 4, 4 },
	{ "mul_hi_i32", "", 4, 4 },  { "mad_u64_u32", "", 4, 4 }, { "mad_i64_i32", "", 4, 4 },
	{ "lshlrev_b64", "", 2, 1 }, { "lshrrev_b64", "", 2, 1 }, { "ashrrev_i64", "", 2, 1 },
	{ "cvt_", "f64", 2, 1 },     { "", "f64", 2, 1 },         { "", "", 1, 1 },
};

/* v_mfma_f32_32x32x8f16: operations per pass of four cycles by the type of the inputs */
static const struct {
	const char *type;
	uint8_t valu;
	uint16_t ops_per_pass;
} matrix_types[] = {
	{ "bf16_1k", SG_VALU_MFMA_BF16, 1024 }, { "bf16", SG_VALU_MFMA_BF16, 512 },
	{ "f16", SG_VALU_MFMA_F16, 1024 },      { "i8", SG_VALU_MFMA_I8, 1024 },
	{ "f64", SG_VALU_MFMA_F64, 256 },       { "f32", SG_VALU_MFMA_F32, 256 },
};

static void matrix(struct sg_timing_insn *t, const char *name)
{
	const char *shape = strchr(strchr(name, '_') + 1, '_'); /* behind v_mfma_f32 */
	const char *in;

	shape = shape ? strchr(shape + 1, '_') : NULL;
	if (!shape)
		return;
	in = strrchr(shape, 'x');
	in = in ? in + 1 + strspn(in + 1, "0123456789") : shape;
	t->matrix_passes = has(shape, "32x32")   ? 16
			   : has(shape, "16x16") ? 8
			   : has(in, "f64")      ? 4
						 : 2;
	for (unsigned k = 0; k < sizeof(matrix_types) / sizeof(matrix_types[0]); k++)
		if (begins(in, matrix_types[k].type)) {
			unsigned ops = t->matrix_passes * matrix_types[k].ops_per_pass;

			/* the 4x4 double has four passes for the work of two */
			if (matrix_types[k].valu == SG_VALU_MFMA_F64 && t->matrix_passes == 4)
				ops = 512;
			t->valu = matrix_types[k].valu;
			t->ops512 = (uint8_t)(ops / 512);
			return;
		}
}

static void vector(struct sg_timing_insn *t, const struct sg_inst_source *src)
{
	const char *stem = src->mnemonic + 2;

	t->unit = SG_UNIT_VALU;
	t->passes = 1;
	if (begins(stem, "mfma")) {
		matrix(t, src->mnemonic);
		return;
	}
	if (begins(stem, "pk_")) {
		stem += 3;
		t->flags |= SG_INST_PACKED;
	}
	for (unsigned k = 0; k < sizeof(classes) / sizeof(classes[0]); k++)
		if (begins(stem, classes[k].stem) && has(stem, classes[k].type)) {
			t->valu = classes[k].valu;
			break;
		}
	for (unsigned k = 0; k < sizeof(rates) / sizeof(rates[0]); k++)
		if (begins(stem, rates[k].stem) && has(stem, rates[k].type)) {
			t->passes = src->gfx90a ? rates[k].gfx90a : rates[k].gfx908;
			break;
		}
	if (t->valu == SG_VALU_OTHER || t->valu >= SG_VALU_INT32)
		t->flags &= (uint8_t)~SG_INST_PACKED; /* only floats are known to count twice */
}

/* ---- memory ---- */

/* First match: what a lane moves per access. */
static const struct {
	const char *part;
	uint8_t bytes;
} sizes[] = {
	{ "dwordx16", 64 },
	{ "dwordx8", 32 },
	{ "dwordx4", 16 },
	{ "dwordx3", 12 },
	{ "dwordx2", 8 },
	{ "format_d16_xyzw", 8 },
	{ "format_d16_xyz", 8 },
	{ "format_d16_xy", 4 },
	{ "format_d16_x", 2 },
	{ "format_xyzw", 16 },
	{ "format_xyz", 12 },
	{ "format_xy", 8 },
	{ "format_x", 4 },
	{ "_x2", 8 },
	{ "dword", 4 },
	{ "short", 2 },
	{ "byte", 1 },
	{ "b128", 16 },
	{ "b96", 12 },
	{ "b64", 8 },
	{ "u64", 8 },
	{ "i64", 8 },
	{ "f64", 8 },
	{ "_b16", 2 },
	{ "_u16", 2 },
	{ "_i16", 2 },
	{ "_b8", 1 },
	{ "_u8", 1 },
	{ "_i8", 1 },
	{ "", 4 },
};

static uint8_t bytes_of(const char *name)
{
	for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		if (has(name, sizes[k].part))
			return sizes[k].bytes;
	return 4;
}

static uint8_t kind_of(const struct sg_inst_source *src)
{
	const char *m = src->mnemonic;

	if (has(m, "atomic"))
		return src->glc ? SG_MEM_ATOMIC_RET : SG_MEM_ATOMIC;
	if (has(m, "load"))
		return SG_MEM_LOAD;
	if (has(m, "store"))
		return SG_MEM_STORE;
	return SG_MEM_CACHE;
}

static void memory(struct sg_timing_insn *t, const struct sg_inst_source *src, enum sg_unit unit)
{
	t->unit = (uint8_t)unit;
	t->mem = kind_of(src);
	t->bytes = bytes_of(src->mnemonic);
	t->glc = src->glc && t->mem == SG_MEM_LOAD;
	if (src->slc)
		t->flags |= SG_INST_SLC;
	if (src->lds)
		t->flags |= SG_INST_TO_LDS;
}

static void lds(struct sg_timing_insn *t, const struct sg_inst_source *src)
{
	const char *m = src->mnemonic + 3;
	unsigned scale;

	if (src->gds || begins(m, "gws") || begins(m, "ordered") || begins(m, "append") ||
	    begins(m, "consume")) {
		t->unit = SG_UNIT_GDS;
		t->mem = SG_MEM_CACHE;
		return;
	}
	t->unit = SG_UNIT_LDS;
	t->bytes = bytes_of(m);
	if (begins(m, "swizzle") || begins(m, "permute") || begins(m, "bpermute") ||
	    begins(m, "nop"))
		t->mem = SG_MEM_CACHE; /* crosses lanes without touching storage */
	else if (begins(m, "read"))
		t->mem = SG_MEM_LOAD;
	else if (begins(m, "write"))
		t->mem = SG_MEM_STORE;
	else
		t->mem = has(m, "rtn") ? SG_MEM_ATOMIC_RET : SG_MEM_ATOMIC;
	if (begins(m, "read2") || begins(m, "write2") || begins(m, "wrxchg2")) {
		t->flags |= SG_INST_PAIR;
		scale = t->bytes * (has(m, "st64") ? 64u : 1u);
		t->pair[0] = (uint16_t)(src->offset0 * scale);
		t->pair[1] = (uint16_t)(src->offset1 * scale);
	}
}

/* ---- scalar ---- */

static void wait(struct sg_timing_insn *t, uint16_t simm)
{
	/* gfx9: vmcnt in bits 3:0 and 15:14, lgkmcnt in 11:8 */
	uint8_t vm = (uint8_t)((simm & 0xf) | (simm >> 14 << 4)), lgkm = simm >> 8 & 0xf;

	t->wait_vm = vm == 63 ? SG_NO_WAIT : vm;
	t->wait_lgkm = lgkm == 15 ? SG_NO_WAIT : lgkm;
}

static void scalar(struct sg_timing_insn *t, const struct sg_inst_source *src)
{
	const char *m = src->mnemonic + 2;

	t->unit = SG_UNIT_SALU;
	if (has(m, "load") || has(m, "store") || has(m, "atomic") || begins(m, "dcache") ||
	    begins(m, "mem") || begins(m, "atc_probe")) {
		memory(t, src, SG_UNIT_SMEM);
		if (begins(m, "mem"))
			t->mem = SG_MEM_CACHE; /* s_memtime: answered without an address */
	} else if (begins(m, "waitcnt")) {
		t->unit = SG_UNIT_NONE;
		t->scalar = SG_SCALAR_WAITCNT;
		wait(t, src->simm);
	} else if (begins(m, "nop")) {
		t->unit = SG_UNIT_NONE;
		t->scalar = SG_SCALAR_NOP;
		t->idle = (uint16_t)(4 * (src->simm & 0xf));
	} else if (begins(m, "sleep")) {
		t->unit = SG_UNIT_NONE;
		t->scalar = SG_SCALAR_SLEEP;
		t->idle = (uint16_t)(64 * (src->simm & 0x7f));
	} else if (begins(m, "setprio")) {
		t->unit = SG_UNIT_NONE;
		t->scalar = SG_SCALAR_NOP; /* likewise done without a unit */
	} else if (begins(m, "cbranch") || begins(m, "branch") || begins(m, "setpc") ||
		   begins(m, "swappc") || begins(m, "call")) {
		t->unit = SG_UNIT_MISC;
		t->flags |= SG_INST_BRANCH;
		t->scalar = begins(m, "cbranch")  ? SG_SCALAR_CBRANCH
			    : begins(m, "branch") ? SG_SCALAR_BRANCH
						  : SG_SCALAR_JUMP;
	} else if (begins(m, "endpgm")) {
		t->unit = SG_UNIT_MISC;
		t->flags |= SG_INST_END | SG_INST_MESSAGE;
		t->scalar = SG_SCALAR_END;
	} else if (begins(m, "sendmsg")) {
		t->unit = SG_UNIT_MISC;
		t->flags |= SG_INST_MESSAGE;
		t->scalar = SG_SCALAR_MESSAGE;
	} else if (begins(m, "barrier")) {
		t->unit = SG_UNIT_MISC;
		t->flags |= SG_INST_BARRIER;
		t->scalar = SG_SCALAR_BARRIER;
	} else if (begins(m, "trap") || begins(m, "sethalt") || begins(m, "icache_inv") ||
		   begins(m, "incperflevel") || begins(m, "decperflevel") ||
		   begins(m, "ttracedata")) {
		t->unit = SG_UNIT_MISC;
		t->scalar = SG_SCALAR_OTHER;
	}
}

struct sg_timing_insn sg_tinst_of(const struct sg_inst_source *src)
{
	struct sg_timing_insn t = {
		.dwords = src->dwords, .passes = 1, .wait_vm = SG_NO_WAIT, .wait_lgkm = SG_NO_WAIT
	};
	const char *m = src->mnemonic;

	if (begins(m, "v_"))
		vector(&t, src);
	else if (begins(m, "s_"))
		scalar(&t, src);
	else if (begins(m, "ds_"))
		lds(&t, src);
	else if (begins(m, "buffer_") || begins(m, "tbuffer_"))
		memory(&t, src, SG_UNIT_VMEM);
	else
		memory(&t, src, SG_UNIT_FLAT);
	t.simple = (t.unit == SG_UNIT_VALU && t.passes == 1 && !t.matrix_passes) ||
		   t.unit == SG_UNIT_SALU;
	return t;
}
