/*
 * valu_mods: modifiers of vector instructions, around the handler of the plain instruction.
 *
 * Sources are changed into lane arrays of their own (w->tmp), then the row's handler runs on them.
 * If its result has to be changed as well, it writes to w->tmp[SG_D], which then goes to the
 * register.
 * Everything follows from the decoded fields and the types of the row's operands:
 *
 *	DPP     src0 comes from other lanes; lanes without a source, or masked, leave EXEC
 *	SDWA    a byte or word of src0, src1; the result goes to a byte or word of the register
 *	VOP3    neg, abs by the operand's type, of both numbers of a pair; op_sel picks halves of 16-bit
 *	        operands; omod, clamp
 *	VOP3P   op_sel, op_sel_hi, neg_lo, neg_hi per element
 */
#include <string.h>

#include "softgpu/exec/handler.h"
#include "softgpu/exec/ops_vector.h"
#include "softgpu/isa/isa.h"

enum shape { SHAPE_16, SHAPE_32, SHAPE_64, SHAPE_PK16, SHAPE_PKBF16, SHAPE_PK32 };

static enum shape shape_of(const struct sg_isa_operand *o)
{
	if (o->type_class == SG_TYPE_PK16)
		return SHAPE_PK16;
	if (o->type_class == SG_TYPE_PKBF16)
		return SHAPE_PKBF16;
	if (o->type_class == SG_TYPE_PK32)
		return SHAPE_PK32;
	return o->bits == 16 ? SHAPE_16 : o->n_regs == 2 ? SHAPE_64 : SHAPE_32;
}

/* ---- DPP ---- */

#define ROW 16
enum {
	DPP_QUAD_PERM_LAST = 0xff,
	DPP_ROW_SHL = 0x100,
	DPP_ROW_SHR = 0x110,
	DPP_ROW_ROR = 0x120,
	DPP_WAVE_SHL = 0x130,
	DPP_WAVE_ROL = 0x134,
	DPP_WAVE_SHR = 0x138,
	DPP_WAVE_ROR = 0x13c,
	DPP_ROW_MIRROR = 0x140,
	DPP_HALF_MIRROR = 0x141,
	DPP_BCAST15 = 0x142,
	DPP_BCAST31 = 0x143,
	DPP_ROW_NEWBCAST = 0x150
};

/* The lane that `lane` reads, -1 for none. */
static int dpp_source(unsigned ctrl, int lane)
{
	int row = lane & ~(ROW - 1), in_row = lane % ROW, by = (int)(ctrl & 0xf), from;

	if (ctrl <= DPP_QUAD_PERM_LAST)
		return (lane & ~3) + (int)(ctrl >> lane % 4 * 2 & 3);
	switch (ctrl & ~0xfu) {
	case DPP_ROW_SHL:
		from = in_row + by;
		return from < ROW ? row + from : -1;
	case DPP_ROW_SHR:
		from = in_row - by;
		return from >= 0 ? row + from : -1;
	case DPP_ROW_ROR:
		return row + (in_row - by) % ROW + (in_row < by ? ROW : 0);
	case DPP_ROW_NEWBCAST:
		return row + by;
	}
	switch (ctrl) {
	case DPP_WAVE_SHL:
		return lane + 1 < SG_LANES ? lane + 1 : -1;
	case DPP_WAVE_ROL:
		return (lane + 1) % SG_LANES;
	case DPP_WAVE_SHR:
		return lane - 1;
	case DPP_WAVE_ROR:
		return (lane + SG_LANES - 1) % SG_LANES;
	case DPP_ROW_MIRROR:
		return row + ROW - 1 - in_row;
	case DPP_HALF_MIRROR:
		return (lane & ~7) + 7 - lane % 8;
	case DPP_BCAST15: /* the last lane of a row, to the next row */
		return row - 1;
	case DPP_BCAST31: /* lane 31, to the rows above it */
		return lane >= 32 ? 31 : -1;
	}
	return lane;
}

/* Which lane each lane reads (its own where there is none), and which have a source at all. */
struct dpp_plan {
	uint8_t from[SG_LANES];
	uint64_t valid;
};

