#include "softgpu/cp/fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "softgpu/device/log.h"
#include "softgpu/device/peek.h"
#include "softgpu/device/symbols.h"
#include "softgpu/isa/image.h"

#define NEXT "\nwavescope gpu:   " /* of the same message */
#define TEXT_BYTES 3000
#define NULL_BYTES 65536 /* below it nothing is ever mapped */

struct text {
	char chars[TEXT_BYTES];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->chars + t->n, sizeof(t->chars) - t->n, format, args);
	va_end(args);
	if (n > 0)
		t->n = t->n + (size_t)n < sizeof(t->chars) ? t->n + (size_t)n
							   : sizeof(t->chars) - 1;
}

static unsigned long long ull(uint64_t v)
{
	return v;
}

/* --- the parts of a message --- */

static const char *target_name(const struct sg_queue *queue)
{
	return sg_isa_target_name(queue->gpu->target);
}

static void put_nearest(struct text *t, const struct sg_queue *queue, uint64_t address)
{
	const struct sg_cp_host *host = &queue->cp->host;
	struct sg_cp_nearest near;
	uint64_t at = address & ~SG_PINNED_ALIAS;

	if (!host->nearest || !host->nearest(host->ctx, address, &near)) {
		put(t, NEXT "nearest allocation: none");
		return;
	}
	put(t, NEXT "nearest allocation: 0x%llx, %llu bytes of %s; the address is ",
	    ull(near.start), ull(near.size), near.what);
	if (at < near.start)
		put(t, "%llu bytes before it", ull(near.start - at));
	else if (at - near.start < near.size)
		put(t, "at byte %llu of it", ull(at - near.start));
	else
		put(t, "%llu bytes past its end", ull(at - near.start - near.size));
}

/* The word at an address that is not an instruction; 0: nothing is mapped there. */
static uint32_t word_at(const struct sg_queue *queue, uint64_t pc)
{
	uint32_t word;

	return sg_peek_bytes(sg_cp_pointer(queue->cp, pc), &word, sizeof(word)) ? word : 0;
}

static void put_word(struct text *t, const struct sg_queue *queue, uint64_t pc)
{
	uint32_t word = word_at(queue, pc);
	const char *image = sg_isa_image_name(word);

	if (image)
		put(t, "%s", image);
	else if (word)
		put(t, "0x%08x, which %s does not have", word, target_name(queue));
	else
		put(t, "none");
}

static void put_instruction(struct text *t, const struct sg_queue *queue,
			    const struct sg_fault *fault)
{
	struct sg_symbol symbol;

	sg_symbols_code(fault->pc, &symbol);
	put(t, NEXT "instruction: ");
	if (*fault->text)
		put(t, "%s", fault->text);
	else
		put_word(t, queue, fault->pc);
	if (*symbol.source)
		put(t, " at %s", symbol.source);
	put(t, " (pc 0x%llx", ull(fault->pc));
	if (*symbol.name)
		put(t, ", %s + 0x%llx", symbol.name, ull(symbol.offset));
	put(t, ")");
}

static void put_place(struct text *t, const struct sg_queue *queue, const struct sg_fault *fault)
{
	const uint32_t *n = queue->dispatch.launch.n_wg;

	put(t, NEXT "workgroup (%u, %u, %u) of %ux%ux%u, wave %u", fault->wg[0], fault->wg[1],
	    fault->wg[2], n[0], n[1], n[2], fault->wave);
	if (fault->lane >= 0)
		put(t, ", lane %d", fault->lane);
	put(t, ", on node %u", queue->gpu->node);
}

/* --- faults of waves --- */

static void say_memory(struct text *t, const struct sg_queue *queue, const struct sg_fault *fault,
		       const char *kernel)
{
	const char *access = fault->write ? "write to" : "read from",
		   *why = "it is not mapped on the GPU";

	if (fault->address < NULL_BYTES)
		why = "a null pointer";
	else if (sg_cp_reachable(queue->cp, fault->address, 1))
		why = "it was freed, or the program has no access to it itself";
	if (fault->address == fault->pc)
		put(t, "memory fault: %s cannot execute at 0x%llx: no memory is mapped there",
		    kernel, ull(fault->address));
	else if (sg_cp_accessible(queue->cp, fault->address, 1) && fault->address % 8)
		put(t,
		    "memory fault: %s cannot %s 0x%llx: it is not aligned to the size of the "
		    "access",
		    kernel, access, ull(fault->address));
	else
		put(t, "memory fault: %s cannot %s 0x%llx: %s", kernel, access, ull(fault->address),
		    why);
	put_nearest(t, queue, fault->address);
}

static void say_illegal(struct text *t, const struct sg_queue *queue, const struct sg_fault *fault,
			const char *kernel)
{
	if (!*fault->text && sg_isa_image_name(word_at(queue, fault->pc)))
		put(t,
		    "image instruction: %s uses a texture or surface, which the software GPU does "
		    "not support: read the data through a pointer instead",
		    kernel);
	else if (fault->address)
		put(t,
		    "illegal instruction: %s jumps to 0x%llx, which is not the address of an "
		    "instruction",
		    kernel, ull(fault->address));
	else if (*fault->text)
		put(t, "illegal instruction: %s uses one that the software GPU does not support",
		    kernel);
	else
		put(t, "illegal instruction in %s", kernel);
}

static void say_trap(struct text *t, const struct sg_queue *queue, const struct sg_fault *fault,
		     const char *kernel)
{
	put(t, "trap %u: %s called abort() or __builtin_trap(), or an assertion failed",
	    fault->trap_id, kernel);
}

