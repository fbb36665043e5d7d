/*
 * SDMA packets: copies, fills, fences, polls. A packet that moves much is done in pieces, so that a
 * large copy on one queue does not hold up the others; `queue->done` remembers how far it is.
 */
#include <string.h>

#include "softgpu/counting/counting.h"
#include "softgpu/cp/fault.h"
#include "softgpu/device/clock.h"
#include "softgpu/mem/guard.h"

#define PIECE_BYTES (4ull << 20) /* moved before another queue has its turn */

enum result {
	DONE,   /* go on behind the packet */
	AGAIN,  /* a piece is done, more to come */
	WAIT,   /* a poll that is not satisfied yet */
	BROKEN, /* not a packet we know */
	FAULT,  /* an address that is not there */
};

struct context {
	struct sg_queue *queue;
	const uint32_t *dw;
	uint64_t fault_address;
	bool fault_write;
};

static uint64_t address_at(const uint32_t *dw)
{
	return dw[0] | (uint64_t)dw[1] << 32;
}

static void *touch(struct context *c, uint64_t addr, uint64_t size, bool write)
{
	if (!sg_cp_accessible(c->queue->cp, addr, size) &&
	    !sg_cp_reachable(c->queue->cp, addr, size)) {
		c->fault_address = addr;
		c->fault_write = write;
		return NULL;
	}
	return sg_cp_pointer(c->queue->cp, addr);
}

/*
 * How long a copy takes, where times are simulated: what AMD publishes for one engine (the
 * MI200 tuning guide's bandwidth tests), 28 GB/s to and from the host over PCIe 4.0 and one xGMI
 * link's 50 GB/s between and in GPUs. The cost of starting a copy is not known.
 */
#define HOST_BYTES_PER_US 28000u
#define GPU_BYTES_PER_US 50000u

/* The host's memory, or that of a GPU without a bridge. */
static bool is_over_pcie(const struct context *c, uint64_t addr)
{
	const struct sg_cp_host *host = &c->queue->cp->host;
	struct sg_mem_block block = { .kind = { .route = SG_ROUTE_OWN } };

	if (host->find_block)
		host->find_block(host->ctx, c->queue->gpu->node, addr, &block);
	return block.kind.route == SG_ROUTE_IO;
}

static void add_copy_time(struct context *c, uint64_t from, uint64_t to, uint64_t bytes)
{
	uint64_t rate = GPU_BYTES_PER_US;

	if (!sg_counting_simulates_times(c->queue->gpu->counting))
		return;
	if (is_over_pcie(c, from) || is_over_pcie(c, to))
		rate = HOST_BYTES_PER_US;
	c->queue->copy_ns += (bytes * 1000 + rate - 1) / rate;
}

static enum result do_nop(struct context *c)
{
	return DONE;
}

static enum result do_copy_linear(struct context *c)
{
	struct sg_queue *queue = c->queue;
	uint64_t bytes = (c->dw[1] & 0x3fffffff) + 1ull;
	uint64_t piece = bytes - queue->done;
	uint8_t *from = touch(c, address_at(c->dw + 3), bytes, false);
	uint8_t *to = from ? touch(c, address_at(c->dw + 5), bytes, true) : NULL;

	if (!to)
		return FAULT;
	if (piece > PIECE_BYTES)
		piece = PIECE_BYTES;
	memmove(to + queue->done, from + queue->done, piece);
	queue->done += piece;
	if (queue->done < bytes)
		return AGAIN;
	add_copy_time(c, address_at(c->dw + 3), address_at(c->dw + 5), bytes);
	return DONE;
}

/* One side of a rectangle copy. */
struct surface {
	uint64_t base;
	uint32_t x, y, z;
	uint64_t pitch, slice; /* elements */
};

static struct surface surface_at(const uint32_t *dw)
{
	return (struct surface){
		.base = address_at(dw),
		.x = dw[2] & 0x3fff,
		.y = dw[2] >> 16 & 0x3fff,
		.z = dw[3] & 0x7ff,
		.pitch = (dw[3] >> 13) + 1ull,
		.slice = (dw[4] & 0xfffffff) + 1ull,
	};
}

static uint64_t row_address(const struct surface *s, uint64_t y, uint64_t z, uint32_t log2_element)
{
	return s->base + (((s->z + z) * s->slice + (s->y + y) * s->pitch + s->x) << log2_element);
}

static enum result do_copy_rectangle(struct context *c)
{
	struct sg_queue *queue = c->queue;
	uint32_t log2_element = c->dw[0] >> 29;
	struct surface from = surface_at(c->dw + 1), to = surface_at(c->dw + 6);
	uint64_t row_bytes = ((c->dw[11] & 0x3fff) + 1ull) << log2_element;
	uint64_t n_rows = (c->dw[11] >> 16 & 0x3fff) + 1ull;
	uint64_t n_all = n_rows * ((c->dw[12] & 0x7ff) + 1ull);

