/*
 * judge: is a modelled counter where it has to be?
 *
 * It is, if it comes within 30 % of what was recorded. Hardware's own values are not that near to each other in
 * three cases, which are rules here and tables in judge.c:
 *
 *   spread     Dispatches 1 and 2 of vcopy do the same work, and some counters were recorded in several passes. What
 *              lies between the recorded values, or within 30 % of them, is near.
 *   share      A counter that includes the time of the packet processor is compared as a share of the recorded window,
 *              where that time differs by a factor of 8 from pass to pass (MI300X, MI300A).
 *   small      A difference below 1 % of what the unit did: whether 0 or 6 of 200000 requests were uncached
 *              tells nobody anything.
 *
 * Single recorded values that contradict others are exceptions, with the reason; so is what depends on shape and clock
 * where another part was recorded (MI350).
 *
 * Threads  one.
 */
#ifndef WS_FIDELITY_JUDGE_H
#define WS_FIDELITY_JUDGE_H

#include "programs/fidelity/compare.h"

/* The counter whose share is compared on this chip: NULL if its value is. */
const char *fid_share_of(const struct fid_chip *chip, struct ws_str counter);

/* Of a modelled row with an expected value. @rows has the rest of what its dispatch counted. */
enum fid_verdict fid_judge(struct fid_rows *rows, const struct fid_row *row);

#define FID_OTHER_PART                                                                             \
	"what is not within 30 %, because that part has four dies at 440 MHz; the test "           \
	"models/recorded compares a model of it"

/* Why a recorded value is excepted. */
const char *fid_exception(const struct fid_row *row);

#endif
