#include "programs/fidelity/counted.h"

#include "base/util.h"
#include "gpu/hsa_agents.h"

#include <stdlib.h>
#include <string.h>

const char *const fid_counted_classes[] = { "exact", "modelled", "unsupported" };

static enum ws_status find_service(struct fid_counted *c, struct ws_err *err)
{
	__typeof__(&softgpu_counters) list;

	*(void **)&list = gpu_soft_function("softgpu_counters");
	*(void **)&c->choose = gpu_soft_function("softgpu_count");
	*(void **)&c->choose_sets = gpu_soft_function("softgpu_count_sets");
	*(void **)&c->next_result = gpu_soft_function("softgpu_next_result");
	*(void **)&c->drop = gpu_soft_function("softgpu_drop");
	if (!list || !c->choose || !c->choose_sets || !c->next_result || !c->drop)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"this is not the software GPU: 'wavescope fidelity' runs this on it");
	c->n_all = list(c->agent->node, NULL, 0);
	c->all = calloc(c->n_all + 1, sizeof(*c->all));
	if (!c->all)
		return ws_fail(err, WS_E_NOMEM, "no memory");
	list(c->agent->node, c->all, c->n_all);
	return WS_OK;
}

enum ws_status fid_counted_open_plain(struct fid_counted *c, struct ws_err *err)
{
	uint32_t n_gpus;
	enum ws_status st = gpu_runner_machine(&n_gpus, err);

	*c = (struct fid_counted){ 0 };
	if (!st)
		st = gpu_runner_open(0, fid_codes, &c->runner, err);
	if (st)
		return st;
	c->agent = gpu_runner_agent(c->runner);
	c->plain = true;
	return WS_OK;
}

enum ws_status fid_counted_open(struct fid_counted *c, struct ws_err *err)
{
	enum ws_status st = fid_counted_open_plain(c, err);

	if (st)
		return st;
	c->plain = false;
	st = find_service(c, err);
	if (st)
		fid_counted_close(c);
	return st;
}

void fid_counted_close(struct fid_counted *c)
{
	gpu_runner_close(c->runner);
	free(c->all);
	*c = (struct fid_counted){ 0 };
	gpu_runner_machine_close();
}

enum ws_status fid_counted_choose(struct fid_counted *c, const char *const *names, size_t n,
				  struct ws_err *err)
{
	char text[200] = "";

	if (c->choose(c->agent->node, names, n, text, sizeof(text)))
		return ws_fail(err, WS_E_STATE, "%s", text);
	return WS_OK;
}

static uint32_t all_sets(void *user, const struct softgpu_dispatch *dispatch)
{
	(void)user;
	(void)dispatch;
	return SOFTGPU_REPLAY;
}

enum ws_status fid_counted_replay(struct fid_counted *c, const struct softgpu_set *sets, size_t n,
				  struct ws_err *err)
{
	char text[200] = "";

	if (c->choose_sets(c->agent->node, sets, n, all_sets, NULL, text, sizeof(text)))
		return ws_fail(err, WS_E_STATE, "%s", text);
	return WS_OK;
}

bool fid_counted_next(struct fid_counted *c, struct softgpu_result *out)
{
	c->drop(c->agent->node, c->last); /* the one before has been read */
	if (c->next_result(c->agent->node, c->last, out))
		return false;
	c->last = out->sequence;
	return true;
}

double fid_counted_sum(const struct softgpu_value *value)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < value->n_values; i++)
		sum += value->values[i];
	return (double)sum;
}

static const struct softgpu_counter *find_counter(const struct fid_counted *c, const char *name)
{
	size_t n = strlen(name);

	if (n > 4 && !strcmp(name + n - 4, "_sum"))
		n -= 4;
	for (size_t k = 0; k < c->n_all; k++)
		if (strlen(c->all[k].name) == n && !memcmp(c->all[k].name, name, n))
			return &c->all[k];
	return NULL;
}

/* Which of the values one run can count, after those that are done. Returns how many. */
static size_t choose_pass(const struct fid_counted *c, const struct fid_counted_value *values,
			  const bool *done, size_t n, const char **names, size_t *places)
{
	struct {
		const char *block;
		uint32_t used;
	} blocks[FID_COUNTED_MAX];
	size_t n_blocks = 0, n_chosen = 0;

	for (size_t k = 0; k < n; k++) {
		const struct softgpu_counter *counter = find_counter(c, values[k].name);
		size_t b = 0;

		if (done[k])
			continue;
		while (b < n_blocks && strcmp(blocks[b].block, counter->block))
			b++;
		if (b == n_blocks) {
			blocks[b].block = counter->block;
			blocks[n_blocks++].used = 0;
		}
		if (blocks[b].used == counter->block_limit)
			continue;
		blocks[b].used++;
		places[n_chosen] = k;
		names[n_chosen++] = values[k].name;
	}
	return n_chosen;
}

enum ws_status fid_counted_run(struct fid_counted *c, const struct gpu_runner_call *call,
			       struct fid_counted_value *values, size_t n, struct ws_err *err)
{
	const char *names[FID_COUNTED_MAX];
	size_t places[FID_COUNTED_MAX], n_chosen;
	bool done[FID_COUNTED_MAX] = { false };
	enum ws_status st = WS_OK;

	if (c->plain) {
		uint64_t ns;

		c->n_dispatches++;
		return gpu_runner_run(c->runner, call, &ns, err);
	}
	if (n > FID_COUNTED_MAX)
		return ws_fail(err, WS_E_LIMIT, "more than %d counters", FID_COUNTED_MAX);
	for (size_t k = 0; k < n; k++)
		if (!find_counter(c, values[k].name))
			return ws_fail(err, WS_E_NOTFOUND, "no counter '%s' on %s", values[k].name,
				       c->agent->arch);
	while (!st && (n_chosen = choose_pass(c, values, done, n, names, places))) {
		struct softgpu_result r;
		uint64_t ns;

		st = fid_counted_choose(c, names, n_chosen, err);
		if (!st)
			st = gpu_runner_run(c->runner, call, &ns, err);
		if (!st && !fid_counted_next(c, &r))
			st = ws_fail(err, WS_E_STATE, "kernel '%s' was not counted", call->kernel);
		for (size_t k = 0; k < n_chosen && !st; k++) {
			values[places[k]].value = fid_counted_sum(&r.values[k]);
			values[places[k]].fidelity = r.values[k].fidelity;
			done[places[k]] = true;
		}
	}
	if (!st)
		st = fid_counted_choose(c, NULL, 0, err);
	return st;
}
