/* Program control: every SOPP row, in a program that shows where execution went. */
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/world.h"

#define MARK1 40 /* set by the instruction behind, and by the one after that */
#define MARK2 41
#define SCC 1u
#define VCC 2u
#define EXEC 4u
#define SG_STEP_IDX_MODE (1u << 27) /* MODE: GPR indexing */

enum outcome {
	GOES_ON,
	JUMPS,
	ENDS,
	HANGS,
	STOPS_ONCE,
	AT_BARRIER,
	TRAPS,
	SENDS,
	INDEX_OFF,
	INDEX_MODE
};

/* clang-format off */
static const struct vector {
	const char *mnemonic;
	uint32_t imm;
	unsigned set;                 /* which of SCC, VCC, EXEC are not zero */
	enum outcome outcome;
} vectors[] = {
	{ "s_nop", 3, 0, GOES_ON },                     { "s_wakeup", 0, 0, GOES_ON },
	{ "s_waitcnt", 0, 0, GOES_ON },                 { "s_setprio", 3, 0, GOES_ON },
	{ "s_icache_inv", 0, 0, GOES_ON },              { "s_ttracedata", 0, 0, GOES_ON },
	{ "s_incperflevel", 1, 0, GOES_ON },            { "s_decperflevel", 1, 0, GOES_ON },
	{ "s_endpgm", 0, 0, ENDS },                     { "s_endpgm_saved", 0, 0, ENDS },
	{ "s_endpgm_ordered_ps_done", 0, 0, ENDS },
	{ "s_branch", 1, 0, JUMPS },                    { "s_branch", 0, EXEC, GOES_ON },
	{ "s_cbranch_scc0", 1, 0, JUMPS },              { "s_cbranch_scc0", 1, SCC, GOES_ON },
	{ "s_cbranch_scc1", 1, SCC, JUMPS },            { "s_cbranch_scc1", 1, VCC | EXEC, GOES_ON },
	{ "s_cbranch_vccz", 1, SCC, JUMPS },            { "s_cbranch_vccz", 1, VCC, GOES_ON },
	{ "s_cbranch_vccnz", 1, VCC, JUMPS },           { "s_cbranch_vccnz", 1, SCC | EXEC, GOES_ON },
	{ "s_cbranch_execz", 1, VCC, JUMPS },           { "s_cbranch_execz", 1, EXEC, GOES_ON },
	{ "s_cbranch_execnz", 1, EXEC, JUMPS },         { "s_cbranch_execnz", 1, SCC | VCC, GOES_ON },
	{ "s_cbranch_cdbgsys", 1, 7, GOES_ON },         { "s_cbranch_cdbguser", 1, 7, GOES_ON },
	{ "s_cbranch_cdbgsys_or_user", 1, 7, GOES_ON }, { "s_cbranch_cdbgsys_and_user", 1, 7, GOES_ON },
	{ "s_barrier", 0, 0, AT_BARRIER },
	{ "s_setkill", 0, 0, GOES_ON },                 { "s_setkill", 1, 0, ENDS },
	{ "s_sethalt", 0, 0, GOES_ON },                 { "s_sethalt", 1, 0, HANGS },
	{ "s_sleep", 2, 0, STOPS_ONCE },
	{ "s_sendmsg", 1, 0, SENDS },                   { "s_sendmsg", 3, 0, GOES_ON },
	{ "s_sendmsghalt", 3, 0, HANGS },
	{ "s_trap", 2, 0, TRAPS },                      { "s_trap", 3, 0, GOES_ON },
	{ "s_set_gpr_idx_off", 0, 0, INDEX_OFF },       { "s_set_gpr_idx_mode", 9, 0, INDEX_MODE },
};
/* clang-format on */

static uint32_t movk(unsigned sdst, unsigned v)
{
	return 0xbu << 28 | sdst << 16 | v;
}

static void note(void *ctx, uint32_t event_id)
{
	*(uint32_t *)ctx = event_id;
}

static void set_pair(struct world *w, unsigned reg, bool on)
{
	w->step.sgpr[reg] = 0;
	w->step.sgpr[reg + 1] = on ? 0x400 : 0; /* the upper half counts too */
}

static void run(struct world *w, const struct vector *v)
{
	uint32_t event = 0;
	struct sg_exec_hooks hooks = { .interrupt = note, .ctx = &event };
	const uint32_t words[] = { 0x17fu << 23 | (uint32_t)w->row->op << 16 | v->imm,
				   movk(MARK1, 1), movk(MARK2, 1) };
	bool stopped = v->outcome == ENDS || v->outcome == HANGS || v->outcome == TRAPS;
	char what[60];

	world_reset(w, 0);
	w->step.hooks = &hooks;
	w->step.scc = v->set & SCC ? 1 : 0;
	set_pair(w, 106, v->set & VCC);
	set_pair(w, 126, v->set & EXEC);
	w->step.sgpr[MARK1] = w->step.sgpr[MARK2] = 0;
	w->step.sgpr[124] = 0xab123456;
	if (v->outcome == INDEX_OFF)
		w->step.mode |= SG_STEP_IDX_MODE;
	world_fork(w);
	w->expect.sgpr[MARK1] = !stopped && v->outcome != JUMPS;
	w->expect.sgpr[MARK2] = !stopped;
	if (v->outcome == TRAPS)
		w->expect.fault.kind = SG_FAULT_TRAP;
	if (v->outcome == INDEX_MODE)
		w->expect.sgpr[124] = 0xab123456 - 0x3000 + (v->imm << 12);
	snprintf(what, sizeof(what), "imm %u, set %u", v->imm, v->set);
	if (!world_check(w, words, 3, what))
		return;
	if (w->step.barriers != (v->outcome == AT_BARRIER))
		world_fail(w, what, "barrier");
	if (v->outcome == HANGS ? w->step.waits < 2 : w->step.waits != (v->outcome == STOPS_ONCE))
		world_fail(w, what, "stops");
	if (event != (v->outcome == SENDS ? 0x123456 : 0))
		world_fail(w, what, "message");
	if (v->outcome == TRAPS && w->step.fault.trap_id != v->imm)
		world_fail(w, what, "trap id");
	if (w->step.mode !=
	    (v->outcome == INDEX_OFF ? w->before.mode & ~SG_STEP_IDX_MODE : w->before.mode))
		world_fail(w, what, "mode");
}

bool test_control_row(struct world *w)
{
	bool found = false;

	for (size_t n = 0; n < sizeof(vectors) / sizeof(*vectors); n++) {
		if (strcmp(vectors[n].mnemonic, w->row->mnemonic))
			continue;
		found = true;
		run(w, &vectors[n]);
	}
	return found;
}
