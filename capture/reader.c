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

struct ws_reader {
	int fd;
	struct ws_file_head head;
	uint64_t seen_bytes; /* heads were looked for up to here */
	struct ws_damage damage;
	WS_VEC(struct ws_chunk_info) chunks;
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
		offsetof(struct T, n_args), sizeof(struct ws_op_arg)                               \
	}
#define TAIL_DIMS(T)                                                                               \
	{                                                                                          \
		offsetof(struct T, n_dims), sizeof(struct ws_counter_dim)                          \
	}
#define TAIL_VALUES(T)                                                                             \
	{                                                                                          \
		offsetof(struct T, n_values), sizeof(struct ws_counter_value)                      \
	}

static const struct rec_shape shapes[WS_REC_TYPE_MAX + 1] = {
#define SHAPE_ROW(name, number, chunk, clock, type, tail)                                          \
	[number] = { #name, sizeof(struct type), TAIL_##tail(type) },
	WS_REC_TABLE(SHAPE_ROW)
#undef SHAPE_ROW
};

#define CHECK_ROW(name, number, chunk, clock, type, tail)                                          \
	_Static_assert(sizeof(struct type) % WS_REC_ALIGN == 0, #name " is made of whole words");
WS_REC_TABLE(CHECK_ROW)
#undef CHECK_ROW

uint32_t ws_rec_min_bytes(uint32_t type)
{
	return type <= WS_REC_TYPE_MAX ? shapes[type].fixed_bytes : 0;
}

const char *ws_rec_type_name(uint32_t type)
{
	return type <= WS_REC_TYPE_MAX ? shapes[type].name : NULL;
}

static uint64_t tail_bytes(const struct ws_rec *rec, const struct rec_shape *shape)
{
	uint32_t count;

	if (!shape->tail.elem_bytes)
		return 0;
	memcpy(&count, (const char *)rec + shape->tail.count_at, sizeof(count));
	return (uint64_t)count * shape->tail.elem_bytes;
}

struct ws_tail ws_rec_tail(const struct ws_rec *rec)
{
	const struct rec_shape *shape = &shapes[ws_rec_type(rec)];

	return (struct ws_tail){ (const char *)rec + shape->fixed_bytes,
				 (uint32_t)tail_bytes(rec, shape) };
}

/* ---- damage ---- */

bool ws_damage_any(const struct ws_damage *d)
{
	return d->n_heads || d->n_skipped_bytes || d->n_records || d->n_unknown || d->n_cut ||
	       d->n_pages_cut;
}

void ws_damage_add(struct ws_damage *sum, const struct ws_damage *more)
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

static bool head_ok(const struct ws_chunk_head *head)
{
	return head->magic == WS_CHUNK_MAGIC && head->check == ws_check32(&head->magic, 5) &&
	       head->n_bytes >= WS_CHUNK_ALIGN && head->n_bytes % WS_CHUNK_ALIGN == 0 &&
	       head->n_bytes <= WS_CHUNK_BYTES_MAX && head->kind < WS_CHUNK_KIND_COUNT;
}

static bool all_zero(const void *bytes, size_t n)
{
	const char *at = bytes;

	return n == 0 || (at[0] == 0 && memcmp(at, at + 1, n - 1) == 0);
}

static enum ws_status add_chunk(struct ws_reader *reader, const struct ws_chunk_head *head,
				uint64_t at, uint64_t file_bytes, struct ws_err *err)
{
	struct ws_chunk_info info = {
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
	const struct ws_chunk_info *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->at_bytes < y->at_bytes ? -1 : x->at_bytes > y->at_bytes;
}

static enum ws_status find_chunks(struct ws_reader *reader, struct ws_err *err)
{
	struct stat st;
	uint64_t at = reader->seen_bytes;
	bool lost = false;

	if (fstat(reader->fd, &st) != 0)
		return ws_fail_errno(err, errno, "capture '%s'", reader->path);
	while (at < (uint64_t)st.st_size) {
		struct ws_chunk_head head;
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
		    !(head.magic == WS_CHUNK_MAGIC && head.valid_bytes == 0)) {
			reader->damage.n_heads++;
			lost = true;
		}
		if (lost)
			reader->damage.n_skipped_bytes +=
				WS_MIN((uint64_t)WS_CHUNK_ALIGN, (uint64_t)st.st_size - at);
		at += WS_CHUNK_ALIGN;
	}
	reader->seen_bytes = at;
	return WS_OK;
}

/* ---- life ---- */

static enum ws_status check_head(struct ws_reader *reader, size_t n, struct ws_err *err)
{
	struct ws_file_head *head = &reader->head;

	if (n < sizeof(head->magic) || memcmp(head->magic, WS_FILE_MAGIC, sizeof(head->magic)) != 0)
		return ws_fail(err, WS_E_FORMAT, "'%s' is not a capture", reader->path);
	if (n < offsetof(struct ws_file_head, ledger))
		return ws_fail(err, WS_E_FORMAT, "'%s' is cut off within its first %zu bytes",
			       reader->path, n);
	if (head->order == __builtin_bswap32(WS_FILE_ORDER))
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "'%s' was written on a machine of the other byte order",
			       reader->path);
	if (head->version > WS_FILE_VERSION && head->version < 1000)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "'%s' has format version %u, this program reads up to %u: use the "
			       "wavescope that recorded it",
			       reader->path, head->version, WS_FILE_VERSION);
	/* Wrong in detail: the chunks do not need it, so go on with what is certain. */
	if (head->check !=
		    ws_check32((const uint32_t *)head,
			       offsetof(struct ws_file_head, end_bytes) / sizeof(uint32_t)) ||
	    head->version != WS_FILE_VERSION || head->order != WS_FILE_ORDER)
		reader->damage.n_heads++;
	reader->damage.n_pages_cut = head->n_cut;
	return WS_OK;
}

