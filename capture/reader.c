#include "capture/reader.h"

#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNKS_MAX (1u << 24) /* 16 million chunks are a terabyte at least */
#define RESYNC_CHAIN 3        /* tags in a row that make a place believable */
#define RESYNC_TAIL 2         /* fewer will do when they end exactly where the records end */

struct cap_reader {
	int fd;
	struct cap_file_head head;
	uint64_t seen_bytes; /* heads were looked for up to here */
	struct cap_damage damage;
	WS_VEC(struct cap_chunk_info) chunks;
	char path[PATH_MAX];
};

/* ---- what the types look like ---- */

struct tail_shape {
	uint32_t count_at;   /* offset of the uint32_t that counts */
	uint32_t elem_bytes; /* 0: no tail */
};

struct rec_shape {
	const char *name;
	uint32_t fixed_bytes;
	struct tail_shape tail;
};

#define TAIL_NONE(T)                                                                               \
	{                                                                                          \
		0, 0                                                                               \
	}
#define TAIL_TEXT(T)                                                                               \
	{                                                                                          \
		offsetof(struct T, n_bytes), 1                                                     \
	}
#define TAIL_ARGS(T)                                                                               \
	{                                                                                          \
		offsetof(struct T, n_arg_bytes), 1                                                 \
	}
#define TAIL_OP_ARGS(T)                                                                            \
	{                                                                                          \
		offsetof(struct T, n_args), sizeof(struct cap_op_arg)                              \
	}
#define TAIL_DIMS(T)                                                                               \
	{                                                                                          \
		offsetof(struct T, n_dims), sizeof(struct cap_counter_dim)                         \
	}
#define TAIL_VALUES(T)                                                                             \
	{                                                                                          \
		offsetof(struct T, n_values), sizeof(struct cap_counter_value)                     \
	}
#define TAIL_FRAMES(T)                                                                             \
	{                                                                                          \
		offsetof(struct T, n_frames), sizeof(uint64_t)                                     \
	}
#define TAIL_EVENT_COUNTS(T)                                                                       \
	{                                                                                          \
		offsetof(struct T, n_counts), sizeof(uint64_t)                                     \
	}
#define TAIL_METRIC_VALUES(T)                                                                      \
	{                                                                                          \
		offsetof(struct T, n_values), sizeof(struct cap_metric_value)                      \
	}

static const struct rec_shape shapes[CAP_REC_TYPE_MAX + 1] = {
#define SHAPE_ROW(name, number, chunk, clock, type, tail)                                          \
	[number] = { #name, sizeof(struct type), TAIL_##tail(type) },
	CAP_REC_TABLE(SHAPE_ROW)
#undef SHAPE_ROW
};

#define CHECK_ROW(name, number, chunk, clock, type, tail)                                          \
	_Static_assert(sizeof(struct type) % CAP_REC_ALIGN == 0, #name " is made of whole words");
CAP_REC_TABLE(CHECK_ROW)
#undef CHECK_ROW

uint32_t cap_rec_min_bytes(uint32_t type)
{
	return type <= CAP_REC_TYPE_MAX ? shapes[type].fixed_bytes : 0;
}

const char *cap_rec_type_name(uint32_t type)
{
	return type <= CAP_REC_TYPE_MAX ? shapes[type].name : NULL;
}

static uint64_t tail_bytes(const struct cap_rec *rec, const struct rec_shape *shape)
{
	uint32_t count;

	if (!shape->tail.elem_bytes)
		return 0;
	memcpy(&count, (const char *)rec + shape->tail.count_at, sizeof(count));
	return (uint64_t)count * shape->tail.elem_bytes;
}

struct cap_tail cap_rec_tail(const struct cap_rec *rec)
{
	const struct rec_shape *shape = &shapes[cap_rec_type(rec)];

	return (struct cap_tail){ (const char *)rec + shape->fixed_bytes,
				  (uint32_t)tail_bytes(rec, shape) };
}

/* ---- damage ---- */

bool cap_damage_any(const struct cap_damage *d)
{
	return d->n_heads || d->n_skipped_bytes || d->n_records || d->n_unknown || d->n_cut ||
	       d->n_pages_cut;
}

void cap_damage_add(struct cap_damage *sum, const struct cap_damage *more)
{
	sum->n_heads += more->n_heads;
	sum->n_skipped_bytes += more->n_skipped_bytes;
	sum->n_records += more->n_records;
	sum->n_unknown += more->n_unknown;
	sum->n_cut += more->n_cut;
	sum->n_pages_cut += more->n_pages_cut;
}

/* ---- chunk heads ---- */

/* Up to @n bytes at @at; fewer at the end of the file or where the disk will not give them. */
static size_t read_at(int fd, void *to, size_t n, uint64_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t did = pread(fd, (char *)to + done, n - done, (off_t)(at + done));

		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0)
			break;
		done += (size_t)did;
	}
	return done;
}

