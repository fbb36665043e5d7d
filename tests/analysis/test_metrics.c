/* Metric definitions: every metric on every architecture, and the formulas it expands to. */
#include "analysis/eval.h"
#include "analysis/metric.h"
#include "base/map.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct ana_metrics *load(const char *arch)
{
	struct ana_metrics *metrics = NULL;
	struct ws_err err = { WS_OK, "" };

	if (ana_metrics_load(arch, NULL, &metrics, &err))
		fail_msg("%s: %s", arch, err.text);
	return metrics;
}

/* Line by line: id, column, formula, unit, pass. Text columns come first, as in the original. */
static void write_table(const struct ana_table *table, struct ws_buf *to)
{
	for (size_t m = 0; m < table->n_metrics; m++)
		for (size_t h = 0; h < table->n_headers; h++) {
			const struct ana_metric *metric = &table->metrics[m];
			const struct ana_header *header = &table->headers[h];

			if (strncmp(header->name, "Unit", 4) == 0)
				continue;
			ws_buf_printf(to, "%u.%u.%zu|%s|", table->block, table->index, m,
				      header->name);
			if (header->kind == ANA_HEADER_TEXT)
				ws_buf_add(to, metric->cells[h].text);
			else
				ana_expr_print(metric->cells[h].expr, to);
			ws_buf_printf(to, "|%s|%s\n", metric->unit,
				      metric->coll_level ? metric->coll_level : "pmc_perf");
		}
}

static uint64_t fnv(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

static void definitions_expand_to_the_known_formulas(void **state)
{
	FILE *expect = fopen(EXPECT_FILE, "r");
	struct ana_metrics *metrics = NULL;
	unsigned n_tables = 0, n_wrong = 0;
	char line[200];

	assert_non_null(expect);
	while (fgets(line, sizeof(line), expect)) {
		const struct ana_table *table;
		unsigned block, index, n_metrics;
		unsigned long long hash;
		struct ws_buf text;
		char arch[16];

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%15s %u.%u %u %llx", arch, &block, &index,
					&n_metrics, &hash),
				 5);
		if (!metrics || strcmp(metrics->arch, arch) != 0) {
			ana_metrics_free(metrics);
			metrics = load(arch);
		}
		table = ana_table_find(metrics, block, index);
		if (!table)
			fail_msg("%s has no table %u.%u", arch, block, index);
		assert_int_equal(table->n_metrics, n_metrics);
		ws_buf_init(&text, 1 << 20);
		write_table(table, &text);
		if (fnv(text.at) != hash) {
			print_error("%s table %u.%u expands to other formulas, hash %llx:\n%s\n",
				    arch, block, index, (unsigned long long)fnv(text.at), text.at);
			n_wrong++;
		}
		ws_buf_fini(&text);
		n_tables++;
	}
	fclose(expect);
	ana_metrics_free(metrics);
	assert_int_equal(n_wrong, 0);
	assert_true(n_tables > 250);
}

static void every_metric_is_explained(void **state)
{
	for (size_t a = 0; ana_metric_archs[a]; a++) {
		struct ana_metrics *metrics = load(ana_metric_archs[a]);

		for (size_t b = 0; b < metrics->n_blocks; b++)
			for (size_t t = 0; t < metrics->blocks[b]->n_tables; t++) {
				const struct ana_table *table = metrics->blocks[b]->tables[t];

				for (size_t m = 0; m < table->n_metrics; m++)
					if (strlen(table->metrics[m].help) < 6)
						fail_msg("%s: %u.%u.%zu %s has no explanation",
							 metrics->arch, table->block, table->index,
							 m, table->metrics[m].name);
			}
		ana_metrics_free(metrics);
	}
}

static void wrong(const char *text, const char *message)
{
	struct ana_metric_file files[] = { { "bad.metrics", text }, { NULL, NULL } };
	struct ana_metrics *metrics = NULL;
	struct ws_err err = { WS_OK, "" };

	if (ana_metrics_parse("gfx90a", files, &metrics, &err) == WS_OK) {
		ana_metrics_free(metrics);
		fail_msg("accepted: %s", text);
	}
	if (!strstr(err.text, message))
		fail_msg("'%s' does not say '%s'", err.text, message);
}

#define HEAD "block 2 sol \"S\"\ntable 2.1 \"T\"\ncolumns = Avg, Peak, Unit\n"

