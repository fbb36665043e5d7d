#include "softgpu/trace/wave_trace.h"

#include <stdlib.h>

#define FIRST_ROOM 64 /* bytes: thousands of short waves are held in memory at a time */

void sg_trace_init(struct sg_wave_trace *t)
{
	memset(t, 0, sizeof(*t));
}

void sg_trace_free(struct sg_wave_trace *t)
{
	free(t->control.bytes);
	free(t->memory.bytes);
	sg_trace_init(t);
}

void sg_trace_start(struct sg_wave_trace *t, uint64_t entry, uint64_t exec)
{
	t->entry = entry;
	t->exec = t->exec_now = exec;
	t->control.size = t->memory.size = 0;
	t->lost = t->again = false;
	t->run = 0;
	t->jump_at = t->jump_size = 0;
	t->n_instructions = 0;
	if (t->patterns)
		t->patterns->n_written = 0; /* they stand in what was there before */
}

/* ---- writing ---- */

static uint8_t *reserve(struct sg_wave_trace *t, struct sg_trace_stream *s, size_t size)
{
	if (s->size + size > s->room) {
		size_t room = s->room ? 2 * s->room : FIRST_ROOM;
		uint8_t *bytes;

		while (room < s->size + size)
			room *= 2;
		bytes = t->lost ? NULL : realloc(s->bytes, room);
		if (!bytes) {
			t->lost = true;
			return NULL;
		}
		s->bytes = bytes;
		s->room = room;
	}
	return s->bytes + s->size;
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)v | 0x80;
	p[n++] = (uint8_t)v;
	return n;
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

/* A loop whose body does not change EXEC is one JUMP record and a count. */
static bool jump_again(struct sg_wave_trace *t, const uint8_t *record, size_t size)
{
	struct sg_trace_stream *s = &t->control;
	uint32_t count = 0;
	uint8_t *p;

	if (size != t->jump_size || memcmp(s->bytes + t->jump_at, record, size))
		return false;
	if (!t->again) {
		p = reserve(t, s, 5);
		if (!p)
			return true;
		p[0] = SG_TRACE_AGAIN;
		memset(p + 1, 0, 4);
		s->size += 5;
		t->again = true;
	}
	p = s->bytes + s->size - 4;
	memcpy(&count, p, 4);
	if (count == UINT32_MAX)
		return false;
	count++;
	memcpy(p, &count, 4);
	return true;
}

void sg_trace_jump(struct sg_wave_trace *t, int64_t dwords)
{
	struct sg_trace_stream *s = &t->control;
	uint8_t record[24];
	size_t size = put_varint(record, (uint64_t)t->run << 2 | SG_TRACE_JUMP);
	uint8_t *p;

	size += put_varint(record + size, zigzag(dwords));
	t->run = 0;
	if (jump_again(t, record, size))
		return;
	p = reserve(t, s, size);
	if (!p)
		return;
	memcpy(p, record, size);
	t->jump_at = s->size;
	t->jump_size = size;
	t->again = false;
	s->size += size;
}

void sg_trace_exec(struct sg_wave_trace *t, uint64_t exec)
{
	uint8_t *p = reserve(t, &t->control, 24);
	size_t n;

	t->exec_now = exec;
	t->jump_size = 0;
	if (!p)
		return;
	n = put_varint(p, (uint64_t)t->run << 2 | SG_TRACE_EXEC);
	memcpy(p + n, &exec, 8);
	t->control.size += n + 8;
	t->run = 0;
}

void sg_trace_end(struct sg_wave_trace *t)
{
	uint8_t *p = reserve(t, &t->control, 16);

	t->jump_size = 0;
	if (p)
		t->control.size += put_varint(p, (uint64_t)t->run << 2 | SG_TRACE_END);
	t->run = 0;
}

static uint8_t *put_header(struct sg_wave_trace *t, enum sg_trace_form form,
			   enum sg_trace_space space, uint64_t mask, size_t payload)
{
	bool own = mask != t->exec_now;
	uint8_t *p = reserve(t, &t->memory, 9 + payload);

	if (!p)
		return NULL;
	t->memory.size += 1 + (own ? 8 : 0) + payload;
	*p++ = (uint8_t)(form | space << 2 | own << 5);
	if (own) {
		memcpy(p, &mask, 8);
		p += 8;
	}
	return p;
}

