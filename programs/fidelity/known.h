/*
 * known: kernels whose counters follow from how they are made (kernels.s), and what they follow to.
 */
#ifndef WS_FIDELITY_KNOWN_H
#define WS_FIDELITY_KNOWN_H

#include "base/error.h"

/* Runs all of them and prints a line per counter. */
enum ws_status fid_check_known(struct ws_err *err);
/*
 * Runs some of them on any GPU and prints what a profiler has to count: kernel, number of the dispatch from 1,
 * counter, -, value, -.
 */
enum ws_status fid_selftest(struct ws_err *err);
/* The same of kernels that stream through memory of every kind: its own, the host's, another GPU's. */
enum ws_status fid_fabric(struct ws_err *err);

#endif