static void say_aperture(struct text *t, const struct sg_queue *queue, const struct sg_fault *fault,
			 const char *kernel)
{
	const struct sg_launch *l = &queue->dispatch.launch;
	uint32_t offset = (uint32_t)fault->address;

	if (!fault->address)
		put(t,
		    "aperture violation: %s uses global wave sync, but its queue has none: "
		    "launch it with hipLaunchCooperativeKernel()",
		    kernel);
	else if (fault->address >> 32 == l->shared_aperture_hi)
		put(t,
		    "aperture violation: %s cannot %s byte %u of LDS: its workgroup has %u bytes",
		    kernel, fault->write ? "write" : "read", offset, l->lds_bytes);
	else
		put(t,
		    "aperture violation: %s cannot %s byte %u of its private memory: a lane has %u "
		    "bytes",
		    kernel, fault->write ? "write" : "read", offset, l->private_bytes);
}

static void say_no_memory(struct text *t, const struct sg_queue *queue,
			  const struct sg_fault *fault, const char *kernel)
{
	put(t,
	    "out of host memory: cannot allocate the registers of a workgroup of %s: "
	    "end other programs",
	    kernel);
}

static void (*const fault_texts[])(struct text *, const struct sg_queue *, const struct sg_fault *,
				   const char *) = {
	[SG_FAULT_NONE] = say_no_memory,    [SG_FAULT_MEMORY] = say_memory,
	[SG_FAULT_ILLEGAL] = say_illegal,   [SG_FAULT_TRAP] = say_trap,
	[SG_FAULT_APERTURE] = say_aperture,
};

void sg_fault_report_wave(const struct sg_queue *queue, const struct sg_fault *fault)
{
	char kernel[SG_SYMBOL_CHARS];
	struct text t = { .n = 0 };

	sg_symbols_kernel(queue->dispatch.launch.kernel_object, kernel, sizeof(kernel));
	fault_texts[fault->kind](&t, queue, fault, kernel);
	if (fault->kind != SG_FAULT_NONE) {
		put_instruction(&t, queue, fault);
		put_place(&t, queue, fault);
	}
	sg_gpu_log(SG_GPU_LOG_ERROR, "%s", t.chars);
}

/* --- packets --- */

static void put_kernel_packet(struct text *t, const struct sg_queue *queue,
			      const union sg_aql_packet *packet, uint32_t code)
{
	const uint16_t *wg = packet->dispatch.wg_size;
	const uint32_t *grid = packet->dispatch.grid_size;
	char kernel[SG_SYMBOL_CHARS];

	sg_symbols_kernel(packet->dispatch.kernel_object, kernel, sizeof(kernel));
	put(t, "%s cannot start: ", kernel);
	switch (code) {
	case SG_QUEUE_BAD_DIMENSIONS:
		if (!(packet->dispatch.setup & SG_AQL_SETUP_DIMENSIONS)) {
			put(t, "its packet has no dimensions: setup is %u instead of 1 to 3",
			    packet->dispatch.setup);
			break;
		}
		put(t, "a grid of %ux%ux%u work-items in workgroups of %ux%ux%u is empty", grid[0],
		    grid[1], grid[2], wg[0], wg[1], wg[2]);
		break;
	case SG_QUEUE_BAD_GROUP_MEMORY:
		put(t, "its workgroups need %u bytes of LDS, but a compute unit has 65536",
		    packet->dispatch.group_bytes);
		break;
	case SG_QUEUE_BAD_CODE:
		put(t, "0x%llx is not a kernel descriptor, or its code is not mapped",
		    ull(packet->dispatch.kernel_object));
		break;
	case SG_QUEUE_BAD_GROUP_SIZE:
		put(t,
		    "a workgroup of %ux%ux%u is too large, or there is no scratch for its waves "
		    "(%u bytes per lane)",
		    wg[0], wg[1], wg[2], packet->dispatch.private_bytes);
		break;
	default:
		put(t, "completion signal 0x%llx is not a signal",
		    ull(packet->dispatch.completion));
		break;
	}
}

void sg_fault_report_packet(const struct sg_queue *queue, const union sg_aql_packet *packet,
			    uint32_t code)
{
	uint32_t header = packet->barrier.header, type = header & 0xff;
	struct text t = { .n = 0 };

	put(&t, "bad packet: ");
	switch (type) {
	case SG_AQL_DISPATCH:
		put_kernel_packet(&t, queue, packet, code);
		break;
	case SG_AQL_BARRIER_AND:
	case SG_AQL_BARRIER_OR:
		put(&t, "a barrier refers to something that is not a signal");
		break;
	case SG_AQL_VENDOR:
		put(&t,
		    "a vendor packet of unknown format 0x%x, or with something that is not a "
		    "signal",
		    packet->vendor.format & 0xff);
		break;
	default:
		put(&t, "header 0x%04x is not a packet type that the GPU executes", header);
		break;
	}
	put(&t, NEXT "packet %llu of a queue on node %u; the queue is stopped",
	    ull(atomic_load_explicit(queue->desc.read_ptr, memory_order_relaxed)),
	    queue->gpu->node);
	sg_gpu_log(SG_GPU_LOG_ERROR, "%s", t.chars);
}

void sg_fault_report_copy(const struct sg_queue *queue, uint32_t header, bool bad_address,
			  uint64_t address, bool write)
{
	struct text t = { .n = 0 };

	if (bad_address) {
		put(&t, "memory fault: a copy cannot %s 0x%llx: it is not mapped on the GPU",
		    write ? "write to" : "read from", ull(address));
		put_nearest(&t, queue, address);
	} else {
		put(&t,
		    "bad packet: 0x%08x in a copy queue is not a packet type that the GPU executes",
		    header);
	}
	put(&t, NEXT "copy queue of node %u; the queue is stopped", queue->gpu->node);
	sg_gpu_log(SG_GPU_LOG_ERROR, "%s", t.chars);
}