static void put_affine(struct sg_wave_trace *t, enum sg_trace_space space, uint64_t mask,
		       uint64_t base, int32_t stride)
{
	uint8_t *p = put_header(t, SG_TRACE_AFFINE, space, mask, 12);

	if (!p)
		return;
	memcpy(p, &base, 8);
	memcpy(p + 8, &stride, 4);
}

void sg_trace_lanes(struct sg_wave_trace *t, enum sg_trace_space space, uint64_t mask,
		    const uint64_t addr[64])
{
	unsigned first = mask ? (unsigned)__builtin_ctzll(mask) : 0;
	uint64_t rest = mask & (mask - 1), low = addr[first], high = low;
	int64_t stride = 0;
	bool affine = true;
	uint8_t *p;

	if (!mask) {
		put_affine(t, space, 0, 0, 0);
		return;
	}
	if (rest) {
		unsigned second = (unsigned)__builtin_ctzll(rest);
		int64_t apart = (int64_t)(addr[second] - addr[first]);

		stride = apart / (int)(second - first);
		affine = stride * (int)(second - first) == apart && stride == (int32_t)stride;
	}
	if (mask == ~0ull) {
		uint64_t differ = 0;

		for (unsigned l = 0; l < 63; l++) /* no product: SSE2 has none of 64 bits */
			differ |= (addr[l + 1] - addr[l]) ^ (uint64_t)stride;
		affine &= !differ;
		for (unsigned l = 0; l < 64 && !affine; l++) {
			low = addr[l] < low ? addr[l] : low;
			high = addr[l] > high ? addr[l] : high;
		}
	} else {
		for (uint64_t m = rest; m; m &= m - 1) {
			unsigned l = (unsigned)__builtin_ctzll(m);

			affine &= addr[l] == addr[first] + (uint64_t)(stride * (int)(l - first));
			low = addr[l] < low ? addr[l] : low;
			high = addr[l] > high ? addr[l] : high;
		}
	}
	if (affine) {
		put_affine(t, space, mask, addr[first] - (uint64_t)(stride * (int)first),
			   (int32_t)stride);
		return;
	}
	unsigned n = (unsigned)__builtin_popcountll(mask);
	bool narrow = high - low <= UINT32_MAX;

	p = put_header(t, narrow ? SG_TRACE_LIST32 : SG_TRACE_LIST64, space, mask,
		       narrow ? 8 + 4 * n : 8 * n);
	if (!p)
		return;
	if (narrow) {
		memcpy(p, &low, 8);
		p += 8;
	}
	if (narrow && n == 64) {
		uint32_t from_low[64];

		for (unsigned l = 0; l < 64; l++)
			from_low[l] = (uint32_t)(addr[l] - low);
		memcpy(p, from_low, sizeof(from_low));
		return;
	}
	for (uint64_t m = mask; m; m &= m - 1) {
		uint64_t a = addr[__builtin_ctzll(m)];
		uint32_t from_low = (uint32_t)(a - low);

		memcpy(p, narrow ? (void *)&from_low : (void *)&a, narrow ? 4 : 8);
		p += narrow ? 4 : 8;
	}
}

void sg_trace_lanes32(struct sg_wave_trace *t, enum sg_trace_space space, uint64_t mask,
		      const uint32_t addr[64])
{
	uint64_t wide[64];

	for (unsigned l = 0; l < 64; l++)
		wide[l] = addr[l];
	sg_trace_lanes(t, space, mask, wide);
}

/* ---- LDS ---- */

static const struct sg_trace_pattern *find_pattern(const struct sg_trace_patterns *all,
						   uint64_t mask, const uint32_t lane[64])
{
	uint32_t n = all->n_written < SG_TRACE_PATTERNS ? all->n_written : SG_TRACE_PATTERNS;

	for (uint32_t k = 0; k < n; k++)
		if (all->at[k].mask == mask &&
		    !memcmp(all->at[k].lane, lane, sizeof(all->at[k].lane)))
			return &all->at[k];
	return NULL;
}

