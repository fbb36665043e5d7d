/*
 * wave_trace: what one wave did. Written by the tracing run loop, read by the timing model.
 *
 * The functional executor runs waves in any order on any thread. In counting mode each wave appends
 * to its own trace, and the timing model, a single thread, later replays the traces on modelled
 * compute units. So every counter is a function of the traces alone, independent of the number of
 * workers and the load of the host.
 *
 * Two byte streams per wave:
 *
 *   control  the path of the wave. Straight code takes no space; a record is written where the next
 *            instruction is not the following one, and where EXEC changed:
 *              varint(n << 2 | op)   n instructions were executed, then:
 *              op 0 JUMP   svarint(dwords)  `dwords` past the following instruction
 *              op 1 EXEC   8 bytes          the new mask
 *              op 2 END                     end of the wave
 *              op 3 AGAIN  4 bytes          (n = 0) repeats the preceding JUMP record so many times
 *   memory   one record for each memory instruction, in order: the addresses that it reached; two for a
 *            flat one that reached both LDS and memory.
 *              1 byte: form | space << 2 | own mask << 5 [8 bytes: mask of lanes, unless EXEC]
 *              AFFINE   8 bytes address of lane 0 (extrapolated), 4 bytes stride between lanes
 *              LIST32   8 bytes lowest address, then 4 bytes distance from it per active lane
 *              LIST64   8 bytes per active lane
 *              LIKE     8 bytes lowest address, 4 bytes from here back to the distances of a LIST32
 *            What an instruction is written as follows from what this wave wrote before, and from nothing else:
 *            equal waves have equal traces, whichever thread ran them.
 *
 * The number of bytes per lane and the direction follow from the instruction and are not recorded.
 *
 * Threads  one writer, then one reader.
 * Errors   a writer that runs out of memory sets `lost` and writes no more.
 */
#ifndef WS_SOFTGPU_TRACE_WAVE_TRACE_H
#define WS_SOFTGPU_TRACE_WAVE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum sg_trace_space {
	SG_SPACE_GLOBAL, /* device addresses */
	SG_SPACE_LDS,    /* bytes from the workgroup's LDS */
	SG_SPACE_SCRATCH, /* bytes from the wave's slice of scratch to each lane's first dword; the next
				 dword is 256 bytes on */
	SG_SPACE_SCALAR, /* one device address: AFFINE with lane 0 */
	SG_SPACE_GDS,
	SG_SPACE_LDS_TOO, /* as LDS; the lanes of the instruction that are elsewhere follow in a record */
};

enum sg_trace_form { SG_TRACE_AFFINE, SG_TRACE_LIST32, SG_TRACE_LIST64, SG_TRACE_LIKE };
#define SG_TRACE_SHORT_BYTES 13 /* AFFINE and LIKE, without a mask */
enum sg_trace_op { SG_TRACE_JUMP, SG_TRACE_EXEC, SG_TRACE_END, SG_TRACE_AGAIN };

struct sg_trace_stream {
	uint8_t *bytes;
	size_t size;
};

/*
 * Recent LIST32 records of a wave, by the register that the addresses came from. Kernels compute a register
 * of addresses once and use it with many offsets, or add the same number to all lanes in each iteration;
 * then the distances are the same, and are not written again.
 */
#define SG_TRACE_LISTS 16
struct sg_trace_list {
	uint64_t mask;
	size_t at;                                          /* of the distances in the stream */
	uint64_t span;                                      /* the largest distance */
	uint32_t from_low[64] __attribute__((aligned(64))); /* of the lanes of mask */
};

struct sg_trace_patterns {
	uint32_t written; /* bit k: list k is in the stream */
	struct sg_trace_list list[SG_TRACE_LISTS];
};

struct sg_wave_trace {
	/* all that a reader needs: one line of the host's cache */
	uint64_t entry; /* GPU address of the first instruction */
	uint64_t exec;  /* at the start */
	struct sg_trace_stream control, memory;
	bool lost;

	/* writer */
	bool has_jump; /* the last record is a JUMP... */
	bool again;    /* ... followed by an AGAIN */
	uint32_t run;  /* instructions since the last control record */
	size_t control_room, memory_room;
	uint64_t exec_now;
	uint32_t jump_run; /* of the last JUMP */
	int64_t jump;
	struct sg_trace_patterns *patterns; /* owned by the thread that runs the wave; NULL: none */
};

void sg_trace_init(struct sg_wave_trace *t); /* empty, no storage */
void sg_trace_free(struct sg_wave_trace *t);
static inline size_t sg_trace_bytes(const struct sg_wave_trace *t)
{
	return t->control_room + t->memory_room;
}

/* ---- writing ---- */

/* Starts over; keeps the storage. */
void sg_trace_start(struct sg_wave_trace *t, uint64_t entry, uint64_t exec);
void sg_trace_exec(struct sg_wave_trace *t, uint64_t exec);
void sg_trace_end(struct sg_wave_trace *t);
/* addr[l] for the lanes of mask; mask is a subset of EXEC. */
void sg_trace_lanes(struct sg_wave_trace *t, enum sg_trace_space space, uint64_t mask,
		    const uint64_t addr[64]);
void sg_trace_lanes32(struct sg_wave_trace *t, enum sg_trace_space space, uint64_t mask,
		      const uint32_t addr[64]);
