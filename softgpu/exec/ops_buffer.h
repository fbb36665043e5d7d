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

#define SG_OP_cache_control(name)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return SG_GO;                                                                      \
	}

struct sg_buffer {
	uint64_t base; /* with the scalar offset */
	uint32_t stride;
	uint32_t n_records; /* or bytes */
	uint32_t n_bytes;   /* of an unstructured buffer, behind the scalar offset */
	uint32_t index_stride;
	bool swizzled, add_lane, structured;
	uint32_t word3;
};

static inline void sg_buffer_get(const struct sg_wave *w, const struct sg_exec_insn *i,
				 struct sg_buffer *b)
{
	uint32_t d[4], scalar_offset = sg_scalar32(w, i, SG_S2);

	memcpy(d, sg_scalar(w, i, SG_S0), sizeof(d));
	b->base = (d[0] | (uint64_t)(d[1] & 0xffff) << 32) + scalar_offset;
	b->stride = d[1] >> 16 & 0x3fff;
	b->n_records = d[2];
	b->n_bytes = d[2] > scalar_offset ? d[2] - scalar_offset : 0;
	b->swizzled = d[1] >> 31;
	b->add_lane = d[3] >> 23 & 1;
	b->index_stride = 8u << (d[3] >> 21 & 3);
	if (b->add_lane) /* then the data format's bits extend the stride */
		b->stride |= (d[3] >> 15 & 0xf) << 14;
	b->structured = i->inner & SG_MEM_IDXEN && b->stride;
	b->word3 = d[3];
}

/* How many bytes from `offset` of record `index` on are inside. */
static inline uint64_t sg_buffer_left(const struct sg_buffer *b, uint64_t index, uint64_t offset,
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
static inline uint8_t sg_buffer_count(uint64_t left, unsigned size, bool whole)
{
	if (left >= size)
		return (uint8_t)size;
	if (whole)
		return 0;
	/* a dword, or less, whose first byte is inside is inside */
	return (uint8_t)(size > 4 ? (left + 3) & ~3ull : left ? size : 0);
}

SG_NOINLINE enum sg_stop sg_buffer_lanes(struct sg_wave *w, const struct sg_exec_insn *i,
					 unsigned size, bool write, bool whole, struct sg_lanes *a)
{
	const uint32_t *first = sg_src(w, i, SG_S0);
	const uint32_t *index_from = i->inner & SG_MEM_IDXEN ? first : NULL;
	const uint32_t *offset_from = !(i->inner & SG_MEM_OFFEN) ? NULL
				      : index_from               ? first + SG_LANES
								 : first;
	uint64_t addr[SG_LANES] __attribute__((aligned(64)));
	struct sg_buffer b;
	unsigned l;

	sg_buffer_get(w, i, &b);
	a->plain = a->odd = 0;
	a->step = b.swizzled ? b.index_stride * 4 : 4;
	SG_FOR_ACTIVE(l, sg_exec(w)) {
		uint64_t index = (uint64_t)(index_from ? index_from[l] : 0) + (b.add_lane ? l : 0);
		uint32_t offset = (uint32_t)i->imm + (offset_from ? offset_from[l] : 0);
		uint64_t at = index * b.stride + offset, left;

		if (b.swizzled)
			at = (index / b.index_stride * b.stride + (offset & ~3u)) * b.index_stride +
			     index % b.index_stride * 4 + (offset & 3);
		left = sg_buffer_left(&b, index, offset, at);
		addr[l] = b.base + at;
		if (!b.swizzled && left >= size) {
			a->plain |= 1ull << l;
			continue;
		}
		a->odd |= 1ull << l;
		a->n_bytes[l] = sg_buffer_count(left, size, whole);
		if (a->n_bytes[l] &&
		    !sg_reachable(w->mem, addr[l], sg_odd_extent(addr[l], a->step, a->n_bytes[l])))
			return sg_wave_fault(w, i, SG_FAULT_MEMORY, addr[l], write);
		a->at[l] = sg_host(w->mem, addr[l]);
	}
	if (sg_check_lanes(w, i, addr, a->plain, size, write) != SG_GO)
		return SG_STOP_FAULT;
	SG_FOR_ACTIVE(l, a->plain)
		a->at[l] = sg_host(w->mem, addr[l]);
	return SG_GO;
}

/*
 * The stack: private memory with the same offset in all active lanes, so that n dwords are n rows
 * of 64. NULL: something else.
 */
SG_NOINLINE uint32_t *sg_buffer_stack(struct sg_wave *w, const struct sg_exec_insn *i, unsigned n)
{
	uint64_t exec = sg_exec(w), at;
	uint32_t offset = (uint32_t)i->imm;
	struct sg_buffer b;

	if (i->inner & (SG_MEM_IDXEN | SG_MEM_LDS | SG_MEM_TFE) || !exec)
		return NULL;
	sg_buffer_get(w, i, &b);
	if (!b.swizzled || !b.add_lane || b.index_stride != SG_LANES)
		return NULL;
	if (i->inner & SG_MEM_OFFEN) {
		const uint32_t *from = sg_src(w, i, SG_S0), *mask = sg_lane_mask(w);
		uint32_t same = from[__builtin_ctzll(exec)], diff = 0;

		for (unsigned l = 0; l < SG_LANES; l++)
			diff |= (from[l] ^ same) & mask[l];
		if (diff)
			return NULL;
		offset += same;
	}
	at = (uint64_t)offset * SG_LANES;
	if ((offset | b.base) & 3 || at + n * SG_LANES * 4 > b.n_bytes ||
	    !sg_in_aperture(w->mem, b.base + at, n * SG_LANES * 4))
		return NULL;
	return sg_host(w->mem, b.base + at);
}

/* No page is ever missing here without a fault. */
static inline void sg_buffer_status(struct sg_wave *w, const struct sg_exec_insn *i,
				    uint32_t *behind)
{
	unsigned l;

	if (i->inner & SG_MEM_TFE)
		SG_FOR_ACTIVE(l, sg_exec(w))
			behind[l] = 0;
}

SG_ALWAYS_INLINE enum sg_stop sg_buffer_load(struct sg_wave *w, const struct sg_exec_insn *i,
					     enum sg_load kind)
{
	const unsigned n = (sg_load_bytes(kind) + 3) / 4;
	uint32_t *dst = i->inner & SG_MEM_LDS ? w->result : sg_dst(w, i);
	uint32_t *stack = kind >= SG_LD_B32 ? sg_buffer_stack(w, i, n) : NULL;
	struct sg_lanes a;

	if (stack && sg_exec(w) == ~0ull) {
		memcpy(dst, stack, n * SG_LANES * 4);
		return SG_GO;
	}
	if (stack) {
		sg_merge(sg_lane_mask(w), dst, stack, n);
		return SG_GO;
	}
	if (sg_buffer_lanes(w, i, sg_load_bytes(kind), false, false, &a) != SG_GO)
		return SG_STOP_FAULT;
	sg_load_lanes(&a, dst, kind);
	if (i->inner & SG_MEM_LDS)
		sg_lanes_to_lds(w, i, dst, n);
	else
		sg_buffer_status(w, i, dst + n * SG_LANES);
	return SG_GO;
}

SG_ALWAYS_INLINE enum sg_stop sg_buffer_store(struct sg_wave *w, const struct sg_exec_insn *i,
					      enum sg_store kind)
{
	const unsigned n = (sg_store_bytes(kind) + 3) / 4;
	const uint32_t *src = sg_src(w, i, SG_S1);
	uint32_t *stack = kind >= SG_ST_B32 ? sg_buffer_stack(w, i, n) : NULL;
	struct sg_lanes a;
	unsigned l;

	if (stack && sg_exec(w) == ~0ull) {
		memcpy(stack, src, n * SG_LANES * 4);
		return SG_GO;
	}
	if (stack) {
		for (unsigned r = 0; r < n; r++)
			SG_FOR_ACTIVE(l, sg_exec(w))
				sg_poke32(stack + r * SG_LANES + l, src[r * SG_LANES + l]);
		return SG_GO;
	}
	if (sg_buffer_lanes(w, i, sg_store_bytes(kind), true, false, &a) != SG_GO)
		return SG_STOP_FAULT;
	sg_store_lanes(&a, src, kind);
	return SG_GO;
}

#define SG_OP_buffer_load(name, kind)                                                              \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_buffer_load(w, i, SG_LD_##kind);                                         \
	}

