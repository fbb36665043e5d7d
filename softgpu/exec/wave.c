#include "softgpu/exec/wave.h"

#include <string.h>

#include "softgpu/exec/code.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/traced_run.h"
#include "softgpu/isa/isa.h"

enum sg_stop sg_wave_fault(struct sg_wave *w, const struct sg_exec_insn *i, enum sg_fault_kind kind,
			   uint64_t address, bool write)
{
	enum sg_isa_target target = w->launch->target;

	w->fault.kind = kind;
	w->fault.pc = sg_wave_pc(w, i);
	w->fault.address = address;
	w->fault.write = write;
	if (i->fields)
		sg_isa_print(target, i->fields, w->fault.pc, w->fault.text, sizeof(w->fault.text));
	return SG_STOP_FAULT;
}

uint64_t sg_wave_pc(const struct sg_wave *w, const struct sg_exec_insn *i)
{
	const struct sg_exec_insn *slots = w->window->slots;

	/* under GPR indexing the handler runs a copy that stands in no window */
	if (i < slots || i >= slots + SG_WINDOW_SLOTS + 4)
		i = w->at;
	return w->window->gpu_base + 4 * (uint64_t)(i - slots);
}

enum sg_stop sg_wave_jump(struct sg_wave *w, const struct sg_exec_insn *from, uint64_t address)
{
	struct sg_code_window *window = w->window;

	if (address & 3)
		return sg_wave_fault(w, from, SG_FAULT_ILLEGAL, address, false);
	if (address - window->gpu_base >= SG_WINDOW_BYTES) {
		window = sg_code_window(w->launch->code, address);
		if (!window)
			return sg_wave_fault(w, from, SG_FAULT_MEMORY, address, false);
		w->window = window;
	}
	w->pc = &window->slots[(address - window->gpu_base) / 4];
	return SG_GO;
}

void sg_wave_refresh_specials(struct sg_wave *w)
{
	uint32_t address = w->s[SG_S_M0] & 0xffff, type = w->s[SG_S_M0] >> 16 & 7, v = 0;

	w->s[SG_S_VCCZ] = sg_s64(w, SG_S_VCC) == 0;
	w->s[SG_S_EXECZ] = sg_exec(w) == 0;
	w->s[SG_S_SCC] = w->scc;
	/* lds_direct: M0 holds address and type (0 u8, 1 u16, 2 b32, 4 i8, 5 i16) */
	unsigned size = (type & 3) == 0 ? 1 : (type & 3) == 1 ? 2 : 4;

	if (address + size <= w->lds_bytes)
		memcpy(&v, w->lds + address, size);
	if (type == 4)
		v = (uint32_t)(int8_t)v;
	else if (type == 5)
		v = (uint32_t)(int16_t)v;
	w->s[SG_S_LDS_DIRECT] = v;
}

/* ---- the loops ---- */

static enum sg_stop run_fast(struct sg_wave *w, uint64_t *budget)
{
	const sg_handler *handlers = w->handlers;
	const struct sg_exec_insn *i = w->pc, *behind;
	uint64_t n = *budget;
	enum sg_stop stop;

	do {
		uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);

		behind = i + SG_HEAD_DWORDS(head);
		w->at = i;
		w->pc = behind;
		stop = handlers[head & SG_HEAD_HANDLER](w, i);
		n--;
		i = sg_wave_next(w, behind);
	} while (stop == SG_GO && n);
	*budget = n;
	return stop;
}

/* v[M0 + n] for the operands that s_set_gpr_idx chose; out of range stays in range, as v0 does */
void sg_wave_index_registers(const struct sg_wave *w, const struct sg_exec_insn *i,
			     struct sg_exec_insn *out)
{
	/* mask bits: src0 src1 src2 dst */
	static const uint8_t operand_of_bit[] = { SG_S0, SG_S1, SG_S2, SG_D };
	uint32_t by = (w->s[SG_S_M0] & 0xff) * SG_LANES;

	memcpy((char *)out + sizeof(out->head), (const char *)i + sizeof(i->head),
	       sizeof(*i) - sizeof(i->head));
	for (unsigned b = 0; b < 4; b++) {
		unsigned k = operand_of_bit[b];

		if (!(w->gpr_idx_mask & 1u << b) || out->base[k] != SG_BASE_VGPR)
			continue;
		out->off[k] = out->off[k] + by < SG_N_VGPRS * SG_LANES ? out->off[k] + by : 0;
	}
}

static enum sg_stop run_slow(struct sg_wave *w, uint64_t *budget)
{
	uint32_t mode = w->mode;
	uint32_t f32_mode = sg_fpmode_of(mode, mode >> 4);
	uint32_t f64_mode = sg_fpmode_of(mode >> 2, mode >> 6);
	bool indexing = mode & SG_MODE_GPR_IDX_EN;
	uint64_t n = *budget;
	enum sg_stop stop;

	do {
		const struct sg_exec_insn *i = w->pc;
		uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);
		struct sg_exec_insn indexed;

		w->at = i;
		if (!head) { /* decode only: the flags of the head are wanted first */
			stop = sg_code_decode_only(w, i);
			continue;
		}
		w->pc = i + SG_HEAD_DWORDS(head);
		n--;
		if (mode & SG_MODE_VSKIP && head & SG_HEAD_LANES) {
			stop = SG_GO;
			continue;
		}
		if (indexing && head & SG_HEAD_VECTOR) {
			sg_wave_index_registers(w, i, &indexed);
			i = &indexed;
		}
		if (head & (SG_HEAD_FP32 | SG_HEAD_FP64))
			sg_fpmode_set(head & SG_HEAD_FP32 ? f32_mode : f64_mode);
		stop = w->handlers[head & SG_HEAD_HANDLER](w, i);
		sg_fpmode_set(SG_FPMODE_DEFAULT);
	} while (stop == SG_GO && n);
	*budget = n;
	return stop;
}

enum sg_stop sg_wave_run(struct sg_wave *w, uint64_t budget)
{
	uint64_t left = budget;
	enum sg_stop stop;

	do {
		bool plain = (w->mode & SG_MODE_FP_MASK) == SG_MODE_FP_DEFAULT &&
			     !(w->mode & (SG_MODE_GPR_IDX_EN | SG_MODE_VSKIP));

		stop = plain ? run_fast(w, &left) : run_slow(w, &left);
	} while (stop == SG_STOP_MODE && left);
	w->n_instructions += budget - left;
	return stop == SG_GO || stop == SG_STOP_MODE ? SG_STOP_BUDGET : stop;
}
