/*
 * ops_buffer: memory through a buffer descriptor, untyped (mubuf) and typed (mtbuf).
 *
 * Operands: D and S1 vdata, S0 vaddr (index, then offset, as idxen and offen say), scalar operand
 * S0 the descriptor, S2 the scalar offset; i->imm is the constant one.
 *
 * Address (Vega ISA, 8.1.5): base + scalar offset + buffer offset. The buffer offset of (index,
 * offset) is index * stride + offset; in a swizzled buffer records of neighbouring indices are
 * interleaved in units of 4 bytes, which is how private memory is laid out. The offset, of register
 * and instruction, is a sum of 32 bits: compilers put negative numbers into the register
 * (docs/isa-notes.md). What is added to it is not.
 *
 * Range: a structured access (idxen and a stride) counts records, any other one bytes behind the
 * scalar offset. Dwords are checked one by one, formatted elements and atomics whole. What is
 * outside reads as 0 and is not written.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_BUFFER_H
#define WS_SOFTGPU_EXEC_OPS_BUFFER_H

#include "softgpu/exec/amo.h"
#include "softgpu/exec/format.h"
#include "softgpu/isa/isa.h"

#define WS_OP_cache_control(name)                                                                  \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return WS_GO;                                                                      \
	}

struct ws_buffer {
	uint64_t base; /* with the scalar offset */
	uint32_t stride;
	uint32_t n_records; /* or bytes */
	uint32_t n_bytes;   /* of an unstructured buffer, behind the scalar offset */
	uint32_t index_stride;
	bool swizzled, add_lane, structured;
	uint32_t word3;
};

static inline void ws_buffer_get(const struct ws_wave *w, const struct ws_inst *i,
				 struct ws_buffer *b)
{
	uint32_t d[4], scalar_offset = ws_scalar32(w, i, WS_S2);

	memcpy(d, ws_scalar(w, i, WS_S0), sizeof(d));
	b->base = (d[0] | (uint64_t)(d[1] & 0xffff) << 32) + scalar_offset;
	b->stride = d[1] >> 16 & 0x3fff;
	b->n_records = d[2];
	b->n_bytes = d[2] > scalar_offset ? d[2] - scalar_offset : 0;
	b->swizzled = d[1] >> 31;
	b->add_lane = d[3] >> 23 & 1;
	b->index_stride = 8u << (d[3] >> 21 & 3);
	if (b->add_lane) /* then the data format's bits extend the stride */
		b->stride |= (d[3] >> 15 & 0xf) << 14;
	b->structured = i->inner & WS_MEM_IDXEN && b->stride;
	b->word3 = d[3];
}

/* How many bytes from `offset` of record `index` on are inside. */
static inline uint64_t ws_buffer_left(const struct ws_buffer *b, uint64_t index, uint64_t offset,
				      uint64_t buffer_offset)
{
	if (!b->structured) {
		uint64_t left = buffer_offset < b->n_bytes ? b->n_bytes - buffer_offset : 0;
		uint32_t step = b->index_stride * 4;

		return b->swizzled ? (left + step - 1) / step * 4 : left;
	}
	if (index >= b->n_records)
		return 0;
	if (!b->swizzled)
		return ~0ull;
	return offset < b->stride ? b->stride - offset : 0;
}

/* How many bytes of an access are done when `left` are inside. */
static inline uint8_t ws_buffer_count(uint64_t left, unsigned size, bool whole)
{
	if (left >= size)
		return (uint8_t)size;
	if (whole)
		return 0;
	/* a dword, or less, whose first byte is inside is inside */
	return (uint8_t)(size > 4 ? (left + 3) & ~3ull : left ? size : 0);
}

