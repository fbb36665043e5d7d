/*
 * Any bytes as metric definitions, as rules of findings and as a formula: refused with file and line, or a
 * tree that can be walked and printed, and whose print parses to the same node.
 */
#include "analysis/findings.h"
#include "analysis/metric.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void as_definitions(const char *text)
{
	struct ana_metric_file files[] = { { "fuzz.metrics", text }, { NULL, NULL } };
	struct ana_metrics *metrics;
	struct ws_err err = { WS_OK, "" };

	if (ana_metrics_parse("gfx942", files, &metrics, &err)) {
		CHECK(strncmp(err.text, "fuzz.metrics:", 13) == 0 || err.status == WS_E_LIMIT ||
		      err.status == WS_E_NOMEM);
		return;
	}
	for (size_t b = 0; b < metrics->n_blocks; b++)
		for (size_t t = 0; t < metrics->blocks[b]->n_tables; t++) {
			const struct ana_table *table = metrics->blocks[b]->tables[t];

			for (size_t m = 0; m < table->n_metrics; m++)
				for (size_t h = 0; h < table->n_headers; h++)
					CHECK(table->headers[h].kind == ANA_HEADER_TEXT
						      ? table->metrics[m].cells[h].text != NULL
						      : table->metrics[m].cells[h].expr != NULL);
		}
	ana_metrics_free(metrics);
}

/* After a table that rules can cite. */
static void as_rules(const char *text)
{
	struct ana_metric_file files[] = {
		{ "own.metrics",
		  "block 7 b \"B\"\ntable 7.1 \"T\"\ncolumns = Avg, Unit\n"
		  "[M]\nunit = pct\nlevel = SQ_X\nexpr = SQ_ACCUM_PREV_HIRES / 2\n" },
		{ "fuzz.finding", text },
		{ NULL, NULL }
	};
	struct ana_metrics *metrics;
	struct ws_err err = { WS_OK, "" };

	if (ana_metrics_parse("gfx942", files, &metrics, &err)) {
		CHECK(strncmp(err.text, "fuzz.finding:", 13) == 0 || err.status == WS_E_LIMIT ||
		      err.status == WS_E_NOMEM);
		return;
	}
	for (size_t i = 0; i < metrics->n_rules; i++) {
		const struct ana_rule *rule = &metrics->rules[i];

		CHECK(rule->n_needs && rule->n_values && rule->gain && rule->next);
		for (size_t v = 0; v < rule->n_values; v++)
			CHECK(rule->values[v].expr && rule->values[v].name);
	}
	ana_metrics_free(metrics);
}

static void as_formula(const char *text)
{
	const struct ana_expr *expr, *again;
	struct ana_expr_pool pool;
	struct ws_arena arena;
	struct ws_buf shown;
	struct ws_err err = { WS_OK, "" };

	ws_arena_init(&arena, 64u << 20);
	ana_expr_pool_init(&pool, &arena);
	ws_buf_init(&shown, 1u << 20);
	if (ana_expr_parse(&pool, ws_str_from(text), NULL, &expr, &err) == WS_OK) {
		ana_expr_show(expr, &shown);
		/* A tree may be deeper than the parser nests; then its print is too deep to read. */
		if (!ws_buf_status(&shown, NULL) && expr->depth < 50 &&
		    ana_expr_parse(&pool, ws_buf_view(&shown), NULL, &again, &err) == WS_OK)
			CHECK(again == expr);
	} else {
		CHECK(err.text[0]);
	}
	ws_buf_fini(&shown);
	ana_expr_pool_fini(&pool);
	ws_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	as_definitions(text);
	as_rules(text);
	as_formula(text);
	free(text);
	return 0;
}

#ifndef WS_LIBFUZZER
#include "tests/fuzz/replay.h"
#endif
