/*
 * lane: creates chunks, assigns them to lanes, and replaces full ones.
 *
 * Everything in here may run in a signal handler and in many threads at once, so
 * there are no locks: the end of the file is an atomic counter, the pool of spare
 * chunks is an array of atomic pointers, and free lanes are a stack. System calls
 * used are fstat, getrlimit, pwritev or fallocate, mmap, madvise and munmap.
 */
#include "capture/writer_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define RETRY_NS 100000000u /* a full disk is asked again ten times a second per lane */
#define FIRST_LANES 2u      /* that of the facts, and of the thread that opened the capture */
#define WAY_AGAIN 32u       /* so many chunks are made before the costlier way is tried again */

void *cap_writer_pages(size_t n_bytes)
{
	void *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* ---- making chunks ---- */

bool cap_writer_owns(const struct cap_writer *writer, int fd)
{
	struct stat st;

	if (fd < 0)
		return false;
#if defined(__x86_64__)
	/* glibc asks by a call that also takes names, which filters of system calls may forbid. */
	if (syscall(SYS_fstat, fd, &st) != 0)
		return false;
#else
	if (fstat(fd, &st) != 0)
		return false;
#endif
	return st.st_dev == writer->dev && st.st_ino == writer->ino;
}

int cap_writer_fd(struct cap_writer *writer)
{
	int fd = __atomic_load_n(&writer->fd, __ATOMIC_ACQUIRE), high;

	if (cap_writer_owns(writer, fd))
		return fd;
	fd = open(writer->path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!cap_writer_owns(writer, fd)) {
		close(fd);
		return -1;
	}
	high = fcntl(fd, F_DUPFD_CLOEXEC, CAP_WRITER_FD_FLOOR);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	/* The old number is not closed: by now it may be the program's. */
	__atomic_store_n(&writer->fd, fd, __ATOMIC_RELEASE);
	return fd;
}

/* All of [at, at + n) written as zeros. */
static bool write_zeros(int fd, uint64_t at, uint32_t n)
{
	static char zeros[65536]; /* never written, so that it is the one zero page throughout */
	struct iovec parts[CAP_CHUNK_BYTES_MAX / sizeof(zeros)];

	while (n) {
		int n_parts = 0;
		ssize_t did;

		for (uint32_t left = n; left && n_parts < (int)WS_ARRAY_LEN(parts); n_parts++) {
			parts[n_parts].iov_base = zeros;
			parts[n_parts].iov_len = WS_MIN((uint32_t)sizeof(zeros), left);
			left -= (uint32_t)parts[n_parts].iov_len;
		}
		did = pwritev(fd, parts, n_parts, (off_t)at);
		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0)
			return false;
		at += (uint64_t)did;
		n -= (uint32_t)did;
	}
	return true;
}

/*
 * Room on the disk for [at, at + n), or false: then nothing of it may be touched
 * through a mapping, since a fault that finds no room is a SIGBUS.
 *
 * Zeros are written, or blocks allocated. On ext4 zeros make large folios: 0.3 ms per
 * MiB with its pages, where memory is plentiful; 2 to 4 ms where the kernel has none
 * that large, or the host of a virtual machine has to find it first. Blocks and small
 * pages take 0.7 ms in either case. Zeros not where a second write goes elsewhere.
 */
static bool allocate_blocks(struct cap_writer *writer, int fd, uint64_t at, uint32_t n,
			    enum cap_room_way way)
{
	struct rlimit limit;

	/* Asking the kernel for more than this would send the program SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    at + n > limit.rlim_cur)
		return false;
	if (writer->max_bytes && at + n > writer->max_bytes)
		return false;
	if ((writer->copy_on_write || way == CAP_ROOM_BLOCKS) &&
	    fallocate(fd, 0, (off_t)at, n) == 0)
		return true;
	if (write_zeros(fd, at, n))
		return true;
	/* The part that there was room for: others may make do with it. */
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, n);
	return false;
}

/* The cheaper way of late; the other one now and then, since memory fills and disks differ. */
static enum cap_room_way choose_way(struct cap_writer *writer, uint32_t n_bytes)
{
	const uint64_t *ns = writer->room_ns;
	enum cap_room_way best = CAP_ROOM_ZEROS;
	uint32_t n;

