/* Accesses that end a wave, and waves that wait for each other. */
#include <stdio.h>
#include <string.h>

#include "softgpu/exec/gws.h"
#include "tests/isa/memory/world.h"

#define LOAD_DWORD 0x14u
#define STORE_DWORD 0x1cu
#define ATOMIC_ADD 0x42u
#define SEG_FLAT 0u
#define SEG_GLOBAL 2u

static void flat(uint32_t words[2], uint32_t op, uint32_t seg)
{
	words[0] = 0x37u << 26 | op << 18 | seg << 14;
	words[1] = 2 | 8u << 8 | (seg ? 0x7fu << 16 : 0) | 16u << 24;
}

static void point(struct world *w, unsigned lane, uint64_t addr)
{
	w->step.vgpr[2][lane] = (uint32_t)addr;
	w->step.vgpr[3][lane] = (uint32_t)(addr >> 32);
}

static void expect_fault(struct world *w, uint32_t op, uint32_t seg, const char *what, uint64_t bad,
			 enum sg_fault_kind kind)
{
	bool write = op != LOAD_DWORD;
	uint32_t words[2];

	for (unsigned full = 0; full < 2; full++) {
		world_reset(w, 0);
		for (unsigned l = 0; l < 64; l++)
			point(w, l, MEM_AT + 4096 + 4 * l);
		point(w, 17, bad);
		if (!full) { /* lane 5 is off: its address does not count */
			w->step.sgpr[126] = ~(1u << 5);
			point(w, 5, 0xdead0000);
		}
		world_fork(w);
		w->expect.fault.kind = kind;
		flat(words, op, seg);
		sg_step_run(w->target, words, 2, &w->step);
		if (w->step.fault.kind != kind || w->step.fault.address != bad ||
		    w->step.fault.write != write) {
			char why[120];

			snprintf(why, sizeof(why), "fault %d at %llx write %d", w->step.fault.kind,
				 (unsigned long long)w->step.fault.address, w->step.fault.write);
			world_fail(w, what, why);
		}
	}
}

static uint64_t pinned_at, pinned_bytes;

static bool pinned(void *ctx, uint64_t addr, uint64_t size)
{
	++*(int *)ctx;
	return addr >= pinned_at && addr + size <= pinned_at + pinned_bytes;
}

/* Memory outside of the aperture that the map allows, and one question for a whole wave. */
static void test_pinned(struct world *w)
{
	int n_questions = 0;
	uint32_t words[2];

	for (unsigned turn = 0; turn < 64; turn += 63) {
		world_reset(w, 0);
		w->map.end = MEM_AT + 4096;
		w->map.reachable = pinned;
		w->map.ctx = &n_questions;
		n_questions = 0;
		pinned_at = MEM_AT + 8192;
		pinned_bytes = 1024;
		for (unsigned l = 0; l < 64; l++)
			point(w, l, pinned_at + 4 * (l * (turn | 1) % 64));
		world_fork(w);
		for (unsigned l = 0; l < 64; l++)
			memcpy(&w->expect.vgpr[16][l], w->mem + 8192 + 4 * (l * (turn | 1) % 64),
			       4);
		flat(words, LOAD_DWORD, SEG_GLOBAL);
		world_check(w, words, 2, "pinned memory");
		if (n_questions != 1)
			world_fail(w, "pinned memory", "asked more than once");
		pinned_bytes = 128; /* lanes beyond it fault */
		world_reset(w, 0);
		for (unsigned l = 0; l < 64; l++)
			point(w, l, pinned_at + 4 * l);
		sg_step_run(w->target, words, 2, &w->step);
		if (w->step.fault.kind != SG_FAULT_MEMORY ||
		    w->step.fault.address != pinned_at + 128)
			world_fail(w, "pinned memory", "no fault behind its end");
	}
	w->map.end = MEM_AT + MEM_BYTES;
	w->map.reachable = NULL;
}

void test_faults(struct world *w)
{
	uint64_t below = MEM_AT - 4, above = MEM_AT + MEM_BYTES, across = above - 2;

	expect_fault(w, LOAD_DWORD, SEG_GLOBAL, "load below", below, SG_FAULT_MEMORY);
	expect_fault(w, LOAD_DWORD, SEG_GLOBAL, "load above", above, SG_FAULT_MEMORY);
	expect_fault(w, LOAD_DWORD, SEG_GLOBAL, "load across the end", across, SG_FAULT_MEMORY);
	expect_fault(w, STORE_DWORD, SEG_GLOBAL, "store above", above, SG_FAULT_MEMORY);
	expect_fault(w, STORE_DWORD, SEG_FLAT, "flat store at 0", 0, SG_FAULT_MEMORY);
	expect_fault(w, ATOMIC_ADD, SEG_GLOBAL, "atomic below", below, SG_FAULT_MEMORY);
	expect_fault(w, ATOMIC_ADD, SEG_GLOBAL, "unaligned atomic", MEM_AT + 6, SG_FAULT_MEMORY);
	expect_fault(w, LOAD_DWORD, SEG_FLAT, "behind LDS",
		     (uint64_t)SHARED_HI << 32 | (LDS_BYTES - 2), SG_FAULT_APERTURE);
	expect_fault(w, LOAD_DWORD, SEG_FLAT, "behind private memory",
		     (uint64_t)PRIVATE_HI << 32 | SCRATCH_LANE_BYTES, SG_FAULT_APERTURE);
	test_pinned(w);
}

/* ---- global wave sync, with waves that take turns ---- */

static void check(struct world *w, bool ok, const char *what)
{
	if (!ok)
		world_fail(w, "gws", what);
}

void test_gws(struct world *w)
{
	struct sg_gws *gws = sg_gws_create();
	uint64_t a = 0, b = 0, c = 0;

	sg_gws_do(gws, SG_GWS_INIT, 3, 2, &a); /* three waves meet */
	for (int round = 0; round < 3; round++) {
		check(w, !sg_gws_do(gws, SG_GWS_BARRIER, 3, 2, &a),
		      "first wave passed the barrier");
		check(w, !sg_gws_do(gws, SG_GWS_BARRIER, 3, 2, &a),
		      "first wave passed when it asked again");
		check(w, !sg_gws_do(gws, SG_GWS_BARRIER, 3, 2, &b), "second wave passed");
		check(w, sg_gws_do(gws, SG_GWS_BARRIER, 3, 2, &c), "last wave waited");
		check(w, sg_gws_do(gws, SG_GWS_BARRIER, 3, 2, &b), "second wave still waits");
		check(w, sg_gws_do(gws, SG_GWS_BARRIER, 3, 2, &a), "first wave still waits");
	}
	check(w, !sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &a), "passed an empty semaphore");
	sg_gws_do(gws, SG_GWS_SEMA_V, 4, 0, &b);
	check(w, sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &a), "not released");
	sg_gws_do(gws, SG_GWS_SEMA_BR, 4, 2, &b);
	check(w, sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &a) && sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &c),
	      "bulk release of two");
	check(w,
	      !sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &a) && !sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &c),
	      "a third one passed");
	sg_gws_do(gws, SG_GWS_SEMA_RELEASE_ALL, 4, 0, &b);
	check(w, sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &a) && sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &c),
	      "release of all that wait");
	check(w, !sg_gws_do(gws, SG_GWS_SEMA_P, 4, 0, &b), "a newcomer passed too");
	sg_gws_destroy(gws);
}
