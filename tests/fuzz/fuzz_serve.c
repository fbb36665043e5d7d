/*
 * Any request to the site of a small trace: it is answered, or refused with a sentence. The text is
 * a path, then keys and values as a server has decoded them: "tiles?blocks=0-3&names=1". The same
 * words are filters of a profile page. replay.c feeds it when there is no libFuzzer.
 */
#include "serve/profile_filter.h"
#include "serve/trace.h"
#include "tests/fuzz/fuzz.h"
#include "tests/profile/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START 1000000000ull
#define CALLS 9000u
#define PAIRS_MAX 16

static struct srv_trace *site;

static void open_site(void)
{
	char dir[] = "/tmp/ws-fuzz-serve-XXXXXX";
	struct trc_trace *trace;
	struct cap_lane *lane;
	struct rig rig;

	CHECK(mkdtemp(dir));
	rig_start(&rig, dir, 4711, START);
	rig_operation(&rig, 1, "hipGetDevice");
	rig_operation(&rig, 2, "hipFree");
	lane = rig_lane(&rig, 4711);
	for (uint32_t i = 0; i < CALLS; i++)
		rig_call(lane, 1 + i % 2, START + i * 1000, START + i * 1000 + 300, i + 1);
	rig_end(&rig, START + CALLS * 1000);
	trace = rig_open(&rig, 1); /* as long as the process, as the site is */
	CHECK(!srv_trace_create(trace, NULL, NULL, &site, NULL));
	unlink(rig.path);
	rmdir(dir);
}

struct query {
	const char *keys[PAIRS_MAX], *values[PAIRS_MAX];
	size_t n;
};

static const char *value_of(void *ctx, const char *key, size_t number)
{
	const struct query *query = ctx;

	for (size_t i = 0; i < query->n; i++)
		if (strcmp(query->keys[i], key) == 0 && !number--)
			return query->values[i];
	return NULL;
}

/* Cuts @text into its words. */
static void split(char *text, struct query *query)
{
	char *rest = strchr(text, '?');

	query->n = 0;
	if (!rest)
		return;
	*rest++ = '\0';
	while (rest && query->n < PAIRS_MAX) {
		char *pair = strsep(&rest, "&"), *value = strchr(pair, '=');

		if (value)
			*value++ = '\0';
		query->keys[query->n] = pair;
		query->values[query->n++] = value ? value : "";
	}
}

static void read_all(struct srv_answer *answer)
{
	char piece[777];

	CHECK(answer->n_bytes);
	for (uint64_t at = 0; at < answer->n_bytes;) {
		ssize_t n = answer->read(answer->ctx, at, piece, sizeof(piece));

		CHECK(n > 0 && (uint64_t)n <= answer->n_bytes - at);
		at += (uint64_t)n;
	}
	CHECK(answer->read(answer->ctx, answer->n_bytes, piece, sizeof(piece)) < 0);
	answer->release(answer->ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct srv_profile_filter filter;
	char *text = malloc(size + 1);
	struct query query;
	struct srv_request request = { .nonce = "0", .value = value_of, .ctx = &query };
	struct srv_answer answer = { .type = SRV_TYPE_HTML };
	struct ws_err err = { 0 };

	CHECK(text);
	if (!site)
		open_site();
	memcpy(text, data, size);
	text[size] = '\0';
	split(text, &query);
	request.path = text;
	ws_buf_init(&answer.body, 64u << 20);
	if (srv_trace_answer(site, &request, &answer, &err))
		CHECK(err.text[0] && (err.status == WS_E_USAGE || err.status == WS_E_NOTFOUND));
	else if (answer.read)
		read_all(&answer);
	else
		CHECK(answer.body.n && !answer.body.failed);
	ws_buf_fini(&answer.body);
	err.text[0] = '\0';
	if (srv_profile_filter_read(&request, &filter, &err))
		CHECK(err.text[0] && err.status == WS_E_USAGE);
	else
		CHECK(filter.n_in_top >= -1 && filter.n_in_top <= 1000 && filter.norm < 4);
	free(text);
	return 0;
}
