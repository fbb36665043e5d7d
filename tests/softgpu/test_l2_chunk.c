/*
 * L2 that serves chunks as one (tcc_chunk.h), against the same L2 whose sets are always apart: random requests, small caches.
 */
#include "tests/unit/unit.h"

#include "softgpu/counters/catalogue.h"
#include "softgpu/mem/tcc_chunk.h"

/* The other one. */
#define sg_tcc_serve serve_by_line
#define sg_tcc_write_back write_back_by_line
#define sg_tcc_write_part write_part_by_line
#define sg_tcc_rejoin(tcc, first) ((void)(first))
void serve_by_line(struct sg_tcc *tcc, uint64_t from, uint32_t window);
uint64_t write_back_by_line(struct sg_tcc *tcc, uint64_t time);
uint64_t write_part_by_line(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number,
			    const struct sg_l2_rest *rest, uint8_t state, uint64_t time);
#include "softgpu/mem/tcc.c"
#include "softgpu/mem/tcc_write_back.c"
#undef sg_tcc_serve
#undef sg_tcc_write_back
#undef sg_tcc_write_part

#define WINDOW 100
#define N_WINDOWS 300
#define N_SETS 16
#define LOG 4096 /* answers of a window */

struct l2 {
	struct sg_hw hw;
	struct sg_tcc tcc;
	uint64_t *counters, latency;
	uint32_t n_answers;
	struct {
		uint64_t addr, last, sum;
		struct sg_answers a;
	} log[LOG];
};

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static void answered(void *ctx, const struct sg_request *r, const struct sg_answers *a)
{
	struct l2 *l2 = ctx;

	assert_true(l2->n_answers < LOG);
	l2->log[l2->n_answers].addr = r->addr;
	l2->log[l2->n_answers].last = a->last;
	l2->log[l2->n_answers].sum = a->sum;
	memset(&l2->log[l2->n_answers].a, 0, sizeof(l2->log[0].a));
	memcpy(l2->log[l2->n_answers++].a.times, a->times, (r->n_more + 1u) * sizeof(a->times[0]));
}

static void begin(struct l2 *l2, const struct sg_hw *hw)
{
	uint32_t n = sg_hw_n_channels(hw);

	memset(l2, 0, sizeof(*l2));
	l2->hw = *hw;
	l2->hw.l2_bytes = N_SETS * SG_L2_WAYS * hw->l2_line * hw->n_channels;
	l2->hw.mall_bytes = hw->mall_bytes ? 2 << 20 : 0;
	l2->counters = calloc((size_t)n * SG_N_TCC, sizeof(uint64_t));
	assert_non_null(l2->counters);
	assert_true(sg_tcc_init(&l2->tcc, &l2->hw));
	l2->tcc.answer = answered;
	l2->tcc.ctx = l2;
	sg_tcc_begin(&l2->tcc, 1700, l2->counters, SG_N_TCC);
}

static void end(struct l2 *l2)
{
	sg_tcc_free(&l2->tcc);
	free(l2->counters);
}

static void set_all_apart(struct sg_tcc *tcc)
{
	for (uint32_t k = 0; k < sg_hw_n_channels(tcc->hw); k++)
		for (uint32_t set = 0; set < tcc->n_sets; set += (uint32_t)tcc->in_channel + 1)
			sg_tcc_set_apart(tcc, &tcc->channels[k].sets[set]);
}

/* Of all sets that are the first one of a group, and have lines: how many are not apart. */
static uint32_t n_together(const struct sg_tcc *tcc)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < sg_hw_n_channels(tcc->hw); k++)
		for (uint32_t set = 0; set < tcc->n_sets; set += (uint32_t)tcc->in_channel + 1)
			n += tcc->channels[k].sets[set].group == SG_L2_TOGETHER &&
			     tcc->channels[k].sets[set].clock;
	return n;
}

/* Most are for whole chunks; a part of the lines is accessed again and again. odd: how many of 64 are something else. */
static struct sg_request random_request(const struct sg_hw *hw, uint64_t from, uint32_t odd)
{
	uint32_t chunk = random_below(2) ? random_below(600) : random_below(1 << 14);
	uint32_t of_line = hw->l2_line / 64, what = random_below(64);
	struct sg_request r = { .time = from + random_below(WINDOW + 20),
				.addr = (uint64_t)chunk * SG_CHUNK,
				.bytes = ~0ull,
				.lines = 1,
				.kind = random_below(2) ? SG_REQ_READ : SG_REQ_WRITE,
				.step = (uint16_t)random_below(70) };

