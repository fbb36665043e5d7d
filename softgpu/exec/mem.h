/*
 * mem: how the lanes of a wave reach memory.
 *
 * A vector memory instruction first finds out where its lanes point (struct sg_lanes: host pointers
 * whose ranges the device may access) and then moves the data. Two shapes are found before that and
 * are what nearly all accesses are: all lanes active and their addresses consecutive (a "row"),
 * which is one copy; and the rest, a loop over lanes.
 *
 * Addresses inside the device aperture are only known to be the device's, not to be mapped:
 * touching them may end in the guard (mem/guard.h), which leaves the handler by siglongjmp(). So
 * nothing here holds a lock or half a result while it touches memory.
 *
 * Other waves and the host see the same memory at the same time: aligned accesses of 32, 64 and 128
 * bits are single moves, atomics are compare-and-swap. A row is stored from its first byte to its
 * last and loaded from its last to its first, so that who sees the last byte of a message sees all of
 * it. Libraries put data and a flag into one store instruction and rely on that (RCCL's LL, LL128).
 *
 * i->inner of a memory instruction holds enum sg_mem_flags (it has no inner handler).
 */
#ifndef WS_SOFTGPU_EXEC_MEM_H
#define WS_SOFTGPU_EXEC_MEM_H

#include "softgpu/exec/handler.h"

#define SG_ALWAYS_INLINE static inline __attribute__((always_inline))
#define SG_NOINLINE static __attribute__((noinline, unused))

/* clang-format off */
enum sg_mem_flags {
	SG_MEM_SEG_FLAT = 1 << 0,     /* flat: apertures decide lane by lane */
	SG_MEM_SEG_SCRATCH = 1 << 1,  /* scratch: offsets into private memory; smem: of scratch */
	SG_MEM_SADDR = 1 << 2,        /* flat: a scalar base; smem: a scalar offset */
	SG_MEM_RETURN = 1 << 3,       /* atomics: the old value is wanted */
	SG_MEM_LDS = 1 << 4,          /* loads: into LDS instead of registers */
	SG_MEM_IDXEN = 1 << 5,
	SG_MEM_OFFEN = 1 << 6,
	SG_MEM_TFE = 1 << 7,          /* a register behind the data tells whether pages were missing */
	SG_MEM_GDS = 1 << 8,
	SG_MEM_NO_VADDR = 1 << 9,     /* scratch, ds: without an offset per lane */
	SG_MEM_PAIR = 1 << 10,        /* ds: two offsets */
	SG_MEM_DESCRIPTOR = 1 << 11,  /* smem: the base is a buffer descriptor */
};
/* clang-format on */

/* Byte b of lane l is at at[l] + b, or, for `odd` lanes, where sg_odd_byte() says. */
struct sg_lanes {
	uint8_t *at[SG_LANES];
	uint64_t plain;            /* lanes to access: disjoint from odd */
	uint64_t odd;              /* swizzled or cut short */
	uint32_t step;             /* of odd lanes: from one dword to the next */
	uint8_t n_bytes[SG_LANES]; /* of odd lanes: how many exist, from the first on */
};

#define SG_FOR_ACTIVE(l, mask)                                                                     \
	for (uint64_t left_ = (mask); left_ && (l = (unsigned)__builtin_ctzll(left_), true);       \
	     left_ &= left_ - 1)

/* ---- what may be accessed ---- */

/* mem.c: the lanes of `mask` that are outside of the aperture; SG_STOP_FAULT, or SG_GO if all are
 * reachable all the same. Aliases are replaced by what they stand for. */
enum sg_stop sg_mem_check_outside(struct sg_wave *w, const struct sg_exec_insn *i, uint64_t *addr,
				  uint64_t mask, uint64_t size, bool write);

static inline bool sg_in_aperture(const struct sg_mem_map *m, uint64_t addr, uint64_t size)
{
	return addr - m->start <= m->end - m->start - size;
}

static inline bool sg_reachable(const struct sg_mem_map *m, uint64_t addr, uint64_t size)
{
	return sg_in_aperture(m, addr, size) || (m->reachable && m->reachable(m->ctx, addr, size));
}

