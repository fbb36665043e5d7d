/*
 * chunk: the layout of the capture file.
 *
 *	file   = file head (one page) , chunk...
 *	chunk  = chunk head (64 bytes), records up to `valid_bytes`, zeros
 *
 * Chunks begin at multiples of CAP_CHUNK_ALIGN; their head has their length. A reader
 * that finds a damaged head continues at the next multiple. A chunk belongs to one lane.
 * The chunks of a lane, in the order of `seq`, are one stream of records in which time
 * increases (except for GPU work that finished out of order, and enclosing calls).
 *
 * `valid_bytes` moves with a release store after each record: whatever kills the
 * writer, the bytes below it are whole records. Blocks are allocated before a
 * chunk is mapped, so that a full disk is an error code and never a SIGBUS.
 */
#ifndef WS_CAPTURE_CHUNK_H
#define WS_CAPTURE_CHUNK_H

#include "capture/record.h"

#include <stdint.h>

#define CAP_FILE_MAGIC "wavescop" /* 8 bytes, not terminated */
#define CAP_FILE_VERSION 1u
#define CAP_FILE_ORDER 0x01020304u /* as the writer's machine stores it */
#define CAP_FILE_HEAD_BYTES 65536u /* the first chunk begins here; the head uses one page */

#define CAP_CHUNK_MAGIC 0x6b6e6863u    /* "chnk" */
#define CAP_CHUNK_ALIGN 65536u         /* also the size of a lane's first chunk */
#define CAP_CHUNK_BYTES_MAX (1u << 20) /* later ones double up to this */

enum cap_chunk_kind { CAP_CHUNK_META, CAP_CHUNK_EVENT, CAP_CHUNK_BULK, CAP_CHUNK_KIND_COUNT };

enum cap_tick_kind {
	CAP_TICKS_NS,  /* ticks are CLOCK_BOOTTIME nanoseconds */
	CAP_TICKS_TSC, /* x86 time stamp counter, invariant */
	CAP_TICKS_ARM, /* CNTVCT_EL0 */
};

/*
 * The ledger of one service. The reader counts written records. All others are
 * counted here at once, so that the counts survive a kill.
 */
struct cap_ledger_line {
	uint64_t asked;   /* 1: requested by the user */
	uint64_t dropped; /* observed, and lost for lack of space */
	uint64_t paused;  /* observed while recording was paused, where that is counted */
	uint64_t failed;  /* could not be observed: no timestamp, unknown packet, ... */
};

struct cap_file_head {
	char magic[8];
	uint32_t version;
	uint32_t order; /* CAP_FILE_ORDER */
	uint32_t head_bytes;
	uint32_t chunk_align;
	uint32_t pid;
	uint32_t tick_kind;  /* enum cap_tick_kind */
	uint64_t created_ns; /* CLOCK_BOOTTIME */
	uint64_t created_realtime_ns;
	uint8_t boot_id[16];               /* captures with the same one share their clock */
	uint64_t end_bytes;                /* chunks are given out up to here */
	uint32_t closed;                   /* 1: the writer closed the file */
	uint32_t check;                    /* cap_check32 of what is above `end_bytes` */
	uint64_t lost_facts;               /* META records dropped for lack of space */
	struct cap_ledger_line ledger[32]; /* by enum cap_domain */
	/* Kernels whose end the collector has to detect: those not counted elsewhere were in flight. */
	uint64_t n_submitted;
	uint64_t n_cut;        /* the file was truncated: number of pages missing to the writer */
	uint64_t left_out[32]; /* by enum cap_domain: observed, and not recorded on purpose */
};

struct cap_chunk_head {
	uint32_t magic;
	uint32_t n_bytes; /* of the chunk, this head included */
	uint32_t kind;    /* enum cap_chunk_kind */
	uint32_t lane;    /* from 1 */
	uint32_t seq;     /* in its lane, from 0 */
	uint32_t check;   /* cap_check32 of the five words above */
	uint64_t opened_ticks;
	uint64_t valid_bytes; /* from the beginning of the chunk; release/acquire */
	uint64_t types;       /* bit (type & 63) per record type that may be in here; 0: not kept */
	uint64_t zero[2];
};

_Static_assert(sizeof(struct cap_chunk_head) == 64, "one cache line");
_Static_assert(sizeof(struct cap_file_head) <= 4096, "one page");

/*
 * Of the running machine; zeros if the kernel does not report it. In a time namespace, whose
 * CLOCK_BOOTTIME is another, it differs from the machine's.
 */
void cap_boot_id(uint8_t out[16]);

/* FNV-1a over words: enough to tell a head from noise. */
static inline uint32_t cap_check32(const uint32_t *words, unsigned n)
{
	uint32_t h = 0x811c9dc5u;

	while (n--)
		h = (h ^ *words++) * 0x01000193u;
	return h;
}

#endif
