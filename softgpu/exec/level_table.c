/* The lookup table of one SIMD level: decoding, the rows of the tables, then lower.h's extras. */
#include "softgpu/exec/code.h"
#include "softgpu/exec/handler.h"
#include "softgpu/exec/lower.h"
#include "exec_list.h"

#define DECLARE(name) enum ws_stop WS_FN(name)(struct ws_wave * w, const struct ws_inst *i);
WS_HANDLER_LIST(DECLARE)
DECLARE(valu_mods)

static enum ws_stop special(struct ws_wave *w, const struct ws_inst *i)
{
	ws_wave_refresh_specials(w);
	return w->handlers[i->inner](w, i);
}

static enum ws_stop window_end(struct ws_wave *w, const struct ws_inst *i)
{
	return ws_wave_jump(w, i, ws_wave_pc(w, i));
}

static enum ws_stop illegal(struct ws_wave *w, const struct ws_inst *i)
{
	return ws_wave_fault(w, i, WS_FAULT_ILLEGAL, 0, false);
}

extern const ws_handler WS_FN(handlers)[];
const ws_handler WS_FN(handlers)[] = {
	ws_code_decode_here,
#define ENTRY(name) WS_FN(name),
	WS_HANDLER_LIST(ENTRY)
#undef ENTRY
	[1 + WS_N_ROW_HANDLERS + WS_X_VALU_MODS] = WS_FN(valu_mods),
	[1 + WS_N_ROW_HANDLERS + WS_X_SPECIAL] = special,
	[1 + WS_N_ROW_HANDLERS + WS_X_WINDOW_END] = window_end,
	[1 + WS_N_ROW_HANDLERS + WS_X_ILLEGAL] = illegal,
};
