/* The lookup table of one SIMD level: decoding, the rows of the tables, then lower.h's extras. */
#include "exec_list.h"
#include "softgpu/exec/code.h"
#include "softgpu/exec/handler.h"
#include "softgpu/exec/lower.h"

#define DECLARE(name) enum sg_stop SG_FN(name)(struct sg_wave * w, const struct sg_exec_insn *i);
SG_HANDLER_LIST(DECLARE)
DECLARE(valu_mods)

static enum sg_stop special(struct sg_wave *w, const struct sg_exec_insn *i)
{
	sg_wave_refresh_specials(w);
	return w->handlers[i->inner](w, i);
}

static enum sg_stop window_end(struct sg_wave *w, const struct sg_exec_insn *i)
{
	return sg_wave_jump(w, i, sg_wave_pc(w, i));
}

static enum sg_stop illegal(struct sg_wave *w, const struct sg_exec_insn *i)
{
	return sg_wave_fault(w, i, SG_FAULT_ILLEGAL, 0, false);
}

extern const sg_handler SG_FN(handlers)[];
const sg_handler SG_FN(handlers)[] = {
	sg_code_decode_here,
#define ENTRY(name) SG_FN(name),
	SG_HANDLER_LIST(ENTRY)
#undef ENTRY
		[1 + SG_N_ROW_HANDLERS + SG_X_VALU_MODS] = SG_FN(valu_mods),
	[1 + SG_N_ROW_HANDLERS + SG_X_SPECIAL] = special,
	[1 + SG_N_ROW_HANDLERS + SG_X_WINDOW_END] = window_end,
	[1 + SG_N_ROW_HANDLERS + SG_X_ILLEGAL] = illegal,
};
