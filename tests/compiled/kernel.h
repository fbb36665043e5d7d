/*
 * kernel.h: what a generated program is written in, once for the GPU and once for the host.
 *
 * The same text is compiled twice. On the GPU an operation is the compiler's builtin, without
 * AMD's headers, which take longer to read than a program takes to compile. On the host it is
 * plain C++ that says what the operation means; work-items are coroutines of runner.hip.cpp, and
 * whatever needs all of them (a barrier, a lane exchange) stands where all of them come by, so
 * that one turn of every coroutine is one barrier.
 *
 * FZ_BREAK makes the host wrong on purpose: the fuzzer's own test has to find that.
 */
#ifndef WS_TESTS_COMPILED_KERNEL_H
#define WS_TESTS_COMPILED_KERNEL_H

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;

#define VECTOR(T, n) typedef T T##x##n __attribute__((ext_vector_type(n)))
VECTOR(u16, 2);
VECTOR(i16, 2);
VECTOR(f16, 2);
VECTOR(u32, 2);
VECTOR(u32, 3);
VECTOR(u32, 4);
VECTOR(f32, 2);
VECTOR(f32, 4);
VECTOR(u64, 2);

/*
 * Hides what a compiler knows of a value. LLVM 15 multiplies 0xffffffff by a small number, the
 * result having 64 bits, as if both were signed (v_mul_hi_i32_i24), when it knows them.
 */
#ifdef __AMDGCN__
#define OPAQUE(x) __asm__("" : "+v"(x))
#else
#define OPAQUE(x) ((void)(x))
#endif

#define INLINE static inline __attribute__((always_inline)) DEVICE

#ifdef __AMDGCN__
#define DEVICE __attribute__((device))
#define KERNEL __attribute__((global))
#define SHARED __attribute__((shared))
#define TABLE static __attribute__((constant)) const
#define GPU_ONLY(...) __attribute__((__VA_ARGS__))
#else
#define DEVICE
#define KERNEL
#define SHARED static
#define TABLE static const
#define GPU_ONLY(...)
/* runner.hip.cpp: the work-item that runs, one turn of all, the values of this one's wave */
extern "C" u32 fz_item(int what);
extern "C" void fz_turn(void);
extern "C" u32 *fz_wave(u32 mine);
#endif
#define NOINLINE __attribute__((noinline)) DEVICE

/* what a program tells the runner of itself; the host's library has an array of them */
struct fz_program {
	const char *name;
	void (*run)(const u8 *in, u8 *out, u32 *acc, u32 k0, u64 k1, i8 k2, u16 k3, f32 k4, f64 k5);
	u32 seed, n_groups, nx, ny, n_slots;
};
enum { IN_BYTES = 4096, ACC_WORDS = 128 };

/* Bits of a float. All NaNs are one: which payload and sign comes out is nobody's promise. */
INLINE u64 bits_f32(f32 x)
{
	return x != x ? 0x7fc00000u : __builtin_bit_cast(u32, x);
}
INLINE u64 bits_f64(f64 x)
{
	return x != x ? 0x7ff8000000000000ul : __builtin_bit_cast(u64, x);
}
INLINE u64 bits_f16(f16 x)
{
	return x != x ? 0x7e00u : __builtin_bit_cast(u16, x);
}

/* Any bits as a float that is neither NaN nor infinite; denormals stay. */
INLINE f32 make_f32(u32 b)
{
	return __builtin_bit_cast(f32, (b & 0x7f800000u) == 0x7f800000u ? b ^ 0x40000000u : b);
}
INLINE f64 make_f64(u64 b)
{
	return __builtin_bit_cast(f64, (b >> 52 & 0x7ff) == 0x7ff ? b ^ (1ul << 62) : b);
}
INLINE f16 make_f16(u32 b)
{
	return __builtin_bit_cast(f16, (u16)((b & 0x7c00) == 0x7c00 ? b ^ 0x4000 : b));
}

INLINE f32x2 make_f32x2(u32x2 b)
{
	return f32x2{ make_f32(b.x), make_f32(b.y) };
}
INLINE f32x4 make_f32x4(u32x4 b)
{
	return f32x4{ make_f32(b.x), make_f32(b.y), make_f32(b.z), make_f32(b.w) };
}
INLINE f16x2 make_f16x2(u16x2 b)
{
	return f16x2{ make_f16(b.x), make_f16(b.y) };
}

/* Half arithmetic: a function each, so that the host rounds after every operation. */
INLINE f16 add_f16(f16 a, f16 b)
{
	return a + b;
}
INLINE f16 sub_f16(f16 a, f16 b)
{
	return a - b;
}
INLINE f16 mul_f16(f16 a, f16 b)
{
	return a * b;
}
INLINE f16 div_f16(f16 a, f16 b)
{
	return a / b;
}

/* A float as an integer where it is one of the type's, 7 elsewhere. */
template <class T, class F> INLINE T to_int(F x, F low, F high)
{
	return x >= low && x < high ? (T)x : (T)7;
}

