/*
 * vcopy: every counter of the vector copy that AMD recorded, three dispatches of it.
 *
 * What the blocks can count at once is a set. Each dispatch is replayed for every set, from the same memory and the
 * same caches, so the first one is cold in all of them, as it was on hardware.
 */
#ifndef WS_FIDELITY_VCOPY_H
#define WS_FIDELITY_VCOPY_H

#include "base/error.h"

/* Prints a line per dispatch and counter. Nothing may have opened the runtime yet. */
enum ws_status fid_vcopy(struct ws_err *err);

#endif