	if (r.kind == SG_REQ_READ)
		r.lines = (uint8_t)of_line;
	r.n_more = (uint8_t)(SG_MAX_BURST / r.lines - 1);
	if (what >= odd)
		return r;
	if (what % 4 == 0) { /* a part of the chunk */
		r.n_more = (uint8_t)random_below(r.n_more + 1u);
		r.addr += 64 * r.lines * random_below(SG_MAX_BURST / r.lines - r.n_more);
	} else if (what % 4 == 1) { /* one line, or some bytes of it */
		r.n_more = 0;
		r.lines = 1;
		r.addr += 64 * random_below(SG_MAX_BURST);
		r.bytes = random_below(2) ? ~0ull : 0xffull << random_below(56);
	} else {
		static const uint8_t kinds[] = { SG_REQ_ATOMIC, SG_REQ_SCALAR, SG_REQ_INST,
						 SG_REQ_READ, SG_REQ_WRITE };

		r.kind = kinds[random_below(5)];
		r.n_more = 0;
		r.lines = 1;
		r.addr += 64 * random_below(SG_MAX_BURST);
		r.memory.mtype = (uint8_t)random_below(4);
		r.memory.route = random_below(2) ? SG_ROUTE_OWN : SG_ROUTE_IO;
	}
	return r;
}

static uint64_t sum_of(const struct l2 *l2, uint32_t counter)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < sg_hw_n_channels(&l2->hw); k++)
		sum += l2->counters[k * SG_N_TCC + counter];
	return sum;
}

static void send(struct l2 both[2], uint32_t xcc, struct sg_request r)
{
	bool awaited = random_below(2);

	for (uint32_t k = 0; k < 2; k++) {
		r.source = awaited ? 0 : SG_SOURCE_NONE;
		r.owner = awaited ? NULL : &both[k].latency;
		sg_tcc_send(&both[k].tcc, xcc, &r);
	}
}

/* As a CU of an MI200 reads a chunk after a pause: a line by halves, and the other one. */
static void send_parts(struct l2 both[2], uint32_t xcc, struct sg_request r)
{
	r.addr &= ~(uint64_t)(SG_CHUNK - 1);
	r.kind = SG_REQ_READ;
	r.memory = (struct sg_memory_kind){ 0 };
	r.lines = 1;
	r.n_more = 1;
	send(both, xcc, r);
	if (!random_below(8))
		return;
	r.lines = 2;
	r.n_more = 0;
	r.addr += random_below(8) ? SG_CHUNK / 2 : 0;
	r.time += random_below(8);
	send(both, xcc, r);
}

static void compare(const struct sg_hw *hw, uint32_t odd)
{
	static struct l2 both[2];
	uint32_t n_whole = 0;
	uint64_t time = 0, done[2];

	begin(&both[0], hw);
	begin(&both[1], hw);
	set_all_apart(&both[1].tcc);
	for (uint32_t window = 0; window < N_WINDOWS; window++, time += WINDOW) {
		for (uint32_t n = 4 * sg_hw_n_channels(hw); n; n--) {
			struct sg_request r = random_request(&both[0].hw, time, odd);
			uint32_t xcc = random_below(both[0].hw.n_xcc);

			n_whole += r.n_more + 1u == SG_MAX_BURST / r.lines;
			if (odd && hw->l2_line == 128 && !random_below(8))
				send_parts(both, xcc, r);
			else
				send(both, xcc, r);
		}
		both[0].n_answers = both[1].n_answers = 0;
		sg_tcc_serve(&both[0].tcc, time, WINDOW);
		serve_by_line(&both[1].tcc, time, WINDOW);
		assert_true(both[0].n_answers && both[0].n_answers == both[1].n_answers);
		assert_memory_equal(both[0].log, both[1].log,
				    both[0].n_answers * sizeof(both[0].log[0]));
		assert_true(both[0].latency == both[1].latency);
		assert_true(both[0].tcc.n_unawaited == both[1].tcc.n_unawaited);
	}
	assert_true(n_whole > 10000 && both[0].tcc.n_unawaited > 10000);
	if (!odd)
		assert_true(n_together(&both[0].tcc) > sg_hw_n_channels(hw));
	assert_int_equal(n_together(&both[1].tcc), 0);
	done[0] = sg_tcc_write_back(&both[0].tcc, time);
	done[1] = write_back_by_line(&both[1].tcc, time);
	assert_true(done[0] == done[1] && done[0] > time);
	for (uint32_t k = 0; k < 2; k++)
		sg_tcc_finish(&both[k].tcc);
	assert_memory_equal(both[0].counters, both[1].counters,
			    (size_t)sg_hw_n_channels(hw) * SG_N_TCC * sizeof(uint64_t));
	assert_true(sum_of(&both[0], SG_C_TCC_NORMAL_EVICT) > 10000);
	assert_true(sum_of(&both[0], SG_C_TCC_NORMAL_WRITEBACK) > 5000);
	assert_true(sum_of(&both[0], SG_C_TCC_HIT) > 5000);
	end(&both[0]);
	end(&both[1]);
}

