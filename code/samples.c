#include "code/samples.h"

#include "base/map.h"
#include "base/util.h"

#include <stdint.h>
#include <stdlib.h>

#define SPOTS_MAX (1u << 26)

const char *code_pc_reason_name(unsigned reason)
{
	static const char *const names[CODE_PC_REASONS] = {
		"NONE",
		"NO_INSTRUCTION_AVAILABLE",
		"ALU_DEPENDENCY",
		"WAITCNT",
		"INTERNAL_INSTRUCTION",
		"BARRIER_WAIT",
		"ARBITER_NOT_WIN",
		"ARBITER_WIN_EX_STALL",
		"OTHER_WAIT",
		"SLEEP_WAIT",
	};

	return names[reason < CODE_PC_REASONS ? reason : 0];
}

static int by_place(const void *a, const void *b)
{
	const struct code_pc_spot *x = a, *y = b;

	if (x->code_object != y->code_object)
		return x->code_object < y->code_object ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Code objects of 2^40 bytes do not exist; what claims to be one is a lost sample. */
#define OFFSET_BITS 40

static enum ws_status add(struct code_pc_profile *profile, struct ws_map *index,
			  const struct cap_rec_pc_sample *s, struct ws_err *err)
{
	uint64_t key = s->code_object << OFFSET_BITS | s->offset;
	struct ws_map_entry *entry;
	struct code_pc_spot *spot;
	enum ws_status st;

	profile->n++;
	if (!s->code_object || s->code_object >> (64 - OFFSET_BITS) || s->offset >> OFFSET_BITS) {
		profile->n_lost++;
		return WS_OK;
	}
	entry = ws_map_find_u64(index, key);
	if (!entry) {
		struct code_pc_spot fresh = { .code_object = (uint32_t)s->code_object,
					      .offset = s->offset };

		st = ws_vec_push(&profile->spots, fresh, err);
		if (!st)
			st = ws_map_put_u64(index, key, (void *)(uintptr_t)profile->spots.n, err);
		if (st)
			return st;
		spot = &profile->spots.at[profile->spots.n - 1];
	} else {
		spot = &profile->spots.at[(uintptr_t)entry->value - 1];
	}
	spot->n++;
	spot->n_lanes += (unsigned)__builtin_popcountll(s->exec_mask);
	if (s->h.what & CAP_PC_STOCHASTIC) {
		profile->has_reasons = true;
		spot->n_issued += s->wave_issued != 0;
		if (!s->wave_issued)
			spot->n_waiting[s->stall_reason < CODE_PC_REASONS ? s->stall_reason : 0]++;
	}
	return WS_OK;
}

enum ws_status code_pc_profile_read(const struct trc_trace *trace,
				    const struct trc_process *process,
				    struct code_pc_profile *out_profile, struct ws_err *err)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(PC_SAMPLING_HOST_TRAP) |
						    TRC_DOMAIN_BIT(PC_SAMPLING_STOCHASTIC),
					 .process = process };
	struct code_pc_profile profile = { .n = 0 };
	const struct trc_event *ev;
	struct trc_events *events;
	struct ws_map index;
	enum ws_status st = trc_events_open(trace, &query, &events, err), end;

	if (st)
		return st;
	ws_vec_init(&profile.spots, SPOTS_MAX);
	ws_map_init(&index, WS_MAP_U64, SPOTS_MAX);
	while (!st && (ev = trc_events_next(events)))
		st = add(&profile, &index, ev->sample.info, err);
	end = trc_events_close(events, st ? NULL : err);
	ws_map_fini(&index);
	if (st || end) {
		code_pc_profile_fini(&profile);
		return st ? st : end;
	}
	ws_vec_sort(&profile.spots, by_place);
	*out_profile = profile;
	return WS_OK;
}

void code_pc_profile_fini(struct code_pc_profile *profile)
{
	ws_vec_fini(&profile->spots);
}