static void put_like(struct sg_wave_trace *t, uint64_t mask, uint64_t low, size_t list)
{
	uint32_t back = (uint32_t)(t->memory.size - list);
	uint8_t *p = put_header(t, SG_TRACE_LIKE, SG_SPACE_LDS, mask, 12);

	if (!p)
		return;
	memcpy(p, &low, 8);
	memcpy(p + 8, &back, 4);
}

static uint32_t highest(uint64_t mask, const uint32_t lane[64])
{
	uint32_t high = 0;

	for (uint64_t m = mask; m; m &= m - 1) {
		uint32_t a = lane[__builtin_ctzll(m)];

		high = a > high ? a : high;
	}
	return high;
}

/* The record at `at` has just been written for lane[] + offset. */
static void keep_pattern(struct sg_wave_trace *t, size_t at, uint64_t mask, const uint32_t lane[64],
			 uint32_t offset)
{
	const uint8_t *record = t->memory.bytes + at;
	enum sg_trace_form form = *record & 3;
	const uint8_t *payload = record + (*record & 0x20 ? 9 : 1);
	struct sg_trace_pattern *p = &t->patterns->at[t->patterns->n_written % SG_TRACE_PATTERNS];

	if (form == SG_TRACE_LIST64)
		return;
	t->patterns->n_written++;
	p->mask = mask;
	p->affine = form == SG_TRACE_AFFINE;
	memcpy(&p->base, payload, 8);
	p->base -= offset;
	if (p->affine)
		memcpy(&p->stride, payload + 8, 4);
	p->high = highest(mask, lane);
	p->at = (size_t)(payload + 8 - t->memory.bytes);
	memcpy(p->lane, lane, sizeof(p->lane));
}

void sg_trace_local(struct sg_wave_trace *t, uint64_t mask, const uint32_t lane[64],
		    uint32_t offset)
{
	const struct sg_trace_pattern *p =
		t->patterns && mask ? find_pattern(t->patterns, mask, lane) : NULL;
	size_t at = t->memory.size;
	uint32_t addr[64];

	/* sums that wrap around are left to the way that writes each down */
	if (p && p->high <= UINT32_MAX - offset && at - p->at <= UINT32_MAX) {
		if (p->affine)
			put_affine(t, SG_SPACE_LDS, mask, p->base + offset, p->stride);
		else
			put_like(t, mask, p->base + offset, p->at);
		return;
	}
	for (unsigned l = 0; l < 64; l++)
		addr[l] = offset + lane[l];
	sg_trace_lanes32(t, SG_SPACE_LDS, mask, addr);
	if (t->patterns && mask && !p && !t->lost && highest(mask, lane) <= UINT32_MAX - offset)
		keep_pattern(t, at, mask, lane, offset);
}

void sg_trace_scalar(struct sg_wave_trace *t, uint64_t addr)
{
	put_affine(t, SG_SPACE_SCALAR, t->exec_now, addr, 0);
}

/* ---- reading ---- */

