/* The configurations that a vector row is run in: forms, modes, modifiers, masks, operand kinds. */
#include <string.h>

#include "tests/isa/semantics/vector.h"

#define ALL_LANES (~0ull)

static const uint32_t modes[] = {
	REF_MODE_DEFAULT | 0x5,                     /* up */
	REF_MODE_DEFAULT | 0xa,                     /* down */
	REF_MODE_DEFAULT | 0xf,                     /* to zero */
	REF_MODE_DX10_CLAMP | REF_MODE_IEEE,        /* denormals off */
	REF_MODE_DX10_CLAMP | REF_MODE_IEEE | 0x50, /* kept on input only */
	REF_MODE_DX10_CLAMP | REF_MODE_IEEE | 0xa0, /* kept on output only */
	REF_MODE_DX10_CLAMP | REF_MODE_IEEE | 0xc0, /* HIP's old default: f32 off, f64 and f16 on */
	REF_MODE_DX10_CLAMP | 0xf0,                 /* IEEE off */
	REF_MODE_IEEE | 0xf0,                       /* NaN survives clamp */
	REF_MODE_DX10_CLAMP | REF_MODE_IEEE | 0xf,  /* to zero, denormals off */
};
/* Rounding differs between f32 and f64/f16: not for conversions, which field counts is not documented. */
static const uint32_t mixed_modes[] = { REF_MODE_DEFAULT | 0x3, REF_MODE_DEFAULT | 0xc };

#define N(a) (sizeof(a) / sizeof((a)[0]))

