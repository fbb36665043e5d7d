/* What writer.c, lane.c and clock.c share. */
#ifndef WS_CAPTURE_WRITER_PRIV_H
#define WS_CAPTURE_WRITER_PRIV_H

#include "capture/writer.h"

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

#define CAP_LANES_MAX 65536u
#define CAP_SPARES_MAX 32u
#define CAP_SPENT_MAX 32u
#define CAP_WRITER_FD_FLOOR 512 /* out of the way of programs that count on small numbers */

/* Chunk sizes that are kept ready: a new thread's first, and what busy lanes end up with. */
enum cap_spare_class { CAP_SPARE_FIRST, CAP_SPARE_LARGE, CAP_SPARE_CLASSES };

/* How blocks are allocated; which costs less depends on the kernel, the disk and free memory. */
enum cap_room_way { CAP_ROOM_ZEROS, CAP_ROOM_BLOCKS, CAP_ROOM_WAYS };

struct cap_intern_slot {
	uint64_t hash; /* 0: free */
	const char *text;
	uint32_t n_bytes;
	uint32_t id;
};

struct cap_writer {
	struct cap_file_head *head;        /* mapped for as long as the writer lives */
	struct cap_file_head first;        /* as it was at first, see truncation.c */
	struct cap_ledger_line ledger[32]; /* as in the head */
	uint64_t left_out[32];             /* likewise */
	uint32_t n_cut, n_heads; /* pages that were not there any more; attempts at a new head */
	uint64_t max_bytes;
	bool imported; /* of another process: no clock pairs of this one */
	int fd;
	bool copy_on_write; /* the file system puts every write in a new place */
	bool no_populate;   /* the kernel cannot map pages ahead, or blocks are of no use to it */
	uint64_t room_ns[CAP_ROOM_WAYS]; /* what a chunk of the largest size costs; 0: not known */
	uint32_t n_rooms;
	dev_t dev;
	ino_t ino;
	char path[PATH_MAX]; /* absolute */

	/* lanes: an array reserved in full, touched as needed; free ones are a stack */
	struct cap_lane *lanes;
	uint32_t n_lanes;
	uint64_t free_lanes; /* id | counter << 32: the counter defeats ABA */

	/* spare chunks, mapped, with their pages in memory */
	struct cap_chunk_head *spares[CAP_SPARE_CLASSES][CAP_SPARES_MAX];
	uint32_t n_spare, n_spare_max;
	uint32_t busy
		[CAP_SPARE_CLASSES]; /* the program needs chunks of this size one after the other */
	uint32_t n_missed;           /* chunks that lanes had to make themselves */
	struct cap_chunk_head *spent[CAP_SPENT_MAX]; /* full ones, for the helper to unmap */

	/* facts; all under the lock */
	pthread_mutex_t lock;
	struct cap_lane *meta, *bulk;
	struct cap_intern_slot *slots;
	uint32_t n_slots, n_strings, n_kept;
	char *text_at, *text_end; /* space for copies of interned texts */
	char *text_blocks;        /* each begins with the next and its size */
	size_t text_bytes;

	/* helper */
	pthread_t helper;
	bool has_helper;
	uint32_t wake; /* futex: 0 asleep is fine, 1 work, 2 stop */
	uint64_t next_clock_ns, clock_step_ns;
};

/* Zeroed memory that is not malloc's; NULL when there is none. */
void *cap_writer_pages(size_t n_bytes);

/* Whether @fd still is the capture: programs close what they do not know, and reuse numbers. */
bool cap_writer_owns(const struct cap_writer *writer, int fd);

/* Our descriptor, or a new one where the program closed or took it; -1: the file is gone. */
int cap_writer_fd(struct cap_writer *writer);

/* ---- truncation.c ---- */

/* A chunk that the calling thread is making or giving back: in none of the writer's lists. */
struct cap_fresh {
	char *at;
	size_t n_bytes;
};
extern __thread struct cap_fresh cap_fresh_ __attribute__((tls_model("initial-exec")));

void cap_truncation_watch(struct cap_writer *writer);
void cap_truncation_unwatch(struct cap_writer *writer);
/* The file was cut, as something in it shows: the capture says so. */
void cap_truncation_found(struct cap_writer *writer);
/* Is the head of a chunk gone? Then it was. */
void cap_truncation_check(struct cap_writer *writer, const struct cap_chunk_head *chunk);
void cap_chunk_unmap(struct cap_chunk_head *chunk);

extern const uint32_t cap_spare_bytes[CAP_SPARE_CLASSES];

/*
 * A chunk of @n_bytes at the end of the file, mapped, owned by no lane; NULL: no space.
 * @touched: with its pages in memory, so that appending causes no page faults.
 */
struct cap_chunk_head *cap_chunk_make(struct cap_writer *writer, uint32_t n_bytes, bool touched);
void cap_chunk_seal_head(struct cap_chunk_head *chunk); /* `check` from the words above it */

/* Fill the pool up to n_spare of each class, more when that was too few; the pages are there. */
void cap_spares_fill(struct cap_writer *writer);
void cap_spares_drop(
	struct cap_writer *writer); /* unmap; hand back what is at the end of the file */

void cap_spent_drop(struct cap_writer *writer); /* unmap what is full */

/* As cap_lane_get(), for the writer's own lanes. */
struct cap_lane *cap_lane_open(struct cap_writer *writer, enum cap_chunk_kind kind, uint32_t tid);

enum cap_tick_kind cap_tick_kind_detect(void);
struct cap_rec_clock cap_clock_pair(void);
uint64_t cap_boottime_ns(void);

#endif