static bool head_ok(const struct cap_chunk_head *head)
{
	return head->magic == CAP_CHUNK_MAGIC && head->check == cap_check32(&head->magic, 5) &&
	       head->n_bytes >= CAP_CHUNK_ALIGN && head->n_bytes % CAP_CHUNK_ALIGN == 0 &&
	       head->n_bytes <= CAP_CHUNK_BYTES_MAX && head->kind < CAP_CHUNK_KIND_COUNT;
}

static bool all_zero(const void *bytes, size_t n)
{
	const char *at = bytes;

	return n == 0 || (at[0] == 0 && memcmp(at, at + 1, n - 1) == 0);
}

static enum ws_status add_chunk(struct cap_reader *reader, const struct cap_chunk_head *head,
				uint64_t at, uint64_t file_bytes, struct ws_err *err)
{
	struct cap_chunk_info info = {
		.at_bytes = at,
		.opened_ticks = head->opened_ticks,
		.types = head->types,
		.n_bytes = head->n_bytes,
		.kind = head->kind,
		.lane = head->lane,
		.seq = head->seq,
	};
	uint64_t here = WS_MIN((uint64_t)head->n_bytes, file_bytes - at);
	uint64_t valid = head->valid_bytes;

	if (!head->lane || !valid)
		return WS_OK; /* a spare that nobody took, or took and did not live to use */
	if (valid > here || valid < sizeof(*head)) {
		/* Cut off, or a number that cannot be: records speak for themselves up to there. */
		if (valid > head->n_bytes || valid < sizeof(*head))
			reader->damage.n_heads++;
		else
			reader->damage.n_cut++;
		valid = here;
	}
	info.valid_bytes = (uint32_t)valid;
	return ws_vec_push(&reader->chunks, info, err);
}

static int by_lane(const void *a, const void *b)
{
	const struct cap_chunk_info *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->at_bytes < y->at_bytes ? -1 : x->at_bytes > y->at_bytes;
}

static enum ws_status find_chunks(struct cap_reader *reader, struct ws_err *err)
{
	struct stat st;
	uint64_t at = reader->seen_bytes;
	bool lost = false;

	if (fstat(reader->fd, &st) != 0)
		return ws_fail_errno(err, errno, "capture '%s'", reader->path);
	while (at < (uint64_t)st.st_size) {
		struct cap_chunk_head head;
		enum ws_status status;
		size_t n = read_at(reader->fd, &head, sizeof(head), at);

		if (n < sizeof(head)) {
			reader->damage.n_cut += !all_zero(&head, n);
			break;
		}
		if (head_ok(&head)) {
			status = add_chunk(reader, &head, at, (uint64_t)st.st_size, err);
			if (status)
				return status;
			at += head.n_bytes;
			lost = false;
			continue;
		}
		/*
		 * Zeros are a place that was given out and could not be had, or a head
		 * that was not begun. A head for nobody, or one that nothing was written
		 * behind, may have been killed while it changed hands.
		 */
		if (!all_zero(&head, sizeof(head)) && !lost &&
		    !(head.magic == CAP_CHUNK_MAGIC && head.valid_bytes == 0)) {
			reader->damage.n_heads++;
			lost = true;
		}
		if (lost)
			reader->damage.n_skipped_bytes +=
				WS_MIN((uint64_t)CAP_CHUNK_ALIGN, (uint64_t)st.st_size - at);
		at += CAP_CHUNK_ALIGN;
	}
	reader->seen_bytes = at;
	return WS_OK;
}

/* ---- life ---- */

static enum ws_status check_head(struct cap_reader *reader, size_t n, struct ws_err *err)
{
	struct cap_file_head *head = &reader->head;