static void mistakes_name_file_line_and_token(void **state)
{
	wrong("blok 2\n", "bad.metrics:1: neither 'key = value'");
	wrong("block x sol \"S\"\n", "bad.metrics:1: not a block number: 'x'");
	wrong("block 2 sol S\n", "bad.metrics:1: a title in double quotes");
	wrong("set a \"A\"\nset a \"B\"\n", "bad.metrics:2: set a is defined twice");
	wrong("metric 2.1 \"M\"\n", "bad.metrics:1: 'metric' without a set before it");
	wrong("set a \"A\"\nmetric x \"M\"\n", "bad.metrics:2: not a table number: 'x'");
	wrong("block 2 sol \"S\"\nblock 2 sol \"S\"\n", "bad.metrics:2: block 2 is defined twice");
	wrong("block 2 sol \"S\"\ntable 3.1 \"T\"\n", "bad.metrics:2: table 3.1 stands outside");
	wrong("block 2 sol \"S\"\ntable 2.1 \"T\"\nkind = chart\n",
	      "bad.metrics:3: unknown kind 'chart'");
	wrong("block 2 sol \"S\"\ntable 2.1 \"T\"\ncolour = red\n",
	      "bad.metrics:3: unknown key 'colour'");
	wrong("[A]\n", "bad.metrics:1: a metric outside a table");
	wrong("expr = 1\n", "bad.metrics:1: 'expr' belongs to a table or metric");
	wrong(HEAD "[A]\nexprr = 1\n", "bad.metrics:5: unknown key 'exprr'");
	wrong(HEAD "[A]\nexpr = 1\n", "bad.metrics:4: metric 'A' has no value for column 'Peak'");
	wrong(HEAD "[A] when gfx91\nexpr = 1\n", "bad.metrics:4: unknown architecture 'gfx91'");
	wrong(HEAD "[A] if\n", "bad.metrics:4: only 'when ARCH...' may follow");
	wrong(HEAD "[A]\npeak = 1\nexpr =\n\tSQ_WAVES / (2\n",
	      "bad.metrics:6: ')' expected at the end");
	wrong(HEAD "[A]\npeak = 1\nexpr = AVGG(X)\n",
	      "bad.metrics:6: unknown function at column 1: 'AVGG'");
	wrong(HEAD "[A]\npeak = 1\nexpr = X * nothing\n", "unknown name 'nothing'");
	wrong(HEAD "[A]\npeak = 1\nexpr = X ? 1\n", "unexpected text at column 3: '?'");
	wrong(HEAD "[A]\npeak = 1\nexpr = QUANTILE(X)\n", "wrong number of arguments");
	wrong("let a b = 1\n", "bad.metrics:1: 'let' requires one name: 'a b'");
}

static void guards_choose_by_architecture(void **state)
{
	static const char text[] = "let x = 1\nlet x when gfx94x = 2\nlet x when gfx950 = 3\n" HEAD
				   "[old] when gfx908 gfx90a\nexpr = x\npeak = 7\n"
				   "[new] when gfx940+\nexpr = x\npeak = 7\npeak when gfx950 = 8\n";
	static const char *const expect[][3] = {
		{ "gfx908", "old", "1 7" },
		{ "gfx942", "new", "2 7" },
		{ "gfx950", "new", "3 8" },
	};

	for (size_t i = 0; i < 3; i++) {
		struct ana_metric_file files[] = { { "t.metrics", text }, { NULL, NULL } };
		const struct ana_metric *metric;
		struct ana_metrics *metrics;
		struct ws_err err;
		char shown[32];

		assert_int_equal(ana_metrics_parse(expect[i][0], files, &metrics, &err), WS_OK);
		metric = ana_metric_find(metrics, 2, 1, 0);
		assert_non_null(metric);
		assert_null(ana_metric_find(metrics, 2, 1, 1));
		assert_string_equal(metric->name, expect[i][1]);
		snprintf(shown, sizeof(shown), "%g %g", metric->cells[0].expr->args[0]->number,
			 metric->cells[1].expr->number);
		assert_string_equal(shown, expect[i][2]);
		ana_metrics_free(metrics);
	}
}

static void ids_and_aliases_are_understood(void **state)
{
	struct ana_metrics *metrics = load("gfx90a");
	struct ana_metric_id id;

	assert_true(ana_metric_id_parse(metrics, "12", &id));
	assert_true(id.block == 12 && id.table == -1 && id.index == -1);
	assert_true(ana_metric_id_parse(metrics, "lds.1", &id));
	assert_true(id.block == 12 && id.table == 1);
	assert_true(ana_metric_id_parse(metrics, "17.3.2", &id));
	assert_true(id.block == 17 && id.table == 3 && id.index == 2);
	assert_false(ana_metric_id_parse(metrics, "", &id));
	assert_false(ana_metric_id_parse(metrics, "SQ", &id));
	assert_false(ana_metric_id_parse(metrics, "1.2.3.4", &id));
	assert_false(ana_metric_id_parse(metrics, "1.x", &id));
	ana_metrics_free(metrics);
}

static void no_memory_is_an_error_not_a_crash(void **state)
{
	static const char text[] = "let x = A + B\nvar v = x * 2\nrename Q = R\n" HEAD
				   "[m]\nexpr = x / Q1\npeak = MAX(1, $v)\nunit = pct\nhelp = h\n";
	struct ana_metric_file files[] = { { "t.metrics", text }, { NULL, NULL } };

	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ana_metrics *metrics = NULL;
		struct ws_err err = { WS_OK, "" };

		if (ana_metrics_parse("gfx90a", files, &metrics, &err) == WS_OK) {
			assert_non_null(ana_metric_find(metrics, 2, 1, 0));
			ana_metrics_free(metrics);
		} else {
			assert_true(err.text[0]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions_expand_to_the_known_formulas),
		cmocka_unit_test(every_metric_is_explained),
		cmocka_unit_test(mistakes_name_file_line_and_token),
		cmocka_unit_test(guards_choose_by_architecture),
		cmocka_unit_test(ids_and_aliases_are_understood),
		cmocka_unit_test(no_memory_is_an_error_not_a_crash),
	};

	return RUN(tests);
}
