#include "timeline/tile.h"

#include "base/util.h"

#include <string.h>

#define PLAIN_MAX ((size_t)1 << 30)
#define NUMBER_BYTES 10u /* the longest number */
/* The fastest level: the next ones take twice as long for 5 % fewer bytes (10^6 HIP calls). */
#define DEFLATE_LEVEL 1

/* Columns that are left out where all of their values are 0. */
enum column {
	COLUMN_ROW = 1u << 0,
	COLUMN_CORR = 1u << 1,
	COLUMN_CALLER = 1u << 2,
	COLUMN_DETAIL = 1u << 3,
	COLUMN_MERGED = 1u << 4,
	COLUMN_BYTES = 1u << 5,
	COLUMN_WHOLE = 1u << 6, /* of values: all are whole numbers */
};
#define COLUMNS_ALL 127u

enum ws_status tl_coder_init(struct tl_coder *coder, struct ws_err *err)
{
	memset(coder, 0, sizeof(*coder));
	ws_buf_init(&coder->plain, PLAIN_MAX);
	ws_buf_init(&coder->packed, PLAIN_MAX);
	coder->has_deflate = deflateInit(&coder->deflate, DEFLATE_LEVEL) == Z_OK;
	coder->has_inflate = inflateInit(&coder->inflate) == Z_OK;
	if (coder->has_deflate && coder->has_inflate)
		return WS_OK;
	tl_coder_fini(coder);
	return ws_fail(err, WS_E_NOMEM, "no memory to compress a timeline");
}

void tl_coder_fini(struct tl_coder *coder)
{
	if (coder->has_deflate)
		deflateEnd(&coder->deflate);
	if (coder->has_inflate)
		inflateEnd(&coder->inflate);
	coder->has_deflate = coder->has_inflate = false;
	ws_buf_fini(&coder->plain);
	ws_buf_fini(&coder->packed);
}

/* ---- numbers ---- */

static inline char *write_number(char *p, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*p++ = (char)(value | 0x80);
	*p++ = (char)value;
	return p;
}

void tl_put_number(struct ws_buf *to, uint64_t value)
{
	char bytes[NUMBER_BYTES];

	ws_buf_add_n(to, bytes, (size_t)(write_number(bytes, value) - bytes));
}