static void dpp_make_plan(struct dpp_plan *plan, unsigned ctrl)
{
	plan->valid = 0;
	for (int l = 0; l < SG_LANES; l++) {
		int from = dpp_source(ctrl, l);

		plan->from[l] = (uint8_t)(from < 0 ? l : from);
		plan->valid |= (uint64_t)(from >= 0) << l;
	}
}

/* The shifts and rotations of reductions, as moves of whole rows; false: not one of them. */
static bool dpp_move_rows(uint32_t *restrict to, const uint32_t *restrict p, unsigned ctrl,
			  uint64_t *out_valid)
{
	unsigned by = ctrl & 0xf;
	uint64_t lanes;

	switch (ctrl & ~0xfu) {
	case DPP_ROW_SHR:
		memcpy(to + by, p, (SG_LANES - by) * sizeof(*to));
		lanes = 0xffffu & ~0u << by;
		break;
	case DPP_ROW_SHL:
		memcpy(to, p + by, (SG_LANES - by) * sizeof(*to));
		lanes = 0xffffu >> by;
		break;
	default:
		return false;
	}
	*out_valid = lanes * 0x0001000100010001ull; /* the rest got a neighbour row's lanes */
	return true;
}

/* Bit l: row_mask and bank_mask let lane l take part. */
static uint64_t dpp_enabled(unsigned row_mask, unsigned bank_mask)
{
	uint64_t row = 0, lanes = 0;

	if (row_mask == 0xf && bank_mask == 0xf)
		return ~0ull;
	for (unsigned b = 0; b < 4; b++)
		row |= bank_mask >> b & 1 ? 0xfull << b * 4 : 0;
	for (unsigned r = 0; r < 4; r++)
		lanes |= row_mask >> r & 1 ? row << r * ROW : 0;
	return lanes;
}

/*
 * Moves src0 into `to`, and returns the lanes that may write. A lane whose source does not exist or
 * is inactive reads 0 with bound_ctrl, and stays as it is without.
 */
static uint64_t dpp_apply(struct sg_wave *w, const struct sg_decoded_insn *f, uint32_t *to,
			  const uint32_t *p, unsigned n_regs)
{
	uint64_t exec = sg_exec(w), valid = 0, enabled = dpp_enabled(f->row_mask, f->bank_mask);
	struct dpp_plan plan;

	if (exec == ~0ull && n_regs == 1 && dpp_move_rows(to, p, f->dpp_ctrl, &valid)) {
		if (valid == ~0ull)
			return enabled;
	} else {
		dpp_make_plan(&plan, f->dpp_ctrl);
		for (unsigned l = 0; l < SG_LANES; l++) {
			valid |= (plan.valid >> l & exec >> plan.from[l] & 1) << l;
			for (unsigned r = 0; r < n_regs; r++)
				to[r * SG_LANES + l] = p[r * SG_LANES + plan.from[l]];
		}
	}
	if (!f->bound_ctrl)
		return enabled & valid;

	uint32_t mask[SG_LANES] __attribute__((aligned(64)));

	sg_expand(mask, valid);
	for (unsigned r = 0; r < n_regs; r++)
		SG_EACH_LANE
	to[r * SG_LANES + l] &= mask[l];
	return enabled;
}

/* ---- SDWA ---- */

enum { SEL_BYTE_0, SEL_WORD_0 = 4, SEL_WORD_1, SEL_DWORD };
enum { UNUSED_PAD, UNUSED_SEXT, UNUSED_PRESERVE };

static unsigned sel_at(unsigned sel)
{
	return sel < SEL_WORD_0 ? sel * 8 : sel == SEL_WORD_1 ? 16 : 0;
}

static unsigned sel_bits(unsigned sel)
{
	return sel < SEL_WORD_0 ? 8 : sel < SEL_DWORD ? 16 : 32;
}

static void sdwa_source(uint32_t *to, const uint32_t *p, unsigned sel, bool sext)
{
	const unsigned right = 32 - sel_bits(sel), left = right - sel_at(sel);

	if (sext)
		SG_EACH_LANE
	to[l] = (uint32_t)((int32_t)(p[l] << left) >> right);
	else SG_EACH_LANE to[l] = p[l] << left >> right;
}

