/*
 * mem: how the lanes of a wave reach memory.
 *
 * A vector memory instruction first finds out where its lanes point (struct ws_lanes: host pointers
 * whose ranges the device may access) and then moves the data. Two shapes are found before that and
 * are what nearly all accesses are: all lanes active and their addresses consecutive (a "row"),
 * which is one copy; and the rest, a loop over lanes.
 *
 * Addresses inside the device aperture are only known to be the device's, not to be mapped:
 * touching them may end in the guard (guard.h), which leaves the handler by siglongjmp(). So
 * nothing here holds a lock or half a result while it touches memory.
 *
 * Other waves and the host see the same memory at the same time: aligned accesses of 32 and 64 bits
 * are single moves, atomics are compare-and-swap.
 *
 * i->inner of a memory instruction holds enum ws_mem_flags (it has no inner handler).
 */
#ifndef WS_SOFTGPU_EXEC_MEM_H
#define WS_SOFTGPU_EXEC_MEM_H

#include "softgpu/exec/handler.h"

#define WS_ALWAYS_INLINE static inline __attribute__((always_inline))
#define WS_NOINLINE static __attribute__((noinline, unused))

/* clang-format off */
enum ws_mem_flags {
	WS_MEM_SEG_FLAT = 1 << 0,     /* flat: apertures decide lane by lane */
	WS_MEM_SEG_SCRATCH = 1 << 1,  /* scratch: offsets into the lane's private memory */
	WS_MEM_SADDR = 1 << 2,        /* flat: a scalar base; smem: a scalar offset */
	WS_MEM_RETURN = 1 << 3,       /* atomics: the old value is wanted */
	WS_MEM_LDS = 1 << 4,          /* loads: into LDS instead of registers */
	WS_MEM_IDXEN = 1 << 5,
	WS_MEM_OFFEN = 1 << 6,
	WS_MEM_TFE = 1 << 7,          /* a register behind the data tells whether pages were missing */
	WS_MEM_GDS = 1 << 8,
};
/* clang-format on */

/* Byte b of lane l is at at[l] + b, or, for `odd` lanes, where ws_odd_byte() says. */
struct ws_lanes {
	uint8_t *at[WS_LANES];
	uint64_t plain;            /* lanes to access: disjoint from odd */
	uint64_t odd;              /* swizzled or cut short */
	uint32_t step;             /* of odd lanes: from one dword to the next */
	uint8_t n_bytes[WS_LANES]; /* of odd lanes: how many exist, from the first on */
};

#define WS_FOR_ACTIVE(l, mask)                                                                     \
	for (uint64_t left_ = (mask); left_ && (l = (unsigned)__builtin_ctzll(left_), true);       \
	     left_ &= left_ - 1)

/* ---- what may be accessed ---- */

/* mem.c: the lanes of `mask` that are outside of the aperture; WS_STOP_FAULT, or WS_GO if all are
 * reachable all the same. */
enum ws_stop ws_mem_check_outside(struct ws_wave *w, const struct ws_inst *i, const uint64_t *addr,
				  uint64_t mask, uint64_t size, bool write);

static inline bool ws_in_aperture(const struct ws_mem_map *m, uint64_t addr, uint64_t size)
{
	return addr - m->start <= m->end - m->start - size;
}

static inline bool ws_reachable(const struct ws_mem_map *m, uint64_t addr, uint64_t size)
{
	return ws_in_aperture(m, addr, size) || (m->reachable && m->reachable(m->ctx, addr, size));
}

static inline void *ws_host(const struct ws_mem_map *m, uint64_t addr)
{
	return (void *)(uintptr_t)((addr + m->host_base) & ~WS_PINNED_ALIAS);
}

/* Checks [addr[l], +size) of all lanes in `mask`. */
static inline enum ws_stop ws_check_lanes(struct ws_wave *w, const struct ws_inst *i,
					  const uint64_t *addr, uint64_t mask, uint64_t size,
					  bool write)
{
	const struct ws_mem_map *m = w->mem;
	const uint64_t start = m->start, last = m->end - m->start - size;
	uint64_t bad = 0;
	unsigned l;

	if (mask == ~0ull) {
		for (l = 0; l < WS_LANES; l++)
			bad |= addr[l] - start > last ? 1 : 0;
	} else {
		WS_FOR_ACTIVE(l, mask)
			bad |= addr[l] - start > last ? 1 : 0;
	}
	return __builtin_expect(!bad, 1) ? WS_GO
					 : ws_mem_check_outside(w, i, addr, mask, size, write);
}