#define SG_OP_buffer_store(name, kind)                                                             \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_buffer_store(w, i, SG_ST_##kind);                                        \
	}

/* The data is what a load into LDS would have put there. */
#define SG_OP_buffer_store_lds(name)                                                               \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		struct sg_lanes a;                                                                 \
                                                                                                   \
		sg_lanes_from_lds(w, i, w->result);                                                \
		if (sg_buffer_lanes(w, i, 4, true, false, &a) != SG_GO)                            \
			return SG_STOP_FAULT;                                                      \
		sg_store_lanes(&a, w->result, SG_ST_B32);                                          \
		return SG_GO;                                                                      \
	}

#define SG_OP_buffer_atomic(name, op, bits)                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = sg_src(w, i, SG_S1);                                         \
		uint32_t *dst = i->inner & SG_MEM_RETURN ? sg_dst(w, i) : NULL;                    \
		struct sg_lanes a;                                                                 \
                                                                                                   \
		if (sg_buffer_lanes(w, i, bits / 8, true, true, &a) != SG_GO ||                    \
		    sg_check_alignment(w, i, &a, bits / 8) != SG_GO)                               \
			return SG_STOP_FAULT;                                                      \
		SG_AMO_LANES(bits, op, &a, src, src + bits / 32 * SG_LANES, dst);                  \
		return SG_GO;                                                                      \
	}

/* ---- formatted elements ---- */

struct sg_format {
	unsigned dfmt, nfmt;
	uint8_t select[4]; /* what each component is: 0, 1, or 4 + component of the element */
};