static void sdwa_result(uint32_t *v, const uint32_t *old, unsigned sel, unsigned unused)
{
	const unsigned at = sel_at(sel), bits = sel_bits(sel);
	const uint32_t field = (uint32_t)((1ull << bits) - 1) << at;

	SG_EACH_LANE
	{
		uint32_t part = v[l] << at & field;
		uint32_t sign = 0 - (part >> (at + bits - 1) & 1);

		v[l] = unused == UNUSED_PAD    ? part
		       : unused == UNUSED_SEXT ? part | (sign & ~(field | (field - 1)))
					       : part | (old[l] & ~field);
	}
}

/* ---- sources ---- */

/* (v & keep) ^ flip on the array that holds the sign */
static void sign_lanes(uint32_t *to, const uint32_t *p, uint32_t keep, uint32_t flip)
{
	SG_EACH_LANE
	to[l] = (p[l] & keep) ^ flip;
}

/* A pair of dwords. `to` may be where lo and hi lie, so both are read before either is written. */
static void sign_pair(uint32_t *to, const uint32_t *lo, const uint32_t *hi, uint32_t flip_lo,
		      uint32_t flip_hi)
{
	SG_EACH_LANE
	{
		uint32_t first = lo[l] ^ flip_lo, second = hi[l] ^ flip_hi;

		to[l] = first;
		to[l + SG_LANES] = second;
	}
}

/* One element of a packed pair: `shift` brings the chosen half down. */
static void packed_halves(uint32_t *to, const uint32_t *p, unsigned lo_shift, unsigned hi_shift,
			  uint32_t flip)
{
	SG_EACH_LANE
	to[l] = PACK16(p[l] >> lo_shift, p[l] >> hi_shift) ^ flip;
}

/* Both numbers of a pair, which VOP3 has no modifiers of their own for. */
static void sign_both(uint32_t *to, const uint32_t *p, enum shape shape, bool neg, bool abs)
{
	const uint32_t sign = shape == SHAPE_PK32 ? F32_SIGN : 0x80008000u;

	for (unsigned r = 0; r < (shape == SHAPE_PK32 ? 2 : 1); r++)
		sign_lanes(to + r * SG_LANES, p + r * SG_LANES, abs ? ~sign : ~0u, neg ? sign : 0);
}

/* Source k with everything that is asked of it, in w->tmp; returns whether it differs from p. */
static bool modify_source(const struct sg_decoded_insn *f, const struct sg_isa_operand *o,
			  unsigned k, const uint32_t *p, uint32_t *to)
{
	const enum shape shape = shape_of(o);
	const bool vop3p = f->row->enc == SG_ENC_VOP3P;
	const bool neg = f->neg >> k & 1, abs = !vop3p && f->abs >> k & 1;
	const bool sel = f->op_sel >> k & 1, sel_hi = f->op_sel_hi >> k & 1;
	const bool neg_hi = vop3p && o->is_float && f->neg_hi >> k & 1;
	const uint32_t *from = p;

	if (f->form == SG_FORM_SDWA && k < 2 && (f->src_sel[k] != SEL_DWORD)) {
		sdwa_source(to, from, f->src_sel[k], f->sext >> k & 1);
		from = to;
	}
	if (f->row->enc == SG_ENC_VOP3 &&
	    shape >= SHAPE_PK16) { /* op_sel is the instruction's own */
		if (!neg && !abs)
			return false;
		sign_both(to, from, shape, neg, abs);
		return true;
	}
	switch (shape) {
	case SHAPE_PK16:
	case SHAPE_PKBF16:
		if (!vop3p)
			break;
		if (sel || !sel_hi || (neg && o->is_float) || neg_hi) {
			uint32_t flip = neg && o->is_float ? 0x8000u : 0;

			flip |= neg_hi ? 0x80000000u : 0;
			packed_halves(to, from, sel ? 16 : 0, sel_hi ? 16 : 0, flip);
			from = to;
		}
		break;
	case SHAPE_PK32:
		if (sel || !sel_hi || neg || neg_hi) {
			const uint32_t *lo = from + sel * SG_LANES, *hi = from + sel_hi * SG_LANES;

			sign_pair(to, lo, hi, neg && o->is_float ? F32_SIGN : 0,
				  neg_hi ? F32_SIGN : 0);
			from = to;
		}
		break;
	case SHAPE_16:
		if (sel && f->form != SG_FORM_SDWA) {
			SG_EACH_LANE
			to[l] = from[l] >> 16;
			from = to;
		}
		if (neg || abs) {
			sign_lanes(to, from, abs ? ~0x8000u : ~0u, neg ? 0x8000 : 0);
			from = to;
		}
		break;
	case SHAPE_32:
		if (neg || abs) {
			sign_lanes(to, from, abs ? ~F32_SIGN : ~0u, neg ? F32_SIGN : 0);
			from = to;
		}
		break;
	case SHAPE_64:
		if (neg || abs) {
			if (from != to)
				memcpy(to, from, SG_LANES * sizeof(*to));
			sign_lanes(to + SG_LANES, from + SG_LANES, abs ? ~F32_SIGN : ~0u,
				   neg ? F32_SIGN : 0);
			from = to;
		}
		break;
	}
	return from != p;
}

