/*
 * got: installs wrappers in a running process.
 *
 * A preloaded wrapper is bound at program start. Later the bindings have to be changed: each
 * object's table of addresses of functions in other objects (its GOT). Entries whose names
 * have a wrapper get the wrapper's address, with one aligned store each, so that a concurrent
 * call uses either the old or the new address.
 *
 * Not changed by col_got_patch(): the wrapped libraries themselves, our own, and addresses that the
 * program has already looked up by name and keeps.
 *
 * Threads  one at a time; the program's may run meanwhile.
 */
#ifndef WS_COLLECTOR_INTERPOSE_GOT_H
#define WS_COLLECTOR_INTERPOSE_GOT_H

#include <stddef.h>
#include <stdint.h>

/* Load the libraries of wrappers that these need (preload.h), from beside this library. */
void col_got_want(uint32_t services, uint32_t flags);
/* Change what is not changed yet; cheap when nothing was loaded since the last time. */
void col_got_patch(void);

/*
 * The same for one library alone, also in a program that we started: what it calls by these
 * names, and nobody else does. @real gets what it called before. Returns how many of the names
 * it calls; 0 and nothing is changed when it is not there, or one of them is nowhere.
 */
struct col_got_row {
	const char *name;
	void *replacement;
	void **real;
};
uint32_t col_got_replace(const char *library, const struct col_got_row *rows, size_t n_rows);

#endif