WS_NOINLINE enum ws_stop ws_buffer_lanes(struct ws_wave *w, const struct ws_inst *i, unsigned size,
					 bool write, bool whole, struct ws_lanes *a)
{
	const uint32_t *first = ws_src(w, i, WS_S0);
	const uint32_t *index_from = i->inner & WS_MEM_IDXEN ? first : NULL;
	const uint32_t *offset_from = !(i->inner & WS_MEM_OFFEN) ? NULL
				      : index_from               ? first + WS_LANES
								 : first;
	uint64_t addr[WS_LANES] __attribute__((aligned(64)));
	struct ws_buffer b;
	unsigned l;

	ws_buffer_get(w, i, &b);
	a->plain = a->odd = 0;
	a->step = b.swizzled ? b.index_stride * 4 : 4;
	WS_FOR_ACTIVE(l, ws_exec(w)) {
		uint64_t index = (uint64_t)(index_from ? index_from[l] : 0) + (b.add_lane ? l : 0);
		uint32_t offset = (uint32_t)i->imm + (offset_from ? offset_from[l] : 0);
		uint64_t at = index * b.stride + offset, left;

		if (b.swizzled)
			at = (index / b.index_stride * b.stride + (offset & ~3u)) *
				     b.index_stride +
			     index % b.index_stride * 4 + (offset & 3);
		left = ws_buffer_left(&b, index, offset, at);
		addr[l] = b.base + at;
		if (!b.swizzled && left >= size) {
			a->plain |= 1ull << l;
			continue;
		}
		a->odd |= 1ull << l;
		a->n_bytes[l] = ws_buffer_count(left, size, whole);
		if (a->n_bytes[l] &&
		    !ws_reachable(w->mem, addr[l], ws_odd_extent(addr[l], a->step, a->n_bytes[l])))
			return ws_wave_fault(w, i, WS_FAULT_MEMORY, addr[l], write);
		a->at[l] = ws_host(w->mem, addr[l]);
	}
	if (ws_check_lanes(w, i, addr, a->plain, size, write) != WS_GO)
		return WS_STOP_FAULT;
	WS_FOR_ACTIVE(l, a->plain)
		a->at[l] = ws_host(w->mem, addr[l]);
	return WS_GO;
}

/*
 * The stack: private memory with the same offset in all active lanes, so that n dwords are n rows
 * of 64. NULL: something else.
 */
WS_NOINLINE uint32_t *ws_buffer_stack(struct ws_wave *w, const struct ws_inst *i, unsigned n)
{
	uint64_t exec = ws_exec(w), at;
	uint32_t offset = (uint32_t)i->imm;
	struct ws_buffer b;

	if (i->inner & (WS_MEM_IDXEN | WS_MEM_LDS | WS_MEM_TFE) || !exec)
		return NULL;
	ws_buffer_get(w, i, &b);
	if (!b.swizzled || !b.add_lane || b.index_stride != WS_LANES)
		return NULL;
	if (i->inner & WS_MEM_OFFEN) {
		const uint32_t *from = ws_src(w, i, WS_S0), *mask = ws_lane_mask(w);
		uint32_t same = from[__builtin_ctzll(exec)], diff = 0;

		for (unsigned l = 0; l < WS_LANES; l++)
			diff |= (from[l] ^ same) & mask[l];
		if (diff)
			return NULL;
		offset += same;
	}
	at = (uint64_t)offset * WS_LANES;
	if ((offset | b.base) & 3 || at + n * WS_LANES * 4 > b.n_bytes ||
	    !ws_in_aperture(w->mem, b.base + at, n * WS_LANES * 4))
		return NULL;
	return ws_host(w->mem, b.base + at);
}

/* No page is ever missing here without a fault. */
static inline void ws_buffer_status(struct ws_wave *w, const struct ws_inst *i, uint32_t *behind)
{
	unsigned l;

	if (i->inner & WS_MEM_TFE)
		WS_FOR_ACTIVE(l, ws_exec(w))
			behind[l] = 0;
}

WS_ALWAYS_INLINE enum ws_stop ws_buffer_load(struct ws_wave *w, const struct ws_inst *i,
					     enum ws_load kind)
{
	const unsigned n = (ws_load_bytes(kind) + 3) / 4;
	uint32_t *dst = i->inner & WS_MEM_LDS ? w->result : ws_dst(w, i);
	uint32_t *stack = kind >= WS_LD_B32 ? ws_buffer_stack(w, i, n) : NULL;
	struct ws_lanes a;