	if (writer->no_populate || writer->copy_on_write)
		return CAP_ROOM_ZEROS;
	if (__atomic_load_n(&ns[CAP_ROOM_BLOCKS], __ATOMIC_RELAXED) <
	    __atomic_load_n(&ns[CAP_ROOM_ZEROS], __ATOMIC_RELAXED))
		best = CAP_ROOM_BLOCKS;
	if (n_bytes < CAP_CHUNK_BYTES_MAX)
		return best;
	n = __atomic_fetch_add(&writer->n_rooms, 1, __ATOMIC_RELAXED);
	if (n < CAP_ROOM_WAYS)
		return (enum cap_room_way)n;
	return n % WAY_AGAIN == 0 ? (enum cap_room_way) !best : best;
}

static void note_cost(struct cap_writer *writer, enum cap_room_way way, uint64_t ns)
{
	uint64_t *cost = &writer->room_ns[way];
	uint64_t old = __atomic_load_n(cost, __ATOMIC_RELAXED);

	__atomic_store_n(cost, old ? (3 * old + ns) / 4 : ns, __ATOMIC_RELAXED);
}

/* False: the kernel has no such call, or no memory. */
static bool populate(void *at, uint32_t n_bytes)
{
#ifdef MADV_POPULATE_WRITE
	return madvise(at, n_bytes, MADV_POPULATE_WRITE) == 0;
#else
	return false;
#endif
}

