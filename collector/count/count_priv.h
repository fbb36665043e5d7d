/*
 * count_priv: declarations shared by the files of this provider.
 *
 *	request.c       the request as text (also used by the launcher)
 *	request_file.c  reads the request from its file
 *	filter.c        kernel filters
 *	facts.c         the counters, as metadata records of the capture
 *	tickets.c       the decisions, until the GPU looks them up
 *	blocks.c        memory that is freed together
 *	source.h        who counts: source_service.c; with aqlprofile.c, source_packets.c; both
 *	replay.c        all sets of a dispatch, one after the other
 *	count.c         the rest
 */
#ifndef WS_COLLECTOR_COUNT_PRIV_H
#define WS_COLLECTOR_COUNT_PRIV_H

#include "capture/writer.h"
#include "collector/count/request.h"
#include "softgpu/counters/service.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- count.c ---- */

/* Around everything that takes results from a source. */
void col_count_lock_results(void);
void col_count_unlock_results(void);
/* The GPU of a ticket, and who counts there; NULL: its plan is over. */
struct col_count_ticket;
struct col_count_source;
struct col_count_target;
const struct col_count_target *col_count_target_of(const struct col_count_ticket *ticket,
						   const struct col_count_source **out_source);

/* ---- blocks.c ---- */

/* Zeroed, and part of *@list; NULL when there is none. Any thread. */
struct col_count_block;
void *col_count_pages(struct col_count_block **list, size_t n_bytes);
void col_count_pages_free(struct col_count_block *list);

/* ---- request_file.c ---- */

/* False: there is none that can be read, and a note was left. */
bool col_count_request_load(struct col_count_block **memory, struct col_count_request *out_request);

/* ---- tickets.c, of which the rest is in count.h ---- */

bool col_count_tickets_start(void); /* false: no memory */
void col_count_tickets_forked(void);

/* ---- filter.c ---- */

/* Under one lock, both: make the patterns of @request ready; false: one is no pattern, and a note was left. */
bool col_count_patterns(const struct col_count_request *request);
/* By the name a person sees. Allocates: for when a kernel is loaded, not launched. */
bool col_count_includes(const struct col_count_request *request, const char *symbol);

/* ---- pcre2.c ---- */

/* Before base/pattern.h is used; false: there is no PCRE2 in this machine or container. */
bool col_count_load_pcre2(void);

/* ---- facts.c ---- */

struct col_count_fact {
	uint32_t id;
	const char *name;                      /* of the request */
	const struct softgpu_counter *counter; /* NULL: the service does not list it */
	uint32_t n;                            /* instances */
};

/*
 * Numbers for all counters of all sets: @out_ids has one per name, set after set,
 * @out_firsts where each set begins and, behind the last, where it ends. The same name in
 * two sets is one counter. False: no memory.
 */
bool col_count_facts(struct col_count_block **memory, const struct col_count_target *target,
		     const struct col_count_source *source, uint32_t **out_ids,
		     uint32_t **out_firsts, struct col_count_fact **out_facts,
		     uint32_t *out_n_facts);
void col_count_write_facts(struct cap_writer *writer, uint32_t agent,
			   const struct col_count_fact *facts, uint32_t n_facts);

#endif