	if (stack && ws_exec(w) == ~0ull) {
		memcpy(dst, stack, n * WS_LANES * 4);
		return WS_GO;
	}
	if (stack) {
		ws_merge(ws_lane_mask(w), dst, stack, n);
		return WS_GO;
	}
	if (ws_buffer_lanes(w, i, ws_load_bytes(kind), false, false, &a) != WS_GO)
		return WS_STOP_FAULT;
	ws_load_lanes(&a, dst, kind);
	if (i->inner & WS_MEM_LDS)
		ws_lanes_to_lds(w, i, dst);
	else
		ws_buffer_status(w, i, dst + n * WS_LANES);
	return WS_GO;
}

WS_ALWAYS_INLINE enum ws_stop ws_buffer_store(struct ws_wave *w, const struct ws_inst *i,
					      enum ws_store kind)
{
	const unsigned n = (ws_store_bytes(kind) + 3) / 4;
	const uint32_t *src = ws_src(w, i, WS_S1);
	uint32_t *stack = kind >= WS_ST_B32 ? ws_buffer_stack(w, i, n) : NULL;
	struct ws_lanes a;
	unsigned l;

	if (stack && ws_exec(w) == ~0ull) {
		memcpy(stack, src, n * WS_LANES * 4);
		return WS_GO;
	}
	if (stack) {
		for (unsigned r = 0; r < n; r++)
			WS_FOR_ACTIVE(l, ws_exec(w))
				ws_poke32(stack + r * WS_LANES + l, src[r * WS_LANES + l]);
		return WS_GO;
	}
	if (ws_buffer_lanes(w, i, ws_store_bytes(kind), true, false, &a) != WS_GO)
		return WS_STOP_FAULT;
	ws_store_lanes(&a, src, kind);
	return WS_GO;
}

#define WS_OP_buffer_load(name, kind)                                                              \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_buffer_load(w, i, WS_LD_##kind);                                         \
	}

#define WS_OP_buffer_store(name, kind)                                                             \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_buffer_store(w, i, WS_ST_##kind);                                        \
	}

/* The data is what a load into LDS would have put there. */
#define WS_OP_buffer_store_lds(name)                                                               \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		struct ws_lanes a;                                                                 \
                                                                                                   \
		ws_lanes_from_lds(w, i, w->result);                                                \
		if (ws_buffer_lanes(w, i, 4, true, false, &a) != WS_GO)                            \
			return WS_STOP_FAULT;                                                      \
		ws_store_lanes(&a, w->result, WS_ST_B32);                                          \
		return WS_GO;                                                                      \
	}

#define WS_OP_buffer_atomic(name, op, bits)                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = ws_src(w, i, WS_S1);                                         \
		uint32_t *dst = i->inner & WS_MEM_RETURN ? ws_dst(w, i) : NULL;                    \
		struct ws_lanes a;                                                                 \
                                                                                                   \
		if (ws_buffer_lanes(w, i, bits / 8, true, true, &a) != WS_GO ||                    \
		    ws_check_alignment(w, i, &a, bits / 8) != WS_GO)                               \
			return WS_STOP_FAULT;                                                      \
		WS_AMO_LANES(bits, op, &a, src, src + bits / 32 * WS_LANES, dst);                  \
		return WS_GO;                                                                      \
	}

/* ---- formatted elements ---- */

struct ws_format {
	unsigned dfmt, nfmt;
	uint8_t select[4]; /* what each component is: 0, 1, or 4 + component of the element */
};

static inline struct ws_format ws_buffer_format(const struct ws_wave *w, const struct ws_inst *i,
						bool typed)
{
	struct ws_format f = { i->fields->dfmt, i->fields->nfmt, { 4, 5, 6, 7 } };
	struct ws_buffer b;

	if (typed)
		return f;
	ws_buffer_get(w, i, &b);
	f.nfmt = b.word3 >> 12 & 7;
	f.dfmt = b.add_lane ? 0 : b.word3 >> 15 & 15;
	for (unsigned k = 0; k < 4; k++)
		f.select[k] = b.word3 >> 3 * k & 7;
	return f;
}

static inline uint32_t ws_format_select(const struct ws_format *f, unsigned k,
					const uint32_t *element)
{
	if (f->select[k] >= 4)
		return element[f->select[k] - 4];
	return f->select[k] == 1 ? ws_format_is_int(f->nfmt) ? 1 : ws_f32_bits(1.0f) : 0;
}