	if (log2_element > 4)
		return BROKEN;
	for (uint64_t moved = 0; queue->done < n_all && moved < PIECE_BYTES; moved += row_bytes) {
		uint64_t y = queue->done % n_rows, z = queue->done / n_rows;
		void *source = touch(c, row_address(&from, y, z, log2_element), row_bytes, false);
		void *target =
			source ? touch(c, row_address(&to, y, z, log2_element), row_bytes, true)
			       : NULL;

		if (!target)
			return FAULT;
		memmove(target, source, row_bytes);
		queue->done++;
	}
	if (queue->done < n_all)
		return AGAIN;
	add_copy_time(c, from.base, to.base, n_all * row_bytes);
	return DONE;
}

static enum result do_write_linear(struct context *c)
{
	uint64_t bytes = ((c->dw[3] & 0xfffff) + 1ull) * 4;
	void *to = touch(c, address_at(c->dw + 1), bytes, true);

	if (!to)
		return FAULT;
	memcpy(to, c->dw + 4, bytes);
	return DONE;
}

static enum result do_fence(struct context *c)
{
	uint64_t addr = address_at(c->dw + 1);
	_Atomic uint32_t *to = addr % 4 ? NULL : touch(c, addr, 4, true);

	if (!to)
		return FAULT;
	atomic_store_explicit(to, c->dw[3], memory_order_release);
	c->queue->copy_ns = 0; /* copies without a time stamp */
	return DONE;
}

static enum result do_trap(struct context *c)
{
	const struct sg_cp_host *host = &c->queue->cp->host;

	host->interrupt(host->ctx, c->dw[1] & 0xfffffff);
	return DONE;
}

static enum result do_poll(struct context *c)
{
	uint64_t addr = address_at(c->dw + 1);
	uint32_t value, reference = c->dw[3];
	_Atomic uint32_t *from;
	bool met;

	if (!(c->dw[0] >> 31))
		return DONE; /* a register: the flush of the host data path, which has none */
	from = addr % 4 ? NULL : touch(c, addr, 4, false);
	if (!from)
		return FAULT;
	value = atomic_load_explicit(from, memory_order_acquire) & c->dw[4];
	switch (c->dw[0] >> 28 & 7) {
	case 0:
		met = true;
		break;
	case 1:
		met = value < reference;
		break;
	case 2:
		met = value <= reference;
		break;
	case 3:
		met = value == reference;
		break;
	case 4:
		met = value != reference;
		break;
	case 5:
		met = value >= reference;
		break;
	case 6:
		met = value > reference;
		break;
	default:
		return BROKEN;
	}
	return met ? DONE : WAIT;
}

static enum result do_atomic(struct context *c)
{
	uint64_t addr = address_at(c->dw + 1), operand = address_at(c->dw + 3);
	void *at;

	c->queue->copy_ns = 0; /* as do_fence() */

	switch (c->dw[0] >> 25) {
	case 15:
		at = addr % 4 ? NULL : touch(c, addr, 4, true);
		if (!at)
			return FAULT;
		atomic_fetch_add_explicit((_Atomic uint32_t *)at, (uint32_t)operand,
					  memory_order_acq_rel);
		return DONE;
	case 47:
		at = addr % 8 ? NULL : touch(c, addr, 8, true);
		if (!at)
			return FAULT;
		atomic_fetch_add_explicit((_Atomic uint64_t *)at, operand, memory_order_acq_rel);
		return DONE;
	default:
		return BROKEN;
	}
}

static enum result do_fill(struct context *c)
{
	struct sg_queue *queue = c->queue;
	uint64_t bytes = ((c->dw[4] & 0x3fffffff) & ~3ull) + 4;
	uint64_t end = queue->done + PIECE_BYTES < bytes ? queue->done + PIECE_BYTES : bytes;
	uint8_t *to = touch(c, address_at(c->dw + 1), bytes, true);

	if (!to)
		return FAULT;
	for (; queue->done < end; queue->done += 4)
		memcpy(to + queue->done, &c->dw[3], 4);
	if (queue->done < bytes)
		return AGAIN;
	add_copy_time(c, address_at(c->dw + 1), address_at(c->dw + 1), bytes);
	return DONE;
}

static enum result do_timestamp(struct context *c)
{
	uint64_t addr = address_at(c->dw + 1);
	_Atomic uint64_t *to = addr % 8 ? NULL : touch(c, addr, 8, true);
	struct sg_queue *queue = c->queue;
	uint64_t now = sg_clock_device_ticks(), stamp = now;

	if (!to)
		return FAULT;
	/* The stamp behind copies: they began at the one in front, and ended when the model says. */
	if (queue->copy_ns) {
		stamp = queue->stamp_ticks +
			(queue->copy_ns + SG_DEVICE_TICK_NS - 1) / SG_DEVICE_TICK_NS;
		if (stamp > now)
			return WAIT; /* the simulated engine is slower than this machine */
		queue->copy_ns = 0;
	}
	queue->stamp_ticks = stamp;
	atomic_store_explicit(to, stamp, memory_order_release);
	return DONE;
}

#define ANY_SUB 0xffff

