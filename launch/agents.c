#include "launch/agents.h"

#include "base/env.h"
#include "base/path.h"
#include "base/proc.h"
#include "launch/inject.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The runtime starts in well under a second; a driver that hangs must not hang us. */
#define ASK_TIMEOUT_MS 30000
#define RUNTIME_LABEL "Runtime Library:"

/* clang-format off */
static const struct field {
	const char *label;
	size_t offset;
} fields[] = {
#define FIELD(label, member) { label, offsetof(struct launch_gpu_agent, member) }
	FIELD("Chip ID",               chip_id),
	FIELD("Node",                  node),
	FIELD("BDFID",                 bdfid),
	FIELD("L1",                    l1_kib),
	FIELD("L2",                    l2_kib),
	FIELD("Compute Unit",          n_cus),
	FIELD("SIMDs per CU",          n_simds),
	FIELD("Shader Engines",        n_ses),
	FIELD("Wavefront Size",        wave_size),
	FIELD("Workgroup Max Size",    workgroup_max),
	FIELD("Max Waves Per CU",      max_waves),
	FIELD("Max Clock Freq. (MHz)", freq_mhz),
#undef FIELD
};
/* clang-format on */

/* "1024(0x400) KB": what comes before the bracket. */
static uint64_t leading_number(struct ws_str value)
{
	uint64_t number = 0;
	size_t n = 0;

	while (n < value.n && isdigit((unsigned char)value.at[n]))
		n++;
	ws_str_u64((struct ws_str){ value.at, n }, &number);
	return number;
}

static void take_text(struct ws_str value, char *to, size_t room)
{
	snprintf(to, room, "%.*s", WS_STR_ARGS(value));
}

/* What one agent's lines say; `where` keeps apart the parts that use the same labels. */
struct reading {
	struct launch_gpu_agent agent;
	bool any, is_gpu;
	enum { IN_AGENT, IN_POOLS, IN_ISAS } where;
	bool global_pool;
};

static void end_agent(struct reading *r, struct launch_gpu_agents *out)
{
	if (r->any && r->is_gpu && out->n < LAUNCH_AGENTS_MAX) {
		r->agent.model = gpu_model_by_chip((unsigned)r->agent.chip_id);
		out->at[out->n++] = r->agent;
	}
	*r = (struct reading){ .any = false };
}

static void read_line(struct reading *r, struct ws_str label, struct ws_str value)
{
	if (ws_str_is(label, "Pool Info"))
		r->where = IN_POOLS;
	else if (ws_str_is(label, "ISA Info"))
		r->where = IN_ISAS;
	else if (r->where == IN_POOLS && ws_str_is(label, "Segment"))
		r->global_pool = ws_str_starts(value, "GLOBAL");
	/* Of several global pools (coarse, fine) each is the whole memory. */
	else if (r->where == IN_POOLS && ws_str_is(label, "Size") && r->global_pool)
		r->agent.mem_kib = WS_MAX(r->agent.mem_kib, leading_number(value));
	if (r->where != IN_AGENT)
		return;
	if (ws_str_is(label, "Name"))
		take_text(value, r->agent.arch, sizeof(r->agent.arch));
	else if (ws_str_is(label, "Marketing Name"))
		take_text(value, r->agent.market, sizeof(r->agent.market));
	else if (ws_str_is(label, "Device Type"))
		r->is_gpu = ws_str_is(value, "GPU");
	for (size_t i = 0; i < WS_ARRAY_LEN(fields); i++)
		if (ws_str_is(label, fields[i].label))
			*(uint64_t *)((char *)&r->agent + fields[i].offset) = leading_number(value);
}

void launch_gpu_agents_parse(struct ws_str text, struct launch_gpu_agents *out_agents)
{
	struct reading r = { .any = false };
	struct ws_str line;

	out_agents->n = 0;
	out_agents->runtime[0] = '\0';
	while (ws_str_next(&text, '\n', &line)) {
		struct ws_str label;

		line = ws_str_trim(line);
		if (ws_str_starts(line, "Agent ")) {
			end_agent(&r, out_agents);
			r.any = true;
		} else if (!r.any && ws_str_starts(line, RUNTIME_LABEL)) {
			line.at += strlen(RUNTIME_LABEL);
			line.n -= strlen(RUNTIME_LABEL);
			take_text(ws_str_trim(line), out_agents->runtime,
				  sizeof(out_agents->runtime));
		} else if (r.any && memchr(line.at, ':', line.n)) {
			ws_str_next(&line, ':', &label);
			read_line(&r, label, ws_str_trim(line));
		}
	}
	end_agent(&r, out_agents);
}

/* @config: under the collector; NULL: without it. What it prints goes to @text. */
static enum ws_status ask(struct col_collect_config *config, bool *out_soft, struct ws_buf *text,
			  struct ws_err *err)
{
	char *argv[] = { "wavescope", "_agents", "--library", NULL };
	struct launch_inject inject = { .config = config, .no_roctx = true };
	struct ws_proc_end end = { 0 };
	char self[PATH_MAX];
	struct ws_env env;
	enum ws_status st = ws_env_init(&env, environ, err);

	if (!st)
		st = ws_path_self(self, err);
	if (!st)
		st = config ? launch_inject_env(&inject, &env, err)
			    : launch_inject_gpu(&env, out_soft, err);
	if (!st)
		st = ws_proc_read(self, argv, env.at, true, ASK_TIMEOUT_MS, text, &end, err);
	if (!st && end.exit_code)
		st = ws_fail(err, WS_E_STATE, "AMD's runtime failed to start: %.*s",
			     (int)strcspn(text->at, "\n"), text->at);
	ws_env_fini(&env);
	return st;
}

enum ws_status launch_gpu_agents(struct launch_gpu_agents *out_agents, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 1 << 20);
	st = ask(NULL, &out_agents->soft, &text, err);
	if (!st)
		launch_gpu_agents_parse(ws_buf_view(&text), out_agents);
	if (!st && !out_agents->n)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "AMD's runtime found no GPU: run 'wavescope doctor' to find out why");
	ws_buf_fini(&text);
	return st;
}

enum ws_status launch_agents_record(const char *dir, struct ws_err *err)
{
	struct col_collect_config *config = calloc(1, sizeof(*config));
	enum ws_status st = WS_OK;
	struct ws_buf text;
	bool soft;

	ws_buf_init(&text, 1 << 20);
	if (!config)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!st) {
		snprintf(config->dir, sizeof(config->dir), "%s", dir);
		config->services = COL_SERVICE_BIT(KERNEL); /* brings the agents along */
		st = ask(config, &soft, &text, err);
	}
	ws_buf_fini(&text);
	free(config);
	return st;
}
