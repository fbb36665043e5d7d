/* PC samples of ROCr: which dispatch they are of, and what their registers say. */
#include "collector/collector_priv.h"
#include "collector/count/samples_record.h"
#include "collector/hsa/pcs.h"
#include "collector/hsa/pcs_abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- the core, as far as these use it ---- */

static uint64_t now_ns;
static bool stochastic;
__thread struct col_thread col_thread_self_;

uint64_t col_now_ns(void)
{
	return now_ns;
}

void *col_pages(size_t n_bytes)
{
	return calloc(1, n_bytes);
}

void col_pages_free(void *pages, size_t n_bytes)
{
	free(pages);
}

void col_lock(struct col_lock *lock)
{
}

void col_unlock(struct col_lock *lock)
{
}

bool col_asked(enum col_service service)
{
	return stochastic == (service == COL_SERVICE_PC_STOCHASTIC);
}

struct col_thread *col_thread_meet_(struct col_thread *t)
{
	return NULL;
}

/* ---- dispatches ---- */

#define AGENT 2u
#define RING 64u

static void submit(uint64_t at_ns, uint64_t doorbell, uint64_t packet, uint64_t id)
{
	struct cap_rec_dispatch dispatch = { .h = { .what = (uint32_t)id + 100 },
					     .dispatch_id = id,
					     .corr_id = id + 1000,
					     .external_id = id + 2000 };

	now_ns = at_ns;
	assert_true(col_pcs_put(AGENT, doorbell, packet, RING, id ? &dispatch : NULL));
}

/* The dispatch of a sample; 0: none that is recorded. */
static uint64_t find(uint64_t at_ns, uint64_t doorbell, uint64_t packet)
{
	struct col_pcs_sample sample = { .time_ns = at_ns, .correlation = doorbell << 32 | packet };
	struct cap_rec_dispatch dispatch = { 0 };

	if (!col_pcs_get(AGENT, &sample, &dispatch))
		return 0;
	assert_int_equal(dispatch.h.what, dispatch.dispatch_id + 100);
	assert_int_equal(dispatch.corr_id, dispatch.dispatch_id + 1000);
	assert_int_equal(dispatch.external_id, dispatch.dispatch_id + 2000);
	assert_int_equal(dispatch.agent, AGENT);
	return dispatch.dispatch_id;
}

#define MS 1000000ull

static void place_and_time_name_the_dispatch(void **state)
{
	submit(1 * MS, 5, 3, 1);
	submit(2 * MS, 5, 4, 2);
	submit(3 * MS, 6, 3, 3);             /* another queue */
	submit(10 * MS, 5, 3 + RING, 4);     /* the first place again */
	submit(20 * MS, 5, 3 + 2 * RING, 0); /* and again, not selected */
	assert_int_equal(find(5 * MS, 5, 3), 1);
	assert_int_equal(find(5 * MS, 5, 4), 2);
	assert_int_equal(find(5 * MS, 6, 3), 3);
	assert_int_equal(find(15 * MS, 5, 3), 4);
	assert_int_equal(find(25 * MS, 5, 3), 0);
	assert_int_equal(find(25 * MS, 5, 4), 2);
	/* clocks that were compared are a little off */
	assert_int_equal(find(10 * MS - 20000, 5, 3), 4);
}

static void what_nobody_submitted_is_not_found(void **state)
{
	struct col_pcs_sample sample = { .time_ns = 5 * MS, .correlation = 5ull << 32 | 3 };
	struct cap_rec_dispatch dispatch;

	assert_int_equal(find(5 * MS, 5, 7), 0);        /* an empty place */
	assert_int_equal(find(5 * MS, 5, RING + 3), 0); /* not in the ring */
	assert_int_equal(find(5 * MS, 9, 3), 0);        /* no such queue */
	assert_int_equal(find(MS / 2, 5, 3), 0);        /* before all of them */
	assert_false(col_pcs_get(AGENT + 1, &sample, &dispatch));
	assert_false(col_pcs_get(1000, &sample, &dispatch));
	assert_false(col_pcs_put(1000, 5, 3, RING, NULL));
	assert_false(col_pcs_put(AGENT, 1024, 3, RING, NULL));
	assert_false(col_pcs_put(AGENT, 5, 3, 0, NULL));
}

