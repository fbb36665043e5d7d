/*
 * otf2_priv: the archive under construction. otf2.c has the archive, calls and work of GPUs,
 * otf2_host.c regions, call-stack samples and metrics.
 */
#ifndef WS_OUTPUT_OTF2_PRIV_H
#define WS_OUTPUT_OTF2_PRIV_H

#include "base/vec.h"
#include "output/output_priv.h"

#include <otf2/otf2.h>

/* Of what ends when its end is read. */
#define OUTPUT_OTF2_NO_END UINT64_MAX

struct output_otf2_open {
	uint64_t end_ns;
	OTF2_RegionRef region;
};

struct output_otf2_location {
	uint64_t id;
	uint32_t group;
	OTF2_LocationType type;
	OTF2_StringRef name;
	OTF2_EvtWriter *writer;
	uint64_t n_events, last_ns;
	struct output_otf2_open *open; /* latest end first, so that the next to end is last */
	size_t n_open, cap_open;
};

struct output_otf2_group {
	OTF2_StringRef name;
	OTF2_LocationGroupType type;
	uint32_t creator;
};

struct output_otf2_region {
	OTF2_StringRef name;
	OTF2_RegionRole role;
	OTF2_Paradigm paradigm;
};

#define OUTPUT_OTF2_REGION_CACHE 4096u

struct output_otf2_metric {
	OTF2_StringRef name, unit;
	bool gpu;
};

struct output_otf2 {
	struct output_run *run;
	struct ws_err *err;
	const struct trc_process *process;
	OTF2_Archive *archive;
	OTF2_AttributeList *attributes;
	struct ws_arena arena;
	struct ws_map strings; /* to ref */
	struct ws_map regions; /* name to ref + 1 */
	struct ws_map located; /* key to struct output_otf2_location; of the process */
	WS_VEC(const char *) string_list;
	WS_VEC(struct output_otf2_region) region_list;
	WS_VEC(struct output_otf2_location *) locations;
	WS_VEC(struct output_otf2_group) groups;
	WS_VEC(struct output_otf2_metric) metrics;
	struct output_otf2_host *host; /* of the process */
	uint32_t process_group;
	struct {
		const char *name;
		OTF2_RegionRef region;
	} cache[OUTPUT_OTF2_REGION_CACHE];
	uint64_t n_rows;
};

enum ws_status output_otf2_check(struct output_otf2 *o, OTF2_ErrorCode code);
OTF2_StringRef output_otf2_string(struct output_otf2 *o, const char *text);
/* @stable: the name lives as long as the archive is written. */
OTF2_RegionRef output_otf2_region(struct output_otf2 *o, const char *name, bool stable,
				  OTF2_RegionRole role, OTF2_Paradigm paradigm);

/* ---- locations: NULL after a failure ---- */

/* Where an event of a thread, a queue or a copy is shown. */
struct output_otf2_location *output_otf2_locate(struct output_otf2 *o, const struct trc_event *ev);
struct output_otf2_location *output_otf2_new_location(struct output_otf2 *o, uint64_t key,
						      const char *name, OTF2_LocationType type,
						      uint32_t group);

/* Enter a region, and keep in mind when it ends. */
enum ws_status output_otf2_enter(struct output_otf2 *o, struct output_otf2_location *location,
				 uint64_t start_ns, uint64_t end_ns, OTF2_RegionRef region,
				 const char *category);
enum ws_status output_otf2_leave_until(struct output_otf2 *o, struct output_otf2_location *location,
				       uint64_t until_ns);
/* The innermost one. */
enum ws_status output_otf2_leave(struct output_otf2 *o, struct output_otf2_location *location,
				 uint64_t at_ns);

/* ---- otf2_host.c ---- */

#define OUTPUT_OTF2_HOST_DOMAINS                                                                   \
	(TRC_DOMAIN_BIT(CALL_STACK_SAMPLING) | TRC_DOMAIN_BIT(METRICS) | TRC_DOMAIN_BIT(REGIONS))

enum ws_status output_otf2_begin_host(struct output_otf2 *o); /* of o->process */
enum ws_status output_otf2_put_host(struct output_otf2 *o, const struct trc_event *ev);
void output_otf2_end_host(struct output_otf2 *o);
enum ws_status output_otf2_define_metrics(struct output_otf2 *o, OTF2_GlobalDefWriter *w);

#endif