/* Atomics need their natural alignment. */
static inline enum ws_stop ws_check_alignment(struct ws_wave *w, const struct ws_inst *i,
					      const struct ws_lanes *a, unsigned size)
{
	unsigned l;

	WS_FOR_ACTIVE(l, a->plain)
		if ((uintptr_t)a->at[l] & (size - 1))
			return ws_wave_fault(w, i, WS_FAULT_MEMORY,
					     (uint64_t)(uintptr_t)a->at[l] - w->mem->host_base,
					     true);
	return WS_GO;
}

/* ---- lane arrays that rise evenly ---- */

static inline bool ws_rises(const uint32_t *p, uint32_t step)
{
	const uint32_t first = p[0];
	uint32_t diff = 0;

	if (p[1] - first != step) /* tells most others apart at once */
		return false;
	for (unsigned l = 0; l < WS_LANES; l++)
		diff |= p[l] ^ (first + l * step);
	return diff == 0;
}

/* ---- loads and stores ---- */

/* clang-format off */
enum ws_load {
	WS_LD_U8, WS_LD_I8, WS_LD_U16, WS_LD_I16, WS_LD_U8_D16, WS_LD_U8_D16_HI, WS_LD_I8_D16,
	WS_LD_I8_D16_HI, WS_LD_B16_D16, WS_LD_B16_D16_HI, WS_LD_B32, WS_LD_B64, WS_LD_B96, WS_LD_B128
};
/* clang-format on */

/* clang-format off */
enum ws_store {
	WS_ST_B8, WS_ST_B8_HI, WS_ST_B16, WS_ST_B16_HI, WS_ST_B32, WS_ST_B64, WS_ST_B96, WS_ST_B128
};
/* clang-format on */

WS_ALWAYS_INLINE unsigned ws_load_bytes(enum ws_load kind)
{
	static const uint8_t bytes[] = { 1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 4, 8, 12, 16 };

	return bytes[kind];
}

WS_ALWAYS_INLINE unsigned ws_store_bytes(enum ws_store kind)
{
	static const uint8_t bytes[] = { 1, 1, 2, 2, 4, 8, 12, 16 };

	return bytes[kind];
}

/* One move each: the compiler sees the size. */
#define WS_PEEK(bits)                                                                              \
	static inline uint##bits##_t ws_peek##bits(const void *p)                                  \
	{                                                                                          \
		uint##bits##_t v;                                                                  \
                                                                                                   \
		memcpy(&v, p, sizeof(v));                                                          \
		return v;                                                                          \
	}                                                                                          \
	static inline void ws_poke##bits(void *p, uint##bits##_t v)                                \
	{                                                                                          \
		memcpy(p, &v, sizeof(v));                                                          \
	}
WS_PEEK(8)
WS_PEEK(16)
WS_PEEK(32)
WS_PEEK(64)

/* 16 bits for one half of a register. With ECC on the register files, which both targets have, a load
 * writes whole registers: the other half becomes 0 (docs/isa-notes.md). */
static inline uint32_t ws_low_half(uint32_t v)
{
	return v & 0xffffu;
}

static inline uint32_t ws_high_half(uint32_t v)
{
	return v << 16;
}