static bool get_varint(const struct sg_trace_view *s, size_t *at, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned shift = 0; *at < s->size && shift < 64; shift += 7) {
		uint8_t byte = s->bytes[(*at)++];

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

static bool get_bytes(const struct sg_trace_view *s, size_t *at, void *out, size_t size)
{
	if (s->size - *at < size)
		return false;
	memcpy(out, s->bytes + *at, size);
	*at += size;
	return true;
}

void sg_trace_read(struct sg_trace_reader *r, const struct sg_wave_trace *t)
{
	memset(r, 0, sizeof(*r));
	r->memory = (struct sg_trace_view){ t->memory.bytes, t->memory.size };
	if (!t->lost)
		r->control = (struct sg_trace_view){ t->control.bytes, t->control.size };
	r->exec = t->exec;
}

bool sg_trace_next(struct sg_trace_reader *r)
{
	const struct sg_trace_view *s = &r->control;
	uint64_t head, jump;

	if (r->again) {
		r->again--;
		r->run = r->jump_run;
		return true;
	}
	if (!get_varint(s, &r->control_at, &head))
		return false;
	r->run = (uint32_t)(head >> 2);
	switch (head & 3) {
	case SG_TRACE_JUMP:
		if (!get_varint(s, &r->control_at, &jump))
			return false;
		r->jump = (int64_t)(jump >> 1) ^ -(int64_t)(jump & 1);
		r->jump_run = r->run;
		break;
	case SG_TRACE_EXEC:
		if (!get_bytes(s, &r->control_at, &r->exec, 8))
			return false;
		break;
	case SG_TRACE_AGAIN:
		if (r->op != SG_TRACE_JUMP || !get_bytes(s, &r->control_at, &r->again, 4) ||
		    !r->again)
			return false;
		return sg_trace_next(r);
	}
	r->op = head & 3;
	return true;
}

/* LIKE: the place of the distances. */
static bool find_list(const struct sg_trace_view *s, size_t record, size_t *at, size_t *list)
{
	uint32_t back;

	if (!get_bytes(s, at, &back, 4) || back > record)
		return false;
	*list = record - back;
	return true;
}

static size_t n_lanes(uint64_t mask)
{
	return mask == ~0ull ? 64 : (size_t)__builtin_popcountll(mask);
}

static bool get_list32(const struct sg_trace_view *s, size_t *at, struct sg_trace_access *out)
{
	const uint8_t *p = s->bytes + *at;
	size_t size = 4 * n_lanes(out->mask);
	uint32_t from_low[64];

	if (s->size - *at < size)
		return false;
	*at += size;
	if (out->mask == ~0ull) { /* a loop of its own, for the host's vector unit */
		memcpy(from_low, p, sizeof(from_low));
		for (unsigned l = 0; l < 64; l++)
			out->addr[l] = out->base + from_low[l];
		return true;
	}
	for (uint64_t m = out->mask; m; m &= m - 1, p += 4) {
		memcpy(from_low, p, 4);
		out->addr[__builtin_ctzll(m)] = out->base + from_low[0];
	}
	return true;
}

static bool get_list64(const struct sg_trace_view *s, size_t *at, struct sg_trace_access *out)
{
	const uint8_t *p = s->bytes + *at;
	size_t size = 8 * n_lanes(out->mask);

	if (s->size - *at < size)
		return false;
	*at += size;
	for (uint64_t m = out->mask; m; m &= m - 1, p += 8)
		memcpy(&out->addr[__builtin_ctzll(m)], p, 8);
	return true;
}

bool sg_trace_memory(struct sg_trace_reader *r, uint64_t exec, struct sg_trace_access *out)
{
	const struct sg_trace_view *s = &r->memory;
	size_t *at = &r->memory_at;
	enum sg_trace_form form;
	size_t here = *at, list;
	uint8_t head;

	if (!get_bytes(s, at, &head, 1))
		return false;
	form = head & 3;
	out->space = head >> 2 & 7;
	out->mask = exec;
	out->affine = form == SG_TRACE_AFFINE;
	if (head & 0x20 && !get_bytes(s, at, &out->mask, 8))
		return false;
	if (form == SG_TRACE_AFFINE) {
		if (!get_bytes(s, at, &out->base, 8) || !get_bytes(s, at, &out->stride, 4))
			return false;
		return true;
	}
	if (form != SG_TRACE_LIST64 && !get_bytes(s, at, &out->base, 8))
		return false;
	if (form == SG_TRACE_LIKE) {
		if (!find_list(s, here, at, &list))
			return false;
		at = &list;
	}
	return form == SG_TRACE_LIST64 ? get_list64(s, at, out) : get_list32(s, at, out);
}

const uint8_t *sg_trace_peek(const struct sg_trace_reader *r, uint64_t exec, uint64_t *mask,
			     uint64_t *base, enum sg_trace_form *form, size_t *size, size_t *end)
{
	const struct sg_trace_view *s = &r->memory;
	size_t at = r->memory_at, payload;
	uint8_t head;

	*mask = exec;
	if (!get_bytes(s, &at, &head, 1) || (head & 0x20 && !get_bytes(s, &at, mask, 8)))
		return NULL;
	*form = head & 3;
	*size = *form == SG_TRACE_AFFINE ? 4 : 4 * n_lanes(*mask);
	if (*form == SG_TRACE_LIST64 || !get_bytes(s, &at, base, 8))
		return NULL;
	payload = at;
	*end = at + *size;
	if (*form == SG_TRACE_LIKE) {
		if (!find_list(s, r->memory_at, &at, &payload))
			return NULL;
		*end = at;
		*form = SG_TRACE_LIST32; /* as good as it */
	}
	return s->size - payload < *size ? NULL : s->bytes + payload;
}
