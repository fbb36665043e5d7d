/*
 * trace: a trace as a site: its page, and all that the page requests while it is looked at.
 * docs/formats/live.md has the requests.
 *
 *	srv_trace_create(trace, NULL, NULL, &of, err);      reads every event, once
 *	st = srv_server_run(server, &(struct srv_site){ srv_trace_answer, of }, err);
 *	srv_trace_destroy(of);
 *
 * What a page shows of 10^8 events is a few dozen tiles. They are sent as they are stored, and sums
 * over ranges of time are made here, so that no answer depends on the number of events but for the
 * list of tiles in the page: 30 bytes per 4096 of them.
 *
 * Threads  srv_trace_answer(): any number.
 * Memory   that of the timeline and its sums; while it answers, 40 bytes per path.
 */
#ifndef WS_SERVE_TRACE_H
#define WS_SERVE_TRACE_H

#include "serve/site.h"
#include "trace/trace.h"

#define SRV_BLOCKS_MAX 64u /* of a request; trace_live.js knows it, too */
#define SRV_RANGES_MAX 2048u

struct srv_trace;

/* The trace must outlive it. @progress may be NULL. */
enum ws_status srv_trace_create(const struct trc_trace *trace,
				void (*progress)(void *ctx, double done), void *progress_ctx,
				struct srv_trace **out_trace, struct ws_err *err);
void srv_trace_destroy(struct srv_trace *trace); /* NULL is fine */

/* Of struct srv_site; @of is a struct srv_trace. */
enum ws_status srv_trace_answer(void *of, const struct srv_request *request,
				struct srv_answer *answer, struct ws_err *err);

#endif