template <class T> INLINE T load_at(const u8 *p)
{
	T v;
	__builtin_memcpy(&v, p, sizeof(v));
#if defined(FZ_BREAK) && !defined(__AMDGCN__)
	((u8 *)&v)[0] ^= 1;
#endif
	return v;
}
template <class T> INLINE void store_at(u8 *p, T v)
{
	__builtin_memcpy(p, &v, sizeof(v));
}

/* Three words at once; the vector type itself has a fourth, which holds nothing. */
struct three {
	u32 x, y, z;
};
INLINE u32x3 load_three(const u32 *p)
{
	three v = *(const three *)p;
	return u32x3{ v.x, v.y, v.z };
}
INLINE void store_three(u32 *p, u32x3 v)
{
	*(three *)p = { v.x, v.y, v.z };
}

/* Neighbours read one by one, which compilers join into wide loads. */
INLINE u32 sum_words(const u32 *p, int n)
{
	u32 sum = 0;
	for (int i = 0; i < n; i++)
		sum = sum * 3 + p[i];
	return sum;
}

INLINE f32x2 fma_f32x2(f32x2 a, f32x2 b, f32x2 c)
{
	return f32x2{ __builtin_fmaf(a.x, b.x, c.x), __builtin_fmaf(a.y, b.y, c.y) };
}
/* The middle one of three, and a conversion that takes a byte out of a word. */
template <class T> INLINE T med3(T a, T b, T c)
{
	T low = __builtin_elementwise_min(a, b), high = __builtin_elementwise_max(a, b);
	return __builtin_elementwise_max(low, __builtin_elementwise_min(high, c));
}
INLINE f32 byte_f32(u32 x, u32 n)
{
	return (f32)(x >> 8 * (n & 3) & 255);
}

INLINE u32 bfe_u32(u32 x, u32 at, u32 width)
{
	return x >> (at & 31) & ((1u << (width & 31)) - 1);
}
INLINE u32 bfi_u32(u32 mask, u32 a, u32 b)
{
	return (a & mask) | (b & ~mask);
}
INLINE u32 mul_hi_u32(u32 a, u32 b)
{
	OPAQUE(a);
	return (u32)((u64)a * b >> 32);
}
INLINE i32 mul_hi_i32(i32 a, i32 b)
{
	OPAQUE(a);
	return (i32)((i64)a * b >> 32);
}
INLINE u64 mul_hi_u64(u64 a, u64 b)
{
	OPAQUE(a);
	return (u64)((unsigned __int128)a * b >> 64);
}
INLINE u64 mul_64(u64 a, u64 b)
{
	OPAQUE(a);
	return a * b;
}
INLINE u64 mad_64(u32 a, u32 b, u64 c)
{
	OPAQUE(a);
	return (u64)a * b + c;
}
INLINE u32 mul_u24(u32 a, u32 b)
{
	return (a & 0xffffff) * (b & 0xffffff);
}
INLINE i32 mul_i24(i32 a, i32 b)
{
	return (i32)((u32)((i32)((u32)a << 8) >> 8) * (u32)((i32)((u32)b << 8) >> 8));
}
/* sums of absolute differences and dot products as a person writes them */
INLINE u32 sad_u32(u32 a, u32 b, u32 c)
{
	return (a > b ? a - b : b - a) + c;
}
INLINE u32 dot_u8(u32 a, u32 b, u32 c)
{
	for (int i = 0; i < 32; i += 8)
		c += (a >> i & 255) * (b >> i & 255);
	return c;
}

#ifdef __AMDGCN__
INLINE f16 fma_f16(f16 a, f16 b, f16 c)
{
	return (f16)__builtin_fmaf16(a, b, c);
}
INLINE f16x2 fma_f16x2(f16x2 a, f16x2 b, f16x2 c)
{
	return f16x2{ fma_f16(a.x, b.x, c.x), fma_f16(a.y, b.y, c.y) };
}
#define BARRIER()                                                                                  \
	(__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), __builtin_amdgcn_s_barrier(),      \
	 __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))
#define ITEM_X() __builtin_amdgcn_workitem_id_x()
#define ITEM_Y() __builtin_amdgcn_workitem_id_y()
#define GROUP() __builtin_amdgcn_workgroup_id_x()
#define LANE() __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))

#define READLANE(x, lane) ((u32)__builtin_amdgcn_readlane((int)(x), lane))
#define READFIRST(x) ((u32)__builtin_amdgcn_readfirstlane((int)(x)))
#define BPERMUTE(from, x) ((u32)__builtin_amdgcn_ds_bpermute((int)(((from)&63) << 2), (int)(x)))
#define BALLOT(c) __builtin_amdgcn_uicmp((u32)(c), 0u, 33)
#define MBCNT(m) __builtin_amdgcn_mbcnt_hi((u32)((m) >> 32), __builtin_amdgcn_mbcnt_lo((u32)(m), 0))
#define DPP(old, x, ctrl, rows, banks, bound)                                                      \
	((u32)__builtin_amdgcn_update_dpp((int)(old), (int)(x), ctrl, rows, banks, bound))