/* By GPU; with none, few and many requests that set groups apart. */
static void chunks_are_served_like_lines(void **state)
{
	static const struct sg_hw *const gpus[] = { &sg_hw_mi100, &sg_hw_mi210, &sg_hw_mi300x };
	static const uint32_t odd[] = { 0, 1, 3, 16 };

	for (uint32_t k = 0; k < 12; k++) {
		seed = 0x9e3779b97f4a7c15 + k;
		compare(gpus[k / 4], odd[k % 4]);
	}
}

/* ---- spreads ---- */

#define MAX_CUS 200

/* Up to 31 others, anywhere in the first megabytes; some of them in the chunk of another one. */
static void send_spread(struct l2 both[2], uint64_t *latencies[2], struct sg_request r)
{
	static struct sg_spread_to to[64]
				     [SG_MAX_SPREAD]; /* until the next windows have been served */
	static uint32_t n_sent;
	struct sg_spread_to *at = to[n_sent++ % 64];
	uint32_t n = random_below(SG_MAX_SPREAD), home_at = random_below(n + 1);

	r.memory.route = SG_ROUTE_OWN; /* channels share links */
	r.shape = (uint8_t)sg_burst_shape_of(&r);
	for (uint32_t k = 0; k < n; k++)
		at[k] = (struct sg_spread_to){
			.cu = (uint16_t)random_below(MAX_CUS),
			.by = (int32_t)random_below(1 << 14) - (int32_t)(r.addr / SG_CHUNK),
		};
	for (uint32_t k = 0; k < 2; k++) {
		struct sg_spread *s = sg_tcc_new_spread(&both[k].tcc);

		assert_non_null(s);
		*s = (struct sg_spread){ .r = r,
					 .to = at,
					 .latency = latencies[k],
					 .n = (uint8_t)n,
					 .home_at = (uint8_t)home_at };
		sg_tcc_send_spread(&both[k].tcc, s);
	}
}

/* Of the answers, whichever comes first: channels are served in another order. */
static uint64_t sum_of_answers(const struct l2 *l2)
{
	uint64_t sum = l2->n_answers;

	for (uint32_t k = 0; k < l2->n_answers; k++) {
		uint64_t one = l2->log[k].addr * 0x9e3779b97f4a7c15ull + l2->log[k].last;

		sum += (one ^ one >> 29) * (l2->log[k].sum | 1);
	}
	return sum;
}

