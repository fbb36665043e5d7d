/*
 * import_priv: what the parts of the importer share: import.c (queries, files), import_facts.c
 * (processes, agents, kernels, counters), import_events.c (calls, dispatches, copies, memory)
 * and import_host.c (regions, call-stack samples, metrics).
 *
 * A taker gets one row of its query and writes one record. The first failure stays in
 * `err`; import.c stops at it.
 */
#ifndef WS_ROCPD_IMPORT_PRIV_H
#define WS_ROCPD_IMPORT_PRIV_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "capture/writer.h"
#include "rocpd/clock.h"
#include "rocpd/rocpd.h"

/* A counter's value for the dispatch of an event. */
struct rpd_counted {
	int64_t event;
	struct cap_counter_value value;
};

struct rpd_open_region {
	uint32_t id;
	uint64_t end_ns;
};

/* Regions that are open, and the sample whose frames are being read. */
struct rpd_import_host {
	struct ws_map regions;               /* description to id */
	struct ws_map functions;             /* likewise */
	struct ws_map stacks;                /* frames to id */
	struct ws_map metrics;               /* row of rocpd_info_pmc to id */
	WS_VEC(struct rpd_open_region) open; /* innermost last */
	uint32_t tid;                        /* whose they are */
	int64_t event;                       /* of the latest */
	uint64_t last_ns;                    /* when that began */
	struct rpd_import_sample {
		int64_t track;
		uint32_t tid, sampler;
		uint64_t start_ns, end_ns;
	} sample;
	WS_VEC(uint64_t) frames; /* of the sample, outermost first */
	bool sampled[CAP_SAMPLER_COUNT];
};

/* One process of one database. */
struct rpd_import {
	sqlite3 *sql;
	const char *guid;
	int64_t row; /* of rocpd_info_process */
	uint32_t main_tid;
	struct cap_writer *writer;
	struct cap_lane *lane; /* of the current table's events; NULL before the first */
	struct ws_arena arena;
	struct ws_map operations; /* "category name" to op */
	uint32_t n_operations;
	sqlite3_stmt *args; /* arguments of all calls, in the order of their events */
	bool more_args;
	struct ws_map counters;            /* row of rocpd_info_pmc to id */
	WS_VEC(struct rpd_counted) values; /* by event */
	struct rpd_import_host host;
	struct ws_err *err;
};

/* ---- columns of the current row ---- */

#define U32(i) ((uint32_t)sqlite3_column_int64(stmt, (i)))
#define U64(i) ((uint64_t)sqlite3_column_int64(stmt, (i)))
const char *rpd_text(sqlite3_stmt *stmt, int i); /* "" for NULL */

/* ---- records ---- */

uint32_t rpd_import_string(struct rpd_import *im, const char *text); /* its id; 0 for "" */
void rpd_import_fact(struct rpd_import *im, enum cap_fact fact, const char *text); /* not "" */
void rpd_import_meta(struct rpd_import *im, uint32_t tag, struct cap_rec *rec);
/* An event of thread @tid: a record of @n_bytes and its tail. */
void rpd_import_event(struct rpd_import *im, uint32_t tid, uint32_t type, const struct cap_rec *rec,
		      size_t n_bytes, const void *tail, size_t n_tail);

#define RPD_META(im, TYPE, rec)                                                                    \
	rpd_import_meta((im), CAP_REC_TAG(CAP_REC_##TYPE, sizeof(rec)), &(rec).h)

/* ---- takers, one per query ---- */

typedef void rpd_take(struct rpd_import *im, sqlite3_stmt *stmt);
rpd_take rpd_take_process, rpd_take_environment, rpd_take_thread, rpd_take_agent, rpd_take_queue,
	rpd_take_stream, rpd_take_code_object, rpd_take_kernel, rpd_take_counter, rpd_take_value;
rpd_take rpd_take_region, rpd_take_dispatch, rpd_take_copy, rpd_take_memory;
rpd_take rpd_take_host_region, rpd_take_frame, rpd_take_metric_value;

void rpd_import_host_init(struct rpd_import_host *host);
void rpd_import_host_fini(struct rpd_import_host *host);
/* After the last row of a query: what is open ends. */
void rpd_import_host_flush(struct rpd_import *im);

#endif