/* n_dwords 0: the packet says itself how long it is. */
static const struct packet_kind {
	uint16_t op, sub;
	uint32_t n_dwords;
	enum result (*run)(struct context *c);
} packet_kinds[] = {
	{ 0, ANY_SUB, 0, do_nop },
	{ 1, 0, 7, do_copy_linear },
	{ 1, 4, 13, do_copy_rectangle },
	{ 2, 0, 0, do_write_linear },
	{ 5, ANY_SUB, 4, do_fence },
	{ 6, ANY_SUB, 2, do_trap },
	{ 8, 0, 6, do_poll },
	{ 10, ANY_SUB, 8, do_atomic },
	{ 11, ANY_SUB, 5, do_fill },
	{ 13, 2, 3, do_timestamp },
};

static const struct packet_kind *find_kind(uint32_t header)
{
	uint32_t op = header & 0xff, sub = header >> 8 & 0xff;

	for (size_t i = 0; i < sizeof(packet_kinds) / sizeof(packet_kinds[0]); i++) {
		if (packet_kinds[i].op == op &&
		    (packet_kinds[i].sub == ANY_SUB || packet_kinds[i].sub == sub))
			return &packet_kinds[i];
	}
	return NULL;
}

static uint64_t written(const struct sg_queue *queue)
{
	uint64_t write = atomic_load_explicit(queue->desc.write_ptr, memory_order_acquire);
	uint64_t doorbell;

	if (!queue->desc.doorbell)
		return write;
	doorbell = atomic_load_explicit(queue->desc.doorbell, memory_order_acquire);
	return doorbell < write ? doorbell : write;
}

bool sg_sdma_ready(const struct sg_queue *queue)
{
	return atomic_load(&queue->active) && !atomic_load(&queue->dying) &&
	       !atomic_load(&queue->halted) &&
	       atomic_load_explicit(queue->desc.read_ptr, memory_order_relaxed) < written(queue);
}

/* Length of the packet in bytes; 0: not all of it is there. */
static uint64_t packet_bytes(const struct packet_kind *kind, const uint32_t *dw, uint64_t available)
{
	uint64_t n = kind->n_dwords;

	if (!n && kind->op == 0) {
		n = 1 + (dw[0] >> 16 & 0x3fff);
	} else if (!n) {
		if (available < 16)
			return 0;
		n = 4 + (dw[3] & 0xfffff) + 1ull;
	}
	return n * 4 <= available ? n * 4 : 0;
}

/* Nobody listens to a copy queue, so a broken one is reported as a fault of the device. */
static void halt(struct sg_queue *queue, const struct context *c, bool hang)
{
	const struct sg_cp_host *host = &queue->cp->host;
	uint32_t header = c->dw[0];
	struct sg_cp_fault fault = {
		.node = queue->gpu->node,
		.address = hang ? sg_cp_address(queue->cp, c->dw) : c->fault_address,
		.write = c->fault_write,
		.hang = hang,
	};

	if (host->leave)
		host->leave(host->ctx);
	sg_fault_report_copy(queue, header, !hang, c->fault_address, c->fault_write);
	if (host->enter)
		host->enter(host->ctx);
	atomic_store(&queue->halted, true);
	host->memory_fault(host->ctx, &fault);
}

/*
 * Addresses were looked up, but memory of the program may go at any time: a page that is missing
 * after all is a fault of the device, not the end of the process.
 */
static enum result run_guarded(const struct packet_kind *kind, struct context *c)
{
	volatile enum result result = FAULT;

	if (sigsetjmp(sg_guard_enter(), 0) == 0) {
		result = kind->run(c);
	} else {
		c->fault_address = sg_guard_address();
		c->fault_write = sg_guard_was_write() == 1;
	}
	sg_guard_leave();
	return result;
}

enum sg_queue_progress sg_sdma_step(struct sg_queue *queue)
{
	uint64_t read = atomic_load_explicit(queue->desc.read_ptr, memory_order_relaxed);
	uint64_t write = written(queue), mask = queue->desc.size_bytes - 1;
	uint64_t available = write - read, to_end = queue->desc.size_bytes - (read & mask);
	struct context c = { .queue = queue };
	const struct packet_kind *kind;
	enum result result = BROKEN;
	uint64_t bytes = 0;

	if (read >= write)
		return SG_STEP_IDLE;
	c.dw = (const uint32_t *)((uint8_t *)queue->desc.ring + (read & mask & ~3ull));
	/* Packets never straddle the end of the ring. */
	if (available > to_end)
		available = to_end;
	kind = available >= 4 ? find_kind(c.dw[0]) : NULL;
	if (kind)
		bytes = packet_bytes(kind, c.dw, available);
	if (bytes)
		result = run_guarded(kind, &c);
	switch (result) {
	case DONE:
		queue->done = 0;
		atomic_store_explicit(queue->desc.read_ptr, read + bytes, memory_order_release);
		return SG_STEP_PROGRESS;
	case AGAIN:
		return SG_STEP_PROGRESS;
	case WAIT:
		return SG_STEP_IDLE;
	case BROKEN:
	case FAULT:
		halt(queue, &c, result == BROKEN);
		return SG_STEP_PROGRESS;
	}
	return SG_STEP_IDLE;
}
