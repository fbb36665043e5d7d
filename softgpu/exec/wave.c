#include "softgpu/exec/wave.h"

#include <string.h>

#include "softgpu/exec/code.h"
#include "softgpu/exec/counting.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/isa/isa.h"

enum ws_stop ws_wave_fault(struct ws_wave *w, const struct ws_inst *i, enum ws_fault_kind kind,
			   uint64_t address, bool write)
{
	enum ws_isa_target target = w->launch->target == WS_GFX90A ? WS_ISA_GFX90A : WS_ISA_GFX908;

	w->fault.kind = kind;
	w->fault.pc = ws_wave_pc(w, i);
	w->fault.address = address;
	w->fault.write = write;
	if (i->fields)
		ws_isa_print(target, i->fields, w->fault.pc, w->fault.text, sizeof(w->fault.text));
	return WS_STOP_FAULT;
}

uint64_t ws_wave_pc(const struct ws_wave *w, const struct ws_inst *i)
{
	const struct ws_inst *slots = w->window->slots;

	/* under GPR indexing the handler runs a copy that stands in no window */
	if (i < slots || i >= slots + WS_WINDOW_SLOTS + 4)
		i = w->at;
	return w->window->gpu_base + 4 * (uint64_t)(i - slots);
}

enum ws_stop ws_wave_jump(struct ws_wave *w, const struct ws_inst *from, uint64_t address)
{
	struct ws_code_window *window = w->window;

	if (address & 3)
		return ws_wave_fault(w, from, WS_FAULT_ILLEGAL, address, false);
	if (address - window->gpu_base >= WS_WINDOW_BYTES) {
		window = ws_code_window(w->launch->code, address);
		if (!window)
			return ws_wave_fault(w, from, WS_FAULT_MEMORY, address, false);
		w->window = window;
	}
	w->pc = &window->slots[(address - window->gpu_base) / 4];
	return WS_GO;
}

void ws_wave_refresh_specials(struct ws_wave *w)
{
	uint32_t address = w->s[WS_S_M0] & 0xffff, type = w->s[WS_S_M0] >> 16 & 7, v = 0;

	w->s[WS_S_VCCZ] = ws_s64(w, WS_S_VCC) == 0;
	w->s[WS_S_EXECZ] = ws_exec(w) == 0;
	w->s[WS_S_SCC] = w->scc;
	/* lds_direct: M0 holds address and type (0 u8, 1 u16, 2 b32, 4 i8, 5 i16) */
	unsigned size = (type & 3) == 0 ? 1 : (type & 3) == 1 ? 2 : 4;

	if (address + size <= w->lds_bytes)
		memcpy(&v, w->lds + address, size);
	if (type == 4)
		v = (uint32_t)(int8_t)v;
	else if (type == 5)
		v = (uint32_t)(int16_t)v;
	w->s[WS_S_LDS_DIRECT] = v;
}

/* ---- the loops ---- */

static enum ws_stop run_fast(struct ws_wave *w, uint64_t *budget)
{
	const ws_handler *handlers = w->handlers;
	uint64_t n = *budget;
	enum ws_stop stop;

	do {
		const struct ws_inst *i = w->pc;
		uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);

		w->at = i;
		w->pc = i + WS_HEAD_DWORDS(head);
		stop = handlers[head & WS_HEAD_HANDLER](w, i);
		n--;
	} while (stop == WS_GO && n);
	*budget = n;
	return stop;
}

/* v[M0 + n] for the operands that s_set_gpr_idx chose; out of range stays in range, as v0 does */
void ws_wave_index_registers(const struct ws_wave *w, const struct ws_inst *i, struct ws_inst *out)
{
	/* mask bits: src0 src1 src2 dst */
	static const uint8_t operand_of_bit[] = { WS_S0, WS_S1, WS_S2, WS_D };
	uint32_t by = (w->s[WS_S_M0] & 0xff) * WS_LANES;

	memcpy((char *)out + sizeof(out->head), (const char *)i + sizeof(i->head),
	       sizeof(*i) - sizeof(i->head));
	for (unsigned b = 0; b < 4; b++) {
		unsigned k = operand_of_bit[b];

		if (!(w->gpr_idx_mask & 1u << b) || out->base[k] != WS_BASE_VGPR)
			continue;
		out->off[k] = out->off[k] + by < WS_N_VGPRS * WS_LANES ? out->off[k] + by : 0;
	}
}

static enum ws_stop run_slow(struct ws_wave *w, uint64_t *budget)
{
	uint32_t mode = w->mode;
	uint32_t f32_mode = ws_fpmode_of(mode, mode >> 4);
	uint32_t f64_mode = ws_fpmode_of(mode >> 2, mode >> 6);
	bool indexing = mode & WS_MODE_GPR_IDX_EN;
	uint64_t n = *budget;
	enum ws_stop stop;

	do {
		const struct ws_inst *i = w->pc;
		uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);
		struct ws_inst indexed;

		w->at = i;
		if (!head) { /* decode only: the flags of the head are wanted first */
			stop = ws_code_decode_only(w, i);
			continue;
		}
		w->pc = i + WS_HEAD_DWORDS(head);
		n--;
		if (mode & WS_MODE_VSKIP && head & WS_HEAD_LANES) {
			stop = WS_GO;
			continue;
		}
		if (indexing && head & WS_HEAD_VECTOR) {
			ws_wave_index_registers(w, i, &indexed);
			i = &indexed;
		}
		if (head & (WS_HEAD_FP32 | WS_HEAD_FP64))
			ws_fpmode_set(head & WS_HEAD_FP32 ? f32_mode : f64_mode);
		stop = w->handlers[head & WS_HEAD_HANDLER](w, i);
		ws_fpmode_set(WS_FPMODE_DEFAULT);
	} while (stop == WS_GO && n);
	*budget = n;
	return stop;
}

enum ws_stop ws_wave_run(struct ws_wave *w, uint64_t budget)
{
	uint64_t left = budget;
	enum ws_stop stop;

	do {
		bool plain = (w->mode & WS_MODE_FP_MASK) == WS_MODE_FP_DEFAULT &&
			     !(w->mode & (WS_MODE_GPR_IDX_EN | WS_MODE_VSKIP));

		stop = plain ? run_fast(w, &left) : run_slow(w, &left);
	} while (stop == WS_STOP_MODE && left);
	w->n_instructions += budget - left;
	return stop == WS_GO || stop == WS_STOP_MODE ? WS_STOP_BUDGET : stop;
}