static void touch_pages(char *at, uint32_t n_bytes)
{
	for (uint32_t i = 0; i < n_bytes; i += 4096)
		((volatile char *)at)[i] = 0;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Blocks alone are not trusted: a fault that has to split an extent of a full disk fails,
 * too. So their pages are requested at once, by a call that returns an error instead.
 */
static void *map_room(struct cap_writer *writer, int fd, uint64_t at, uint32_t n, bool touched)
{
	enum cap_room_way way = touched ? choose_way(writer, n) : CAP_ROOM_ZEROS;
	uint64_t start_ns = cpu_ns();
	void *room;

	if (!allocate_blocks(writer, fd, at, n, way))
		return MAP_FAILED;
	room = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
	if (room != MAP_FAILED)
		cap_fresh_ = (struct cap_fresh){ room, n };
	if (room == MAP_FAILED || !touched)
		return room;
	if (!populate(room, n)) {
		writer->no_populate = true;
		if (way == CAP_ROOM_BLOCKS && !write_zeros(fd, at, n)) {
			cap_fresh_.at = NULL;
			munmap(room, n);
			return MAP_FAILED;
		}
		touch_pages(room, n);
	} else if (n == CAP_CHUNK_BYTES_MAX) {
		note_cost(writer, way, cpu_ns() - start_ns);
	}
	return room;
}

void cap_chunk_seal_head(struct cap_chunk_head *chunk)
{
	chunk->check = cap_check32(&chunk->magic, 5);
}

struct cap_chunk_head *cap_chunk_make(struct cap_writer *writer, uint32_t n_bytes, bool touched)
{
	uint64_t *end = &writer->head->end_bytes;
	uint64_t at = __atomic_fetch_add(end, n_bytes, __ATOMIC_RELAXED), taken = at + n_bytes;
	struct cap_chunk_head *chunk = MAP_FAILED;
	int fd;

	/* The head was cut off, and somebody has made the file longer since: there is no fault. */
	if (at < CAP_FILE_HEAD_BYTES)
		cap_truncation_found(writer);
	fd = __atomic_load_n(&writer->n_cut, __ATOMIC_RELAXED) ? -1 : cap_writer_fd(writer);
	if (fd >= 0)
		chunk = map_room(writer, fd, at, n_bytes, touched);
	if (chunk == MAP_FAILED) {
		/* Give the place back, unless somebody already has the next: then it stays a hole. */
		if (at >= CAP_FILE_HEAD_BYTES)
			__atomic_compare_exchange_n(end, &taken, at, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
		return NULL;
	}
	/* In this order, whoever is killed here: the reader knows a head that was only begun by it. */
	__atomic_store_n(&chunk->magic, CAP_CHUNK_MAGIC, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	chunk->n_bytes = n_bytes;
	cap_chunk_seal_head(chunk);
	return chunk;
}

/* ---- spare chunks ---- */

const uint32_t cap_spare_bytes[CAP_SPARE_CLASSES] = {
	[CAP_SPARE_FIRST] = CAP_CHUNK_ALIGN,
	[CAP_SPARE_LARGE] = CAP_CHUNK_BYTES_MAX,
};

/* Most processes record little: until they need more, one chunk for another thread is ready. */
static uint32_t n_ready(const struct cap_writer *writer, int class)
{
	if (__atomic_load_n(&writer->busy[class], __ATOMIC_RELAXED))
		return writer->n_spare;
	return class == CAP_SPARE_FIRST;
}

/* As many as the lanes needed while we were away, and more after they had to do without. */
void cap_spares_fill(struct cap_writer *writer)
{
	if (__atomic_exchange_n(&writer->n_missed, 0, __ATOMIC_RELAXED))
		__atomic_store_n(&writer->n_spare, WS_MIN(writer->n_spare * 2, writer->n_spare_max),
				 __ATOMIC_RELAXED);
	for (int class = 0; class < CAP_SPARE_CLASSES; class ++) {
		for (uint32_t i = 0; i < n_ready(writer, class); i++) {
			struct cap_chunk_head **slot = &writer->spares[class][i], *none = NULL;
			struct cap_chunk_head *chunk;

			if (__atomic_load_n(slot, __ATOMIC_RELAXED))
				continue;
			chunk = cap_chunk_make(writer, cap_spare_bytes[class], true);
			if (!chunk)
				return; /* the lanes find out for themselves */
			if (!__atomic_compare_exchange_n(slot, &none, chunk, false,
							 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
				cap_chunk_unmap(chunk); /* two fillers at once */
			cap_fresh_.at = NULL;
			cap_spent_drop(writer); /* else the lanes unmap them */
		}
	}
}

static void wake_helper(struct cap_writer *writer)
{
	uint32_t idle = 0;

	if (__atomic_compare_exchange_n(&writer->wake, &idle, 1, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		syscall(SYS_futex, &writer->wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The second thread brings more threads, and a lane's second chunk brings larger ones. */
static void note_need(struct cap_writer *writer, const struct cap_lane *lane)
{
	enum cap_spare_class class = lane->seq ? CAP_SPARE_LARGE : CAP_SPARE_FIRST;

	if (lane->kind != CAP_CHUNK_EVENT || (!lane->seq && lane->id <= FIRST_LANES) ||
	    __atomic_exchange_n(&writer->busy[class], 1, __ATOMIC_RELAXED))
		return;
	wake_helper(writer);
}

static struct cap_chunk_head *take_chunk(struct cap_lane *lane, uint32_t n_bytes)
{
	struct cap_writer *writer = lane->writer;
	uint32_t n_spare;

	note_need(writer, lane);

	for (int class = 0; class < CAP_SPARE_CLASSES; class ++) {
		if (cap_spare_bytes[class] != n_bytes)
			continue;
		n_spare = __atomic_load_n(&writer->n_spare, __ATOMIC_RELAXED);
		for (uint32_t i = 0; i < n_spare; i++) {
			struct cap_chunk_head *chunk =
				__atomic_exchange_n(&writer->spares[class][i], NULL,
						    __ATOMIC_ACQUIRE);

			if (chunk) {
				wake_helper(writer);
				return chunk;
			}
		}
		/* Only lanes that are busy: threads may begin before the helper does. */
		if (class == CAP_SPARE_LARGE)
			__atomic_fetch_add(&writer->n_missed, 1, __ATOMIC_RELAXED);
		wake_helper(writer);
	}
	/* Larger ones are for lanes that fill them: one call for all pages, not a fault for each. */
	return cap_chunk_make(writer, n_bytes, n_bytes > CAP_CHUNK_ALIGN);
}

/* ---- full chunks ---- */

void cap_spent_drop(struct cap_writer *writer)
{
	for (uint32_t i = 0; i < CAP_SPENT_MAX; i++) {
		struct cap_chunk_head *chunk =
			__atomic_exchange_n(&writer->spent[i], NULL, __ATOMIC_ACQUIRE);

		if (chunk)
			cap_chunk_unmap(chunk);
	}
}

/* Unmapping a MiB takes 20 us and interrupts the other cores: the helper has time for it. */
static void let_go(struct cap_writer *writer, struct cap_chunk_head *chunk)
{
	for (uint32_t i = 0; i < CAP_SPENT_MAX; i++) {
		struct cap_chunk_head *none = NULL;

		if (__atomic_compare_exchange_n(&writer->spent[i], &none, chunk, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
	cap_chunk_unmap(chunk); /* it does not come round, or there is none */
}

/* In close only: what lies unused at the end of the file is given back to the disk. */
void cap_spares_drop(struct cap_writer *writer)
{
	uint64_t end = writer->head->end_bytes;
	uint32_t last_bytes;

	for (int class = 0; class < CAP_SPARE_CLASSES; class ++) {
		for (uint32_t i = 0; i < CAP_SPARES_MAX; i++) {
			struct cap_chunk_head *chunk = writer->spares[class][i];

			if (chunk)
				cap_chunk_unmap(chunk);
			writer->spares[class][i] = NULL;
		}
	}
	/* Unused chunks say so in their head: walk back over those that do. */
	do {
		struct cap_chunk_head head;

		last_bytes = 0;
		for (int class = 0; class < CAP_SPARE_CLASSES && !last_bytes; class ++) {
			uint32_t n = cap_spare_bytes[class];

			if (end >= CAP_FILE_HEAD_BYTES + (uint64_t)n &&
			    pread(writer->fd, &head, sizeof(head), (off_t)(end - n)) ==
				    (ssize_t)sizeof(head) &&
			    head.magic == CAP_CHUNK_MAGIC && head.n_bytes == n && !head.lane)
				last_bytes = n;
		}
		end -= last_bytes;
	} while (last_bytes);
	if (end < writer->head->end_bytes && cap_writer_owns(writer, writer->fd) &&
	    ftruncate(writer->fd, (off_t)end) == 0)
		writer->head->end_bytes = end;
}

/* ---- lanes ---- */

static void write_owner(struct cap_lane *lane)
{
	struct cap_rec_owner *owner = (struct cap_rec_owner *)lane->next;

	owner->h.what = lane->tid;
	owner->h.time = cap_ticks();
	owner->h.tag = CAP_REC_FIXED_TAG(OWNER, struct cap_rec_owner);
	lane->next += sizeof(*owner);
	__atomic_store_n(&lane->chunk->valid_bytes, (uint64_t)(lane->next - (char *)lane->chunk),
			 __ATOMIC_RELEASE);
}

static uint64_t coarse_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool cap_lane_turn_(struct cap_lane *lane, uint32_t n_bytes)
{
	uint32_t least = (uint32_t)sizeof(struct cap_chunk_head) + sizeof(struct cap_rec_owner);
	uint32_t size = WS_MIN(CAP_CHUNK_ALIGN << WS_MIN(lane->seq, 8u), CAP_CHUNK_BYTES_MAX);
	struct cap_chunk_head *chunk;
	int saved_errno = errno;

	if (n_bytes > CAP_REC_BYTES_MAX || (lane->retry_ns && coarse_ns() < lane->retry_ns))
		return false;
	while (size < least + n_bytes)
		size += CAP_CHUNK_ALIGN;
	chunk = take_chunk(lane, size);
	if (!chunk) {
		lane->retry_ns = coarse_ns() + RETRY_NS;
		errno = saved_errno;
		return false;
	}
	cap_fresh_ = (struct cap_fresh){ (char *)chunk, size };
	cap_truncation_check(lane->writer, chunk);
	chunk->kind = lane->kind;
	chunk->lane = lane->id;
	chunk->seq = lane->seq++;
	chunk->opened_ticks = cap_ticks();
	cap_chunk_seal_head(chunk);
	if (lane->chunk) {
		cap_truncation_check(lane->writer, lane->chunk);
		let_go(lane->writer, lane->chunk);
	}
	lane->retry_ns = 0;
	lane->chunk = chunk;
	lane->next = (char *)(chunk + 1);
	lane->end = (char *)chunk + size;
	cap_fresh_.at = NULL;
	write_owner(lane);
	errno = saved_errno;
	return true;
}

void *cap_lane_reserve_above_(struct cap_lane **lane, uint32_t n_bytes)
{
	struct cap_lane *l = *lane;

	if (!l->above) {
		struct cap_lane *above = cap_lane_open(l->writer, l->kind, l->tid);

		if (!above)
			return NULL;
		above->is_above = 1;
		l->above = above;
	}
	if (l->above->busy || l->is_above)
		return NULL; /* a third level: give up rather than grow a tower */
	*lane = l->above;
	return cap_lane_reserve(lane, n_bytes);
}

void cap_lane_cancel(struct cap_lane *lane, uint32_t n_bytes)
{
	memset(lane->next, 0, n_bytes);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lane->busy = 0;
}

bool cap_lane_append(struct cap_lane *lane, const struct cap_rec *rec)
{
	uint32_t n_bytes = cap_rec_bytes(rec);
	struct cap_rec *room = cap_lane_reserve(&lane, n_bytes);

	if (!room)
		return false;
	memcpy(room, rec, n_bytes);
	cap_lane_commit(lane, room, rec->tag);
	return true;
}

static struct cap_lane *pop_free(struct cap_writer *writer)
{
	uint64_t top = __atomic_load_n(&writer->free_lanes, __ATOMIC_ACQUIRE);

	while ((uint32_t)top) {
		struct cap_lane *lane = &writer->lanes[(uint32_t)top - 1];
		uint32_t below = __atomic_load_n(&lane->next_free, __ATOMIC_RELAXED);
		uint64_t want = ((top >> 32) + 1) << 32 | below;

		if (__atomic_compare_exchange_n(&writer->free_lanes, &top, want, true,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return lane;
	}
	return NULL;
}

static struct cap_lane *new_lane(struct cap_writer *writer)
{
	uint32_t i = __atomic_load_n(&writer->n_lanes, __ATOMIC_RELAXED);

	do {
		if (i >= CAP_LANES_MAX)
			return NULL;
	} while (!__atomic_compare_exchange_n(&writer->n_lanes, &i, i + 1, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	writer->lanes[i].id = i + 1;
	writer->lanes[i].writer = writer;
	return &writer->lanes[i];
}

struct cap_lane *cap_lane_open(struct cap_writer *writer, enum cap_chunk_kind kind, uint32_t tid)
{
	struct cap_lane *lane = new_lane(writer);

	if (!lane)
		return NULL;
	lane->kind = kind;
	lane->tid = tid;
	cap_lane_turn_(lane, 0); /* no room now: reserve tries again */
	return lane;
}

/* The next record is @tid's: say so in the chunk that is there, or leave it to the next one. */
static void change_owner(struct cap_lane *lane, uint32_t tid)
{
	lane->tid = tid;
	if ((uint64_t)(lane->end - lane->next) >= sizeof(struct cap_rec_owner))
		write_owner(lane);
	else if (!cap_lane_turn_(lane, 0))
		lane->next = lane->end; /* the rest of this chunk would be the old owner's */
}

struct cap_lane *cap_lane_get(struct cap_writer *writer, uint32_t tid)
{
	struct cap_lane *lane = pop_free(writer);

	if (!lane)
		return cap_lane_open(writer, CAP_CHUNK_EVENT, tid);
	change_owner(lane, tid);
	if (lane->above)
		change_owner(lane->above, tid);
	return lane;
}

void cap_lane_put(struct cap_lane *lane)
{
	struct cap_writer *writer;
	uint64_t top, want;

	if (!lane)
		return;
	writer = lane->writer;
	lane->busy = 0;
	top = __atomic_load_n(&writer->free_lanes, __ATOMIC_RELAXED);
	do {
		__atomic_store_n(&lane->next_free, (uint32_t)top, __ATOMIC_RELAXED);
		want = ((top >> 32) + 1) << 32 | lane->id;
	} while (!__atomic_compare_exchange_n(&writer->free_lanes, &top, want, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}