/* dst points to the lane's element of the first register. */
WS_ALWAYS_INLINE void ws_load_lane(uint32_t *dst, const uint8_t *p, enum ws_load kind)
{
	uint64_t v;

	switch (kind) {
	case WS_LD_U8:
		*dst = ws_peek8(p);
		break;
	case WS_LD_I8:
		*dst = (uint32_t)(int8_t)ws_peek8(p);
		break;
	case WS_LD_U16:
		*dst = ws_peek16(p);
		break;
	case WS_LD_I16:
		*dst = (uint32_t)(int16_t)ws_peek16(p);
		break;
	case WS_LD_U8_D16:
		*dst = ws_low_half(ws_peek8(p));
		break;
	case WS_LD_U8_D16_HI:
		*dst = ws_high_half(ws_peek8(p));
		break;
	case WS_LD_I8_D16:
		*dst = ws_low_half((uint32_t)(int8_t)ws_peek8(p));
		break;
	case WS_LD_I8_D16_HI:
		*dst = ws_high_half((uint32_t)(int8_t)ws_peek8(p));
		break;
	case WS_LD_B16_D16:
		*dst = ws_low_half(ws_peek16(p));
		break;
	case WS_LD_B16_D16_HI:
		*dst = ws_high_half(ws_peek16(p));
		break;
	case WS_LD_B32:
		*dst = ws_peek32(p);
		break;
	case WS_LD_B64:
	case WS_LD_B96:
	case WS_LD_B128:
		v = ws_peek64(p);
		dst[0] = (uint32_t)v;
		dst[WS_LANES] = (uint32_t)(v >> 32);
		if (kind == WS_LD_B96)
			dst[2 * WS_LANES] = ws_peek32(p + 8);
		if (kind == WS_LD_B128) {
			v = ws_peek64(p + 8);
			dst[2 * WS_LANES] = (uint32_t)v;
			dst[3 * WS_LANES] = (uint32_t)(v >> 32);
		}
		break;
	}
}

WS_ALWAYS_INLINE void ws_store_lane(uint8_t *p, const uint32_t *src, enum ws_store kind)
{
	switch (kind) {
	case WS_ST_B8:
		ws_poke8(p, (uint8_t)*src);
		break;
	case WS_ST_B8_HI:
		ws_poke8(p, (uint8_t)(*src >> 16));
		break;
	case WS_ST_B16:
		ws_poke16(p, (uint16_t)*src);
		break;
	case WS_ST_B16_HI:
		ws_poke16(p, (uint16_t)(*src >> 16));
		break;
	case WS_ST_B32:
		ws_poke32(p, *src);
		break;
	case WS_ST_B64:
	case WS_ST_B96:
	case WS_ST_B128:
		ws_poke64(p, get_b64(src, 0));
		if (kind == WS_ST_B96)
			ws_poke32(p + 8, src[2 * WS_LANES]);
		if (kind == WS_ST_B128)
			ws_poke64(p + 8, get_b64(src + 2 * WS_LANES, 0));
		break;
	}
}

/*
 * Odd lanes. Private memory is interleaved: dword d of a lane is `step` bytes behind dword d - 1.
 * The bytes of an unaligned access continue in the next dword of the same lane.
 */
static inline uint8_t *ws_odd_byte(uint8_t *p, uint32_t step, unsigned b)
{
	unsigned at = (unsigned)((uintptr_t)p & 3) + b;

	if (step == 4)
		return p + b;
	return p - ((uintptr_t)p & 3) + (size_t)(at >> 2) * step + (at & 3);
}

/* From the first to behind the last byte of an access of `size` bytes. */
static inline uint64_t ws_odd_extent(uint64_t addr, uint32_t step, unsigned size)
{
	unsigned last = (unsigned)(addr & 3) + size - 1;

	return step == 4 ? size : (uint64_t)(last >> 2) * step + (last & 3) + 1 - (addr & 3);
}

WS_NOINLINE void ws_odd_copy(const struct ws_lanes *a, unsigned l, uint8_t *buf, unsigned size,
			     bool to_memory)
{
	unsigned n = a->n_bytes[l] < size ? a->n_bytes[l] : size;
	uint8_t *p = a->at[l];
	bool words = !((uintptr_t)p & 3);

	for (unsigned b = 0; b < n;) {
		uint8_t *at = ws_odd_byte(p, a->step, b);
		unsigned piece = words && n - b >= 4 ? 4 : 1;
		uint8_t *from = to_memory ? buf + b : at, *to = to_memory ? at : buf + b;

		if (piece == 4)
			ws_poke32(to, ws_peek32(from));
		else
			*to = *from;
		b += piece;
	}
}

