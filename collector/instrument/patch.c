/*
 * patch: puts jumps at the beginning of functions.
 *
 * The instructions that a jump replaces are moved to a page nearby:
 *
 *	push number
 *	jmp col_instrument_patched         which goes on behind this
 *	the moved instructions
 *	jmp the rest of the function
 *
 * /proc/self/mem reads and writes without a change of protection and without a crash where
 * nothing is mapped; the pages of the file become private copies.
 */
#include "collector/instrument/instrument_priv.h"

#include "collector/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REACH_BYTES 0x70000000ull /* of a jump; less than 2 GiB, so that operands reach, too */
#define STEP_BYTES (1u << 20)
#define LOWEST 0x10000ull /* what the kernel lets programs map */
/* Above a program is its heap, which grows. */
#define HEAP_BYTES (1ull << 30)
#define HEAD_BYTES 16u /* of a page: the address of col_instrument_patched */
#define STUB_BYTES(n_code) ((11 + (n_code) + 5 + 15) & ~15u)

/* ---- memory ---- */

/* Open while a module is patched; modules are patched one after the other. */
static int memory_fd = -1;

static int open_memory(void)
{
	return open("/proc/self/mem", O_RDWR | O_CLOEXEC);
}

static bool move(uint64_t at, void *bytes, size_t n_bytes, bool writing)
{
	int saved_errno = errno, fd = memory_fd >= 0 ? memory_fd : open_memory();
	ssize_t n = -1;

	if (fd >= 0)
		n = writing ? pwrite(fd, bytes, n_bytes, (off_t)at)
			    : pread(fd, bytes, n_bytes, (off_t)at);
	if (fd >= 0 && fd != memory_fd)
		close(fd);
	errno = saved_errno;
	return n == (ssize_t)n_bytes;
}

bool col_patch_read(uint64_t at, void *to, size_t n_bytes)
{
	return move(at, to, n_bytes, false);
}

bool col_patch_write(uint64_t at, const void *bytes, size_t n_bytes)
{
	return move(at, (void *)bytes, n_bytes, true);
}

