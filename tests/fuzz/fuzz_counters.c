/*
 * Any text as an expression and as a definition file: it is refused with a sentence, or it has a value.
 *
 * The first byte chooses: 'e' an expression, compiled and evaluated on two architectures; anything else
 * a definition file, added to a catalogue, from which all of its counters are then planned.
 *
 * With libFuzzer, link with -fsanitize=fuzzer and -DWS_LIBFUZZER. Alone it replays the files named on
 * the command line, and then seeded mutations of them, so that it is a test like any other.
 */
#include "counters/plan.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cnt_catalogue *make(const char *arch)
{
	struct cnt_catalogue *cat;
	struct ws_err err;

	CHECK(cnt_catalogue_create_typical(arch, &cat, &err) == WS_OK);
	return cat;
}

static void try_expression(const struct cnt_catalogue *cat, const char *text)
{
	static double numbers[4096];
	struct ws_err err = { WS_OK, "" };
	const struct cnt_expr_need *needs;
	struct cnt_values *inputs, out;
	struct cnt_expr *expr = NULL;
	struct ws_arena arena;
	size_t n;

	if (cnt_expr_compile(cat, text, &expr, &err)) {
		CHECK(err.text[0] && !expr);
		return;
	}
	for (size_t i = 0; i < 4096; i++)
		numbers[i] = (double)i;
	ws_arena_init(&arena, 256u << 20);
	needs = cnt_expr_needs(expr, &n);
	inputs = calloc(n + 1, sizeof(*inputs));
	for (size_t k = 0; inputs && k < n; k++) {
		CHECK(needs[k].counter->kind == CNT_COUNTER_HARDWARE);
		inputs[k] =
			(struct cnt_values){ .at = numbers,
					     .n = needs[k].form == CNT_FORM_EACH
							  ? cnt_shape_size(&needs[k].counter->shape)
							  : 1 };
	}
	if (inputs && !cnt_expr_eval(expr, inputs, &arena, &out, &err))
		CHECK(out.n <= 1 || out.n == cnt_shape_size(cnt_expr_shape(expr)));
	free(inputs);
	ws_arena_fini(&arena);
	cnt_expr_destroy(expr);
}

static void try_definitions(struct ws_str text)
{
	struct cnt_catalogue *cat = make("gfx90a");
	size_t before = cnt_catalogue_n(cat), n_names = 0;
	struct ws_err err = { WS_OK, "" };
	const char *names[64];
	struct cnt_plan *plan;

	if (cnt_catalogue_add_text(cat, "input", text, &err)) {
		CHECK(err.text[0] && cnt_catalogue_n(cat) == before);
	} else {
		for (size_t i = before; i < cnt_catalogue_n(cat) && n_names < 64; i++)
			names[n_names++] = cnt_catalogue_at(cat, i)->name;
		CHECK(cnt_plan_make(cat, &(struct cnt_plan_group){ names, n_names }, 1,
				    CNT_PLAN_POOL | CNT_PLAN_KEEP_GOING, &plan, &err) == WS_OK);
		for (size_t i = 0; i < plan->n_requests; i++)
			CHECK(plan->requests[i].state || plan->requests[i].counter);
		cnt_plan_destroy(plan);
	}
	cnt_catalogue_destroy(cat);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cnt_catalogue *mi200, *mi300;
	char *text;

	if (!mi200) {
		mi200 = make("gfx90a");
		mi300 = make("gfx942");
	}
	if (!size)
		return 0;
	if (data[0] != 'e') {
		try_definitions((struct ws_str){ (const char *)data + 1, size - 1 });
		return 0;
	}
	text = strndup((const char *)data + 1, size - 1);
	if (text) {
		try_expression(mi200, text);
		try_expression(mi300, text);
	}
	free(text);
	return 0;
}

#ifndef WS_LIBFUZZER
#define MAX_INPUT (1 << 16)
#define N_MUTATIONS 300

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Flips, and words of the language in strange places. */
static size_t mutate(uint8_t *data, size_t size, uint64_t *state)
{
	static const char *const words[] = { "reduce(", "select(", "accumulate(", "SQ_WAVES",
					     "TCC_HIT", "[",       "]",           ",sum)",
					     "(",       ")",       "HIGH_RES",    "1e309",
					     "-",       "\n",      "//" };
	const char *word = words[next_random(state) % (sizeof(words) / sizeof(words[0]))];
	size_t at = 1 + next_random(state) % size, n = strlen(word);

	if (next_random(state) % 2 && size + n < MAX_INPUT && at <= size) {
		memmove(data + at + n, data + at, size - at);
		memcpy(data + at, word, n);
		return size + n;
	}
	data[at % size ? at % size : 0] ^= (uint8_t)(1u << next_random(state) % 8);
	return size;
}

static int replay(const char *path, uint64_t *state)
{
	uint8_t *data = malloc(MAX_INPUT), *copy = malloc(MAX_INPUT);
	FILE *f = fopen(path, "rb");
	size_t size = 0;

	if (f && data && copy) {
		size = fread(data, 1, MAX_INPUT, f);
		LLVMFuzzerTestOneInput(data, size);
	}
	for (unsigned n = 0; size > 1 && n < N_MUTATIONS; n++) {
		size_t now = size;

		memcpy(copy, data, size);
		for (unsigned turns = 1 + next_random(state) % 4; turns; turns--)
			now = mutate(copy, now, state);
		LLVMFuzzerTestOneInput(copy, n % 4 ? now : next_random(state) % now);
	}
	if (!size)
		perror(path);
	if (f)
		fclose(f);
	free(data);
	free(copy);
	return !size;
}

int main(int argc, char **argv)
{
	uint64_t state = 0x2545f4914f6cdd1d;

	for (int i = 1; i < argc; i++)
		if (replay(argv[i], &state))
			return 1;
	printf("%d files, %d mutations of each\n", argc - 1, N_MUTATIONS);
	return 0;
}
#endif