WS_ALWAYS_INLINE void ws_load_lanes(const struct ws_lanes *a, uint32_t *dst, enum ws_load kind)
{
	unsigned l;

	if (a->plain == ~0ull) {
		for (l = 0; l < WS_LANES; l++)
			ws_load_lane(dst + l, a->at[l], kind);
		return;
	}
	WS_FOR_ACTIVE(l, a->plain)
		ws_load_lane(dst + l, a->at[l], kind);
	WS_FOR_ACTIVE(l, a->odd) {
		uint8_t buf[16] = { 0 }; /* what does not exist reads as 0 */

		ws_odd_copy(a, l, buf, ws_load_bytes(kind), false);
		ws_load_lane(dst + l, buf, kind);
	}
}

WS_ALWAYS_INLINE void ws_store_lanes(const struct ws_lanes *a, const uint32_t *src,
				     enum ws_store kind)
{
	unsigned l;

	if (a->plain == ~0ull) {
		for (l = 0; l < WS_LANES; l++)
			ws_store_lane(a->at[l], src + l, kind);
		return;
	}
	WS_FOR_ACTIVE(l, a->plain)
		ws_store_lane(a->at[l], src + l, kind);
	WS_FOR_ACTIVE(l, a->odd) {
		uint8_t buf[16];

		ws_store_lane(buf, src + l, kind);
		ws_odd_copy(a, l, buf, ws_store_bytes(kind), true);
	}
}

/* Rows: consecutive elements in memory, lanes in registers. Memory needs no alignment. */
typedef uint32_t ws_u32_anywhere __attribute__((aligned(1), may_alias));

WS_ALWAYS_INLINE void ws_load_row(uint32_t *restrict dst, const uint8_t *restrict row,
				  enum ws_load kind)
{
	const unsigned size = ws_load_bytes(kind);

	if (kind == WS_LD_B32) {
		memcpy(dst, row, WS_LANES * 4);
	} else if (size >= 8) {
		const ws_u32_anywhere *restrict from = (const ws_u32_anywhere *)row;

		for (unsigned l = 0; l < WS_LANES; l++)
			for (unsigned r = 0; r < size / 4; r++)
				dst[r * WS_LANES + l] = from[l * (size / 4) + r];
	} else {
		for (unsigned l = 0; l < WS_LANES; l++)
			ws_load_lane(dst + l, row + l * size, kind);
	}
}

WS_ALWAYS_INLINE void ws_store_row(uint8_t *restrict row, const uint32_t *restrict src,
				   enum ws_store kind)
{
	const unsigned size = ws_store_bytes(kind);

	if (kind == WS_ST_B32) {
		memcpy(row, src, WS_LANES * 4);
	} else if (size >= 8) {
		ws_u32_anywhere *restrict to = (ws_u32_anywhere *)row;

		for (unsigned l = 0; l < WS_LANES; l++)
			for (unsigned r = 0; r < size / 4; r++)
				to[l * (size / 4) + r] = src[r * WS_LANES + l];
	} else {
		for (unsigned l = 0; l < WS_LANES; l++)
			ws_store_lane(row + l * size, src + l, kind);
	}
}

/* ---- between memory and LDS: a dword per lane at M0 + instruction offset + 4 * lane ---- */

/* NULL: outside of LDS; the offset of the flat instructions may be negative. */
static inline uint8_t *ws_lds_dword(const struct ws_wave *w, const struct ws_inst *i, unsigned l)
{
	int64_t at = (int64_t)(w->s[WS_S_M0] & 0xffff) + i->imm + 4 * l;

	return at >= 0 && at + 4 <= w->lds_bytes ? w->lds + at : NULL;
}

static inline void ws_lanes_to_lds(struct ws_wave *w, const struct ws_inst *i, const uint32_t *from)
{
	unsigned l;

	WS_FOR_ACTIVE(l, ws_exec(w)) {
		uint8_t *to = ws_lds_dword(w, i, l);

		if (to)
			ws_poke32(to, from[l]);
	}
}

static inline void ws_lanes_from_lds(const struct ws_wave *w, const struct ws_inst *i, uint32_t *to)
{
	for (unsigned l = 0; l < WS_LANES; l++) {
		const uint8_t *from = ws_lds_dword(w, i, l);

		to[l] = from ? ws_peek32(from) : 0;
	}
}

#endif