enum ws_status ws_reader_open(const char *path, struct ws_reader **out_reader, struct ws_err *err)
{
	struct ws_reader *reader = calloc(1, sizeof(*reader));
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
	reader->seen_bytes = WS_FILE_HEAD_BYTES;
	st = find_chunks(reader, err);
	if (st)
		goto out;
	ws_vec_sort(&reader->chunks, by_lane);
	*out_reader = reader;
	reader = NULL;
out:
	ws_reader_close(reader);
	return st;
}

/* The head is written over zeros, and its magic is in the same write as the rest. */
bool ws_capture_unbegun(const char *path)
{
	static const char zeros[sizeof(((struct ws_file_head *)0)->magic)];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char magic[sizeof(zeros)] = { 0 };
	size_t n;

	if (fd < 0)
		return false;
	n = read_at(fd, magic, sizeof(magic), 0);
	close(fd);
	return n == 0 || (n == sizeof(magic) && memcmp(magic, zeros, sizeof(zeros)) == 0);
}

void ws_reader_close(struct ws_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	ws_vec_fini(&reader->chunks);
	free(reader);
}

const char *ws_reader_path(const struct ws_reader *reader)
{
	return reader->path;
}

const struct ws_file_head *ws_reader_head(const struct ws_reader *reader)
{
	return &reader->head;
}

bool ws_reader_closed(const struct ws_reader *reader)
{
	return reader->head.closed == 1;
}

const struct ws_damage *ws_reader_damage(const struct ws_reader *reader)
{
	return &reader->damage;
}

size_t ws_reader_n_chunks(const struct ws_reader *reader)
{
	return reader->chunks.n;
}

const struct ws_chunk_info *ws_reader_chunk(const struct ws_reader *reader, size_t i)
{
	return &reader->chunks.at[i];
}

/* ---- records ---- */

static enum ws_status fill_view(const struct ws_reader *reader, const struct ws_chunk_info *info,
				uint32_t at, uint32_t n_bytes, struct ws_view *view,
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
	view->valid = (uint32_t)n & ~(WS_REC_ALIGN - 1);
	view->at = 0;
	view->tid = 0;
	view->kind = info->kind;
	return WS_OK;
}

enum ws_status ws_reader_load(const struct ws_reader *reader, size_t chunk, struct ws_view *view,
			      struct ws_err *err)
{
	const struct ws_chunk_info *info = &reader->chunks.at[chunk];
	enum ws_status st = fill_view(reader, info, 0, info->valid_bytes, view, err);

	view->at = sizeof(struct ws_chunk_head);
	return st;
}

enum ws_status ws_reader_load_part(const struct ws_reader *reader, size_t chunk, uint32_t at,
				   uint32_t n_bytes, struct ws_view *view, struct ws_err *err)
{
	const struct ws_chunk_info *info = &reader->chunks.at[chunk];

	if (at > info->valid_bytes || n_bytes > info->valid_bytes - at)
		return ws_fail(err, WS_E_NOTFOUND, "capture '%s': no such part", reader->path);
	return fill_view(reader, info, at, n_bytes, view, err);
}

void ws_view_fini(struct ws_view *view)
{
	free(view->bytes);
	view->bytes = NULL;
	view->cap_bytes = 0;
}

enum tag_state { TAG_OK, TAG_BAD, TAG_CUT };

/* Whether a record begins at @at: a sound tag, and all of it here. CUT: its end is not. */
static enum tag_state tag_at(const struct ws_view *view, uint32_t at, uint32_t *out_bytes)
{
	uint32_t tag;

	if (view->valid - at < sizeof(struct ws_rec))
		return TAG_CUT;
	memcpy(&tag, view->bytes + at, sizeof(tag));
	*out_bytes = (tag >> 8 & 0xffff) * WS_REC_ALIGN;
	if (!ws_rec_tag_ok(tag))
		return TAG_BAD;
	return *out_bytes <= view->valid - at ? TAG_OK : TAG_CUT;
}

/*
 * The place is wrong: go on at the next one from which several records follow
 * each other.
 */
static void resync(struct ws_view *view)
{
	uint32_t from = view->at;

	for (uint32_t at = from + WS_REC_ALIGN; at < view->valid; at += WS_REC_ALIGN) {
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

const struct ws_rec *ws_view_next(struct ws_view *view)
{
	while (view->at < view->valid) {
		const struct ws_rec *rec = (const struct ws_rec *)(view->bytes + view->at);
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
		shape = &shapes[ws_rec_type(rec)];
		if (!shape->name) {
			view->damage.n_unknown++;
			continue;
		}
		if (size < shape->fixed_bytes ||
		    tail_bytes(rec, shape) > size - shape->fixed_bytes) {
			view->damage.n_records++;
			continue;
		}
		if (ws_rec_type(rec) == WS_REC_OWNER) {
			view->tid = rec->what;
			continue;
		}
		return rec;
	}
	view->at = view->valid;
	return NULL;
}