static inline bool sg_is_alias(const struct sg_mem_map *m, uint64_t addr)
{
	return addr >= m->end && addr < m->alias_end;
}

static inline void *sg_host(const struct sg_mem_map *m, uint64_t addr)
{
	if (__builtin_expect(sg_is_alias(m, addr), 0))
		return (void *)(uintptr_t)m->host_of(m->ctx, addr);
	return (void *)(uintptr_t)((addr + m->host_base) & ~SG_PINNED_ALIAS);
}

/* Checks [addr[l], +size) of all lanes in `mask`; aliases are replaced. */
static inline enum sg_stop sg_check_lanes(struct sg_wave *w, const struct sg_exec_insn *i,
					  uint64_t *addr, uint64_t mask, uint64_t size, bool write)
{
	const struct sg_mem_map *m = w->mem;
	const uint64_t start = m->start, last = m->end - m->start - size;
	uint64_t bad = 0;
	unsigned l;

	if (mask == ~0ull) {
		for (l = 0; l < SG_LANES; l++)
			bad |= addr[l] - start > last ? 1 : 0;
	} else {
		SG_FOR_ACTIVE(l, mask)
			bad |= addr[l] - start > last ? 1 : 0;
	}
	return __builtin_expect(!bad, 1) ? SG_GO
					 : sg_mem_check_outside(w, i, addr, mask, size, write);
}

/* Atomics need their natural alignment. */
static inline enum sg_stop sg_check_alignment(struct sg_wave *w, const struct sg_exec_insn *i,
					      const struct sg_lanes *a, unsigned size)
{
	unsigned l;

	SG_FOR_ACTIVE(l, a->plain)
		if ((uintptr_t)a->at[l] & (size - 1))
			return sg_wave_fault(w, i, SG_FAULT_MEMORY,
					     (uint64_t)(uintptr_t)a->at[l] - w->mem->host_base,
					     true);
	return SG_GO;
}

/* ---- lane arrays that rise evenly ---- */

static inline bool sg_rises(const uint32_t *p, uint32_t step)
{
	const uint32_t first = p[0];
	uint32_t diff = 0;

	if (p[1] - first != step) /* tells most others apart at once */
		return false;
	for (unsigned l = 0; l < SG_LANES; l++)
		diff |= p[l] ^ (first + l * step);
	return diff == 0;
}

/* ---- loads and stores ---- */

/* clang-format off */
enum sg_load {
	SG_LD_U8, SG_LD_I8, SG_LD_U16, SG_LD_I16, SG_LD_U8_D16, SG_LD_U8_D16_HI, SG_LD_I8_D16,
	SG_LD_I8_D16_HI, SG_LD_B16_D16, SG_LD_B16_D16_HI, SG_LD_B32, SG_LD_B64, SG_LD_B96, SG_LD_B128
};
/* clang-format on */

/* clang-format off */
enum sg_store {
	SG_ST_B8, SG_ST_B8_HI, SG_ST_B16, SG_ST_B16_HI, SG_ST_B32, SG_ST_B64, SG_ST_B96, SG_ST_B128
};
/* clang-format on */

SG_ALWAYS_INLINE unsigned sg_load_bytes(enum sg_load kind)
{
	static const uint8_t bytes[] = { 1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 4, 8, 12, 16 };

	return bytes[kind];
}

SG_ALWAYS_INLINE unsigned sg_store_bytes(enum sg_store kind)
{
	static const uint8_t bytes[] = { 1, 1, 2, 2, 4, 8, 12, 16 };

	return bytes[kind];
}

/* One move each: the compiler sees the size. */
#define SG_PEEK(bits)                                                                              \
	static inline uint##bits##_t sg_peek##bits(const void *p)                                  \
	{                                                                                          \
		uint##bits##_t v;                                                                  \
                                                                                                   \
		memcpy(&v, p, sizeof(v));                                                          \
		return v;                                                                          \
	}                                                                                          \
	static inline void sg_poke##bits(void *p, uint##bits##_t v)                                \
	{                                                                                          \
		memcpy(p, &v, sizeof(v));                                                          \
	}