static bool accumulates(const struct sg_isa_row *row)
{
	static const char *const names[] = { "v_mac_", "v_fmac_", "v_dot", "v_pk_fmac" };

	for (size_t i = 0; i < N(names); i++)
		if (strncmp(row->mnemonic, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool any_float(const struct sg_isa_row *row)
{
	for (unsigned i = 0; i < row->n_operands; i++)
		if (row->operand[i].is_float)
			return true;
	return row->flags & SG_ISA_NEGABS;
}

/* Every bit of op_sel means something to one of these, or nothing. */
static bool is_scaled(const struct sg_isa_row *row)
{
	return strncmp(row->mnemonic, "v_cvt_scalef32_", 15) == 0;
}

static bool has_64bit(const struct sg_isa_row *row)
{
	for (unsigned i = 0; i < row->n_operands; i++)
		if (row->operand[i].n_regs > 1)
			return true;
	return false;
}

static struct config base_config(const struct sg_isa_row *row)
{
	struct config cfg = {
		.name = "plain", .mode = REF_MODE_DEFAULT, .exec = ALL_LANES, .first_edge = SIZE_MAX
	};

	cfg.e.form = row->forms & 1 << SG_FORM_PLAIN ? SG_FORM_PLAIN : SG_FORM_VOP3;
	if (row->enc == SG_ENC_VOP3P) {
		cfg.name = "vop3p";
		cfg.e.form = SG_FORM_PLAIN;
		cfg.e.op_sel_hi = row->flags & SG_ISA_MIX ? 0 : 7;
	} else if (row->enc == SG_ENC_VOP3) {
		cfg.e.form = SG_FORM_VOP3;
	}
	cfg.e.row_mask = cfg.e.bank_mask = 15;
	cfg.e.src_sel[0] = cfg.e.src_sel[1] = cfg.e.dst_sel = 6;
	return cfg;
}

static void edges(struct vector_test *v)
{
	const struct sg_isa_operand *s0 = operand_of(v->row, SG_ROLE_SRC0);
	const struct sg_isa_operand *s1 = operand_of(v->row, SG_ROLE_SRC1);
	struct config cfg = base_config(v->row);
	size_t n = s1 ? input_n_edges(s0) * input_n_edges(s1) : input_n_edges(s0);
	size_t per_run = N_INSTANCES * 64;

	if (operand_of(v->row, SG_ROLE_SRC2) || operand_of(v->row, SG_ROLE_K))
		n = 3 * per_run; /* a product of three is too large: random triples of edges */
	for (size_t at = 0; at < n; at += per_run) {
		cfg.first_edge = at;
		vector_run(v, &cfg,
			   n - at >= per_run ? N_INSTANCES : (unsigned)((n - at + 63) / 64));
	}
	cfg.first_edge = SIZE_MAX;
	vector_run(v, &cfg, N_INSTANCES);
}

static void float_modes(struct vector_test *v)
{
	struct config cfg = base_config(v->row);

	cfg.name = "modes";
	for (size_t i = 0; i < N(modes); i++) {
		cfg.mode = modes[i];
		vector_run(v, &cfg, 5);
	}
	if (is_scaled(v->row)) { /* FP16_OVFL */
		cfg.mode = REF_MODE_DEFAULT | 1u << 23;
		vector_run(v, &cfg, 5);
	}
	if (v->ref->flags & REF_FIXED_ROUND)
		return;
	for (size_t i = 0; i < N(mixed_modes); i++) {
		cfg.mode = mixed_modes[i];
		vector_run(v, &cfg, 2);
	}
}

static void exec_masks(struct vector_test *v)
{
	static const uint64_t masks[] = { 0, 1, 0x8000000000000000, 0x5555aaaa0ff0f00f };
	struct config cfg = base_config(v->row);

	cfg.name = "exec";
	for (size_t i = 0; i < N(masks); i++) {
		cfg.exec = masks[i];
		vector_run(v, &cfg, 2);
	}
}

static void scalar_operands(struct vector_test *v)
{
	static const unsigned ints[] = { 70, 129, 193, 192, 208 };
	static const unsigned floats[] = { 240, 243, 247, 248 };
	bool pair_source = v->row->enc == SG_ENC_VOP3P || (v->row->flags & SG_ISA_MFMA);
	unsigned n_sources = v->row->enc == SG_ENC_VOP3 ? 3 : 1;

	if (pair_source || strncmp(v->row->mnemonic, "v_accvgpr_mov", 13) == 0)
		return; /* packed constants: packed() */
	for (unsigned k = 0; k < n_sources; k++) {
		static const unsigned roles[] = { SG_ROLE_SRC0, SG_ROLE_SRC1, SG_ROLE_SRC2 };
		const struct sg_isa_operand *op = operand_of(v->row, roles[k]);
		struct config cfg = base_config(v->row);

		if (!op || is_pair16(op) || op->n_regs > 2 ||
		    (op->n_regs > 1 && v->row->flags & SG_ISA_VGPRS))
			continue;
		cfg.scalar_src = k + 1;
		if (strncmp(v->row->mnemonic, "v_div_scale", 11) == 0)
			continue; /* needs two equal sources */
		for (size_t i = 0; i < N(ints); i++) {
			cfg.name = i == 0 ? "sgpr" : "integer constant";
			cfg.scalar_opnd = ints[i];
			/* k and an SGPR are one scalar too many */
			if (!(i == 0 && operand_of(v->row, SG_ROLE_K)))
				vector_run(v, &cfg, 1);
		}
		for (size_t i = 0;
		     i < N(floats) && (op->is_float || (op->n_regs == 1 && op->bits == 32)); i++) {
			cfg.name = "float constant";
			cfg.scalar_opnd = floats[i];
			vector_run(v, &cfg, 1);
		}
		if (cfg.e.form == SG_FORM_PLAIN && !operand_of(v->row, SG_ROLE_K)) {
			cfg.name = "literal";
			cfg.scalar_opnd = SG_OPND_LITERAL;
			cfg.e.literal = (uint32_t)input_random(op, &v->rng);
			if (op->is_float && op->n_regs == 2)
				cfg.e.literal = 0x40091eb8;
			vector_run(v, &cfg, 1);
		}
	}
}

static void long_form(struct vector_test *v)
{
	const struct sg_isa_operand *dst = operand_of(v->row, SG_ROLE_VDST);
	struct config cfg = base_config(v->row);
	bool vop3b = v->row->enc != SG_ENC_VOPC && operand_of(v->row, SG_ROLE_CO);
	bool floats = any_float(v->row), float_dst = dst && dst->is_float;

	if (v->row->enc == SG_ENC_VOP3P ||
	    !(v->row->forms & 1 << SG_FORM_VOP3 || v->row->enc == SG_ENC_VOP3))
		return;
	cfg.e.form = SG_FORM_VOP3;
	cfg.name = "e64";
	vector_run(v, &cfg, 2);
	cfg.exec = 0xf0f0f0f0f00dull;
	vector_run(v, &cfg, 1);
	cfg.exec = ALL_LANES;
	if (floats && !vop3b) {
		cfg.name = "e64 neg abs";
		for (unsigned i = 0; i < 6; i++) {
			uint64_t r = rng_next(&v->rng);
			bool class_op = v->row->flags & SG_ISA_CLASS;
			static const unsigned roles[] = { SG_ROLE_SRC0, SG_ROLE_SRC1,
							  SG_ROLE_SRC2 };

			cfg.e.neg = cfg.e.abs = 0;
			for (unsigned k = 0; k < 3; k++) {
				const struct sg_isa_operand *op = operand_of(v->row, roles[k]);

				/* only sources that have them: the assembler allows no others */
				if (!op || !(op->is_float || (v->row->flags & SG_ISA_NEGABS)) ||
				    (is_pair16(op) && !is_vop3_pair(v->row, op)) || (class_op && k))
					continue;
				cfg.e.neg |= (unsigned)(r >> k & 1) << k;
				cfg.e.abs |= (unsigned)(r >> (8 + k) & 1) << k;
			}
			vector_run(v, &cfg, 2);
		}
		cfg.e.neg = cfg.e.abs = 0;
	}
	if ((float_dst && !(v->ref->flags & REF_NO_OMOD) && v->ref->result != REF_V2F16 &&
	     !vop3b) ||
	    ((v->row->flags & SG_ISA_CLAMP) && (v->ref->flags & REF_ICLAMP))) {
		cfg.name = "e64 clamp";
		cfg.e.clamp = 1;
		vector_run(v, &cfg, 4);
		cfg.mode = REF_MODE_IEEE | 0xf0;
		vector_run(v, &cfg, 2);
		cfg.mode = REF_MODE_DEFAULT;
		cfg.e.clamp = 0;
	}
	if (float_dst && !(v->row->flags & (SG_ISA_NOMOD | SG_ISA_OPSEL)) && !vop3b &&
	    !(v->ref->flags & REF_NO_OMOD) && v->ref->result != REF_V2F16) {
		cfg.name = "e64 omod";
		for (cfg.e.omod = 1; cfg.e.omod < 4; cfg.e.omod++) {
			cfg.mode = REF_MODE_DX10_CLAMP; /* denormals and IEEE off: it works */
			vector_run(v, &cfg, 2);
			cfg.e.clamp = 1;
			vector_run(v, &cfg, 1);
			cfg.e.clamp = 0;
			cfg.mode = REF_MODE_DX10_CLAMP | 0xf0; /* denormals on: it does not */
			vector_run(v, &cfg, 1);
			cfg.mode = REF_MODE_DX10_CLAMP | REF_MODE_IEEE; /* neither in IEEE mode */
			vector_run(v, &cfg, 1);
		}
		cfg.e.omod = 0;
		cfg.mode = REF_MODE_DEFAULT;
	}
	if (v->row->flags & SG_ISA_OPSEL) {
		bool dst16 = dst && dst->bits == 16 && !is_pair16(dst);
		bool sel4 = operand_of(v->row, SG_ROLE_SRC2) || v->row->flags & SG_ISA_SEL4;

		cfg.name = "op_sel";
		for (unsigned i = 0; i < 8; i++) {
			static const unsigned roles[] = { SG_ROLE_SRC0, SG_ROLE_SRC1,
							  SG_ROLE_SRC2 };
			uint64_t r = rng_next(&v->rng);

			cfg.e.op_sel = dst16 || (v->row->flags & SG_ISA_NOCLAMP) ? r & 8 : 0;
			if (v->row->flags & SG_ISA_SEL4)
				cfg.e.op_sel |= r & 4;
			for (unsigned k = 0; k < 3; k++) {
				const struct sg_isa_operand *op = operand_of(v->row, roles[k]);

				if (op && op->bits == 16)
					cfg.e.op_sel |= (unsigned)(r & 1u << k);
			}
			if (is_scaled(v->row))
				cfg.e.op_sel = (unsigned)(r & (sel4 ? 15 : 11));
			vector_run(v, &cfg, 2);
		}
	}
}

static unsigned sdwa_sel(const struct sg_isa_operand *op, uint64_t r)
{
	if (is_pair16(op) || (op->is_float && op->bits == 32))
		return 6;
	if (op->is_float)
		return 4 + (unsigned)(r % 3);
	return (unsigned)(r % 7);
}

static void sdwa(struct vector_test *v)
{
	const struct sg_isa_operand *s0 = operand_of(v->row, SG_ROLE_SRC0);
	const struct sg_isa_operand *s1 = operand_of(v->row, SG_ROLE_SRC1);
	const struct sg_isa_operand *dst = operand_of(v->row, SG_ROLE_VDST);

	if (!(v->row->forms & 1 << SG_FORM_SDWA) || has_64bit(v->row))
		return;
	for (unsigned i = 0; i < 12; i++) {
		struct config cfg = base_config(v->row);
		uint64_t r = rng_next(&v->rng);

		cfg.name = "sdwa";
		cfg.e.form = SG_FORM_SDWA;
		cfg.exec = i % 4 ? ALL_LANES : 0xff00ff0000ffff01;
		cfg.e.src_sel[0] = sdwa_sel(s0, r);
		if (s0->is_float) {
			cfg.e.neg |= r >> 8 & 1;
			cfg.e.abs |= r >> 9 & 1;
		} else if (!(v->row->flags & SG_ISA_NEGABS)) {
			cfg.e.sext |= r >> 10 & 1;
		}
		if (s1 && !(v->row->flags & SG_ISA_CLASS)) {
			cfg.e.src_sel[1] = sdwa_sel(s1, r >> 16);
			if (s1->is_float) {
				cfg.e.neg |= (r >> 24 & 1) << 1;
				cfg.e.abs |= (r >> 25 & 1) << 1;
			} else if (!(v->row->flags & SG_ISA_NEGABS)) {
				cfg.e.sext |= (r >> 26 & 1) << 1;
			}
		}
		if (dst && !accumulates(v->row)) {
			cfg.e.dst_sel =
				dst->is_float && dst->bits == 32 ? 6 : sdwa_sel(dst, r >> 32);
			cfg.e.dst_unused = cfg.e.dst_sel == 6 ? 0 : (unsigned)((r >> 40) % 3);
			if (v->ref->flags &
			    (REF_APPROX | REF_NORM16)) /* compared as a whole only */
				cfg.e.dst_sel = 6, cfg.e.dst_unused = 0;
		}
		vector_run(v, &cfg, 2);
	}
}

static void dpp(struct vector_test *v)
{
	static const unsigned controls[] = { 0xe4,  0x1b,  0x00,  0xb1,  0x101, 0x10f,
					     0x111, 0x11f, 0x121, 0x12f, 0x130, 0x134,
					     0x138, 0x13c, 0x140, 0x141, 0x142, 0x143 };
	static const unsigned newbcast[] = { 0x150, 0x15f, 0x157 };
	bool wide = has_64bit(v->row);
	size_t n = wide ? 0 : N(controls);

	if (!(v->row->forms & 1 << SG_FORM_DPP) || (wide && v->target == SG_ISA_GFX908))
		return;
	for (size_t i = 0; i < n + (v->target >= SG_ISA_GFX90A ? N(newbcast) : 0); i++) {
		const struct sg_isa_operand *s0 = operand_of(v->row, SG_ROLE_SRC0);
		struct config cfg = base_config(v->row);
		uint64_t r = rng_next(&v->rng);

		cfg.name = "dpp";
		cfg.e.form = SG_FORM_DPP;
		cfg.e.dpp_ctrl = i < n ? controls[i] : newbcast[i - n];
		cfg.e.bound_ctrl = r & 1;
		cfg.exec = r & 2 ? ALL_LANES : rng_next(&v->rng);
		if (r & 4) {
			cfg.e.row_mask = r >> 8 & 15;
			cfg.e.bank_mask = r >> 12 & 15;
		}
		if (s0->is_float && !is_pair16(s0) && !(v->row->flags & SG_ISA_IGNMODS)) {
			cfg.e.neg = r >> 16 & 1;
			cfg.e.abs = r >> 17 & 1;
		}
		vector_run(v, &cfg, 1);
	}
}

/* A constant fills the low half only, so the high result takes it from there: op_sel_hi is 0. */
static void packed_scalars(struct vector_test *v, bool mix)
{
	static const unsigned operands[] = { 70, 129, 193, 242, 247 },
			      roles[] = { SG_ROLE_SRC0, SG_ROLE_SRC1, SG_ROLE_SRC2 };

	for (unsigned k = 0; k < 3; k++) {
		const struct sg_isa_operand *op = operand_of(v->row, roles[k]);

		for (size_t i = 0; op && i < N(operands); i++) {
			struct config cfg = base_config(v->row);

			if (i > 2 && !op->is_float)
				continue;
			if (i && op->n_regs > 1) /* pairs: only from registers */
				continue;
			cfg.name = i ? "packed constant" : "packed sgpr";
			cfg.scalar_src = k + 1;
			cfg.scalar_opnd = operands[i];
			if (i && !mix && is_pair16(op))
				cfg.e.op_sel_hi &= ~(1u << k);
			vector_run(v, &cfg, 1);
		}
	}
}

static void packed(struct vector_test *v)
{
	const struct sg_isa_operand *dst = operand_of(v->row, SG_ROLE_VDST);
	const struct sg_isa_operand *s0 = operand_of(v->row, SG_ROLE_SRC0);
	bool mix = v->row->flags & SG_ISA_MIX, moves = strstr(v->row->mnemonic, "_mov_b32");
	bool selects = mix || is_pair16(s0) || s0->type_class == SG_TYPE_PK32 || moves;
	bool negates = mix || s0->is_float;
	unsigned sources = operand_of(v->row, SG_ROLE_SRC2) ? 7 : 3;
	bool third_is_scalar = strncmp(v->row->mnemonic, "v_dot", 5) == 0;

	if (v->row->enc != SG_ENC_VOP3P || strncmp(v->row->mnemonic, "v_accvgpr", 9) == 0)
		return;
	packed_scalars(v, mix);
	for (unsigned i = 0; i < 24; i++) {
		struct config cfg = base_config(v->row);
		uint64_t r = rng_next(&v->rng);

		cfg.name = "vop3p modifiers";
		if (selects) {
			cfg.e.op_sel = r & sources;
			cfg.e.op_sel_hi = moves ? 7 : (r >> 4 & sources) | (mix ? 0 : ~sources & 7);
		}
		if (negates && !moves) {
			cfg.e.neg = r >> 8 & sources;
			cfg.e.neg_hi = r >> 12 & sources;
		}
		if (third_is_scalar) { /* src2 is one number: only its neg means something */
			cfg.e.op_sel &= 3;
			cfg.e.op_sel_hi |= 4;
			cfg.e.neg_hi &= 3;
		}
		if (i % 2) { /* the halves of a pair of scalar registers, too */
			cfg.name = "vop3p modifiers, sgpr";
			cfg.scalar_src = 1 + i / 2 % (sources == 7 ? 3 : 2);
			cfg.scalar_opnd = 70;
		}
		if (dst->is_float ? !moves : v->ref->flags & REF_ICLAMP)
			cfg.e.clamp = r >> 16 & 1;
		if (dst->is_float && (r >> 20 & 3) == 0)
			cfg.mode = modes[r % N(modes)];
		vector_run(v, &cfg, 2);
	}
}

void test_vector_row(struct tally *t, const struct sg_isa_row *row, const struct ref_row *ref,
		     enum sg_isa_target target, struct sg_step *step)
{
	struct vector_test v = { .t = t, .row = row, .ref = ref, .target = target, .step = step };

	rng_seed(&v.rng, row->mnemonic);
	edges(&v);
	if (any_float(row))
		float_modes(&v);
	exec_masks(&v);
	scalar_operands(&v);
	long_form(&v);
	sdwa(&v);
	dpp(&v);
	packed(&v);
}
