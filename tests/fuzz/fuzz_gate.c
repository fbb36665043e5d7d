/*
 * Any text as conditions of --fail-on: it is parsed into gates that hold together, or refused
 * with a sentence. replay.c feeds it when there is no libFuzzer.
 */
#include "analysis/gate.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct ws_arena arena;
	struct ana_gates gates;
	struct ws_err err = { 0 };

	CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	ws_arena_init(&arena, 64 << 20);
	ws_vec_init(&gates, ANA_GATES_MAX);
	if (ana_gate_parse(text, &arena, &gates, &err))
		CHECK(err.text[0]);
	else
		CHECK(gates.n);
	ws_vec_each(gate, &gates) {
		CHECK(gate->what[0] && strstr(text, gate->what));
		CHECK(isfinite(gate->limit));
		CHECK(!gate->kernel || gate->kernel[0]);
		CHECK(!(gate->percent && gate->time_ns > 0));
		/* Patterns end, whatever they are. */
		ana_gate_names(gate, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
		CHECK(!gate->kernel || ana_gate_names(gate, gate->kernel));
		CHECK(!ana_gate_fails(gate, NAN));
		CHECK(ana_gate_fails(gate, INFINITY) != ana_gate_fails(gate, -INFINITY));
	}
	ws_vec_fini(&gates);
	ws_arena_fini(&arena);
	free(text);
	return 0;
}
