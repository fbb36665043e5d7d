/*
 * writer: the file's life, the helper thread, facts and the ledger. Appending is
 * in lane.c and in the header.
 */
#include "capture/writer_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define HEAD_MAP_BYTES 4096u
#define SPARES_DEFAULT 4u
#define INTERN_SLOTS_FIRST 4096u
#define INTERN_TEXT_MAX (64u << 20) /* beyond this texts are written again, not remembered */
#define INTERN_BLOCK (256u << 10)
#define CLOCK_STEP_FIRST_NS 1000000u /* 1 ms, then ten times as much, up to a second */
#define CLOCK_STEP_LAST_NS 1000000000u
#define BTRFS_MAGIC 0x9123683eu
#define BCACHEFS_MAGIC 0xca451a4eu
#define HELPER_STACK_BYTES (128u << 10)

enum { WAKE_IDLE, WAKE_WORK, WAKE_STOP };

/* ---- opening ---- */

static enum ws_status create_file(struct cap_writer *writer, const char *path, struct ws_err *err)
{
	struct statfs fs;
	struct stat st;
	char cwd[PATH_MAX] = "";
	int high, n;

	if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return ws_fail_errno(err, errno, "capture '%s'", path);
	n = snprintf(writer->path, sizeof(writer->path), "%s%s%s", cwd, cwd[0] ? "/" : "", path);
	if (n < 0 || (size_t)n >= sizeof(writer->path))
		return ws_fail_errno(err, ENAMETOOLONG, "capture '%s'", path);
	/* EXCL: a second process, or a pid that came round again, must not write over a capture. */
	writer->fd = open(writer->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (writer->fd < 0)
		return ws_fail_errno(err, errno, "cannot create capture '%s'", writer->path);
	high = fcntl(writer->fd, F_DUPFD_CLOEXEC, CAP_WRITER_FD_FLOOR);
	if (high >= 0) {
		close(writer->fd);
		writer->fd = high;
	}
	if (fstat(writer->fd, &st) != 0)
		return ws_fail_errno(err, errno, "capture '%s'", writer->path);
	writer->dev = st.st_dev;
	writer->ino = st.st_ino;
	writer->copy_on_write =
		fstatfs(writer->fd, &fs) == 0 &&
		((uint32_t)fs.f_type == BTRFS_MAGIC || (uint32_t)fs.f_type == BCACHEFS_MAGIC);
	return WS_OK;
}

static enum ws_status map_head(struct cap_writer *writer, const struct cap_writer_opts *opts,
			       struct ws_err *err)
{
	struct cap_file_head head = {
		.magic = CAP_FILE_MAGIC,
		.version = CAP_FILE_VERSION,
		.order = CAP_FILE_ORDER,
		.head_bytes = CAP_FILE_HEAD_BYTES,
		.chunk_align = CAP_CHUNK_ALIGN,
		.pid = opts->pid,
		.tick_kind = CAP_TICKS_NS,
		.created_ns = opts->created_ns,
		.created_realtime_ns = opts->created_realtime_ns,
		.end_bytes = CAP_FILE_HEAD_BYTES,
	};
	static const char zeros[HEAD_MAP_BYTES];
	struct timespec now;
	struct rlimit limit;
	void *at;