/* LDS: of the lanes of mask, offset + lane[l]. reg: the register's number, to find what it was before. */
void sg_trace_local(struct sg_wave_trace *t, unsigned reg, uint64_t mask, const uint32_t lane[64],
		    uint32_t offset);
void sg_trace_scalar(struct sg_wave_trace *t, uint64_t addr);

/* A jump that is not the last one again. */
void sg_trace_new_jump(struct sg_wave_trace *t, int64_t dwords);

/* After the instruction just recorded, execution continues `dwords` past the following one. */
static inline void sg_trace_jump(struct sg_wave_trace *t, int64_t dwords)
{
	uint32_t count;
	uint8_t *p;

	if (!t->again || t->run != t->jump_run || dwords != t->jump) {
		sg_trace_new_jump(t, dwords);
		return;
	}
	/* a loop whose body does not change EXEC is one JUMP record and a count */
	p = t->control.bytes + t->control.size - sizeof(count);
	memcpy(&count, p, sizeof(count));
	count++;
	memcpy(p, &count, sizeof(count));
	t->again = count != UINT32_MAX;
	t->run = 0;
}

/* After each instruction. skip: distance of the next instruction from the following one, in dwords. */
static inline void sg_trace_step(struct sg_wave_trace *t, int64_t skip, uint64_t exec)
{
	t->run++;
	if (__builtin_expect(skip != 0, 0))
		sg_trace_jump(t, skip);
	if (__builtin_expect(exec != t->exec_now, 0))
		sg_trace_exec(t, exec);
}

/* ---- reading ---- */

struct sg_trace_view {
	const uint8_t *bytes;
	size_t size;
};

/* The memory records of a wave, as far as they have been read. */
struct sg_trace_records {
	const uint8_t *bytes;
	size_t size, at;
};

/* What most instructions need comes first: thousands of readers take turns in the host's caches. */
struct sg_trace_reader {
	/* what follows: `run` more instructions, then `op` */
	uint32_t run;
	enum sg_trace_op op;
	struct sg_trace_records memory;
	struct sg_trace_view control; /* empty if the trace was cut off */
	size_t control_at;
	int64_t jump;
	uint64_t exec;            /* EXEC: the new mask */
	uint32_t jump_run, again; /* a JUMP that repeats */
};

struct sg_trace_access {
	enum sg_trace_space space;
	bool affine;
	uint64_t mask;
	uint64_t base; /* affine */
	int32_t stride;
	uint64_t addr[64]; /* of the active lanes; when affine after sg_trace_expand() */
};

void sg_trace_read(struct sg_trace_reader *r, const struct sg_wave_trace *t);
/* Goes to the next control record. False: the trace is damaged or was cut off. */
bool sg_trace_next(struct sg_trace_reader *r);
/* The next memory instruction's lanes; exec: the mask in force. False: as above. */
bool sg_trace_memory(struct sg_trace_records *r, uint64_t exec, struct sg_trace_access *out);

static inline struct sg_trace_records sg_trace_records_of(const struct sg_wave_trace *t)
{
	return (struct sg_trace_records){ t->memory.bytes, t->memory.size, 0 };
}

static inline void sg_trace_expand(struct sg_trace_access *a)
{
	if (a->affine)
		for (unsigned l = 0; l < 64; l++)
			a->addr[l] = a->base + (uint64_t)((int64_t)a->stride * (int)l);
}

/* Moves all of its addresses. */
static inline void sg_trace_move(struct sg_trace_access *a, uint64_t by)
{
	a->base += by;
	if (!a->affine)
		for (unsigned l = 0; l < 64; l++)
			a->addr[l] += by;
}

/*
 * The next memory record as bytes, to compare it with another one: everything but its first address,
 * which is in *base. NULL: damaged. Does not advance; set r->at = *end for that.
 */
const uint8_t *sg_trace_peek(const struct sg_trace_records *r, uint64_t exec, uint64_t *mask,
			     uint64_t *base, enum sg_trace_form *form, size_t *size, size_t *end);
/* Thousands of waves are read in turn, so the next record is rarely in the host's L1 cache. */
static inline void sg_trace_prefetch(const struct sg_trace_records *r)
{
	__builtin_prefetch(r->bytes + r->at);
}

/* The address of the next memory instruction, a scalar one. Does not advance. False: the trace is damaged or was cut off. */
static inline bool sg_trace_peek_address(const struct sg_trace_records *r, uint64_t *addr)
{
	const uint8_t *p = r->bytes + r->at;

	if (r->size - r->at < SG_TRACE_SHORT_BYTES ||
	    *p != (SG_TRACE_AFFINE | SG_SPACE_SCALAR << 2))
		return false;
	memcpy(addr, p + 1, sizeof(*addr));
	return true;
}

/* The same, and advances. */
static inline bool sg_trace_address(struct sg_trace_records *r, uint64_t *addr)
{
	if (!sg_trace_peek_address(r, addr))
		return false;
	r->at += SG_TRACE_SHORT_BYTES;
	return true;
}

/* Of the next memory instruction. */
static inline enum sg_trace_space sg_trace_space(const struct sg_trace_records *r)
{
	return r->at < r->size ? r->bytes[r->at] >> 2 & 7 : SG_SPACE_GLOBAL;
}

#endif
