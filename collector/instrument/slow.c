/*
 * slow: what happens once per thread, per full chunk, per MiB of stack.
 */
#include "collector/instrument/instrument_priv.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void col_slow_record(void *record)
{
	struct col_slow_record *r = record;
	struct col_thread *t = col_thread();
	struct cap_lane *lane = t ? col_thread_lane(t) : NULL;
	struct cap_rec *rec = lane ? cap_lane_reserve(&lane, sizeof(*rec)) : NULL;

	if (!rec) {
		col_call_lost_(t, CAP_DOMAIN_REGIONS);
		return;
	}
	rec->what = r->region;
	rec->time = cap_ticks();
	cap_lane_commit(lane, rec, r->tag);
	r->done = true;
}

void col_slow_lost(void *unused)
{
	(void)unused;
	col_call_lost_(&col_thread_self_, CAP_DOMAIN_REGIONS);
}

#define BLOCK_BYTES (1u << 20)

void col_slow_mirror(void *mirror)
{
	struct col_slow_mirror *m = mirror;
	uint64_t slot = (uint64_t)m->slot, at = slot - COL_CALLS_MIRROR;
	int saved_errno = errno;

	/* Twice, by two threads, is no harm. */
	m->done = mprotect((void *)(at & ~(uint64_t)(BLOCK_BYTES - 1)), BLOCK_BYTES,
			   PROT_READ | PROT_WRITE) == 0;
	__atomic_store_n(&col_calls_blocks[COL_CALLS_BLOCK(slot)],
			 m->done ? COL_CALLS_READY : COL_CALLS_NONE, __ATOMIC_RELEASE);
	errno = saved_errno;
}

/*
 * Memory of threads. There is no notice of their end, which functions of the program may
 * outlive (destructors of thread-local variables): who needs memory takes that of a thread that
 * does not exist any more.
 */
struct thread_pages {
	struct thread_pages *next;
	uint32_t tid;
} __attribute__((aligned(64)));

static struct {
	struct col_lock lock;
	struct thread_pages *first;
} pool;

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static bool is_gone(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

void col_slow_pages(void *pages)
{
	struct col_slow_pages *p = pages;
	uint32_t tid = own_tid();
	int saved_errno = errno;
	struct thread_pages *mine;

	col_lock(&pool.lock);
	for (mine = pool.first; mine; mine = mine->next)
		if (mine->tid == tid || is_gone(mine->tid))
			break;
	if (!mine) {
		mine = col_pages(p->n_bytes + sizeof(*mine));
		if (mine) {
			mine->next = pool.first;
			pool.first = mine;
		}
	}
	if (mine)
		mine->tid = tid;
	col_unlock(&pool.lock);
	p->at = mine ? mine + 1 : NULL;
	errno = saved_errno;
}

void col_slow_pages_forked(void *at)
{
	pool.lock = (struct col_lock){ 0 };
	((struct thread_pages *)at - 1)->tid = own_tid();
}

void col_slow_find(void *find)
{
	struct col_slow_find *f = find;

	f->number = col_instrumented_of(f->address);
}