SG_PEEK(8)
SG_PEEK(16)
SG_PEEK(32)
SG_PEEK(64)

/*
 * 16 bytes in one access. The GPU's are not divided when they are aligned, and programs rely on it: rocPRIM
 * publishes a value of 8 bytes and its flag with one store. So do processors with AVX; volatile keeps the
 * compiler from accessing the halves one by one.
 */
typedef uint64_t sg_u128 __attribute__((vector_size(16)));
typedef sg_u128 sg_u128_anywhere __attribute__((aligned(1), may_alias));

static inline sg_u128 sg_peek128(const void *p)
{
	return *(const volatile sg_u128_anywhere *)p;
}

static inline void sg_poke128(void *p, sg_u128 v)
{
	*(volatile sg_u128_anywhere *)p = v;
}

/* 16 bits for one half of a register. With ECC on the register files, which both targets have, a load
 * writes whole registers: the other half becomes 0 (docs/isa-notes.md). */
static inline uint32_t sg_low_half(uint32_t v)
{
	return v & 0xffffu;
}

static inline uint32_t sg_high_half(uint32_t v)
{
	return v << 16;
}

/* dst points to the lane's element of the first register. */
SG_ALWAYS_INLINE void sg_load_lane(uint32_t *dst, const uint8_t *p, enum sg_load kind)
{
	uint64_t v;
	sg_u128 quad;

	switch (kind) {
	case SG_LD_U8:
		*dst = sg_peek8(p);
		break;
	case SG_LD_I8:
		*dst = (uint32_t)(int8_t)sg_peek8(p);
		break;
	case SG_LD_U16:
		*dst = sg_peek16(p);
		break;
	case SG_LD_I16:
		*dst = (uint32_t)(int16_t)sg_peek16(p);
		break;
	case SG_LD_U8_D16:
		*dst = sg_low_half(sg_peek8(p));
		break;
	case SG_LD_U8_D16_HI:
		*dst = sg_high_half(sg_peek8(p));
		break;
	case SG_LD_I8_D16:
		*dst = sg_low_half((uint32_t)(int8_t)sg_peek8(p));
		break;
	case SG_LD_I8_D16_HI:
		*dst = sg_high_half((uint32_t)(int8_t)sg_peek8(p));
		break;
	case SG_LD_B16_D16:
		*dst = sg_low_half(sg_peek16(p));
		break;
	case SG_LD_B16_D16_HI:
		*dst = sg_high_half(sg_peek16(p));
		break;
	case SG_LD_B32:
		*dst = sg_peek32(p);
		break;
	case SG_LD_B64:
	case SG_LD_B96:
		v = sg_peek64(p);
		dst[0] = (uint32_t)v;
		dst[SG_LANES] = (uint32_t)(v >> 32);
		if (kind == SG_LD_B96)
			dst[2 * SG_LANES] = sg_peek32(p + 8);
		break;
	case SG_LD_B128:
		quad = sg_peek128(p);
		dst[0] = (uint32_t)quad[0];
		dst[SG_LANES] = (uint32_t)(quad[0] >> 32);
		dst[2 * SG_LANES] = (uint32_t)quad[1];
		dst[3 * SG_LANES] = (uint32_t)(quad[1] >> 32);
		break;
	}
}

SG_ALWAYS_INLINE void sg_store_lane(uint8_t *p, const uint32_t *src, enum sg_store kind)
{
	switch (kind) {
	case SG_ST_B8:
		sg_poke8(p, (uint8_t)*src);
		break;
	case SG_ST_B8_HI:
		sg_poke8(p, (uint8_t)(*src >> 16));
		break;
	case SG_ST_B16:
		sg_poke16(p, (uint16_t)*src);
		break;
	case SG_ST_B16_HI:
		sg_poke16(p, (uint16_t)(*src >> 16));
		break;
	case SG_ST_B32:
		sg_poke32(p, *src);
		break;
	case SG_ST_B64:
	case SG_ST_B96:
		sg_poke64(p, get_b64(src, 0));
		if (kind == SG_ST_B96)
			sg_poke32(p + 8, src[2 * SG_LANES]);
		break;
	case SG_ST_B128:
		sg_poke128(p, (sg_u128){ get_b64(src, 0), get_b64(src + 2 * SG_LANES, 0) });
		break;
	}
}