static void *map_at(uint64_t at, size_t n_bytes)
{
	int saved_errno = errno;
	void *pages = mmap((void *)at, n_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	errno = saved_errno;
	if (pages == MAP_FAILED)
		return NULL;
	if (pages == (void *)at)
		return pages;
	munmap(pages, n_bytes); /* a kernel that does not know the flag */
	return NULL;
}

void *col_patch_near(uint64_t start, uint64_t end, size_t n_bytes)
{
	uint64_t lowest = end > REACH_BYTES + LOWEST ? end - REACH_BYTES : LOWEST;
	uint64_t highest = start + REACH_BYTES - n_bytes;
	uint64_t page = 4096, at;
	void *pages;

	n_bytes = (n_bytes + page - 1) & ~(page - 1);
	/* Below first; a program that is not position-independent has a few MiB there. */
	for (at = (start - n_bytes) & ~(page - 1); start > n_bytes && at >= lowest && at < start;
	     at -= STEP_BYTES) {
		pages = map_at(at, n_bytes);
		if (pages)
			return pages;
		if (at < STEP_BYTES)
			break;
	}
	pages = start > LOWEST + n_bytes && lowest == LOWEST ? map_at(LOWEST, n_bytes) : NULL;
	for (at = (end + HEAP_BYTES) & ~(page - 1); !pages && at < highest; at += STEP_BYTES)
		pages = map_at(at, n_bytes);
	return pages;
}

bool col_patch_seal(void *pages, size_t n_bytes)
{
	int saved_errno = errno;
	bool done = mprotect(pages, n_bytes, PROT_READ | PROT_EXEC) == 0;

	errno = saved_errno;
	return done;
}

/* ---- code ---- */

static uint8_t *put_bytes(uint8_t *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

/* An instruction that ends with a distance: @op, then 4 bytes. False: it is too far. */
static bool put_distance(uint8_t **to, const char *op, size_t n_op, uint64_t target)
{
	uint8_t *at = put_bytes(*to, op, n_op);
	int64_t distance = (int64_t)(target - (uint64_t)(at + 4));
	int32_t narrow = (int32_t)distance;

	*to = put_bytes(at, &narrow, 4);
	return narrow == distance;
}

static bool fix(uint8_t *code, const struct col_plan_fixup *fixup, uint64_t bias)
{
	uint64_t target = bias + fixup->target;
	int64_t value = (int64_t)(target - (uint64_t)(code + fixup->end));
	int32_t narrow = (int32_t)value;

	if (fixup->kind != COL_PLAN_RELATIVE)
		value = narrow =
			(int32_t)(uint32_t)(fixup->kind == COL_PLAN_LOW ? target : target >> 32);
	memcpy(code + fixup->at, &narrow, 4);
	return narrow == value;
}

/* The way around the jump, at @to; false: something is out of reach. */
static bool put_stub(uint8_t *to, const uint8_t *page, uint32_t number, const struct col_plan *plan,
		     const struct col_plan_function *f, uint64_t bias, uint64_t *out_resume)
{
	uint8_t *code;

	*to++ = 0x68; /* push */
	to = put_bytes(to, &number, 4);
	if (!put_distance(&to, "\xff\x25", 2, (uint64_t)page)) /* jmp *page */
		return false;
	code = to;
	to = put_bytes(to, plan->bytes + f->code_at + f->n_patch, f->n_code);
	for (uint32_t i = 0; i < f->n_fixups; i++)
		if (!fix(code, &plan->fixups[f->first_fixup + i], bias))
			return false;
	*out_resume = (uint64_t)code;
	return put_distance(&to, "\xe9", 1, bias + f->offset + f->patch_at + f->n_patch);
}

/* ---- modules ---- */

static uint32_t region_of(const struct col_plan *plan, const struct col_plan_function *f)
{
	return col_region_intern(CAP_REGION_HOST, plan->bytes + f->name_at,
				 plan->bytes + f->file_at, f->line);
}

static bool is_as_planned(const struct col_plan *plan, const struct col_plan_function *f,
			  uint64_t bias)
{
	uint8_t now[COL_PLAN_PATCH_MAX];

	return col_patch_read(bias + f->offset + f->patch_at, now, f->n_patch) &&
	       memcmp(now, plan->bytes + f->code_at, f->n_patch) == 0;
}

/* Numbers of the functions of a module; 0: not patched. */
struct patched {
	uint32_t *numbers;
	uint8_t *page;
	size_t n_bytes;
};

static void prepare(const struct col_plan *plan, const struct col_plan_module *module,
		    uint64_t bias, struct patched *p, struct col_patch_counts *counts)
{
	const struct col_plan_function *f = plan->functions + module->first_function;
	uint64_t way_in = (uint64_t)col_instrument_patched;
	uint8_t *to = p->page + HEAD_BYTES;

	if (p->page)
		memcpy(p->page, &way_in, sizeof(way_in));
	for (uint32_t i = 0; i < module->n_functions; i++, f++) {
		struct col_instrumented function = {
			.start = bias + f->offset,
			.end = bias + f->offset + f->size,
		};
		uint32_t number;

		if (f->how == COL_PLAN_PATCH && !is_as_planned(plan, f, bias)) {
			counts->n_other++;
			continue;
		}
		function.region = region_of(plan, f);
		number = function.region ? col_instrumented_add(&function) : 0;
		if (!number) {
			counts->n_failed++;
			continue;
		}
		if (f->how != COL_PLAN_PATCH) {
			counts->n_done++;
			continue;
		}
		if (p->page && put_stub(to, p->page, number, plan, f, bias,
					&col_instrumented_at[number].resume)) {
			p->numbers[i] = number;
			to += STUB_BYTES(f->n_code);
		} else {
			counts->n_failed++;
		}
	}
}

static void put_jumps(const struct col_plan *plan, const struct col_plan_module *module,
		      uint64_t bias, const struct patched *p, struct col_patch_counts *counts)
{
	const struct col_plan_function *f = plan->functions + module->first_function;

	for (uint32_t i = 0; i < module->n_functions; i++, f++) {
		uint64_t at = bias + f->offset + f->patch_at;
		uint8_t jump[COL_PLAN_PATCH_BYTES] = { 0xe9 };
		int32_t distance;

		if (!p->numbers[i])
			continue;
		/* In front of the moved instructions are the push and the jump, 11 bytes. */
		distance = (int32_t)(col_instrumented_at[p->numbers[i]].resume - 11 - (at + 5));
		memcpy(jump + 1, &distance, 4);
		if (col_patch_write(at, jump, sizeof(jump)))
			counts->n_done++;
		else
			counts->n_failed++;
	}
}

void col_patch_module(const struct col_plan *plan, const struct col_plan_module *module,
		      uint64_t bias, struct col_patch_counts *counts)
{
	const struct col_plan_function *f = plan->functions + module->first_function;
	size_t n_numbers = module->n_functions * sizeof(uint32_t);
	struct patched p = { .n_bytes = HEAD_BYTES, .numbers = col_pages(n_numbers + 1) };

	for (uint32_t i = 0; i < module->n_functions; i++)
		if (f[i].how == COL_PLAN_PATCH)
			p.n_bytes += STUB_BYTES(f[i].n_code);
	if (p.n_bytes > HEAD_BYTES)
		p.page = col_patch_near(bias + module->start, bias + module->end, p.n_bytes);
	if (p.numbers) {
		memory_fd = open_memory();
		prepare(plan, module, bias, &p, counts);
		col_instrumented_publish();
		if (p.page && col_patch_seal(p.page, p.n_bytes))
			put_jumps(plan, module, bias, &p, counts);
		if (memory_fd >= 0)
			close(memory_fd);
		memory_fd = -1;
	}
	col_pages_free(p.numbers, n_numbers + 1);
}