#define SWIZZLE(x, pattern) ((u32)__builtin_amdgcn_ds_swizzle((int)(x), pattern))

#define PERM(a, b, s) __builtin_amdgcn_perm(a, b, s)
#define ALIGNBIT(a, b, s) __builtin_amdgcn_alignbit(a, b, s)
#define ALIGNBYTE(a, b, s) __builtin_amdgcn_alignbyte(a, b, s)
#define SAD_U8(a, b, c) __builtin_amdgcn_sad_u8(a, b, c)
#define SAD_U16(a, b, c) __builtin_amdgcn_sad_u16(a, b, c)
#define LERP(a, b, c) __builtin_amdgcn_lerp(a, b, c)
INLINE f16 floor_f16(f16 x)
{
	return (f16)__builtin_floorf16(x);
}
INLINE f16 ceil_f16(f16 x)
{
	return (f16)__builtin_ceilf16(x);
}
INLINE f16 trunc_f16(f16 x)
{
	return (f16)__builtin_truncf16(x);
}
INLINE f16 rint_f16(f16 x)
{
	return (f16)__builtin_rintf16(x);
}
INLINE f16 min_f16(f16 a, f16 b)
{
	return add_f16((f16)__builtin_fminf16(a, b), (f16)0);
}
INLINE f16 max_f16(f16 a, f16 b)
{
	return add_f16((f16)__builtin_fmaxf16(a, b), (f16)0);
}
#define UBFE(x, at, width) __builtin_amdgcn_ubfe(x, at, width)
#define SBFE(x, at, width) __builtin_amdgcn_sbfe(x, (u32)(at), (u32)(width))
#define SAD_HI_U8(a, b, c) __builtin_amdgcn_sad_hi_u8(a, b, c)
#define MSAD_U8(a, b, c) __builtin_amdgcn_msad_u8(a, b, c)
#define UDOT2(a, b, c) __builtin_amdgcn_udot2(a, b, c, false)
#define SDOT2(a, b, c) __builtin_amdgcn_sdot2(a, b, c, false)
#define SDOT8(a, b, c) __builtin_amdgcn_sdot8(a, b, c, false)
#define CVT_PK_I16(a, b) __builtin_bit_cast(u32, __builtin_amdgcn_cvt_pk_i16(a, b))
#define CVT_PK_U16(a, b) __builtin_bit_cast(u32, __builtin_amdgcn_cvt_pk_u16(a, b))
#define PKRTZ(a, b) __builtin_bit_cast(f16x2, __builtin_amdgcn_cvt_pkrtz(a, b))
#define LDEXP_F16(x, e) ((f16)__builtin_amdgcn_ldexph(x, e))
#define CLASS_F16(x, mask) __builtin_amdgcn_classh(x, mask)
#define UDOT4(a, b, c) __builtin_amdgcn_udot4(a, b, c, false)
#define SDOT4(a, b, c) __builtin_amdgcn_sdot4(a, b, c, false)
#define UDOT8(a, b, c) __builtin_amdgcn_udot8(a, b, c, false)
#define LDEXP_F32(x, e) __builtin_amdgcn_ldexpf(x, e)
#define LDEXP_F64(x, e) __builtin_amdgcn_ldexp(x, e)

#define CLASS_F32(x, mask) __builtin_amdgcn_classf(x, mask)
#define CLASS_F64(x, mask) __builtin_amdgcn_class(x, mask)
#define FREXP_EXP_F32(x) __builtin_amdgcn_frexp_expf(x)
#define FREXP_EXP_F64(x) __builtin_amdgcn_frexp_exp(x)
#define FREXP_MANT_F32(x) __builtin_amdgcn_frexp_mantf(x)
#define FREXP_MANT_F64(x) __builtin_amdgcn_frexp_mant(x)
typedef i32 i32x4 __attribute__((ext_vector_type(4)));
INLINE u32x4 MFMA_I8(u32 a, u32 b, u32x4 c)
{
	return (u32x4)__builtin_amdgcn_mfma_i32_16x16x16i8((int)a, (int)b, (i32x4)c, 0, 0, 0);
}
INLINE f32x4 MFMA_F32(f32 a, f32 b, f32x4 c)
{
	return __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0);
}

/* By exchange: products commute as sums do. */
template <class T> INLINE void atomic_mul(T *p, T v)
{
	T old = __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);

	while (!__hip_atomic_compare_exchange_strong(p, &old, (T)(old * v), __ATOMIC_RELAXED,
						     __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
		;
}
#define ATOMIC_INC(p, limit) __builtin_amdgcn_atomic_inc32(p, limit, __ATOMIC_RELAXED, "agent")
#define ATOMIC_DEC(p, limit) __builtin_amdgcn_atomic_dec32(p, limit, __ATOMIC_RELAXED, "agent")
#define ATOMIC(op, p, v) __hip_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#else
#include "host.h"
#endif

#endif