static void queue_of_another_size_replaces_the_first(void **state)
{
	now_ns = 30 * MS;
	assert_true(col_pcs_put(AGENT, 6, 2 * RING - 1, 2 * RING, NULL));
	assert_int_equal(find(40 * MS, 6, 3), 0);
}

/* ---- registers, in the bits of AMD's gfx9 ---- */

static const struct cap_rec_dispatch some = { .h = { .what = 7 },
					      .dispatch_id = 9,
					      .agent = AGENT };

static struct cap_rec_pc_sample record(const struct col_sample *sample)
{
	struct cap_rec_code_object code = {
		.h = { .what = 33 }, .load_base = 0x10000, .load_size = 0x1000, .load_delta = 0xf000
	};
	struct cap_rec_pc_sample rec = { 0 };

	col_sample_fill(&rec, sample, &some, &code);
	return rec;
}

static void place_of_the_wave(void **state)
{
	struct col_sample sample = {
		.pc = 0x10010,
		.wave = 3,
		.xcc_id = 5,
		/* me 2, queue 6, vm 9, group 12, se 5, sh 1, cu 10, pipe 2, simd 3, wave 7 */
		.hw_id = 2u << 30 | 6 << 24 | 9 << 20 | 12 << 16 | 5 << 13 | 1 << 12 | 10 << 8 |
			 2 << 6 | 3 << 4 | 7
	};
	struct cap_rec_pc_sample rec;

	stochastic = false;
	rec = record(&sample);
	assert_int_equal(rec.code_object, 33);
	assert_int_equal(rec.offset, 0x1010);
	assert_int_equal(rec.dispatch_id, 9);
	assert_int_equal(rec.wave_in_group, 3);
	assert_int_equal(rec.chiplet, 5);
	assert_int_equal(rec.microengine_id, 2);
	assert_int_equal(rec.queue_id, 6);
	assert_int_equal(rec.vm_id, 9);
	assert_int_equal(rec.hw_workgroup_id, 12);
	assert_int_equal(rec.shader_engine_id, 5);
	assert_int_equal(rec.shader_array_id, 1);
	assert_int_equal(rec.cu_or_wgp_id, 10);
	assert_int_equal(rec.pipe_id, 2);
	assert_int_equal(rec.simd_id, 3);
	assert_int_equal(rec.wave_id, 7);
	assert_int_equal(rec.h.what & CAP_PC_STOCHASTIC, 0);
	sample.pc = 0x20000; /* of other code */
	rec = record(&sample);
	assert_int_equal(rec.code_object, 0);
	assert_int_equal(rec.offset, 0x20000);
}

static void snapshot_of_the_arbiter(void **state)
{
	/* valid, issued, type 4 (LDS); issue: LDS and VALU; stall: flat; 21 waves */
	struct col_sample sample = { .snapshot = 1 | 1 << 1 | 4 << 3 | (1 << 3 | 1 << 7) << 10 |
						 1 << (18 + 2),
				     .snapshot1 = 21 };
	struct cap_rec_pc_sample rec;

	stochastic = true;
	assert_true(col_sample_is_valid(&sample));
	rec = record(&sample);
	assert_true(rec.h.what & CAP_PC_STOCHASTIC);
	assert_true(rec.wave_issued);
	assert_int_equal(rec.inst_type, 5);          /* AMD's number of LDS */
	assert_int_equal(rec.arb_issue, 1 << 2 | 1); /* LDS, VALU in the record */
	assert_int_equal(rec.arb_stall, 1 << 6);     /* flat */
	assert_int_equal(rec.stall_reason, 0);
	assert_int_equal(rec.wave_count, 21);
	/* not issued, for reason 5: the arbiter chose another wave */
	sample.snapshot = 1 | 5 << 7;
	rec = record(&sample);
	assert_false(rec.wave_issued);
	assert_int_equal(rec.stall_reason, 6);
	sample.snapshot = 1 | 1u << 26; /* an error */
	assert_false(col_sample_is_valid(&sample));
	sample.snapshot = 0;
	assert_false(col_sample_is_valid(&sample));
	stochastic = false;
	assert_true(col_sample_is_valid(&sample));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(place_and_time_name_the_dispatch),
		cmocka_unit_test(what_nobody_submitted_is_not_found),
		cmocka_unit_test(queue_of_another_size_replaces_the_first),
		cmocka_unit_test(place_of_the_wave),
		cmocka_unit_test(snapshot_of_the_arbiter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
