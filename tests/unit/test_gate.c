#include "analysis/gate.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

struct fixture {
	struct ws_arena arena;
	struct ana_gates gates;
	struct ws_err err;
};

static enum ws_status parse(struct fixture *f, const char *text)
{
	ws_arena_fini(&f->arena);
	ws_vec_fini(&f->gates);
	ws_arena_init(&f->arena, 1 << 20);
	ws_vec_init(&f->gates, ANA_GATES_MAX);
	f->err = (struct ws_err){ 0 };
	return ana_gate_parse(text, &f->arena, &f->gates, &f->err);
}

static void done(struct fixture *f)
{
	ws_arena_fini(&f->arena);
	ws_vec_fini(&f->gates);
}

static void a_condition_has_subject_operator_and_limit(void **state)
{
	static const struct {
		const char *text, *kernel, *what;
		enum ana_gate_op op;
		double limit;
		bool percent;
		double time_ns;
	} cases[] = {
		{ "duration>5%", NULL, "duration", ANA_GATE_GT, 5, true, 0 },
		{ " 2.1.14 <= -3.5 % ", NULL, "2.1.14", ANA_GATE_LE, -3.5, true, 0 },
		{ "vecCopy:duration>20us", "vecCopy", "duration", ANA_GATE_GT, 20, false, 1e3 },
		{ "SQ_WAVES>=1e6", NULL, "SQ_WAVES", ANA_GATE_GE, 1e6, false, 0 },
		{ "VALU Utilization<10", NULL, "VALU Utilization", ANA_GATE_LT, 10, false, 0 },
		{ "at::native::fill:duration>1ms", "at::native::fill", "duration", ANA_GATE_GT, 1,
		  false, 1e6 },
		{ "\"foo<4, float>(int)\":IPC<-1%", "foo<4, float>(int)", "IPC", ANA_GATE_LT, -1,
		  true, 0 },
		{ "foo<float>(int):duration>1s", "foo<float>(int)", "duration", ANA_GATE_GT, 1,
		  false, 1e9 },
		{ "a*b?:x>0", "a*b?", "x", ANA_GATE_GT, 0, false, 0 },
	};
	struct fixture f = { 0 };

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		assert_int_equal(parse(&f, cases[i].text), WS_OK);
		assert_int_equal(f.gates.n, 1);
		assert_string_equal(f.gates.at[0].what, cases[i].what);
		if (cases[i].kernel)
			assert_string_equal(f.gates.at[0].kernel, cases[i].kernel);
		else
			assert_null(f.gates.at[0].kernel);
		assert_int_equal(f.gates.at[0].op, cases[i].op);
		assert_float_equal(f.gates.at[0].limit, cases[i].limit, 0);
		assert_int_equal(f.gates.at[0].percent, cases[i].percent);
		assert_float_equal(f.gates.at[0].time_ns, cases[i].time_ns, 0);
	}
	done(&f);
}

static void commas_separate_conditions(void **state)
{
	struct fixture f = { 0 };

	assert_int_equal(parse(&f, "duration>5%, \"a,b\":IPC<-1%,SQ_WAVES>0%"), WS_OK);
	assert_int_equal(f.gates.n, 3);
	assert_string_equal(f.gates.at[1].kernel, "a,b");
	assert_string_equal(f.gates.at[1].text, "\"a,b\":IPC<-1%");
	assert_string_equal(f.gates.at[2].what, "SQ_WAVES");
	done(&f);
}

static void what_is_no_condition_is_refused_by_name(void **state)
{
	static const char *const wrong[] = {
		"",
		"duration",
		"duration>",
		"duration>x%",
		">5%",
		"k:>5%",
		":duration>5%",
		"duration=5%",
		"duration>5%,",
		"duration>5 %%",
		"\"k:d>5%",
		"\"k\"d>5%",
		"duration>1e999",
		"duration>nan%",
		"duration>--5%",
		"duration>5%5",
	};
	struct fixture f = { 0 };

	for (size_t i = 0; i < WS_ARRAY_LEN(wrong); i++) {
		assert_int_equal(parse(&f, wrong[i]), WS_E_USAGE);
		assert_true(strlen(f.err.text) > 20);
	}
	done(&f);
}

static void names_match_in_full_by_pattern_or_by_part(void **state)
{
	struct ana_gate gate = { .kernel = "vecCopy" };

	assert_true(ana_gate_names(&gate, "vecCopy(double*, int) [clone .kd]"));
	assert_false(ana_gate_names(&gate, "vecAdd"));
	gate.kernel = "vec*[clone .kd]";
	assert_true(ana_gate_names(&gate, "vecCopy(double*, int) [clone .kd]"));
	assert_false(ana_gate_names(&gate, "vecCopy(double*, int)"));
	gate.kernel = "vec????";
	assert_true(ana_gate_names(&gate, "vecCopy"));
	assert_false(ana_gate_names(&gate, "vecCopy2"));
	gate.kernel = NULL;
	assert_true(ana_gate_names(&gate, "anything"));
}

static void limits_are_exclusive_unless_they_say_equal(void **state)
{
	struct ana_gate gate = { .op = ANA_GATE_GT, .limit = 5 };

	assert_false(ana_gate_fails(&gate, 5));
	assert_true(ana_gate_fails(&gate, 5.001));
	assert_false(ana_gate_fails(&gate, NAN));
	gate.op = ANA_GATE_GE;
	assert_true(ana_gate_fails(&gate, 5));
	gate.op = ANA_GATE_LT;
	assert_false(ana_gate_fails(&gate, 5));
	assert_true(ana_gate_fails(&gate, -7));
	gate.op = ANA_GATE_LE;
	assert_true(ana_gate_fails(&gate, 5));
}

static void running_out_of_memory_is_an_error(void **state)
{
	struct fixture f = { 0 };

	FOR_EACH_FAILING_ALLOCATION(n)
	{
		enum ws_status st = parse(&f, "k:duration>5%,2.1.1<3");

		if (allocation_failed())
			assert_int_equal(st, WS_E_NOMEM);
		else
			assert_int_equal(st, WS_OK);
	}
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_has_subject_operator_and_limit),
		cmocka_unit_test(commas_separate_conditions),
		cmocka_unit_test(what_is_no_condition_is_refused_by_name),
		cmocka_unit_test(names_match_in_full_by_pattern_or_by_part),
		cmocka_unit_test(limits_are_exclusive_unless_they_say_equal),
		cmocka_unit_test(running_out_of_memory_is_an_error),
	};

	return RUN(tests);
}