/*
 * Odd lanes. Private memory is interleaved: dword d of a lane is `step` bytes behind dword d - 1.
 * The bytes of an unaligned access continue in the next dword of the same lane.
 */
static inline uint8_t *sg_odd_byte(uint8_t *p, uint32_t step, unsigned b)
{
	unsigned at = (unsigned)((uintptr_t)p & 3) + b;

	if (step == 4)
		return p + b;
	return p - ((uintptr_t)p & 3) + (size_t)(at >> 2) * step + (at & 3);
}

/* From the first to behind the last byte of an access of `size` bytes. */
static inline uint64_t sg_odd_extent(uint64_t addr, uint32_t step, unsigned size)
{
	unsigned last = (unsigned)(addr & 3) + size - 1;

	return step == 4 ? size : (uint64_t)(last >> 2) * step + (last & 3) + 1 - (addr & 3);
}

SG_NOINLINE void sg_odd_copy(const struct sg_lanes *a, unsigned l, uint8_t *buf, unsigned size,
			     bool to_memory)
{
	unsigned n = a->n_bytes[l] < size ? a->n_bytes[l] : size;
	uint8_t *p = a->at[l];
	bool words = !((uintptr_t)p & 3);

	for (unsigned b = 0; b < n;) {
		uint8_t *at = sg_odd_byte(p, a->step, b);
		unsigned piece = words && n - b >= 4 ? 4 : 1;
		uint8_t *from = to_memory ? buf + b : at, *to = to_memory ? at : buf + b;

		if (piece == 4)
			sg_poke32(to, sg_peek32(from));
		else
			*to = *from;
		b += piece;
	}
}

SG_ALWAYS_INLINE void sg_load_lanes(const struct sg_lanes *a, uint32_t *dst, enum sg_load kind)
{
	unsigned l;

	if (a->plain == ~0ull) {
		for (l = 0; l < SG_LANES; l++)
			sg_load_lane(dst + l, a->at[l], kind);
		return;
	}
	SG_FOR_ACTIVE(l, a->plain)
		sg_load_lane(dst + l, a->at[l], kind);
	SG_FOR_ACTIVE(l, a->odd) {
		uint8_t buf[16] = { 0 }; /* what does not exist reads as 0 */

		sg_odd_copy(a, l, buf, sg_load_bytes(kind), false);
		sg_load_lane(dst + l, buf, kind);
	}
}

SG_ALWAYS_INLINE void sg_store_lanes(const struct sg_lanes *a, const uint32_t *src,
				     enum sg_store kind)
{
	unsigned l;

	if (a->plain == ~0ull) {
		for (l = 0; l < SG_LANES; l++)
			sg_store_lane(a->at[l], src + l, kind);
		return;
	}
	SG_FOR_ACTIVE(l, a->plain)
		sg_store_lane(a->at[l], src + l, kind);
	SG_FOR_ACTIVE(l, a->odd) {
		uint8_t buf[16];

		sg_store_lane(buf, src + l, kind);
		sg_odd_copy(a, l, buf, sg_store_bytes(kind), true);
	}
}

/*
 * Rows: consecutive elements in memory, lanes in registers. Memory needs no alignment. Rows of dwords
 * and more move in the widest pieces of the SIMD level: dwords directly, since registers hold them in
 * the same order, wider elements by way of the stack. (By that way a row of dwords takes twice as long.)
 */
#if defined(__AVX512F__)
#define SG_PIECE_BYTES 64
#elif defined(__AVX2__)
#define SG_PIECE_BYTES 32
#else
#define SG_PIECE_BYTES 16
#endif
typedef uint64_t sg_piece __attribute__((vector_size(SG_PIECE_BYTES), aligned(1), may_alias));

