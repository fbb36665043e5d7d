/*
 * screen: profiles on a terminal, for looking around in them.
 *
 * Works from 80 x 24 characters, follows the size of the terminal, and needs no colours. All text comes from
 * report/; names of others cannot reach the terminal as commands.
 *
 * Failure  WS_E_UNSUPPORTED without a terminal. What a single page cannot show, it says itself.
 */
#ifndef WS_SCREEN_SCREEN_H
#define WS_SCREEN_SCREEN_H

#include "base/error.h"

struct ana_eval_how;
struct rpt_report;

/*
 * Kernels, findings, tables, charts and comparison of the runs of @rpt, which were opened with @how.
 * @rpt is afterwards as it was.
 */
enum ws_status scr_profile(struct rpt_report *rpt, const struct ana_eval_how *how,
			   struct ws_err *err);

#endif
