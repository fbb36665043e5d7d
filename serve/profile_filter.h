/*
 * profile_filter: what a reader of the profile page selects, as the query of a request has it.
 * docs/formats/live.md
 *
 *	?runs=0,1&normal-unit=per_wave&max-stat-num=20&gpus=0&dispatches=0-9&kernels=0,2
 *
 * Lists are numbers, as srv_ranges_parse() reads them; a key that is missing or empty selects
 * everything.
 */
#ifndef WS_SERVE_PROFILE_FILTER_H
#define WS_SERVE_PROFILE_FILTER_H

#include "serve/site.h"

#define SRV_FILTER_RANGES 256u

struct srv_number_set {
	struct srv_range at[SRV_FILTER_RANGES];
	size_t n; /* 0: all numbers */
};

struct srv_profile_filter {
	struct srv_number_set runs, gpus, dispatches, kernels;
	int norm;         /* enum ana_norm; -1: as at the start */
	int64_t n_in_top; /* rows of top tables; -1: as at the start */
};

enum ws_status srv_profile_filter_read(const struct srv_request *request,
				       struct srv_profile_filter *out_filter, struct ws_err *err);
bool srv_number_set_has(const struct srv_number_set *set, uint64_t number);

#endif