	if (n < sizeof(head->magic) ||
	    memcmp(head->magic, CAP_FILE_MAGIC, sizeof(head->magic)) != 0)
		return ws_fail(err, WS_E_FORMAT, "'%s' is not a capture", reader->path);
	if (n < offsetof(struct cap_file_head, ledger))
		return ws_fail(err, WS_E_FORMAT, "'%s' is truncated within its first %zu bytes",
			       reader->path, n);
	if (head->order == __builtin_bswap32(CAP_FILE_ORDER))
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "'%s' was written on a machine with another byte order",
			       reader->path);
	if (head->version > CAP_FILE_VERSION && head->version < 1000)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "'%s' has format version %u, this program reads up to %u: use the "
			       "wavescope that recorded it",
			       reader->path, head->version, CAP_FILE_VERSION);
	/* Wrong in detail: the chunks do not need it, so go on with what is certain. */
	if (head->check !=
		    cap_check32((const uint32_t *)head,
				offsetof(struct cap_file_head, end_bytes) / sizeof(uint32_t)) ||
	    head->version != CAP_FILE_VERSION || head->order != CAP_FILE_ORDER)
		reader->damage.n_heads++;
	reader->damage.n_pages_cut = head->n_cut;
	return WS_OK;
}

enum ws_status cap_reader_open(const char *path, struct cap_reader **out_reader, struct ws_err *err)
{
	struct cap_reader *reader = calloc(1, sizeof(*reader));
	enum ws_status st;
	size_t n;

	if (!reader)
		return ws_fail(err, WS_E_NOMEM, "capture '%s'", path);
	ws_vec_init(&reader->chunks, CHUNKS_MAX);
	strncpy(reader->path, path, sizeof(reader->path) - 1);
	reader->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0) {
		st = ws_fail_errno(err, errno, "cannot open capture '%s'", path);
		goto out;
	}
	n = read_at(reader->fd, &reader->head, sizeof(reader->head), 0);
	st = check_head(reader, n, err);
	if (st)
		goto out;
	reader->seen_bytes = CAP_FILE_HEAD_BYTES;
	st = find_chunks(reader, err);
	if (st)
		goto out;
	ws_vec_sort(&reader->chunks, by_lane);
	*out_reader = reader;
	reader = NULL;
out:
	cap_reader_close(reader);
	return st;
}

/* The head is written over zeros, and its magic is in the same write as the rest. */
bool cap_unbegun(const char *path)
{
	static const char zeros[sizeof(((struct cap_file_head *)0)->magic)];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char magic[sizeof(zeros)] = { 0 };
	size_t n;

	if (fd < 0)
		return false;
	n = read_at(fd, magic, sizeof(magic), 0);
	close(fd);
	return n == 0 || (n == sizeof(magic) && memcmp(magic, zeros, sizeof(zeros)) == 0);
}

void cap_reader_close(struct cap_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	ws_vec_fini(&reader->chunks);
	free(reader);
}

const char *cap_reader_path(const struct cap_reader *reader)
{
	return reader->path;
}

const struct cap_file_head *cap_reader_head(const struct cap_reader *reader)
{
	return &reader->head;
}

bool cap_reader_closed(const struct cap_reader *reader)
{
	return reader->head.closed == 1;
}

const struct cap_damage *cap_reader_damage(const struct cap_reader *reader)
{
	return &reader->damage;
}

size_t cap_reader_n_chunks(const struct cap_reader *reader)
{
	return reader->chunks.n;
}

const struct cap_chunk_info *cap_reader_chunk(const struct cap_reader *reader, size_t i)
{
	return &reader->chunks.at[i];
}

/* ---- records ---- */

static enum ws_status fill_view(const struct cap_reader *reader, const struct cap_chunk_info *info,
				uint32_t at, uint32_t n_bytes, struct cap_view *view,
				struct ws_err *err)
{
	size_t n;

	if (view->cap_bytes < n_bytes) {
		char *bytes = aligned_alloc(64, (n_bytes + 63u) & ~63u);

		if (!bytes)
			return ws_fail(err, WS_E_NOMEM, "capture '%s'", reader->path);
		free(view->bytes);
		view->bytes = bytes;
		view->cap_bytes = n_bytes;
	}
	n = read_at(reader->fd, view->bytes, n_bytes, info->at_bytes + at);
	if (n < n_bytes)
		view->damage.n_cut++;
	view->valid = (uint32_t)n & ~(CAP_REC_ALIGN - 1);
	view->at = 0;
	view->tid = 0;
	view->kind = info->kind;
	return WS_OK;
}

