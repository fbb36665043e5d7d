/*
 * got: changes which functions a loaded object calls in other objects.
 *
 * An object calls them through a table of their addresses (its GOT). Entries whose names have a
 * replacement get its address, with one aligned store each, so that a concurrent call uses
 * either the old or the new address.
 *
 * Not changed: addresses that the object has already looked up by name and keeps.
 *
 * Threads  one at a time; the program's may run meanwhile.
 */
#ifndef WS_BASE_GOT_H
#define WS_BASE_GOT_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object, as far as it can be described while the loader is locked. */
struct ws_got_object {
	char path[256];             /* "" is the program */
	uintptr_t relro, relro_end; /* what the loader made read-only */
};

/* For dl_iterate_phdr(); false: its path is too long. */
bool ws_got_describe(const struct dl_phdr_info *info, struct ws_got_object *out_object);

/* What to call instead of the function of that name; NULL: leave it. */
typedef void *ws_got_choice(const char *name, void *arg);

/* Nothing happens if the object was unloaded meanwhile. Calls the loader. */
void ws_got_patch(const struct ws_got_object *object, ws_got_choice *choose, void *arg);

/* The same for the library whose file name begins with @library. False: it is not there. */
bool ws_got_patch_library(const char *library, ws_got_choice *choose, void *arg);

/*
 * The library whose file name begins with @library calls the replacements, and nobody else
 * does. @real gets what it called before. Returns how many of the names it calls; 0 and
 * nothing is changed when it is not there, or one of them is nowhere.
 */
struct ws_got_row {
	const char *name;
	void *replacement;
	void **real;
};
uint32_t ws_got_replace(const char *library, const struct ws_got_row *rows, size_t n_rows);

#endif
