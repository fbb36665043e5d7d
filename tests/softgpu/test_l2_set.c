/* A set of L2, against one that is looked through way by way and whose stamps never run out. */
#include "tests/unit/unit.h"

#include "softgpu/mem/l2_set.h"
#include "softgpu/mem/request.h"

#define WRITE_AGE 13
#define N_STEPS 200000

struct plain_set {
	uint64_t tags[SG_L2_WAYS], stamps[SG_L2_WAYS], n_fills;
	bool dirty[SG_L2_WAYS];
};

static uint32_t random_below(uint32_t n)
{
	static uint64_t s = 0x9e3779b97f4a7c15;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return (uint32_t)(s >> 32) % n;
}

static uint32_t plain_find(const struct plain_set *p, uint64_t number)
{
	uint32_t way = 0;

	while (way < SG_L2_WAYS && p->tags[way] != number + 1)
		way++;
	return way;
}

/* An empty way, or that of the oldest line; dirty: of the dirty ones, SG_L2_WAYS if there is none. */
static uint32_t plain_oldest(const struct plain_set *p, bool dirty)
{
	uint32_t oldest = SG_L2_WAYS;

	for (uint32_t w = 0; w < SG_L2_WAYS; w++)
		if (!dirty && !p->tags[w])
			return w;
	for (uint32_t w = 0; w < SG_L2_WAYS; w++)
		if ((!dirty || p->dirty[w]) &&
		    (oldest == SG_L2_WAYS || p->stamps[w] < p->stamps[oldest]))
			oldest = w;
	return oldest;
}

static void access_line(struct sg_l2_set *set, struct plain_set *p, uint64_t number, bool write)
{
	uint32_t way = sg_l2_find(set, number, sg_l2_hash(number));

	assert_int_equal(way, plain_find(p, number));
	if (way == SG_L2_WAYS) {
		way = sg_ways_least(set->stamps);
		assert_int_equal(way, plain_oldest(p, false));
		sg_l2_allocate(set, way, number, sg_l2_hash(number), 0);
		p->tags[way] = number + 1;
		p->dirty[way] = false;
		p->n_fills++;
	}
	set->stamps[way] = (uint8_t)(set->clock + (write ? 0 : WRITE_AGE));
	p->stamps[way] = p->n_fills + (write ? 0 : WRITE_AGE);
	if (write) {
		set->states[way] |= SG_L2_DIRTY;
		p->dirty[way] = true;
	}
}

static void forget(struct sg_l2_set *set, struct plain_set *p, uint64_t number)
{
	uint32_t way = sg_l2_find(set, number, sg_l2_hash(number));

	assert_int_equal(way, plain_find(p, number));
	if (way == SG_L2_WAYS)
		return;
	sg_l2_forget(set, way);
	p->tags[way] = 0;
	p->dirty[way] = false;
}

static void compare_dirty(const struct sg_l2_set *set, const struct plain_set *p)
{
	uint32_t dirty = 0;

	for (uint32_t w = 0; w < SG_L2_WAYS; w++)
		dirty |= (uint32_t)p->dirty[w] << w;
	assert_int_equal(sg_ways_upper(set->states), dirty);
	if (dirty)
		assert_int_equal(sg_ways_least_of(set->stamps, set->states), plain_oldest(p, true));
}

/* Few lines: most hit, and those not used stay old. Many: all are new. Forgotten ones leave others old for long. */
static void the_oldest_line_goes_however_many_fills(void **state)
{
	static const uint32_t n_lines[] = { 12, 20, 40, 100000 };

	for (uint32_t k = 0; k < 4; k++) {
		struct sg_l2_set set = { 0 };
		struct plain_set plain = { 0 };

		for (uint32_t step = 0; step < N_STEPS; step++) {
			uint32_t what = random_below(16);

			if (step % 5000 < 1000) { /* one line comes and goes */
				access_line(&set, &plain, 7, false);
				forget(&set, &plain, 7);
			} else if (what == 0) {
				forget(&set, &plain, random_below(n_lines[k]));
			} else {
				access_line(&set, &plain, random_below(n_lines[k]), what < 6);
			}
			compare_dirty(&set, &plain);
		}
		assert_true(plain.n_fills > 2 * SG_L2_CLOCK);
	}
}

static void lines_of_one_hash_are_told_apart(void **state)
{
	struct sg_l2_set set = { 0 };
	uint64_t numbers[SG_L2_WAYS];
	uint32_t n = 0;

	for (uint64_t number = 0; n < SG_L2_WAYS; number++)
		if (sg_l2_hash(number) == 0) /* as of empty ways */
			numbers[n++] = number;
	for (n = 0; n < SG_L2_WAYS; n++) {
		assert_int_equal(sg_l2_find(&set, numbers[n], 0), SG_L2_WAYS);
		sg_l2_allocate(&set, n, numbers[n], 0, 0);
	}
	for (n = 0; n < SG_L2_WAYS; n++)
		assert_int_equal(sg_l2_find(&set, numbers[n], 0), n);
}

static void lines_of_a_chunk_have_one_hash(void **state)
{
	for (uint64_t n = 0; n < 4096; n++)
		assert_int_equal(sg_l2_hash(n), sg_l2_hash(n - n % SG_MAX_BURST));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_line_goes_however_many_fills),
		cmocka_unit_test(lines_of_one_hash_are_told_apart),
		cmocka_unit_test(lines_of_a_chunk_have_one_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
