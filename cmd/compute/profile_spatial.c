/*
 * Spatial multiplexing: the passes of a profile, shared out over nodes and GPUs.
 *
 * A job whose nodes and GPUs all do the same work need not do it once per pass: node I of N
 * counts its share of the passes, and of these each of its GPUs some. analyze puts the
 * folders of the nodes together, kernel by kernel.
 */
#include "cmd/compute/profile_collect.h"

#include "base/str.h"
#include "cmd/compute/profile_log.h"
#include "launch/count_events.h"

#include <string.h>

enum ws_status pf_spatial_parse(const struct pf_args *args, struct pf_spatial *out,
				struct ws_err *err)
{
	uint64_t numbers[3];

	*out = (struct pf_spatial){ .n_gpus = 0 };
	if (!args->spatial.n)
		return WS_OK;
	if (args->spatial.n != 3)
		return ws_fail(err, WS_E_USAGE,
			       "--spatial-multiplexing takes three numbers: this node, the number "
			       "of nodes, GPUs per node");
	for (size_t i = 0; i < 3; i++)
		if (!ws_str_u64(ws_str_from(args->spatial.at[i]), &numbers[i]) ||
		    numbers[i] > PF_SPATIAL_MAX)
			return ws_fail(err, WS_E_USAGE,
				       "--spatial-multiplexing: '%s' is not a number",
				       args->spatial.at[i]);
	*out = (struct pf_spatial){ (size_t)numbers[0], (size_t)numbers[1], (size_t)numbers[2] };
	if (!out->n_nodes || !out->n_gpus || out->node >= out->n_nodes)
		return ws_fail(err, WS_E_USAGE,
			       "--spatial-multiplexing %s %s %s: nodes are counted from 0, and "
			       "there is at least one node and one GPU",
			       args->spatial.at[0], args->spatial.at[1], args->spatial.at[2]);
	return WS_OK;
}

/* AMD's rule: GPUs have as equal shares as can be, and the last nodes may have fewer. */
static void share(const struct pf_spatial *spatial, size_t n_passes, size_t *out_first,
		  size_t *out_end)
{
	size_t n_all = spatial->n_nodes * spatial->n_gpus;
	size_t per_node = (n_passes + n_all - 1) / n_all * spatial->n_gpus;

	*out_first = WS_MIN(spatial->node * per_node, n_passes);
	*out_end = WS_MIN(*out_first + per_node, n_passes);
}

enum ws_status pf_spatial_share(struct pf_collect *c, struct ws_err *err)
{
	const struct pf_spatial *spatial = &c->spatial;
	size_t n_passes = c->plan->n_passes, first, end, n = 0;
	struct wl_sheets sheets;
	bool *wanted = ws_arena_array(&c->pf->arena, c->n_wants + 1, sizeof(*wanted));
	enum ws_status st = wanted ? wl_sheets_make(c->plan, c->wants, c->n_wants, 0, &c->pf->arena,
						    &sheets, err)
				   : ws_fail(err, WS_E_NOMEM, "out of memory");

	share(spatial, n_passes, &first, &end);
	if (!st && first == end)
		st = ws_fail(err, WS_E_STATE,
			     "--spatial-multiplexing: no passes for node %zu: %zu passes are too "
			     "few for %zu nodes of %zu GPUs",
			     spatial->node, n_passes, spatial->n_nodes, spatial->n_gpus);
	for (size_t i = 0; !st && i < sheets.n; i++)
		for (size_t k = 0; k < sheets.at[i].n_columns; k++)
			if (sheets.at[i].pass >= first && sheets.at[i].pass < end)
				wanted[sheets.at[i].columns[k].request] = true;
	if (st)
		return st;
	pf_log(PF_LOG_INFO, "Spatial multiplexing: passes %zu to %zu of %zu are for node %zu",
	       first + 1, end, n_passes, spatial->node);
	for (size_t i = 0; i < c->n_wants; i++)
		if (wanted[i])
			c->wants[n++] = c->wants[i];
	c->n_wants = n;
	return WS_OK;
}

enum ws_status pf_gpus_of(struct pf_collect *c, size_t first, size_t n,
			  struct col_count_gpu **out_gpus, size_t *out_n, struct ws_err *err)
{
	size_t n_gpus = WS_MAX(c->spatial.n_gpus, (size_t)1);
	struct col_count_gpu *gpus = ws_arena_array(&c->pf->arena, n_gpus, sizeof(*gpus));
	struct col_count_set *sets = ws_arena_array(&c->pf->arena, n + n_gpus, sizeof(*sets));
	enum ws_status st = WS_OK;

	if (!gpus || !sets)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t g = 0; g < n_gpus; g++) {
		gpus[g] = (struct col_count_gpu){ .gpu = c->spatial.n_gpus ? (uint32_t)g
									   : COL_COUNT_EVERY_GPU,
						  .sets = sets };
		for (size_t p = first + g; p < first + n; p += n_gpus, gpus[g].n_sets++)
			*sets++ = c->sets[p];
		/* Dispatches are matched by ordinal, and one that counts nothing is not in the file. */
		if (!gpus[g].n_sets) {
			gpus[g].n_sets = 1;
			*sets++ = c->sets[first];
		}
		if (c->by_packets)
			st = launch_count_events(&c->pf->arena, c->plan->cat, &gpus[g], err);
		if (st)
			return st;
	}
	*out_gpus = gpus;
	*out_n = n_gpus;
	return WS_OK;
}
