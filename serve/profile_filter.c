#include "serve/profile_filter.h"

#include "analysis/eval.h"
#include "base/util.h"

#include <string.h>

#define NUMBER_MAX UINT32_MAX
#define IN_TOP_MAX 1000u

static enum ws_status read_set(const struct srv_request *request, const char *key,
			       struct srv_number_set *set, struct ws_err *err)
{
	const char *text = request->value(request->ctx, key, 0);
	enum ws_status st;

	set->n = 0;
	if (!text || !*text)
		return WS_OK;
	st = srv_ranges_parse(text, NUMBER_MAX, UINT64_MAX, set->at, SRV_FILTER_RANGES, &set->n,
			      err);
	return st ? ws_fail_in(err, st, "%s", key) : WS_OK;
}

static enum ws_status read_norm(const struct srv_request *request, int *out_norm,
				struct ws_err *err)
{
	const char *text = request->value(request->ctx, "normal-unit", 0);

	*out_norm = -1;
	if (!text || !*text)
		return WS_OK;
	for (int i = 0; ana_norm_words[i]; i++)
		if (strcmp(ana_norm_words[i], text) == 0) {
			*out_norm = i;
			return WS_OK;
		}
	return ws_fail(err, WS_E_USAGE,
		       "normal-unit requires per_wave, per_cycle, per_second or per_kernel");
}

enum ws_status srv_profile_filter_read(const struct srv_request *request,
				       struct srv_profile_filter *filter, struct ws_err *err)
{
	const char *in_top = request->value(request->ctx, "max-stat-num", 0);
	uint64_t n = 0;
	enum ws_status st = read_set(request, "runs", &filter->runs, err);

	if (!st)
		st = read_set(request, "gpus", &filter->gpus, err);
	if (!st)
		st = read_set(request, "dispatches", &filter->dispatches, err);
	if (!st)
		st = read_set(request, "kernels", &filter->kernels, err);
	if (!st)
		st = read_norm(request, &filter->norm, err);
	filter->n_in_top = -1;
	if (!st && in_top && *in_top) {
		st = srv_request_number(request, "max-stat-num", IN_TOP_MAX, &n, err);
		filter->n_in_top = (int64_t)n;
	}
	return st;
}

bool srv_number_set_has(const struct srv_number_set *set, uint64_t number)
{
	for (size_t i = 0; i < set->n; i++)
		if (number >= set->at[i].first && number <= set->at[i].last)
			return true;
	return !set->n;
}
