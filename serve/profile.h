/*
 * profile: profiled workloads as a site: the profile page, for whatever a reader selects.
 * docs/formats/live.md has the requests.
 *
 *	srv_profile_create(&rpt, &how, &of, err);
 *	st = srv_server_run(server, &(struct srv_site){ srv_profile_answer, of }, err);
 *	srv_profile_destroy(of);
 *
 * A page is made when it is requested, from the dispatches that its address selects among those of
 * the report.
 *
 * Threads  srv_profile_answer(): any number; one at a time is answered.
 * Memory   that of the report, and of one page.
 */
#ifndef WS_SERVE_PROFILE_H
#define WS_SERVE_PROFILE_H

#include "serve/site.h"

struct ana_eval_how;
struct rpt_report;
struct srv_profile;

/* @rpt has its runs open, and must outlive it; @how is what they were evaluated with. */
enum ws_status srv_profile_create(const struct rpt_report *rpt, const struct ana_eval_how *how,
				  struct srv_profile **out_profile, struct ws_err *err);
void srv_profile_destroy(struct srv_profile *profile); /* NULL is fine */

/* Of struct srv_site; @of is a struct srv_profile. */
enum ws_status srv_profile_answer(void *of, const struct srv_request *request,
				  struct srv_answer *answer, struct ws_err *err);

#endif