/* Small differences of either sign become small numbers. */
static inline uint64_t fold_sign(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unfold_sign(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

/* ---- compression ---- */

static enum ws_status pack(struct tl_coder *coder, const void *bytes, size_t n,
			   const void **out_bytes, size_t *out_n_bytes, struct ws_err *err)
{
	z_stream *z = &coder->deflate;
	size_t room;
	char *to;

	deflateReset(z);
	room = deflateBound(z, n);
	ws_buf_clear(&coder->packed);
	to = ws_buf_room(&coder->packed, room);
	if (!to)
		return ws_fail(err, WS_E_NOMEM, "no memory to compress a timeline");
	z->next_in = (Bytef *)(uintptr_t)bytes;
	z->avail_in = (uInt)n;
	z->next_out = (Bytef *)to;
	z->avail_out = (uInt)room;
	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		return ws_fail(err, WS_E_NOMEM, "no memory to compress a timeline");
	*out_bytes = to;
	*out_n_bytes = room - z->avail_out;
	return WS_OK;
}

enum ws_status tl_coder_pack(struct tl_coder *coder, const void *bytes, size_t n,
			     const void **out_bytes, size_t *out_n_bytes, struct ws_err *err)
{
	return pack(coder, bytes, n, out_bytes, out_n_bytes, err);
}

static enum ws_status unpack(struct tl_coder *coder, const void *bytes, size_t n, size_t max_n,
			     struct ws_err *err)
{
	z_stream *z = &coder->inflate;
	char *to;
	int st;

	inflateReset(z);
	ws_buf_clear(&coder->plain);
	to = ws_buf_room(&coder->plain, max_n);
	if (!to)
		return ws_fail(err, WS_E_NOMEM, "no memory to read a timeline");
	z->next_in = (Bytef *)(uintptr_t)bytes;
	z->avail_in = (uInt)n;
	z->next_out = (Bytef *)to;
	z->avail_out = (uInt)max_n;
	st = inflate(z, Z_FINISH);
	if (st != Z_STREAM_END)
		return ws_fail(err, WS_E_FORMAT, "not a tile of a timeline");
	coder->plain.n = max_n - z->avail_out;
	return WS_OK;
}

/* ---- writing ---- */

static unsigned columns_of(const struct tl_slice *slices, size_t n)
{
	unsigned columns = 0;

	for (size_t i = 0; i < n; i++) {
		columns |= slices[i].row ? COLUMN_ROW : 0;
		columns |= slices[i].corr_id ? COLUMN_CORR : 0;
		columns |= slices[i].caller_track ? COLUMN_CALLER : 0;
		columns |= slices[i].detail ? COLUMN_DETAIL : 0;
		columns |= slices[i].n_bytes ? COLUMN_BYTES : 0;
		columns |= slices[i].n > 1 ? COLUMN_MERGED : 0;
	}
	return columns;
}

#define SLICE_COLUMNS 10u /* of numbers, at most */

enum ws_status tl_coder_slices(struct tl_coder *coder, uint64_t zero_ns,
			       const struct tl_slice *slices, size_t n, const void **out_bytes,
			       size_t *out_n_bytes, struct ws_err *err)
{
	unsigned columns = columns_of(slices, n);
	uint64_t before;
	char *from, *p;

	ws_buf_clear(&coder->plain);
	from = p = ws_buf_room(&coder->plain, (n * SLICE_COLUMNS + 2) * NUMBER_BYTES);
	if (!p)
		return ws_fail(err, WS_E_NOMEM, "no memory to compress a timeline");
	p = write_number(p, columns);
	p = write_number(p, n);
	before = zero_ns;
	for (size_t i = 0; i < n; before = slices[i++].end_ns)
		p = write_number(p, fold_sign(slices[i].end_ns - before));
	for (size_t i = 0; i < n; i++)
		p = write_number(p, slices[i].end_ns - slices[i].start_ns);
	for (size_t i = 0; i < n; i++)
		p = write_number(p, slices[i].path);
	for (size_t i = 0; columns & COLUMN_ROW && i < n; i++)
		p = write_number(p, slices[i].row);
	before = 0;
	for (size_t i = 0; columns & COLUMN_CORR && i < n; before = slices[i++].corr_id)
		p = write_number(p, fold_sign(slices[i].corr_id - before));
	for (size_t i = 0; columns & COLUMN_CALLER && i < n; i++)
		p = write_number(p, slices[i].caller_track);
	for (size_t i = 0; columns & COLUMN_DETAIL && i < n; i++)
		p = write_number(p, slices[i].detail);
	for (size_t i = 0; columns & COLUMN_BYTES && i < n; i++)
		p = write_number(p, slices[i].n_bytes);
	for (size_t i = 0; columns & COLUMN_MERGED && i < n; i++)
		p = write_number(p, slices[i].n);
	for (size_t i = 0; columns & COLUMN_MERGED && i < n; i++)
		p = write_number(p, slices[i].busy_ns);
	return pack(coder, from, (size_t)(p - from), out_bytes, out_n_bytes, err);
}

/* Whether differences of whole numbers are exact. */
static bool is_whole(double value)
{
	return value >= -4503599627370496.0 && value <= 4503599627370496.0 &&
	       (double)(int64_t)value == value;
}

static char *write_values(char *p, const struct tl_value *values, size_t n, size_t field,
			  bool whole)
{
	int64_t before = 0;

	for (size_t i = 0; i < n; i++) {
		double value;

		memcpy(&value, (const char *)&values[i] + field, sizeof(value));
		if (whole) {
			p = write_number(p, fold_sign((uint64_t)((int64_t)value - before)));
			before = (int64_t)value;
		} else {
			memcpy(p, &value, sizeof(value));
			p += sizeof(value);
		}
	}
	return p;
}

enum ws_status tl_coder_values(struct tl_coder *coder, uint64_t zero_ns,
			       const struct tl_value *values, size_t n, const void **out_bytes,
			       size_t *out_n_bytes, struct ws_err *err)
{
	unsigned columns = COLUMN_WHOLE;
	uint64_t before = zero_ns;
	char *from, *p;

	for (size_t i = 0; i < n; i++) {
		if (!is_whole(values[i].value) || !is_whole(values[i].min) ||
		    !is_whole(values[i].max))
			columns &= ~(unsigned)COLUMN_WHOLE;
		if (values[i].min != values[i].value || values[i].max != values[i].value)
			columns |= COLUMN_MERGED;
	}
	ws_buf_clear(&coder->plain);
	from = p = ws_buf_room(&coder->plain, (n * 4 + 2) * NUMBER_BYTES);
	if (!p)
		return ws_fail(err, WS_E_NOMEM, "no memory to compress a timeline");
	p = write_number(p, columns);
	p = write_number(p, n);
	for (size_t i = 0; i < n; before = values[i++].at_ns)
		p = write_number(p, fold_sign(values[i].at_ns - before));
	p = write_values(p, values, n, offsetof(struct tl_value, value), columns & COLUMN_WHOLE);
	if (columns & COLUMN_MERGED) {
		p = write_values(p, values, n, offsetof(struct tl_value, min),
				 columns & COLUMN_WHOLE);
		p = write_values(p, values, n, offsetof(struct tl_value, max),
				 columns & COLUMN_WHOLE);
	}
	return pack(coder, from, (size_t)(p - from), out_bytes, out_n_bytes, err);
}

/* ---- reading ---- */

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t read_number(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; c->at < c->end && shift < 70; shift += 7) {
		uint8_t byte = *c->at++;

		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (!(byte & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

static enum ws_status begin(struct tl_coder *coder, const void *bytes, size_t n_bytes, size_t room,
			    struct cursor *c, unsigned *out_columns, size_t *out_n,
			    struct ws_err *err)
{
	size_t max_n = (room * SLICE_COLUMNS + 2) * NUMBER_BYTES;
	enum ws_status st = unpack(coder, bytes, n_bytes, max_n, err);

	if (st)
		return st;
	c->at = (const uint8_t *)coder->plain.at;
	c->end = c->at + coder->plain.n;
	*out_columns = (unsigned)read_number(c);
	*out_n = read_number(c);
	if (c->bad || *out_columns > COLUMNS_ALL || *out_n > room)
		return ws_fail(err, WS_E_FORMAT, "not a tile of a timeline");
	return WS_OK;
}

enum ws_status tl_coder_read_slices(struct tl_coder *coder, uint64_t zero_ns, const void *bytes,
				    size_t n_bytes, struct tl_slice *slices, size_t room,
				    size_t *out_n, struct ws_err *err)
{
	struct cursor c = { .bad = false };
	uint64_t before = zero_ns;
	unsigned columns;
	size_t n;
	enum ws_status st = begin(coder, bytes, n_bytes, room, &c, &columns, &n, err);

	if (st)
		return st;
	for (size_t i = 0; i < n; i++) {
		before += unfold_sign(read_number(&c));
		slices[i] = (struct tl_slice){ .end_ns = before, .n = 1 };
	}
	for (size_t i = 0; i < n; i++) {
		slices[i].busy_ns = read_number(&c);
		slices[i].start_ns = slices[i].end_ns - slices[i].busy_ns;
		c.bad |= slices[i].start_ns > slices[i].end_ns;
	}
	for (size_t i = 0; i < n; i++)
		slices[i].path = (uint32_t)read_number(&c);
	for (size_t i = 0; columns & COLUMN_ROW && i < n; i++)
		slices[i].row = (uint32_t)read_number(&c);
	before = 0;
	for (size_t i = 0; columns & COLUMN_CORR && i < n; i++)
		slices[i].corr_id = before += unfold_sign(read_number(&c));
	for (size_t i = 0; columns & COLUMN_CALLER && i < n; i++)
		slices[i].caller_track = (uint32_t)read_number(&c);
	for (size_t i = 0; columns & COLUMN_DETAIL && i < n; i++)
		slices[i].detail = (uint32_t)read_number(&c);
	for (size_t i = 0; columns & COLUMN_BYTES && i < n; i++)
		slices[i].n_bytes = read_number(&c);
	for (size_t i = 0; columns & COLUMN_MERGED && i < n; i++)
		slices[i].n = read_number(&c);
	for (size_t i = 0; columns & COLUMN_MERGED && i < n; i++)
		slices[i].busy_ns = read_number(&c);
	if (c.bad || c.at != c.end)
		return ws_fail(err, WS_E_FORMAT, "not a tile of a timeline");
	*out_n = n;
	return WS_OK;
}

static double read_value(struct cursor *c, bool whole, int64_t *before)
{
	double value;

	if (whole) {
		*before = (int64_t)((uint64_t)*before + unfold_sign(read_number(c)));
		return (double)*before;
	}
	if ((size_t)(c->end - c->at) < sizeof(value)) {
		c->bad = true;
		return 0;
	}
	memcpy(&value, c->at, sizeof(value));
	c->at += sizeof(value);
	return value;
}

enum ws_status tl_coder_read_values(struct tl_coder *coder, uint64_t zero_ns, const void *bytes,
				    size_t n_bytes, struct tl_value *values, size_t room,
				    size_t *out_n, struct ws_err *err)
{
	struct cursor c = { .bad = false };
	uint64_t at_ns = zero_ns;
	unsigned columns;
	size_t n;
	enum ws_status st = begin(coder, bytes, n_bytes, room, &c, &columns, &n, err);
	int64_t before = 0;
	bool whole;

	if (st)
		return st;
	whole = columns & COLUMN_WHOLE;
	for (size_t i = 0; i < n; i++)
		values[i].at_ns = at_ns += unfold_sign(read_number(&c));
	for (size_t i = 0; i < n; i++)
		values[i].value = values[i].min = values[i].max = read_value(&c, whole, &before);
	before = 0;
	for (size_t i = 0; columns & COLUMN_MERGED && i < n; i++)
		values[i].min = read_value(&c, whole, &before);
	before = 0;
	for (size_t i = 0; columns & COLUMN_MERGED && i < n; i++)
		values[i].max = read_value(&c, whole, &before);
	if (c.bad || c.at != c.end)
		return ws_fail(err, WS_E_FORMAT, "not a tile of a timeline");
	*out_n = n;
	return WS_OK;
}