/* ---- result ---- */

LANE double f64_clamped(double v, uint32_t mode)
{
	double inside = v > 0 ? v : 0;

	inside = inside < 1 ? inside : 1;
	return v != v && !(mode & SG_MODE_DX10_CLAMP) ? v : inside;
}

LANE uint16_t f16_clamped(uint16_t v, uint32_t mode)
{
	bool nan = f16_is_nan(v), keep = nan & !(mode & SG_MODE_DX10_CLAMP);
	uint32_t inside = sel32((v & 0x8000) | nan, 0, min_u32(v, 0x3c00));

	return (uint16_t)sel32(keep, v, inside);
}

static void clamp_result(uint32_t *v, enum shape shape, uint32_t mode)
{
	switch (shape) {
	case SHAPE_16:
		SG_EACH_LANE
		v[l] = (v[l] & 0xffff0000u) | f16_clamped((uint16_t)v[l], mode);
		break;
	case SHAPE_PK16:
		SG_EACH_LANE
		v[l] = PK1(f16_clamped, v[l], mode);
		break;
	case SHAPE_PKBF16:
		SG_EACH_LANE
		v[l] = PACK16(f32_bf16(f32_clamped(bf16_f32(LO16(v[l])), mode)),
			      f32_bf16(f32_clamped(bf16_f32(HI16(v[l])), mode)));
		break;
	case SHAPE_PK32:
		SG_EACH_LANE
		put_f32(v + SG_LANES, l, f32_clamped(get_f32(v + SG_LANES, l), mode));
		/* fallthrough */
	case SHAPE_32:
		SG_EACH_LANE
		put_f32(v, l, f32_clamped(get_f32(v, l), mode));
		break;
	case SHAPE_64:
		SG_EACH_LANE
		put_f64(v, l, f64_clamped(get_f64(v, l), mode));
		break;
	}
}

/* Output modifiers exist only for code that flushes denormals and is not in IEEE mode; there a zero
 * result also loses its sign. */
static bool omod_counts(const struct sg_decoded_insn *f, enum shape shape, uint32_t mode)
{
	return f->omod && !(mode & SG_MODE_IEEE) &&
	       !(mode & (shape == SHAPE_32 || shape == SHAPE_PK32 ? 0x20 : 0x80));
}

