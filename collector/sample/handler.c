/*
 * handler: takes one sample, in the handler of a timer's signal.
 *
 * It uses what is in the thread's place (threads.c), tables without locks, and the thread's lane.
 * No memory is allocated, no lock is taken, and errno stays as it is. All other signals are
 * blocked meanwhile.
 */
#include "collector/sample/sample_priv.h"
#include "collector/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Did the signal interrupt a system call, which returns EINTR or a part for no other reason? */
static bool interrupted_alone(struct col_sampled *thread, const ucontext_t *context)
{
#if defined(__x86_64__)
	static const uint8_t syscall_code[2] = { 0x0f, 0x05 };
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	uint64_t pending = 0, blocked;
	uint8_t code[2];

	/* on return from a system call rcx has the address behind it */
	if ((context->uc_mcontext.gregs[REG_RAX] != -EINTR &&
	     (context->uc_mcontext.gregs[REG_RAX] <= 0 ||
	      (uintptr_t)context->uc_mcontext.gregs[REG_RCX] != pc)) ||
	    pc < 2)
		return false;
	thread->work->n_window = 0; /* of an earlier sample */
	if (!col_sample_read(thread->work, pc - 2, code, 2)) {
		if (col_sample_may_read() || pc % 4096 < 2)
			return false;
		memcpy(code, (const void *)(pc - 2), 2); /* its page was being executed */
	}
	if (memcmp(code, syscall_code, 2) != 0)
		return false;
	/* The program's signals are blocked by our handler only, so they are pending still. */
	memcpy(&blocked, &context->uc_sigmask, sizeof(blocked));
	syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	return (pending & ~blocked & ~col_timers_signals()) == 0;
#else
	return false;
#endif
}

static void count(enum cap_ledger_column column)
{
	struct cap_writer *writer = col_capture_now();

	if (writer)
		cap_writer_count(writer, CAP_DOMAIN_CALL_STACK_SAMPLING, column, 1);
}

/* What the thread has used; nothing where the program may have forbidden to ask. */
static void fill_usage(struct cap_rec_sample *rec)
{
	struct rusage usage = { 0 };
	struct timespec cpu = { 0 };

	if (!col_threads_sandboxed()) {
		syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	}
	rec->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
	rec->n_switches = (uint32_t)(usage.ru_nvcsw + usage.ru_nivcsw);
	rec->n_faults = (uint32_t)(usage.ru_minflt + usage.ru_majflt);
	rec->peak_kb = (uint32_t)usage.ru_maxrss;
}

static void take(struct col_sampled *thread, enum cap_sampler sampler, uint32_t n_missed,
		 const void *context, uint64_t ticks)
{
	struct cap_lane *lane = thread->thread ? col_thread_lane(thread->thread) : NULL;
	uint32_t depth = col_config()->stack_depth ? col_config()->stack_depth : COL_SAMPLE_DEPTH;
	struct cap_rec_sample *rec;
	uint32_t n_native, n_frames, flags, id, generation, n_counts, n_bytes;
	uint64_t counts[COL_CPU_EVENTS_MAX];

	if (!lane)
		lane = __atomic_load_n(&thread->lane, __ATOMIC_ACQUIRE);
	if (!lane && thread->thread && thread->thread->n_exits)
		return; /* its destructors have begun, and so has the end of its timers */
	if (!lane || (thread->thread && thread->thread->meeting)) {
		col_call_lost_(NULL, CAP_DOMAIN_CALL_STACK_SAMPLING);
		return;
	}
	n_counts = col_events_read(thread, counts); /* before we count ourselves */
	depth = WS_MIN(depth, COL_SAMPLE_DEPTH_MAX);
	generation = col_modules_generation();
	n_native = col_unwind(thread, context, depth, lane, &flags);
	n_frames = n_native + col_python_frames(thread, n_native, depth, lane, &flags);
	id = col_stack_id(lane, thread->work->frames, n_frames, n_native, flags, generation);
	if (!id)
		count(CAP_LEDGER_FAILED); /* the sample counts, but its stack is not there */
	n_bytes = (uint32_t)sizeof(*rec) + n_counts * (uint32_t)sizeof(counts[0]);
	rec = cap_lane_reserve(&lane, n_bytes);
	if (!rec) {
		col_call_lost_(NULL, CAP_DOMAIN_CALL_STACK_SAMPLING);
		return;
	}
	rec->h.what = id;
	rec->h.time = ticks;
	fill_usage(rec);
	rec->sampler = sampler;
	rec->n_missed = n_missed;
	rec->n_counts = n_counts;
	memcpy(rec + 1, counts, n_counts * sizeof(counts[0]));
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_SAMPLE, n_bytes));
}

/*
 * A signal of the program, to a thread that has blocked it as far as the program knows: block it,
 * and send it again, so that it is pending as it would be. From now on it is not ours alone.
 */
static bool postpone(int number, siginfo_t *info, ucontext_t *context)
{
	uint64_t bit = 1ull << (number - 1), blocked;

	if (!(col_sample_blocked & bit) || col_signal_theirs(number))
		return false;
	col_timers_share(bit);
	memcpy(&blocked, &context->uc_sigmask, sizeof(blocked));
	blocked |= bit; /* from the return on; in here it is blocked */
	memcpy(&context->uc_sigmask, &blocked, sizeof(blocked));
	if (info->si_code == SI_TKILL)
		return syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number,
			       info) == 0;
	return syscall(SYS_rt_sigqueueinfo, getpid(), number, info) == 0;
}

__attribute__((noinline)) void col_sample_on_signal(int number, siginfo_t *info, void *context)
{
	uint64_t ticks = cap_ticks();
	struct col_sampled *thread;
	enum cap_sampler sampler;
	int saved_errno;

	if (!col_timers_of(number, info, &thread, &sampler)) {
		saved_errno = errno;
		if (!postpone(number, info, context))
			col_signal_pass(number, info, context, __builtin_return_address(0));
		/* a signal of ours that is pending now did not interrupt the call */
		col_sample_interrupted = COL_INTERRUPTED_BY_PROGRAM;
		errno = saved_errno;
		return;
	}
	if (!thread)
		return;
	if (thread->interrupted && *thread->interrupted != COL_INTERRUPTED_BY_PROGRAM &&
	    interrupted_alone(thread, context))
		*thread->interrupted = COL_INTERRUPTED_BY_US;
	if (!col_sample_active())
		return; /* the process is ending */
	if (col_on(COL_SERVICE_CALL_STACKS))
		take(thread, sampler,
		     sampler == CAP_SAMPLER_OVERFLOW ? 0 : (uint32_t)info->si_overrun, context,
		     ticks);
	else
		count(CAP_LEDGER_PAUSED);
}