	/* As in lane.c: writing past the limit would send the program SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    sizeof(zeros) > limit.rlim_cur)
		return ws_fail_errno(err, EFBIG, "cannot write capture '%s'", writer->path);
	memcpy(head.boot_id, opts->boot_id, sizeof(head.boot_id));
	if (!writer->imported) {
		head.pid = (uint32_t)getpid();
		head.tick_kind = __atomic_load_n(&cap_tick_kind, __ATOMIC_RELAXED);
		head.created_ns = cap_boottime_ns();
		clock_gettime(CLOCK_REALTIME, &now);
		head.created_realtime_ns =
			(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		memset(head.boot_id, 0, sizeof(head.boot_id));
		cap_boot_id(head.boot_id);
	}
	head.check = cap_check32((const uint32_t *)&head,
				 offsetof(struct cap_file_head, end_bytes) / sizeof(uint32_t));
	for (unsigned i = 0; i < CAP_DOMAIN_COUNT; i++)
		head.ledger[i].asked = opts->domains >> i & 1;

	/* Written first, so that its block is there before it is mapped. */
	if (pwrite(writer->fd, zeros, sizeof(zeros), 0) != (ssize_t)sizeof(zeros) ||
	    pwrite(writer->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return ws_fail_errno(err, errno ? errno : ENOSPC, "cannot write capture '%s'",
				     writer->path);
	at = mmap(NULL, HEAD_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, writer->fd, 0);
	if (at == MAP_FAILED)
		return ws_fail_errno(err, errno, "cannot map capture '%s'", writer->path);
	writer->head = at;
	writer->first = head;
	memcpy(writer->ledger, head.ledger, sizeof(head.ledger));
	return WS_OK;
}

/* ---- helper ---- */

/* Only open and the helper: the schedule is theirs. */
static void write_clock(struct cap_writer *writer)
{
	struct cap_rec_clock pair = cap_clock_pair();

	cap_writer_meta(writer, &pair.h);
	writer->next_clock_ns = pair.boottime_ns + writer->clock_step_ns;
	writer->clock_step_ns = WS_MIN(writer->clock_step_ns * 10, CLOCK_STEP_LAST_NS);
}

void cap_writer_tend(struct cap_writer *writer)
{
	int saved_errno = errno;

	cap_spares_fill(writer);
	cap_spent_drop(writer);
	if (!writer->imported && cap_boottime_ns() >= writer->next_clock_ns)
		write_clock(writer);
	errno = saved_errno;
}

static void *helper_main(void *arg)
{
	struct cap_writer *writer = arg;

	for (;;) {
		uint64_t now = cap_boottime_ns(), due = writer->next_clock_ns;
		uint64_t wait_ns = due > now ? WS_MIN(due - now, CLOCK_STEP_LAST_NS) : 1;
		struct timespec wait = { (time_t)(wait_ns / 1000000000u),
					 (long)(wait_ns % 1000000000u) };
		uint32_t wake;

		syscall(SYS_futex, &writer->wake, FUTEX_WAIT_PRIVATE, WAKE_IDLE, &wait, NULL, 0);
		wake = WAKE_WORK;
		__atomic_compare_exchange_n(&writer->wake, &wake, WAKE_IDLE, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (wake == WAKE_STOP)
			return NULL;
		cap_writer_tend(writer);
	}
}

static void start_helper(struct cap_writer *writer)
{
	pthread_attr_t attr;
	sigset_t all, before;

	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, HELPER_STACK_BYTES);
	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* but for one that its own writing may cause, see truncation.c */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	writer->has_helper = pthread_create(&writer->helper, &attr, helper_main, writer) == 0;
	if (writer->has_helper)
		pthread_setname_np(writer->helper, "wavescope");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

static void stop_helper(struct cap_writer *writer)
{
	if (!writer->has_helper)
		return;
	__atomic_store_n(&writer->wake, WAKE_STOP, __ATOMIC_RELEASE);
	syscall(SYS_futex, &writer->wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(writer->helper, NULL);
	writer->has_helper = false;
}

/* ---- life ---- */

static void free_memory(struct cap_writer *writer)
{
	cap_spent_drop(writer);
	for (uint32_t i = 0; writer->lanes && i < writer->n_lanes; i++) {
		if (writer->lanes[i].chunk)
			cap_chunk_unmap(writer->lanes[i].chunk);
	}
	for (char *block = writer->text_blocks; block;) {
		char *next = *(char **)block;

		munmap(block, ((size_t *)block)[1]);
		block = next;
	}
	if (writer->lanes)
		munmap(writer->lanes, CAP_LANES_MAX * sizeof(*writer->lanes));
	if (writer->slots)
		munmap(writer->slots, writer->n_slots * sizeof(*writer->slots));
	cap_truncation_unwatch(writer);
	if (writer->head)
		munmap(writer->head, HEAD_MAP_BYTES);
	if (cap_writer_owns(writer, writer->fd))
		close(writer->fd);
	pthread_mutex_destroy(&writer->lock);
	munmap(writer, sizeof(*writer));
}

enum ws_status cap_writer_open(const char *path, const struct cap_writer_opts *opts,
			       struct cap_writer **out_writer, struct ws_err *err)
{
	struct cap_writer *writer = cap_writer_pages(sizeof(*writer));
	struct cap_rec_clock first = { .h.time = 0 };
	enum ws_status st;

	if (!writer)
		return ws_fail(err, WS_E_NOMEM, "capture '%s'", path);
	writer->fd = -1;
	pthread_mutex_init(&writer->lock, NULL);
	writer->imported = opts->imported;
	if (!writer->imported) {
		__atomic_store_n(&cap_tick_kind, cap_tick_kind_detect(), __ATOMIC_RELAXED);
		/* Two pairs, as far apart as opening takes: a process killed at once has a rate. */
		first = cap_clock_pair();
	}
	writer->max_bytes = opts->max_bytes;
	writer->n_spare = WS_MIN(opts->n_spare ? opts->n_spare : SPARES_DEFAULT, CAP_SPARES_MAX);
	/* What lies ready is not to be a large part of a small capture. */
	writer->n_spare_max = !opts->max_bytes
				      ? CAP_SPARES_MAX
				      : (uint32_t)WS_MIN(opts->max_bytes / 16 / CAP_CHUNK_BYTES_MAX,
							 (uint64_t)CAP_SPARES_MAX);
	writer->n_spare_max = WS_MAX(writer->n_spare_max, writer->n_spare);
	writer->clock_step_ns = CLOCK_STEP_FIRST_NS;
	writer->lanes = cap_writer_pages(CAP_LANES_MAX * sizeof(*writer->lanes));
	writer->slots = cap_writer_pages(INTERN_SLOTS_FIRST * sizeof(*writer->slots));
	writer->n_slots = INTERN_SLOTS_FIRST;
	st = writer->lanes && writer->slots ? WS_OK
					    : ws_fail(err, WS_E_NOMEM, "capture '%s'", path);
	if (!st)
		st = create_file(writer, path, err);
	if (!st)
		st = map_head(writer, opts, err);
	if (!st) {
		cap_truncation_watch(writer);
		writer->meta = cap_lane_open(writer, CAP_CHUNK_META, 0);
		/* Without room for the first facts there is nothing to start for. */
		if (!writer->meta || !writer->meta->chunk)
			st = ws_fail(err, WS_E_LIMIT, "no space for the capture '%s'",
				     writer->path);
	}
	if (st) {
		if (writer->fd >= 0)
			unlink(writer->path);
		free_memory(writer);
		return st;
	}
	if (!writer->imported) {
		cap_writer_meta(writer, &first.h);
		write_clock(writer);
	}
	if (!opts->no_helper && !writer->imported)
		start_helper(writer);
	*out_writer = writer;
	return WS_OK;
}

void cap_writer_end(struct cap_writer *writer, enum cap_end_cause cause)
{
	struct cap_rec_end end = { .h = { CAP_REC_FIXED_TAG(END, struct cap_rec_end), cause, 0 } };
	int saved_errno = errno;

	if (!writer->imported) {
		struct cap_rec_clock pair = cap_clock_pair();

		cap_writer_meta(writer, &pair.h);
		end.h.time = cap_boottime_ns();
		cap_writer_meta(writer, &end.h);
	}
	__atomic_store_n(&writer->head->closed, 1, __ATOMIC_RELEASE);
	errno = saved_errno;
}

void cap_writer_close(struct cap_writer *writer)
{
	int saved_errno = errno;

	if (!writer)
		return;
	stop_helper(writer);
	cap_spares_drop(writer);
	free_memory(writer);
	errno = saved_errno;
}

void cap_writer_forked(struct cap_writer *writer)
{
	int saved_errno = errno;

	if (!writer)
		return;
	for (int class = 0; class < CAP_SPARE_CLASSES; class ++) {
		for (uint32_t i = 0; i < CAP_SPARES_MAX; i++) {
			if (writer->spares[class][i])
				cap_chunk_unmap(writer->spares[class][i]);
		}
	}
	free_memory(writer); /* the helper thread did not come along */
	errno = saved_errno;
}

const char *cap_writer_path(const struct cap_writer *writer)
{
	return writer->path;
}

uint64_t cap_writer_file_bytes(const struct cap_writer *writer)
{
	return __atomic_load_n(&writer->head->end_bytes, __ATOMIC_RELAXED);
}

void cap_writer_count(struct cap_writer *writer, enum cap_domain domain,
		      enum cap_ledger_column column, uint64_t n)
{
	struct cap_ledger_line *line = &writer->head->ledger[domain];
	struct cap_ledger_line *kept = &writer->ledger[domain];
	uint64_t *at[] = { &line->asked, &line->dropped, &line->paused, &line->failed,
			   &writer->head->left_out[domain] };
	uint64_t *kept_at[] = { &kept->asked, &kept->dropped, &kept->paused, &kept->failed,
				&writer->left_out[domain] };

	__atomic_fetch_add(kept_at[column], n, __ATOMIC_RELAXED);
	__atomic_fetch_add(at[column], n, __ATOMIC_RELAXED);
}

void cap_writer_submitted(struct cap_writer *writer)
{
	__atomic_fetch_add(&writer->head->n_submitted, 1, __ATOMIC_RELAXED);
}

/* ---- facts ---- */

static bool append_fact(struct cap_writer *writer, const struct cap_rec *rec)
{
	/* A handler that interrupts this may not write facts, so `meta` is never busy here. */
	bool done = cap_lane_append(writer->meta, rec);

	if (!done)
		__atomic_fetch_add(&writer->head->lost_facts, 1, __ATOMIC_RELAXED);
	return done;
}

bool cap_writer_meta(struct cap_writer *writer, const struct cap_rec *rec)
{
	bool done;

	pthread_mutex_lock(&writer->lock);
	done = append_fact(writer, rec);
	pthread_mutex_unlock(&writer->lock);
	return done;
}

/* A record that is a struct of @fixed bytes and a text; under the lock. */
static bool append_text(struct cap_writer *writer, struct cap_lane *lane, const struct cap_rec *rec,
			uint32_t fixed_bytes, const void *text, uint32_t n_bytes)
{
	uint32_t size = CAP_REC_ROUND(fixed_bytes + n_bytes);
	char *room = cap_lane_reserve(&lane, size);

	if (!room) {
		__atomic_fetch_add(&writer->head->lost_facts, 1, __ATOMIC_RELAXED);
		return false;
	}
	memcpy(room, rec, fixed_bytes);
	memcpy(room + fixed_bytes, text, n_bytes);
	cap_lane_commit(lane, (struct cap_rec *)room, CAP_REC_TAG(cap_rec_type(rec), size));
	return true;
}

static uint32_t text_room(size_t n_bytes, uint32_t fixed_bytes)
{
	return (uint32_t)WS_MIN(n_bytes, (size_t)(CAP_REC_BYTES_MAX - fixed_bytes));
}

bool cap_writer_fact(struct cap_writer *writer, enum cap_fact fact, const char *text)
{
	struct cap_rec_fact rec = { .h = { CAP_REC_FACT, fact, 0 } };
	bool done;

	rec.n_bytes = text_room(strlen(text), sizeof(rec));
	pthread_mutex_lock(&writer->lock);
	done = append_text(writer, writer->meta, &rec.h, sizeof(rec), text, rec.n_bytes);
	pthread_mutex_unlock(&writer->lock);
	return done;
}

static uint64_t hash_text(const char *text, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	while (n--)
		h = (h ^ (uint8_t)*text++) * 0x100000001b3u;
	h ^= h >> 29;
	return h ? h : 1;
}

/* A copy that lives as long as the writer; NULL: not remembered. */
static const char *keep_text(struct cap_writer *writer, const char *text, uint32_t n)
{
	char *copy;

	if ((size_t)(writer->text_end - writer->text_at) < n) {
		size_t size = WS_MAX(INTERN_BLOCK, (n + 4096u + 4095u) & ~4095u);
		char *block;

		if (writer->text_bytes + size > INTERN_TEXT_MAX)
			return NULL;
		block = cap_writer_pages(size);
		if (!block)
			return NULL;
		((char **)block)[0] = writer->text_blocks;
		((size_t *)block)[1] = size;
		writer->text_blocks = block;
		writer->text_bytes += size;
		writer->text_at = block + 16;
		writer->text_end = block + size;
	}
	copy = memcpy(writer->text_at, text, n);
	writer->text_at += n;
	return copy;
}

static struct cap_intern_slot *find_slot(struct cap_intern_slot *slots, uint32_t n_slots,
					 uint64_t hash, const char *text, uint32_t n)
{
	for (uint32_t i = (uint32_t)hash;; i++) {
		struct cap_intern_slot *slot = &slots[i & (n_slots - 1)];

		if (!slot->hash || (slot->hash == hash && slot->n_bytes == n &&
				    (!text || memcmp(slot->text, text, n) == 0)))
			return slot;
	}
}

static void grow_slots(struct cap_writer *writer)
{
	uint32_t n = writer->n_slots * 2;
	struct cap_intern_slot *slots = cap_writer_pages(n * sizeof(*slots));

	if (!slots)
		return;
	for (uint32_t i = 0; i < writer->n_slots; i++) {
		const struct cap_intern_slot *old = &writer->slots[i];

		if (old->hash)
			*find_slot(slots, n, old->hash, old->text, old->n_bytes) = *old;
	}
	munmap(writer->slots, writer->n_slots * sizeof(*slots));
	writer->slots = slots;
	writer->n_slots = n;
}

uint32_t cap_writer_intern(struct cap_writer *writer, const char *text, size_t n_bytes)
{
	struct cap_rec_string rec = { .h = { CAP_REC_STRING, 0, 0 } };
	uint32_t n = text_room(n_bytes, sizeof(rec)), id = 0;
	struct cap_intern_slot *slot;
	int saved_errno = errno;
	uint64_t hash;

	if (!text || !n)
		return 0;
	hash = hash_text(text, n);
	pthread_mutex_lock(&writer->lock);
	slot = find_slot(writer->slots, writer->n_slots, hash, text, n);
	if (slot->hash) {
		id = slot->id;
	} else {
		rec.h.what = writer->n_strings + 1;
		rec.n_bytes = n;
		if (append_text(writer, writer->meta, &rec.h, sizeof(rec), text, n)) {
			id = ++writer->n_strings;
			if (writer->n_kept * 4 >= writer->n_slots * 3) {
				grow_slots(writer);
				slot = find_slot(writer->slots, writer->n_slots, hash, text, n);
			}
			/* A full table that could not grow remembers no more; one slot stays free.
			 */
			if (writer->n_kept + 1 < writer->n_slots &&
			    (slot->text = keep_text(writer, text, n))) {
				slot->hash = hash;
				slot->n_bytes = n;
				slot->id = id;
				writer->n_kept++;
			}
		}
	}
	pthread_mutex_unlock(&writer->lock);
	errno = saved_errno;
	return id;
}

bool cap_writer_code_bytes(struct cap_writer *writer, uint32_t code_object, const void *bytes,
			   uint64_t n_bytes)
{
	struct cap_rec_code_bytes rec = { .h = { CAP_REC_CODE_BYTES, code_object, 0 },
					  .total_bytes = n_bytes };
	bool done = true;

	while (done && rec.at_bytes < n_bytes) {
		/* pieces that fill the smallest chunk, so that images waste little */
		rec.n_bytes = (uint32_t)WS_MIN(n_bytes - rec.at_bytes, (uint64_t)48 << 10);
		/* Taken for each piece: other threads' facts do not wait for a whole image. */
		pthread_mutex_lock(&writer->lock);
		if (!writer->bulk)
			writer->bulk = cap_lane_open(writer, CAP_CHUNK_BULK, 0);
		done = writer->bulk && append_text(writer, writer->bulk, &rec.h, sizeof(rec),
						   (const char *)bytes + rec.at_bytes, rec.n_bytes);
		pthread_mutex_unlock(&writer->lock);
		rec.at_bytes += rec.n_bytes;
	}
	return done;
}
