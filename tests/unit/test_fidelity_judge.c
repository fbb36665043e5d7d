/* When a modelled counter is near what was recorded: programs/fidelity/judge.h. */
#include "base/util.h"
#include "programs/fidelity/judge.h"
#include "tests/unit/unit.h"

#include <string.h>

#define MI210 0
#define MI300X 2
#define MI350X 4

struct comparison {
	struct fid_recording rec;
	struct fid_rows rows;
};

/* The files of a recording, and what the kernels print. */
static void compare(struct comparison *c, unsigned chip, const char *pmc, const char *level,
		    const char *printed)
{
	const char *const files[] = { pmc, level };
	struct ws_err err;

	*c = (struct comparison){ .rec.n = WS_ARRAY_LEN(files) + 1 }; /* and time stamps: none */
	for (unsigned k = 0; k < c->rec.n; k++)
		ws_buf_init(&c->rec.text[k], 4096);
	for (size_t k = 0; k < WS_ARRAY_LEN(files); k++)
		ws_buf_add(&c->rec.text[k], files[k]);
	ws_vec_init(&c->rows, 100);
	assert_int_equal(fid_compare(chip, &c->rec, ws_str_from(printed), &c->rows, &err), WS_OK);
}

static void end(struct comparison *c)
{
	fid_recording_fini(&c->rec);
	ws_vec_fini(&c->rows);
}

static enum fid_verdict verdict(struct comparison *c, const char *counter, unsigned dispatch)
{
	ws_vec_each(row, &c->rows)
		if (ws_str_is(row->counter, counter) && row->dispatch == dispatch)
			return fid_judge(&c->rows, row);
	fail_msg("no %s", counter);
	return FID_N_VERDICTS;
}

static void what_is_within_30_percent_is_near(void **state)
{
	struct comparison c;

	compare(&c, MI210, "A,B,C\n100,100,0\n1,1,1\n1,1,1\n", "",
		"vcopy\t0\tA\tmodelled\t-\t130\nvcopy\t0\tB\tmodelled\t-\t69\n"
		"vcopy\t0\tC\tmodelled\t-\t1\n");
	assert_int_equal(verdict(&c, "A", 0), FID_WITHIN);
	assert_int_equal(verdict(&c, "B", 0), FID_OUTSIDE);
	assert_int_equal(verdict(&c, "C", 0), FID_OUTSIDE);
	end(&c);
}

/* The first dispatch does other work than those after it; a second pass of it does the same. */
static void the_spread_is_that_of_the_same_work(void **state)
{
	struct comparison c;

	compare(&c, MI210, "A,P\n1000,1000\n100,1\n400,1\n", "P\n100\n1\n1\n",
		"vcopy\t0\tA\tmodelled\t-\t300\nvcopy\t1\tA\tmodelled\t-\t300\n"
		"vcopy\t2\tA\tmodelled\t-\t75\nvcopy\t0\tP\tmodelled\t-\t500\n");
	assert_int_equal(verdict(&c, "A", 0), FID_OUTSIDE);
	assert_int_equal(verdict(&c, "A", 1), FID_SPREAD);
	assert_int_equal(verdict(&c, "A", 2), FID_SPREAD);
	assert_int_equal(verdict(&c, "P", 0), FID_SPREAD);
	end(&c);
}

static void a_difference_below_1_percent_of_the_units_work_is_small(void **state)
{
	struct comparison c;

	compare(&c, MI210, "TCC_UC_REQ,TCC_CC_REQ,TCC_BUSY\n10,0,1\n1,1,1\n1,1,1\n", "",
		"vcopy\t0\tTCC_UC_REQ\tmodelled\t-\t20\nvcopy\t0\tTCC_CC_REQ\tmodelled\t-\t11\n"
		"vcopy\t0\tTCC_BUSY\tmodelled\t-\t1000\n");
	assert_int_equal(verdict(&c, "TCC_UC_REQ", 0), FID_SMALL);
	assert_int_equal(verdict(&c, "TCC_CC_REQ", 0), FID_OUTSIDE);
	end(&c);
}

/* Only where the window was recorded with different lengths. */
static void a_part_of_the_window_is_compared_as_a_share(void **state)
{
	static const char pmc[] = "GRBM_COUNT,SQ_CYCLES\n1000,4000\n1,1\n1,1\n";
	static const char printed[] = "vcopy\t0\tGRBM_COUNT\tmodelled\t-\t100\n"
				      "vcopy\t0\tSQ_CYCLES\tmodelled\t-\t400\n";
	struct comparison c;

	compare(&c, MI300X, pmc, "", printed);
	assert_int_equal(verdict(&c, "SQ_CYCLES", 0), FID_SHARE);
	assert_int_equal(verdict(&c, "GRBM_COUNT", 0), FID_OUTSIDE);
	end(&c);
	compare(&c, MI210, pmc, "", printed);
	assert_int_equal(verdict(&c, "SQ_CYCLES", 0), FID_OUTSIDE);
	end(&c);
}

static void exceptions_have_a_reason(void **state)
{
	static const char pmc[] = "SPI_RA_RES_STALL_CSN\n104681\n38662\n34855\n";
	static const char printed[] = "vcopy\t0\tSPI_RA_RES_STALL_CSN\tmodelled\t-\t40000\n"
				      "vcopy\t1\tSPI_RA_RES_STALL_CSN\tmodelled\t-\t90000\n";
	struct comparison c;

	compare(&c, MI300X, pmc, "", printed);
	assert_int_equal(verdict(&c, "SPI_RA_RES_STALL_CSN", 0), FID_EXCEPTED);
	assert_non_null(strstr(fid_exception(&c.rows.at[0]), "12 SIMDs"));
	assert_int_equal(verdict(&c, "SPI_RA_RES_STALL_CSN", 1), FID_OUTSIDE);
	end(&c);
	compare(&c, MI350X, pmc, "", printed); /* another part was recorded */
	assert_int_equal(verdict(&c, "SPI_RA_RES_STALL_CSN", 1), FID_EXCEPTED);
	end(&c);
}

/* A counter without a value is not compared, and counts apart. */
static void what_is_not_supported_has_a_reason(void **state)
{
	struct fid_tally tally;
	struct comparison c;

	compare(&c, MI210, "TCC_TAG_STALL,SQ_WAVES\n5,7\n5,7\n5,7\n", "",
		"vcopy\t0\tTCC_TAG_STALL\tunsupported\t-\tnot known\n"
		"vcopy\t0\tSQ_WAVES\texact\t-\t8\n");
	tally = fid_tally(&c.rows);
	assert_int_equal(tally.n_unsupported, 1);
	assert_int_equal(tally.n_modelled, 0);
	assert_int_equal(tally.n_exact, 1);
	assert_int_equal(tally.n_exact_off, 1);
	assert_true(ws_str_is(c.rows.at[0].reason, "not known"));
	end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_within_30_percent_is_near),
		cmocka_unit_test(the_spread_is_that_of_the_same_work),
		cmocka_unit_test(a_difference_below_1_percent_of_the_units_work_is_small),
		cmocka_unit_test(a_part_of_the_window_is_compared_as_a_share),
		cmocka_unit_test(exceptions_have_a_reason),
		cmocka_unit_test(what_is_not_supported_has_a_reason),
	};

	return RUN(tests);
}
