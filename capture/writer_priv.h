/* What writer.c, lane.c and clock.c share. */
#ifndef WS_CAPTURE_WRITER_PRIV_H
#define WS_CAPTURE_WRITER_PRIV_H

#include "capture/writer.h"

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

#define WS_LANES_MAX 65536u
#define WS_SPARES_MAX 32u
#define WS_SPENT_MAX 32u
#define WS_WRITER_FD_FLOOR 512 /* out of the way of programs that count on small numbers */

/* Chunk sizes that are kept ready: a new thread's first, and what busy lanes end up with. */
enum ws_spare_class { WS_SPARE_FIRST, WS_SPARE_LARGE, WS_SPARE_CLASSES };

/* How blocks are allocated; which costs less depends on the kernel, the disk and free memory. */
enum ws_room_way { WS_ROOM_ZEROS, WS_ROOM_BLOCKS, WS_ROOM_WAYS };

struct ws_intern_slot {
	uint64_t hash; /* 0: free */
	const char *text;
	uint32_t n_bytes;
	uint32_t id;
};

struct ws_writer {
	struct ws_file_head *head; /* mapped for as long as the writer lives */
	struct ws_file_head first; /* as it was at first, see cut.c */
	struct ws_ledger_line ledger[32]; /* as in the head */
	uint32_t n_cut, n_heads; /* pages that were not there any more; attempts at a new head */
	uint64_t max_bytes;
	int fd;
	bool copy_on_write; /* the file system puts every write in a new place */
	bool no_populate;   /* the kernel cannot map pages ahead, or blocks are of no use to it */
	uint64_t room_ns[WS_ROOM_WAYS]; /* what a chunk of the largest size costs; 0: not known */
	uint32_t n_rooms;
	dev_t dev;
	ino_t ino;
	char path[PATH_MAX]; /* absolute */

	/* lanes: an array reserved in full, touched as needed; free ones are a stack */
	struct ws_lane *lanes;
	uint32_t n_lanes;
	uint64_t free_lanes; /* id | counter << 32: the counter defeats ABA */

	/* chunks that are mapped and touched, for whoever is first */
	struct ws_chunk_head *spares[WS_SPARE_CLASSES][WS_SPARES_MAX];
	uint32_t n_spare, n_spare_max;
	uint32_t n_missed; /* chunks that lanes had to make themselves */
	struct ws_chunk_head *spent[WS_SPENT_MAX]; /* full ones, for the helper to unmap */

	/* facts; all under the lock */
	pthread_mutex_t lock;
	struct ws_lane *meta, *bulk;
	struct ws_intern_slot *slots;
	uint32_t n_slots, n_strings, n_kept;
	char *text_at, *text_end; /* room for copies of interned texts */
	char *text_blocks;        /* each begins with the next and its size */
	size_t text_bytes;

	/* helper */
	pthread_t helper;
	bool has_helper;
	uint32_t wake; /* futex: 0 asleep is fine, 1 work, 2 stop */
	uint64_t next_clock_ns, clock_step_ns;
};

/* Zeroed memory that is not malloc's; NULL when there is none. */
void *ws_writer_pages(size_t n_bytes);

/* Whether @fd still is the capture: programs close what they do not know, and reuse numbers. */
bool ws_writer_owns(const struct ws_writer *writer, int fd);

/* Our descriptor, or a new one where the program closed or took it; -1: the file is gone. */
int ws_writer_fd(struct ws_writer *writer);

/* ---- cut.c ---- */

/* A chunk that the calling thread is making or giving back: in none of the writer's lists. */
struct ws_fresh {
	char *at;
	size_t n_bytes;
};
extern __thread struct ws_fresh ws_fresh_ __attribute__((tls_model("initial-exec")));

void ws_cut_watch(struct ws_writer *writer);
void ws_cut_forget(struct ws_writer *writer);
void ws_chunk_unmap(struct ws_chunk_head *chunk);

extern const uint32_t ws_spare_bytes[WS_SPARE_CLASSES];

/*
 * A chunk of @n_bytes at the end of the file, mapped, its head made for nobody; NULL: no room.
 * @touched: its pages are there, so that who appends does not wait for them.
 */
struct ws_chunk_head *ws_chunk_make(struct ws_writer *writer, uint32_t n_bytes, bool touched);
void ws_chunk_seal_head(struct ws_chunk_head *chunk); /* `check` from the words above it */

/* Fill the pool up to n_spare of each class, more when that was too few; the pages are there. */
void ws_spares_fill(struct ws_writer *writer);
void ws_spares_drop(struct ws_writer *writer); /* unmap; hand back what is at the end of the file */

void ws_spent_drop(struct ws_writer *writer);  /* unmap what is full */

/* As ws_lane_get(), for the writer's own lanes. */
struct ws_lane *ws_lane_open(struct ws_writer *writer, enum ws_chunk_kind kind, uint32_t tid);

enum ws_tick_kind ws_tick_kind_detect(void);
struct ws_rec_clock ws_clock_pair(void);
uint64_t ws_boottime_ns(void);

#endif