/* n components of 32 bits each, or of 16 bits in pairs; hi: one of 16 bits into the upper half. */
WS_NOINLINE enum ws_stop ws_format_load(struct ws_wave *w, const struct ws_inst *i, unsigned n,
					bool d16, bool hi, bool typed)
{
	struct ws_format f = ws_buffer_format(w, i, typed);
	uint32_t *dst = i->inner & WS_MEM_LDS ? w->result : ws_dst(w, i);
	unsigned size = ws_format_bytes(f.dfmt), l;
	struct ws_lanes a;

	if (ws_buffer_lanes(w, i, size ? size : 1, false, true, &a) != WS_GO)
		return WS_STOP_FAULT;
	WS_FOR_ACTIVE(l, ws_exec(w)) {
		bool odd = a.odd >> l & 1;
		uint32_t element[4] = { 0 };
		uint8_t buf[16] = { 0 };

		if (size && odd)
			ws_odd_copy(&a, l, buf, size, false);
		if (size && (!odd || a.n_bytes[l]))
			ws_format_decode(f.dfmt, f.nfmt, odd ? buf : a.at[l], element);
		for (unsigned k = 0; k < n; k++) {
			uint32_t v = ws_format_select(&f, k, element);
			uint32_t *to = dst + l + (d16 ? k / 2 : k) * WS_LANES;

			if (!d16)
				*to = v;
			else if (hi)
				*to = ws_high_half(ws_format_to_d16(f.nfmt, v));
			else if (k & 1)
				*to |= ws_high_half(ws_format_to_d16(f.nfmt, v));
			else
				*to = ws_low_half(ws_format_to_d16(f.nfmt, v));
		}
	}
	if (i->inner & WS_MEM_LDS)
		ws_lanes_to_lds(w, i, dst);
	else
		ws_buffer_status(w, i, dst + (d16 ? (n + 1) / 2 : n) * WS_LANES);
	return WS_GO;
}

/* Components of the element that the instruction does not have are written as 0. */
WS_NOINLINE enum ws_stop ws_format_store(struct ws_wave *w, const struct ws_inst *i, unsigned n,
					 bool d16, bool hi, bool typed)
{
	struct ws_format f = ws_buffer_format(w, i, typed);
	const uint32_t *src = ws_src(w, i, WS_S1);
	unsigned size = ws_format_bytes(f.dfmt), l;
	struct ws_lanes a;

	if (!size)
		return WS_GO;
	if (ws_buffer_lanes(w, i, size, true, true, &a) != WS_GO)
		return WS_STOP_FAULT;
	WS_FOR_ACTIVE(l, a.plain | a.odd) {
		uint32_t element[4] = { 0 };
		uint8_t buf[16] = { 0 };

		for (unsigned k = 0; k < n; k++) {
			uint32_t v = src[l + (d16 ? k / 2 : k) * WS_LANES];

			if (d16)
				v = ws_format_from_d16(f.nfmt,
						       (uint16_t)(hi || k & 1 ? v >> 16 : v));
			element[k] = v;
		}
		ws_format_encode(f.dfmt, f.nfmt, element, buf);
		if (a.odd >> l & 1)
			ws_odd_copy(&a, l, buf, size, true);
		else
			memcpy(a.at[l], buf, size);
	}
	return WS_GO;
}

#define WS_OP_format_load(name, n, bits)                                                           \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_format_load(w, i, n, bits == 16, false, false);                          \
	}
#define WS_OP_format_store(name, n, bits)                                                          \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_format_store(w, i, n, bits == 16, false, false);                         \
	}
#define WS_OP_format_load_hi(name)                                                                 \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_format_load(w, i, 1, true, true, false);                                 \
	}
#define WS_OP_format_store_hi(name)                                                                \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_format_store(w, i, 1, true, true, false);                                \
	}
#define WS_OP_typed_format_load(name, n, bits)                                                     \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_format_load(w, i, n, bits == 16, false, true);                           \
	}
#define WS_OP_typed_format_store(name, n, bits)                                                    \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_format_store(w, i, n, bits == 16, false, true);                          \
	}

#endif
