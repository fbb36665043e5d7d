#include "softgpu/trace/wave_trace.h"

#include <stdlib.h>

#include "softgpu/trace/trace_lanes.h"

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
	t->lost = t->has_jump = t->again = false;
	t->run = 0;
	if (t->patterns)
		t->patterns->written = 0; /* they are in what was there before */
}

/* ---- writing ---- */

bool sg_trace_grow(struct sg_wave_trace *t, struct sg_trace_stream *s, size_t *room, size_t size)
{
	size_t wanted = *room ? 2 * *room : FIRST_ROOM;
	uint8_t *bytes;

	while (wanted < s->size + size)
		wanted *= 2;
	bytes = t->lost ? NULL : realloc(s->bytes, wanted);
	if (!bytes) {
		t->lost = true;
		return false;
	}
	s->bytes = bytes;
	*room = wanted;
	return true;
}

static uint8_t *reserve(struct sg_wave_trace *t, size_t size)
{
	if (t->control_room - t->control.size < size &&
	    !sg_trace_grow(t, &t->control, &t->control_room, size))
		return NULL;
	return t->control.bytes + t->control.size;
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

/* The last JUMP again, for the first time. */
static void put_again(struct sg_wave_trace *t)
{
	const uint32_t count = 1;
	uint8_t *p = reserve(t, 5);

	t->run = 0;
	if (!p)
		return;
	p[0] = SG_TRACE_AGAIN;
	memcpy(p + 1, &count, sizeof(count));
	t->control.size += 5;
	t->again = true;
}

void sg_trace_new_jump(struct sg_wave_trace *t, int64_t dwords)
{
	uint8_t *p;
	size_t size;

	if (t->has_jump && t->run == t->jump_run && dwords == t->jump) {
		t->has_jump = false; /* a record of its own after UINT32_MAX times */
		put_again(t);
		return;
	}
	p = reserve(t, 24);
	t->has_jump = true;
	t->again = false;
	t->jump_run = t->run;
	t->jump = dwords;
	t->run = 0;
	if (!p)
		return;
	size = put_varint(p, (uint64_t)t->jump_run << 2 | SG_TRACE_JUMP);
	size += put_varint(p + size, zigzag(dwords));
	t->control.size += size;
}

void sg_trace_exec(struct sg_wave_trace *t, uint64_t exec)
{
	uint8_t *p = reserve(t, 24);
	size_t n;

	t->exec_now = exec;
	t->has_jump = t->again = false;
	if (!p)
		return;
	n = put_varint(p, (uint64_t)t->run << 2 | SG_TRACE_EXEC);
	memcpy(p + n, &exec, 8);
	t->control.size += n + 8;
	t->run = 0;
}

void sg_trace_end(struct sg_wave_trace *t)
{
	uint8_t *p = reserve(t, 16);

	t->has_jump = t->again = false;
	if (p)
		t->control.size += put_varint(p, (uint64_t)t->run << 2 | SG_TRACE_END);
	t->run = 0;
}

/* A word per lane of the mask, or NULL if it is all of them. */
static const uint32_t *expand(uint64_t mask, uint32_t words[64])
{
	for (unsigned l = 0; l < 64; l++)
		words[l] = -(uint32_t)(mask >> l & 1);
	return mask == ~0ull ? NULL : words;
}

void sg_trace_lanes(struct sg_wave_trace *t, enum sg_trace_space space, uint64_t mask,
		    const uint64_t addr[64])
{
	uint32_t words[64];

	sg_trace_put_lanes(t, 0, space, mask, expand(mask, words), addr);
}

void sg_trace_lanes32(struct sg_wave_trace *t, enum sg_trace_space space, uint64_t mask,
		      const uint32_t addr[64])
{
	uint64_t wide[64];

	for (unsigned l = 0; l < 64; l++)
		wide[l] = addr[l];
	sg_trace_lanes(t, space, mask, wide);
}

void sg_trace_local(struct sg_wave_trace *t, unsigned reg, uint64_t mask, const uint32_t lane[64],
		    uint32_t offset)
{
	uint32_t words[64];

	sg_trace_put_local(t, reg, mask, expand(mask, words), lane, offset);
}

void sg_trace_scalar(struct sg_wave_trace *t, uint64_t addr)
{
	sg_trace_put_affine(t, SG_SPACE_SCALAR, t->exec_now, addr, 0);
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
	r->memory = sg_trace_records_of(t);
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

bool sg_trace_memory(struct sg_trace_records *r, uint64_t exec, struct sg_trace_access *out)
{
	const struct sg_trace_view view = { r->bytes, r->size }, *s = &view;
	size_t *at = &r->at;
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

const uint8_t *sg_trace_peek(const struct sg_trace_records *r, uint64_t exec, uint64_t *mask,
			     uint64_t *base, enum sg_trace_form *form, size_t *size, size_t *end)
{
	const struct sg_trace_view view = { r->bytes, r->size }, *s = &view;
	size_t at = r->at, payload;
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
		if (!find_list(s, r->at, &at, &payload))
			return NULL;
		*end = at;
		*form = SG_TRACE_LIST32; /* as good as it */
	}
	return s->size - payload < *size ? NULL : s->bytes + payload;
}