enum ws_status cap_reader_load(const struct cap_reader *reader, size_t chunk, struct cap_view *view,
			       struct ws_err *err)
{
	const struct cap_chunk_info *info = &reader->chunks.at[chunk];
	enum ws_status st;

	if (info->from_bytes >= info->valid_bytes && info->from_bytes) { /* nothing is new */
		view->at = view->valid = view->tid = 0;
		view->kind = info->kind;
		return WS_OK;
	}
	st = fill_view(reader, info, 0, info->valid_bytes, view, err);
	view->at = WS_MAX((uint32_t)sizeof(struct cap_chunk_head), info->from_bytes);
	return st;
}

void cap_reader_skip(struct cap_reader *reader, size_t chunk, uint32_t n_bytes)
{
	reader->chunks.at[chunk].from_bytes = n_bytes;
}

enum ws_status cap_reader_load_part(const struct cap_reader *reader, size_t chunk, uint32_t at,
				    uint32_t n_bytes, struct cap_view *view, struct ws_err *err)
{
	const struct cap_chunk_info *info = &reader->chunks.at[chunk];

	if (at > info->valid_bytes || n_bytes > info->valid_bytes - at)
		return ws_fail(err, WS_E_NOTFOUND, "capture '%s': no such part", reader->path);
	return fill_view(reader, info, at, n_bytes, view, err);
}

void cap_view_fini(struct cap_view *view)
{
	free(view->bytes);
	view->bytes = NULL;
	view->cap_bytes = 0;
}

enum tag_state { TAG_OK, TAG_BAD, TAG_CUT };

/* Whether a record begins at @at: a sound tag, and all of it here. CUT: its end is not. */
static enum tag_state tag_at(const struct cap_view *view, uint32_t at, uint32_t *out_bytes)
{
	uint32_t tag;

	if (view->valid - at < sizeof(struct cap_rec))
		return TAG_CUT;
	memcpy(&tag, view->bytes + at, sizeof(tag));
	*out_bytes = (tag >> 8 & 0xffff) * CAP_REC_ALIGN;
	if (!cap_rec_tag_ok(tag))
		return TAG_BAD;
	return *out_bytes <= view->valid - at ? TAG_OK : TAG_CUT;
}

/*
 * The place is wrong: go on at the next one from which several records follow
 * each other.
 */
static void resync(struct cap_view *view)
{
	uint32_t from = view->at;

	for (uint32_t at = from + CAP_REC_ALIGN; at < view->valid; at += CAP_REC_ALIGN) {
		uint32_t next = at, size;
		int chain = 0;

		while (chain < RESYNC_CHAIN && next < view->valid &&
		       tag_at(view, next, &size) == TAG_OK &&
		       shapes[*(uint8_t *)(view->bytes + next)].name) {
			next += size;
			chain++;
		}
		if (chain == RESYNC_CHAIN || (chain >= RESYNC_TAIL && next == view->valid)) {
			view->damage.n_skipped_bytes += at - from;
			view->at = at;
			return;
		}
	}
	view->damage.n_skipped_bytes += view->valid - from;
	view->at = view->valid;
}

const struct cap_rec *cap_view_next(struct cap_view *view)
{
	while (view->at < view->valid) {
		const struct cap_rec *rec = (const struct cap_rec *)(view->bytes + view->at);
		const struct rec_shape *shape;
		uint32_t size;
		enum tag_state tag = tag_at(view, view->at, &size);

		if (tag == TAG_CUT) {
			view->damage.n_skipped_bytes += view->valid - view->at;
			break;
		}
		if (tag == TAG_BAD) {
			/* A chunk whose valid size is not known ends in zeros: that is no damage.
			 */
			if (all_zero(view->bytes + view->at, view->valid - view->at))
				break;
			resync(view);
			continue;
		}
		view->at += size;
		shape = &shapes[cap_rec_type(rec)];
		if (!shape->name) {
			view->damage.n_unknown++;
			continue;
		}
		if (size < shape->fixed_bytes ||
		    tail_bytes(rec, shape) > size - shape->fixed_bytes) {
			view->damage.n_records++;
			continue;
		}
		if (cap_rec_type(rec) == CAP_REC_OWNER) {
			view->tid = rec->what;
			continue;
		}
		return rec;
	}
	view->at = view->valid;
	return NULL;
}
