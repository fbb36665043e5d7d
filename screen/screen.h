/*
 * screen: profiles and traces on a terminal, for looking around in them.
 *
 * Works from 80 x 24 characters, follows the size of the terminal, and needs no colours. All text comes from
 * report/; names of others cannot reach the terminal as commands.
 *
 * Failure  WS_E_UNSUPPORTED without a terminal. What a single page cannot show, it says itself.
 */
#ifndef WS_SCREEN_SCREEN_H
#define WS_SCREEN_SCREEN_H

#include "base/error.h"
#include "base/vec.h"

struct ana_eval_how;
struct ana_metrics;
struct rpt_report;

/* What to do without a terminal, for error messages. */
#define SCR_WITHOUT_PROFILE "without --tui, the same is printed as text"
#define SCR_WITHOUT_TRACE "'wavescope advise' and 'rocprofv3 --stats' print text"

/* Whether there is a terminal that can show it: to be asked before reading what takes long. */
enum ws_status scr_check(const char *without, struct ws_err *err);

/*
 * Kernels, findings, tables, charts and comparison of the runs of @rpt, which were opened with @how.
 * @rpt is afterwards as it was.
 */
enum ws_status scr_profile(struct rpt_report *rpt, const struct ana_eval_how *how,
			   struct ws_err *err);

/* Which captures are to be looked at; asked again while a program runs. */
struct scr_captures {
	/* Adds paths, which the caller owns and may release at the next call. */
	enum ws_status (*find)(void *of, const struct ws_strv **out_paths, struct ws_err *err);
	void *of;
	const char *path; /* as the user gave it */
};

/*
 * What GPUs and kernels do or did. While a process of the captures runs, what is new is read after
 * @interval_ms, or later where reading takes longer than a tenth of that. @metrics has the rules of findings.
 */
enum ws_status scr_trace(const struct scr_captures *captures, const struct ana_metrics *metrics,
			 int interval_ms, struct ws_err *err);

#endif