static inline struct sg_format sg_buffer_format(const struct sg_wave *w,
						const struct sg_exec_insn *i, bool typed)
{
	struct sg_format f = { i->fields->dfmt, i->fields->nfmt, { 4, 5, 6, 7 } };
	struct sg_buffer b;

	if (typed)
		return f;
	sg_buffer_get(w, i, &b);
	f.nfmt = b.word3 >> 12 & 7;
	f.dfmt = b.add_lane ? 0 : b.word3 >> 15 & 15;
	for (unsigned k = 0; k < 4; k++)
		f.select[k] = b.word3 >> 3 * k & 7;
	return f;
}

static inline uint32_t sg_format_select(const struct sg_format *f, unsigned k,
					const uint32_t *element)
{
	if (f->select[k] >= 4)
		return element[f->select[k] - 4];
	return f->select[k] == 1 ? sg_format_is_int(f->nfmt) ? 1 : sg_f32_bits(1.0f) : 0;
}

/* n components of 32 bits each, or of 16 bits in pairs; hi: one of 16 bits into the upper half. */
SG_NOINLINE enum sg_stop sg_format_load(struct sg_wave *w, const struct sg_exec_insn *i, unsigned n,
					bool d16, bool hi, bool typed)
{
	struct sg_format f = sg_buffer_format(w, i, typed);
	uint32_t *dst = i->inner & SG_MEM_LDS ? w->result : sg_dst(w, i);
	unsigned size = sg_format_bytes(f.dfmt), l;
	struct sg_lanes a;

	if (sg_buffer_lanes(w, i, size ? size : 1, false, true, &a) != SG_GO)
		return SG_STOP_FAULT;
	SG_FOR_ACTIVE(l, sg_exec(w)) {
		bool odd = a.odd >> l & 1;
		uint32_t element[4] = { 0 };
		uint8_t buf[16] = { 0 };

		if (size && odd)
			sg_odd_copy(&a, l, buf, size, false);
		if (size && (!odd || a.n_bytes[l]))
			sg_format_decode(f.dfmt, f.nfmt, odd ? buf : a.at[l], element);
		for (unsigned k = 0; k < n; k++) {
			uint32_t v = sg_format_select(&f, k, element);
			uint32_t *to = dst + l + (d16 ? k / 2 : k) * SG_LANES;

			if (!d16)
				*to = v;
			else if (hi)
				*to = sg_high_half(sg_format_to_d16(f.nfmt, v));
			else if (k & 1)
				*to |= sg_high_half(sg_format_to_d16(f.nfmt, v));
			else
				*to = sg_low_half(sg_format_to_d16(f.nfmt, v));
		}
	}
	if (i->inner & SG_MEM_LDS)
		sg_lanes_to_lds(w, i, dst, n);
	else
		sg_buffer_status(w, i, dst + (d16 ? (n + 1) / 2 : n) * SG_LANES);
	return SG_GO;
}

/* Components of the element that the instruction does not have are written as 0. */
SG_NOINLINE enum sg_stop sg_format_store(struct sg_wave *w, const struct sg_exec_insn *i,
					 unsigned n, bool d16, bool hi, bool typed)
{
	struct sg_format f = sg_buffer_format(w, i, typed);
	const uint32_t *src = sg_src(w, i, SG_S1);
	unsigned size = sg_format_bytes(f.dfmt), l;
	struct sg_lanes a;

	if (!size)
		return SG_GO;
	if (sg_buffer_lanes(w, i, size, true, true, &a) != SG_GO)
		return SG_STOP_FAULT;
	SG_FOR_ACTIVE(l, a.plain | a.odd) {
		uint32_t element[4] = { 0 };
		uint8_t buf[16] = { 0 };

		for (unsigned k = 0; k < n; k++) {
			uint32_t v = src[l + (d16 ? k / 2 : k) * SG_LANES];

			if (d16)
				v = sg_format_from_d16(f.nfmt,
						       (uint16_t)(hi || k & 1 ? v >> 16 : v));
			element[k] = v;
		}
		sg_format_encode(f.dfmt, f.nfmt, element, buf);
		if (a.odd >> l & 1)
			sg_odd_copy(&a, l, buf, size, true);
		else
			memcpy(a.at[l], buf, size);
	}
	return SG_GO;
}

#define SG_OP_format_load(name, n, bits)                                                           \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_format_load(w, i, n, bits == 16, false, false);                          \
	}
#define SG_OP_format_store(name, n, bits)                                                          \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_format_store(w, i, n, bits == 16, false, false);                         \
	}
#define SG_OP_format_load_hi(name)                                                                 \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_format_load(w, i, 1, true, true, false);                                 \
	}
#define SG_OP_format_store_hi(name)                                                                \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_format_store(w, i, 1, true, true, false);                                \
	}
#define SG_OP_typed_format_load(name, n, bits)                                                     \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_format_load(w, i, n, bits == 16, false, true);                           \
	}
#define SG_OP_typed_format_store(name, n, bits)                                                    \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_format_store(w, i, n, bits == 16, false, true);                          \
	}

#endif