/* As bursts in the inboxes of channels are. Some windows have other requests, too, before, between and behind spreads. */
static void compare_spreads(const struct sg_hw *hw)
{
	static uint64_t of_cus[2][MAX_CUS * SG_N_TCP];
	uint64_t *latencies[2] = { of_cus[0], of_cus[1] }, time = 0;
	static struct l2 both[2];
	uint32_t n_pure = 0;

	memset(of_cus, 0, sizeof(of_cus));
	begin(&both[0], hw);
	begin(&both[1], hw);
	for (uint32_t window = 0; window < N_WINDOWS; window++, time += WINDOW) {
		bool has_others = window % 8 == 0;

		sg_tcc_mix(&both[1].tcc);
		for (uint32_t n = 16; n; n--) {
			struct sg_request r = random_request(&both[0].hw, time, 3);

			if (window % 8 != 4) /* else some of them stay for the next window */
				r.time = time + (r.time - time) % WINDOW;
			send_spread(both, latencies, r);
			if (has_others && random_below(2))
				send(both, 0, random_request(&both[0].hw, time, 3));
		}
		n_pure += both[0].tcc.n_spreads != 0;
		assert_int_equal(both[1].tcc.n_spreads, 0);
		both[0].n_answers = both[1].n_answers = 0;
		for (uint32_t k = 0; k < 2; k++)
			sg_tcc_serve(&both[k].tcc, time, WINDOW);
		assert_true(sum_of_answers(&both[0]) == sum_of_answers(&both[1]));
		assert_true(both[0].tcc.n_unawaited == both[1].tcc.n_unawaited);
		assert_true(both[0].tcc.last_answer == both[1].tcc.last_answer);
	}
	assert_true(n_pure > N_WINDOWS / 2 && both[0].tcc.n_unawaited > 50000);
	assert_memory_equal(of_cus[0], of_cus[1], sizeof(of_cus[0]));
	for (uint32_t k = 0; k < 2; k++)
		sg_tcc_finish(&both[k].tcc);
	assert_memory_equal(both[0].counters, both[1].counters,
			    (size_t)sg_hw_n_channels(hw) * SG_N_TCC * sizeof(uint64_t));
	assert_true(sum_of(&both[0], SG_C_TCC_HIT) > 5000);
	end(&both[0]);
	end(&both[1]);
}

/* GPUs on which channels have nothing in common: no Infinity Cache, no memory that dies share. */
static void spreads_are_served_like_bursts(void **state)
{
	seed = 0x2545f4914f6cdd1d;
	compare_spreads(&sg_hw_mi100);
	compare_spreads(&sg_hw_mi210);
}

/* ---- groups ---- */

/* Two bursts that read a chunk one after the other leave a group as one burst does. */
static void groups_rejoin(void **state)
{
	static struct l2 l2;
	struct sg_request r = {
		.lines = 1, .n_more = 1, .source = SG_SOURCE_NONE, .owner = &l2.latency
	};
	uint32_t n_apart;

	begin(&l2, &sg_hw_mi210);
	for (uint32_t chunk = 0; chunk < 500; chunk++) {
		r.addr = (uint64_t)chunk * SG_CHUNK;
		sg_tcc_send(&l2.tcc, 0, &r);
	}
	sg_tcc_serve(&l2.tcc, 0, WINDOW);
	assert_int_equal(n_together(&l2.tcc), 0);
	r.time = WINDOW;
	for (uint32_t chunk = 0; chunk < 499; chunk++) {
		r.addr = (uint64_t)chunk * SG_CHUNK + SG_CHUNK / 2;
		sg_tcc_send(&l2.tcc, 0, &r);
	}
	sg_tcc_serve(&l2.tcc, WINDOW, WINDOW);
	n_apart = 0;
	for (uint32_t k = 0; k < sg_hw_n_channels(&l2.hw); k++)
		for (uint32_t set = 0; set < l2.tcc.n_sets; set += 2)
			n_apart += l2.tcc.channels[k].sets[set].group != SG_L2_TOGETHER;
	assert_int_equal(n_apart, 1);
	assert_true(n_together(&l2.tcc) > 100);
	end(&l2);
}

/* The same half of each line is written: the sets are equal, but a request for the chunk would not find all of it. */
static void groups_with_parts_of_lines_stay_apart(void **state)
{
	static struct l2 l2;
	struct sg_request r = { .lines = 1,
				.kind = SG_REQ_WRITE,
				.bytes = ~0ull,
				.source = SG_SOURCE_NONE,
				.owner = &l2.latency };

	begin(&l2, &sg_hw_mi210);
	for (r.addr = 64; r.addr < SG_CHUNK; r.addr += 128, r.time++)
		sg_tcc_send(&l2.tcc, 0, &r);
	sg_tcc_serve(&l2.tcc, 0, WINDOW);
	assert_int_equal(l2.tcc.n_unawaited, 2);
	assert_int_equal(n_together(&l2.tcc), 0);
	end(&l2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_are_served_like_lines),
		cmocka_unit_test(spreads_are_served_like_bursts),
		cmocka_unit_test(groups_rejoin),
		cmocka_unit_test(groups_with_parts_of_lines_stay_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