static void omod_result(uint32_t *v, enum shape shape, unsigned omod, uint32_t mode)
{
	static const float factors[4] = { 1, 2, 4, 0.5f };
	const float by = factors[omod & 3];

	switch (shape) {
	case SHAPE_16:
		SG_EACH_LANE
		{
			uint32_t r = f32_f16(f16_f32((uint16_t)v[l], mode) * by, mode);

			v[l] = (v[l] & 0xffff0000u) | sel32(r & 0x7fff, r, 0);
		}
		break;
	case SHAPE_32:
		SG_EACH_LANE
		put_f32(v, l, f32_flush(get_f32(v, l) * by) + 0.0f);
		break;
	case SHAPE_64:
		SG_EACH_LANE
		put_f64(v, l, get_f64(v, l) * (double)by + 0.0);
		break;
	case SHAPE_PK32: /* v_cvt_pk_f32_fp8 */
		omod_result(v, SHAPE_32, omod, mode);
		omod_result(v + SG_LANES, SHAPE_32, omod, mode);
		break;
	case SHAPE_PK16:
	case SHAPE_PKBF16:
		break; /* v_cvt_pk_f16_f32: not documented, ignored as in other packed forms */
	}
}

SG_HANDLER(valu_mods)
{
	const struct sg_decoded_insn *f = i->fields;
	const struct sg_isa_row *row = f->row;
	const struct sg_isa_operand *vdst = NULL;
	struct sg_exec_insn plain;
	uint64_t exec = sg_exec(w), lanes = ~0ull;

	memcpy(&plain, i, sizeof(plain));
	if (i->splat) {
		sg_wave_refresh_specials(w); /* one of them may be the scalar */
		sg_splat_sources(w, i);
		plain.splat = 0;
	}
	for (unsigned n = 0; n < row->n_operands; n++) {
		const struct sg_isa_operand *o = &row->operand[n];
		unsigned k = o->role - SG_ROLE_SRC0;

		if (o->role == SG_ROLE_VDST)
			vdst = o;
		if (o->role < SG_ROLE_SRC0 || o->role > SG_ROLE_SRC2)
			continue;

		const uint32_t *p = sg_src(w, i, SG_S0 + k);
		uint32_t *to = w->tmp[SG_S0 + k];
		bool moved = f->form == SG_FORM_DPP && k == 0;

		if (moved) {
			lanes = dpp_apply(w, f, to, p, o->n_regs);
			p = to;
		}
		if (modify_source(f, o, k, p, to) || moved) {
			plain.base[SG_S0 + k] = SG_BASE_TMP;
			plain.off[SG_S0 + k] = (uint32_t)(to - w->base[SG_BASE_TMP]);
		}
	}

	const enum shape shape = vdst ? shape_of(vdst) : SHAPE_32;
	const bool omod = vdst && vdst->is_float && omod_counts(f, shape, w->mode);
	const bool clamp = vdst && vdst->is_float && f->clamp;
	const bool part = f->form == SG_FORM_SDWA && vdst && f->dst_sel != SEL_DWORD;
	const bool upper = f->form == SG_FORM_VOP3 || row->enc == SG_ENC_VOP3
				   ? vdst && shape == SHAPE_16 && f->op_sel & 8
				   : false;
	const bool changed = omod || clamp || part || upper;
	uint32_t *dst = sg_dst(w, i), *result = w->tmp[SG_D];
	enum sg_stop stop;

	if (changed) {
		memcpy(result, dst, vdst->n_regs * SG_LANES * sizeof(*dst)); /* some rows read it */
		if (upper) /* for those it is the upper half that is read */
			SG_EACH_LANE
		result[l] = dst[l] >> 16;
		plain.base[SG_D] = SG_BASE_TMP;
		plain.off[SG_D] = (uint32_t)(result - w->base[SG_BASE_TMP]);
	}
	if (lanes != ~0ull)
		sg_s64_put(w, SG_S_EXEC, exec & lanes);
	stop = w->handlers[i->inner](w, &plain);
	if (changed) {
		if (omod)
			omod_result(result, shape, f->omod, w->mode);
		if (clamp)
			clamp_result(result, shape, w->mode);
		if (part)
			sdwa_result(result, dst, f->dst_sel, f->dst_unused);
		if (upper)
			SG_EACH_LANE
		result[l] = (dst[l] & 0xffffu) | result[l] << 16;
		sg_merge(sg_lane_mask(w), dst, result, vdst->n_regs);
	}
	if (lanes != ~0ull)
		sg_s64_put(w, SG_S_EXEC, exec);
	return stop;
}
