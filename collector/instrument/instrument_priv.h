/* What the files of instrument.h share. */
#ifndef WS_COLLECTOR_INSTRUMENT_PRIV_H
#define WS_COLLECTOR_INSTRUMENT_PRIV_H

#include "collector/collector_priv.h"
#include "collector/instrument/instrument.h"
#include "collector/instrument/plan.h"

#include <link.h>

/*
 * Return addresses that were replaced are kept at their own address minus this (hooks.S has the
 * same number), so that everybody who has the stack pointer finds them. Stacks are in the upper part
 * of the address space: the kernel's stacks and mappings (from 0x6f..., depending on
 * vm.mmap_rnd_bits), and position-independent programs with their heaps (from 0x55...). Its mirror
 * (0x15... to 0x40...) is reserved; nothing else is there.
 */
#define COL_CALLS_MIRROR 0x400000000000ull
#define COL_CALLS_LOWEST 0x550000000000ull
#define COL_CALLS_HIGHEST 0x800000000000ull
/* Whether the mirror can be written is known per MiB. */
#define COL_CALLS_BLOCK(slot) (((uint64_t)(slot)-COL_CALLS_LOWEST) >> 20)
#define COL_CALLS_BLOCKS COL_CALLS_BLOCK(COL_CALLS_HIGHEST)
enum col_calls_block { COL_CALLS_UNKNOWN, COL_CALLS_READY, COL_CALLS_NONE };

/* A function that is instrumented, by number from 1. */
struct col_instrumented {
	uint64_t resume; /* where its moved instructions are; 0: compiled for instrumentation */
	uint64_t start, end;
	uint32_t region;
	uint32_t zero;
};

/* hooks.S */
void col_instrument_patched(void);
void col_instrument_keeping(void (*what)(void *), void *arg);
extern bool col_instrument_has_xsave;

/* calls.c: no vector registers in there. */
extern uint8_t *col_calls_blocks; /* enum col_calls_block of each */
void col_calls_forked(void);
void col_calls_forget(void); /* what addresses mean; another module was loaded */
uint64_t col_calls_enter(uint32_t number, uint64_t *slot); /* where to go on */
uint64_t col_calls_leave(uint64_t *slot);                  /* likewise */
void col_calls_compiled(uint64_t address, uint64_t *slot);

/* functions.c: the table of functions. */
extern struct col_instrumented *col_instrumented_at;
bool col_instrumented_start(void);
/* Numbers are given in order. 0: the table is full. Publish makes all added so far visible. */
uint32_t col_instrumented_add(const struct col_instrumented *function);
void col_instrumented_publish(void);
/* The number of the function that was compiled for instrumentation and contains @address; 0. */
uint32_t col_instrumented_of(uint64_t address);

/* slow.c: what calls.c leaves to ordinary code, by col_instrument_keeping(). */
struct col_slow_record {
	uint32_t region, tag;
	bool done;
};
void col_slow_record(void *record);
void col_slow_lost(void *unused); /* a call is not recorded: count it */
struct col_slow_mirror {
	const uint64_t *slot;
	bool done;
};
void col_slow_mirror(void *mirror); /* make it writable around a slot */
struct col_slow_pages {
	size_t n_bytes; /* always the same */
	void *at;       /* NULL: no memory */
};
void col_slow_pages(void *pages); /* for the calling thread, until it ends */
void col_slow_pages_forked(void *at);
struct col_slow_find {
	uint64_t address;
	uint32_t number;
};
void col_slow_find(void *find);

/* patch.c: one module that is loaded at @bias. Returns how many functions are instrumented. */
struct col_patch_counts {
	uint32_t n_done, n_other, n_failed; /* other: the bytes there are not those of the plan */
};
void col_patch_module(const struct col_plan *plan, const struct col_plan_module *module,
		      uint64_t bias, struct col_patch_counts *counts);
bool col_patch_read(uint64_t at, void *to, size_t n_bytes);
bool col_patch_write(uint64_t at, const void *bytes, size_t n_bytes);
/* Writable pages that code between @start and @end can jump to; NULL. Seal: for execution. */
void *col_patch_near(uint64_t start, uint64_t end, size_t n_bytes);
bool col_patch_seal(void *pages, size_t n_bytes);

#endif