/* Elements of up to four dwords, as they are in memory. */
struct sg_row {
	uint32_t dword[SG_LANES * 4];
} __attribute__((aligned(64)));

SG_ALWAYS_INLINE void sg_row_read(uint32_t *row, const uint8_t *from, unsigned n_bytes)
{
	for (unsigned b = n_bytes; b > 0; b -= SG_PIECE_BYTES)
		*(sg_piece *)((uint8_t *)row + b - SG_PIECE_BYTES) =
			*(const volatile sg_piece *)(from + b - SG_PIECE_BYTES);
}

SG_ALWAYS_INLINE void sg_row_write(uint8_t *to, const uint32_t *row, unsigned n_bytes)
{
	for (unsigned b = 0; b < n_bytes; b += SG_PIECE_BYTES)
		*(volatile sg_piece *)(to + b) = *(const sg_piece *)((const uint8_t *)row + b);
}

SG_ALWAYS_INLINE void sg_load_row(uint32_t *restrict dst, const uint8_t *restrict memory,
				  enum sg_load kind)
{
	const unsigned size = sg_load_bytes(kind), n_dwords = size / 4;
	struct sg_row row;

	if (size < 4) {
		for (unsigned l = 0; l < SG_LANES; l++)
			sg_load_lane(dst + l, memory + l * size, kind);
		return;
	}
	if (size == 4) {
		sg_row_read(dst, memory, SG_LANES * 4);
		return;
	}
	sg_row_read(row.dword, memory, SG_LANES * size);
	for (unsigned l = 0; l < SG_LANES; l++)
		for (unsigned r = 0; r < n_dwords; r++)
			dst[r * SG_LANES + l] = row.dword[l * n_dwords + r];
}

SG_ALWAYS_INLINE void sg_store_row(uint8_t *restrict memory, const uint32_t *restrict src,
				   enum sg_store kind)
{
	const unsigned size = sg_store_bytes(kind), n_dwords = size / 4;
	struct sg_row row;

	if (size < 4) {
		for (unsigned l = 0; l < SG_LANES; l++)
			sg_store_lane(memory + l * size, src + l, kind);
		return;
	}
	if (size == 4) {
		sg_row_write(memory, src, SG_LANES * 4);
		return;
	}
	for (unsigned l = 0; l < SG_LANES; l++)
		for (unsigned r = 0; r < n_dwords; r++)
			row.dword[l * n_dwords + r] = src[r * SG_LANES + l];
	sg_row_write(memory, row.dword, SG_LANES * size);
}

/* ---- between memory and LDS: the dwords of lane after lane, from M0 + instruction offset on ---- */

/* NULL: outside of LDS; the offset of the flat instructions may be negative. */
static inline uint8_t *sg_lds_dword(const struct sg_wave *w, const struct sg_exec_insn *i,
				    unsigned n)
{
	/* 64 KiB of LDS have 16 bits of address, gfx950's 160 KiB have 18 */
	uint32_t m0 = w->s[SG_S_M0] & (w->lds_bytes > 0x10000 ? 0x3ffff : 0xffff);
	int64_t at = (int64_t)m0 + i->imm + 4 * n;

	return at >= 0 && at + 4 <= w->lds_bytes ? w->lds + at : NULL;
}

/* n: dwords of a lane. */
static inline void sg_lanes_to_lds(struct sg_wave *w, const struct sg_exec_insn *i,
				   const uint32_t *from, unsigned n)
{
	unsigned l;

	SG_FOR_ACTIVE(l, sg_exec(w)) {
		for (unsigned r = 0; r < n; r++) {
			uint8_t *to = sg_lds_dword(w, i, l * n + r);

			if (to)
				sg_poke32(to, from[r * SG_LANES + l]);
		}
	}
}

static inline void sg_lanes_from_lds(const struct sg_wave *w, const struct sg_exec_insn *i,
				     uint32_t *to)
{
	for (unsigned l = 0; l < SG_LANES; l++) {
		const uint8_t *from = sg_lds_dword(w, i, l);

		to[l] = from ? sg_peek32(from) : 0;
	}
}

#endif
