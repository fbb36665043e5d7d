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

static enum ws_status create_file(struct ws_writer *writer, const char *path, struct ws_err *err)
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
	high = fcntl(writer->fd, F_DUPFD_CLOEXEC, WS_WRITER_FD_FLOOR);
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

static enum ws_status map_head(struct ws_writer *writer, uint64_t domains, struct ws_err *err)
{
	struct ws_file_head head = {
		.magic = WS_FILE_MAGIC,
		.version = WS_FILE_VERSION,
		.order = WS_FILE_ORDER,
		.head_bytes = WS_FILE_HEAD_BYTES,
		.chunk_align = WS_CHUNK_ALIGN,
		.pid = (uint32_t)getpid(),
		.tick_kind = __atomic_load_n(&ws_tick_kind, __ATOMIC_RELAXED),
		.created_ns = ws_boottime_ns(),
		.end_bytes = WS_FILE_HEAD_BYTES,
	};
	static const char zeros[HEAD_MAP_BYTES];
	struct timespec now;
	struct rlimit limit;
	void *at;

	/* As in lane.c: writing past the limit would send the program SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    sizeof(zeros) > limit.rlim_cur)
		return ws_fail_errno(err, EFBIG, "cannot write capture '%s'", writer->path);
	clock_gettime(CLOCK_REALTIME, &now);
	head.created_realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	ws_boot_id(head.boot_id);
	head.check = ws_check32((const uint32_t *)&head,
				offsetof(struct ws_file_head, end_bytes) / sizeof(uint32_t));
	for (unsigned i = 0; i < WS_DOMAIN_COUNT; i++)
		head.ledger[i].asked = domains >> i & 1;

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
static void write_clock(struct ws_writer *writer)
{
	struct ws_rec_clock pair = ws_clock_pair();

	ws_writer_meta(writer, &pair.h);
	writer->next_clock_ns = pair.boottime_ns + writer->clock_step_ns;
	writer->clock_step_ns = WS_MIN(writer->clock_step_ns * 10, CLOCK_STEP_LAST_NS);
}

void ws_writer_tend(struct ws_writer *writer)
{
	int saved_errno = errno;

	ws_spares_fill(writer);
	ws_spent_drop(writer);
	if (ws_boottime_ns() >= writer->next_clock_ns)
		write_clock(writer);
	errno = saved_errno;
}

static void *helper_main(void *arg)
{
	struct ws_writer *writer = arg;

	for (;;) {
		uint64_t now = ws_boottime_ns(), due = writer->next_clock_ns;
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
		ws_writer_tend(writer);
	}
}

static void start_helper(struct ws_writer *writer)
{
	pthread_attr_t attr;
	sigset_t all, before;

	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, HELPER_STACK_BYTES);
	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* but for one that its own writing may cause, see cut.c */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	writer->has_helper = pthread_create(&writer->helper, &attr, helper_main, writer) == 0;
	if (writer->has_helper)
		pthread_setname_np(writer->helper, "wavescope");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

static void stop_helper(struct ws_writer *writer)
{
	if (!writer->has_helper)
		return;
	__atomic_store_n(&writer->wake, WAKE_STOP, __ATOMIC_RELEASE);
	syscall(SYS_futex, &writer->wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(writer->helper, NULL);
	writer->has_helper = false;
}

/* ---- life ---- */

static void free_memory(struct ws_writer *writer)
{
	ws_spent_drop(writer);
	for (uint32_t i = 0; writer->lanes && i < writer->n_lanes; i++) {
		if (writer->lanes[i].chunk)
			ws_chunk_unmap(writer->lanes[i].chunk);
	}
	for (char *block = writer->text_blocks; block;) {
		char *next = *(char **)block;

		munmap(block, ((size_t *)block)[1]);
		block = next;
	}
	if (writer->lanes)
		munmap(writer->lanes, WS_LANES_MAX * sizeof(*writer->lanes));
	if (writer->slots)
		munmap(writer->slots, writer->n_slots * sizeof(*writer->slots));
	ws_cut_forget(writer);
	if (writer->head)
		munmap(writer->head, HEAD_MAP_BYTES);
	if (ws_writer_owns(writer, writer->fd))
		close(writer->fd);
	pthread_mutex_destroy(&writer->lock);
	munmap(writer, sizeof(*writer));
}

enum ws_status ws_writer_open(const char *path, const struct ws_writer_opts *opts,
			      struct ws_writer **out_writer, struct ws_err *err)
{
	struct ws_writer *writer = ws_writer_pages(sizeof(*writer));
	struct ws_rec_clock first;
	enum ws_status st;

	if (!writer)
		return ws_fail(err, WS_E_NOMEM, "capture '%s'", path);
	writer->fd = -1;
	pthread_mutex_init(&writer->lock, NULL);
	__atomic_store_n(&ws_tick_kind, ws_tick_kind_detect(), __ATOMIC_RELAXED);
	/* Two pairs, as far apart as opening takes: even a process killed at once has a rate. */
	first = ws_clock_pair();
	writer->max_bytes = opts->max_bytes;
	writer->n_spare = WS_MIN(opts->n_spare ? opts->n_spare : SPARES_DEFAULT, WS_SPARES_MAX);
	/* What lies ready is not to be a large part of a small capture. */
	writer->n_spare_max = !opts->max_bytes
				      ? WS_SPARES_MAX
				      : (uint32_t)WS_MIN(opts->max_bytes / 16 / WS_CHUNK_BYTES_MAX,
							 (uint64_t)WS_SPARES_MAX);
	writer->n_spare_max = WS_MAX(writer->n_spare_max, writer->n_spare);
	writer->clock_step_ns = CLOCK_STEP_FIRST_NS;
	writer->lanes = ws_writer_pages(WS_LANES_MAX * sizeof(*writer->lanes));
	writer->slots = ws_writer_pages(INTERN_SLOTS_FIRST * sizeof(*writer->slots));
	writer->n_slots = INTERN_SLOTS_FIRST;
	st = writer->lanes && writer->slots ? WS_OK
					    : ws_fail(err, WS_E_NOMEM, "capture '%s'", path);
	if (!st)
		st = create_file(writer, path, err);
	if (!st)
		st = map_head(writer, opts->domains, err);
	if (!st) {
		ws_cut_watch(writer);
		writer->meta = ws_lane_open(writer, WS_CHUNK_META, 0);
		/* Without room for the first facts there is nothing to start for. */
		if (!writer->meta || !writer->meta->chunk)
			st = ws_fail(err, WS_E_LIMIT, "no room for a capture at '%s'",
				     writer->path);
	}
	if (st) {
		if (writer->fd >= 0)
			unlink(writer->path);
		free_memory(writer);
		return st;
	}
	ws_writer_meta(writer, &first.h);
	write_clock(writer);
	if (!opts->no_helper)
		start_helper(writer);
	*out_writer = writer;
	return WS_OK;
}

void ws_writer_end(struct ws_writer *writer, enum ws_end_cause cause)
{
	struct ws_rec_end end = { .h = { WS_REC_FIXED_TAG(END, struct ws_rec_end), cause, 0 } };
	struct ws_rec_clock pair = ws_clock_pair();
	int saved_errno = errno;

	ws_writer_meta(writer, &pair.h);
	end.h.time = ws_boottime_ns();
	ws_writer_meta(writer, &end.h);
	__atomic_store_n(&writer->head->closed, 1, __ATOMIC_RELEASE);
	errno = saved_errno;
}

void ws_writer_close(struct ws_writer *writer)
{
	int saved_errno = errno;

	if (!writer)
		return;
	stop_helper(writer);
	ws_spares_drop(writer);
	free_memory(writer);
	errno = saved_errno;
}

void ws_writer_forked(struct ws_writer *writer)
{
	int saved_errno = errno;

	if (!writer)
		return;
	for (int class = 0; class < WS_SPARE_CLASSES; class ++) {
		for (uint32_t i = 0; i < WS_SPARES_MAX; i++) {
			if (writer->spares[class][i])
				ws_chunk_unmap(writer->spares[class][i]);
		}
	}
	free_memory(writer); /* the helper thread did not come along */
	errno = saved_errno;
}

const char *ws_writer_path(const struct ws_writer *writer)
{
	return writer->path;
}

uint64_t ws_writer_file_bytes(const struct ws_writer *writer)
{
	return __atomic_load_n(&writer->head->end_bytes, __ATOMIC_RELAXED);
}

void ws_writer_count(struct ws_writer *writer, enum ws_domain domain, enum ws_ledger_column column,
		     uint64_t n)
{
	struct ws_ledger_line *line = &writer->head->ledger[domain];
	struct ws_ledger_line *kept = &writer->ledger[domain];
	uint64_t *at[] = { &line->asked, &line->dropped, &line->paused, &line->failed };
	uint64_t *kept_at[] = { &kept->asked, &kept->dropped, &kept->paused, &kept->failed };

	__atomic_fetch_add(kept_at[column], n, __ATOMIC_RELAXED);
	__atomic_fetch_add(at[column], n, __ATOMIC_RELAXED);
}

void ws_writer_submitted(struct ws_writer *writer)
{
	__atomic_fetch_add(&writer->head->n_submitted, 1, __ATOMIC_RELAXED);
}

/* ---- facts ---- */

static bool append_fact(struct ws_writer *writer, const struct ws_rec *rec)
{
	/* A handler that interrupts this may not write facts, so `meta` is never busy here. */
	bool done = ws_lane_append(writer->meta, rec);

	if (!done)
		__atomic_fetch_add(&writer->head->lost_facts, 1, __ATOMIC_RELAXED);
	return done;
}

bool ws_writer_meta(struct ws_writer *writer, const struct ws_rec *rec)
{
	bool done;

	pthread_mutex_lock(&writer->lock);
	done = append_fact(writer, rec);
	pthread_mutex_unlock(&writer->lock);
	return done;
}

/* A record that is a struct of @fixed bytes and a text; under the lock. */
static bool append_text(struct ws_writer *writer, struct ws_lane *lane, const struct ws_rec *rec,
			uint32_t fixed_bytes, const void *text, uint32_t n_bytes)
{
	uint32_t size = WS_REC_ROUND(fixed_bytes + n_bytes);
	char *room = ws_lane_reserve(&lane, size);

	if (!room) {
		__atomic_fetch_add(&writer->head->lost_facts, 1, __ATOMIC_RELAXED);
		return false;
	}
	memcpy(room, rec, fixed_bytes);
	memcpy(room + fixed_bytes, text, n_bytes);
	ws_lane_commit(lane, (struct ws_rec *)room, WS_REC_TAG(ws_rec_type(rec), size));
	return true;
}

static uint32_t text_room(size_t n_bytes, uint32_t fixed_bytes)
{
	return (uint32_t)WS_MIN(n_bytes, (size_t)(WS_REC_BYTES_MAX - fixed_bytes));
}

bool ws_writer_fact(struct ws_writer *writer, enum ws_fact fact, const char *text)
{
	struct ws_rec_fact rec = { .h = { WS_REC_FACT, fact, 0 } };
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
static const char *keep_text(struct ws_writer *writer, const char *text, uint32_t n)
{
	char *copy;

	if ((size_t)(writer->text_end - writer->text_at) < n) {
		size_t size = WS_MAX(INTERN_BLOCK, (n + 4096u + 4095u) & ~4095u);
		char *block;

		if (writer->text_bytes + size > INTERN_TEXT_MAX)
			return NULL;
		block = ws_writer_pages(size);
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

static struct ws_intern_slot *find_slot(struct ws_intern_slot *slots, uint32_t n_slots,
					uint64_t hash, const char *text, uint32_t n)
{
	for (uint32_t i = (uint32_t)hash;; i++) {
		struct ws_intern_slot *slot = &slots[i & (n_slots - 1)];

		if (!slot->hash || (slot->hash == hash && slot->n_bytes == n &&
				    (!text || memcmp(slot->text, text, n) == 0)))
			return slot;
	}
}

static void grow_slots(struct ws_writer *writer)
{
	uint32_t n = writer->n_slots * 2;
	struct ws_intern_slot *slots = ws_writer_pages(n * sizeof(*slots));

	if (!slots)
		return;
	for (uint32_t i = 0; i < writer->n_slots; i++) {
		const struct ws_intern_slot *old = &writer->slots[i];

		if (old->hash)
			*find_slot(slots, n, old->hash, old->text, old->n_bytes) = *old;
	}
	munmap(writer->slots, writer->n_slots * sizeof(*slots));
	writer->slots = slots;
	writer->n_slots = n;
}

uint32_t ws_writer_intern(struct ws_writer *writer, const char *text, size_t n_bytes)
{
	struct ws_rec_string rec = { .h = { WS_REC_STRING, 0, 0 } };
	uint32_t n = text_room(n_bytes, sizeof(rec)), id = 0;
	struct ws_intern_slot *slot;
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

bool ws_writer_code_bytes(struct ws_writer *writer, uint32_t code_object, const void *bytes,
			  uint64_t n_bytes)
{
	struct ws_rec_code_bytes rec = { .h = { WS_REC_CODE_BYTES, code_object, 0 },
					 .total_bytes = n_bytes };
	bool done = true;

	while (done && rec.at_bytes < n_bytes) {
		/* pieces that fill the smallest chunk, so that images waste little */
		rec.n_bytes = (uint32_t)WS_MIN(n_bytes - rec.at_bytes, (uint64_t)48 << 10);
		/* Taken for each piece: other threads' facts do not wait for a whole image. */
		pthread_mutex_lock(&writer->lock);
		if (!writer->bulk)
			writer->bulk = ws_lane_open(writer, WS_CHUNK_BULK, 0);
		done = writer->bulk && append_text(writer, writer->bulk, &rec.h, sizeof(rec),
						   (const char *)bytes + rec.at_bytes, rec.n_bytes);
		pthread_mutex_unlock(&writer->lock);
		rec.at_bytes += rec.n_bytes;
	}
	return done;
}
