/*
 * remote: stops one thread of another process, makes it call two functions, and resumes it.
 *
 * The thread's registers, vector registers and signal mask are saved and restored. During the
 * calls it takes no signals except those it could cause itself, because a handler would run
 * on top of the calls. The kernel restarts a system call that it was waiting in, as after
 * any debugger.
 *
 * The functions return to a byte 0xcc that is in the C library's code: an int3,
 * which stops the thread. So no code that other threads may execute is modified.
 */
#include "launch/attach_priv.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIES_NS 3000000000u /* for a thread to be at a safe place */
#define CALL_NS 5000000000u  /* for one call: it allocates a stack, no more */
#define STOP_NS 200000000u   /* for a thread to stop; one that the kernel holds does not */
#define XSTATE_MAX (16u << 10)

#if defined(__x86_64__)

_Static_assert(offsetof(struct launch_remote_data, dlopen) == 0 &&
		       offsetof(struct launch_remote_data, dlsym) == 8 &&
		       offsetof(struct launch_remote_data, dlerror) == 16 &&
		       offsetof(struct launch_remote_data, pthread_self) == 24 &&
		       offsetof(struct launch_remote_data, pthread_detach) == 32 &&
		       offsetof(struct launch_remote_data, stage) == 40 &&
		       offsetof(struct launch_remote_data, error) == 48 &&
		       offsetof(struct launch_remote_data, function) == 56 &&
		       offsetof(struct launch_remote_data, library) == 120 &&
		       offsetof(struct launch_remote_data, text) == 4216,
	       "the thread's code has these numbers in it");

/* What the new thread executes: void *thread(struct launch_remote_data *data). */
extern const char launch_remote_code[], launch_remote_code_end[];
__asm__(".section .rodata\n"
	".globl launch_remote_code\n.hidden launch_remote_code\n"
	".globl launch_remote_code_end\n.hidden launch_remote_code_end\n"
	"launch_remote_code:\n"
	"	endbr64\n"
	"	pushq %rbx\n"
	"	movq %rdi, %rbx\n"
	"	call *24(%rbx)\n"
	"	movq %rax, %rdi\n"
	"	call *32(%rbx)\n"
	"	leaq 120(%rbx), %rdi\n"
	"	movl $2, %esi\n" /* RTLD_NOW */
	"	call *(%rbx)\n"
	"	testq %rax, %rax\n"
	"	jz 1f\n"
	"	movq %rax, %rdi\n"
	"	leaq 56(%rbx), %rsi\n"
	"	call *8(%rbx)\n"
	"	testq %rax, %rax\n"
	"	jz 1f\n"
	"	movq $2, 40(%rbx)\n"
	"	leaq 4216(%rbx), %rdi\n"
	"	call *%rax\n"
	"	movq $3, 40(%rbx)\n"
	"	jmp 2f\n"
	"1:	call *16(%rbx)\n"
	"	movq %rax, 48(%rbx)\n"
	"	movq $1, 40(%rbx)\n"
	"2:	xorl %eax, %eax\n"
	"	popq %rbx\n"
	"	ret\n"
	"launch_remote_code_end:\n"
	".previous\n");

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){ 0, ns }, NULL);
}

/* ---- stopping ---- */

/* Wait for the next stop; false: none in time, or the thread is gone. */
static bool wait_stop(pid_t tid, uint64_t limit_ns, int *out_status)
{
	uint64_t until = now_ns() + limit_ns;

	for (;;) {
		pid_t got = waitpid(tid, out_status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(*out_status);
		if (got < 0 && errno != EINTR)
			return false;
		if (now_ns() > until)
			return false;
		pause_ns(20000);
	}
}

/* System calls that wait for something outside; the allocator and the loader make none of them. */
static bool waits(unsigned long long nr)
{
	static const uint16_t calls[] = {
		SYS_futex,    SYS_nanosleep,     SYS_clock_nanosleep,
		SYS_poll,     SYS_ppoll,         SYS_select,
		SYS_pselect6, SYS_epoll_wait,    SYS_epoll_pwait,
		SYS_pause,    SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
		SYS_wait4,    SYS_waitid,        SYS_read,
		SYS_recvfrom, SYS_recvmsg,       SYS_accept,
		SYS_accept4,  SYS_ioctl,         SYS_restart_syscall,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (nr == calls[i])
			return true;
	return false;
}

static bool is_safe(const struct user_regs_struct *regs, const struct launch_remote_unsafe *unsafe)
{
	long long result = (long long)regs->rax;

	/* Interrupted while waiting: the kernel's own codes for "to be restarted", or EINTR. */
	if ((long long)regs->orig_rax >= 0 &&
	    ((result <= -512 && result >= -516) || result == -EINTR))
		return waits(regs->orig_rax);
	for (unsigned i = 0; i < unsafe->n; i++)
		if (regs->rip >= unsafe->at[i].begin && regs->rip < unsafe->at[i].end)
			return false;
	return true;
}

/* Stop @tid at a safe place; it is seized already. false: it runs on. */
static bool stop_safely(pid_t tid, const struct launch_remote_unsafe *unsafe,
			struct user_regs_struct *out_regs)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) || !wait_stop(tid, STOP_NS, &status))
		return false;
	/* A signal on its way to the program, or a stop of the whole group: not ours to use. */
	if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP &&
	    !ptrace(PTRACE_GETREGS, tid, 0, out_regs) && is_safe(out_regs, unsafe))
		return true;
	if (status >> 16 == PTRACE_EVENT_STOP)
		ptrace(WSTOPSIG(status) == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN, tid, 0, 0);
	else
		ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	return false;
}

/* ---- calling ---- */

struct call {
	pid_t pid, tid;
	const struct launch_remote_libc *libc;
	struct user_regs_struct regs; /* as they were */
	char xstate[XSTATE_MAX];
	size_t n_xstate;
	uint64_t mask;
	int mem;
};

static bool put(const struct call *call, uint64_t at, const void *bytes, size_t n)
{
	return pwrite(call->mem, bytes, n, (off_t)at) == (ssize_t)n;
}

static bool save(struct call *call)
{
	struct iovec vec = { call->xstate, sizeof(call->xstate) };

	if (ptrace(PTRACE_GETREGSET, call->tid, (void *)NT_X86_XSTATE, &vec) ||
	    ptrace(PTRACE_GETSIGMASK, call->tid, (void *)sizeof(call->mask), &call->mask))
		return false;
	call->n_xstate = vec.iov_len;
	return true;
}

static void restore(struct call *call)
{
	struct iovec vec = { call->xstate, call->n_xstate };

	ptrace(PTRACE_SETREGSET, call->tid, (void *)NT_X86_XSTATE, &vec);
	ptrace(PTRACE_SETREGS, call->tid, 0, &call->regs);
	ptrace(PTRACE_SETSIGMASK, call->tid, (void *)sizeof(call->mask), &call->mask);
}

static uint64_t bit(int signo)
{
	return 1ull << (signo - 1);
}

/* Call @function in the stopped thread; false: it did not come back. */
static bool call_function(struct call *call, uint64_t function, const uint64_t args[6],
			  uint64_t *out_result)
{
	uint64_t until = now_ns() + CALL_NS;
	struct user_regs_struct regs = call->regs;
	int status;

	/* Below the red zone; a function expects its stack 8 off 16. */
	regs.rsp = ((regs.rsp - 512) & ~15ull) - 8;
	if (!put(call, regs.rsp, &call->libc->trap, 8))
		return false;
	regs.rip = function;
	regs.rdi = args[0], regs.rsi = args[1], regs.rdx = args[2];
	regs.rcx = args[3], regs.r8 = args[4], regs.r9 = args[5];
	regs.rax = 0;
	regs.orig_rax = (unsigned long long)-1; /* no system call to restart on top of this */
	regs.eflags &= ~0x400ull;
	if (ptrace(PTRACE_SETREGS, call->tid, 0, &regs) || ptrace(PTRACE_CONT, call->tid, 0, 0))
		return false;
	while (now_ns() < until) {
		if (!wait_stop(call->tid, CALL_NS, &status))
			break;
		if (status >> 16 == PTRACE_EVENT_STOP) {
			ptrace(PTRACE_CONT, call->tid, 0, 0);
			continue;
		}
		if (ptrace(PTRACE_GETREGS, call->tid, 0, &regs))
			return false;
		*out_result = regs.rax;
		/* Anything but the int3 is a fault inside the call, which is not to be delivered.
		 */
		return WSTOPSIG(status) == SIGTRAP && regs.rip == call->libc->trap + 1;
	}
	/* It hangs: get it back, so that its own registers can be. */
	if (!ptrace(PTRACE_INTERRUPT, call->tid, 0, 0))
		wait_stop(call->tid, CALL_NS, &status);
	return false;
}

static enum ws_status map(struct call *call, size_t n_bytes, int protection, uint64_t *out_at,
			  struct ws_err *err)
{
	uint64_t args[6] = { 0, n_bytes, (uint64_t)protection, MAP_PRIVATE | MAP_ANONYMOUS,
			     (uint64_t)-1 };

	if (!call_function(call, call->libc->mmap, args, out_at) || *out_at >= (uint64_t)-4096)
		return ws_fail(err, WS_E_STATE,
			       "process %d cannot map memory for the collector: its sandbox or its "
			       "limits forbid it",
			       (int)call->pid);
	return WS_OK;
}

static enum ws_status start_thread(struct call *call, const struct launch_remote_data *data,
				   uint64_t *out_data, struct ws_err *err)
{
	size_t n_code = (size_t)(launch_remote_code_end - launch_remote_code);
	/* The new thread inherits this mask: the program's signals are for the program's threads.
	 */
	uint64_t mask = ~(bit(SIGTRAP) | bit(SIGSEGV) | bit(SIGBUS) | bit(SIGILL) | bit(SIGFPE));
	uint64_t code, result = 0;
	enum ws_status st;

	ptrace(PTRACE_SETSIGMASK, call->tid, (void *)sizeof(mask), &mask);
	st = map(call, sizeof(*data) + 8, PROT_READ | PROT_WRITE, out_data, err);
	if (!st)
		st = map(call, n_code, PROT_READ | PROT_EXEC, &code, err);
	if (st)
		return st;
	if (!put(call, *out_data, data, sizeof(*data)) ||
	    !put(call, code, launch_remote_code, n_code))
		return ws_fail_errno(err, errno, "cannot write to the memory of process %d",
				     (int)call->pid);
	if (!call_function(call, call->libc->pthread_create,
			   (uint64_t[6]){ *out_data + sizeof(*data), 0, code, *out_data },
			   &result) ||
	    result)
		return ws_fail(err, WS_E_STATE, "process %d could not start a thread%s%s",
			       (int)call->pid, result ? ": " : "",
			       result && result < 4096 ? strerror((int)result) : "");
	return WS_OK;
}

/* ---- which thread ---- */

static enum ws_status not_allowed(pid_t pid, struct ws_err *err)
{
	int why = errno;

	return ws_fail(err, WS_E_ACCESS, "cannot trace process %d: %s", (int)pid, strerror(why));
}

/* Threads of @pid into @tids; how many. */
static size_t list_threads(pid_t pid, pid_t *tids, size_t room)
{
	char path[64];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && n < room && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			tids[n++] = (pid_t)atoi(entry->d_name);
	if (dir)
		closedir(dir);
	return n;
}

enum ws_status launch_remote_start(pid_t pid, const struct launch_remote_libc *libc,
				   const struct launch_remote_unsafe *unsafe,
				   const struct launch_remote_data *data, uint64_t *out_data,
				   struct ws_err *err)
{
	static struct call call;
	pid_t tids[256];
	uint64_t until = now_ns() + TRIES_NS;
	char path[64];
	enum ws_status st = WS_OK;

	call = (struct call){ .pid = pid, .libc = libc };
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	call.mem = open(path, O_RDWR | O_CLOEXEC);
	if (call.mem < 0)
		return not_allowed(pid, err);
	for (unsigned round = 0; !call.tid && now_ns() < until; round++) {
		size_t n = list_threads(pid, tids, sizeof(tids) / sizeof(tids[0]));

		if (round)
			pause_ns(500000);
		for (size_t i = 0; i < n && !call.tid; i++) {
			/* From the second round on most are ours already, which is refused, too. */
			if (ptrace(PTRACE_SEIZE, tids[i], 0, 0) && round == 0 && errno != ESRCH)
				return not_allowed(pid, err);
			if (stop_safely(tids[i], unsafe, &call.regs))
				call.tid = tids[i];
		}
	}
	if (!call.tid)
		return ws_fail(err, WS_E_TIMEOUT,
			       "no thread of process %d reached a point where it can be "
			       "interrupted safely: try again",
			       (int)pid);
	if (!save(&call))
		return not_allowed(pid, err);
	st = start_thread(&call, data, out_data, err);
	restore(&call);
	ptrace(PTRACE_DETACH, call.tid, 0, 0);
	close(call.mem);
	return st;
}

#else

enum ws_status launch_remote_start(pid_t pid, const struct launch_remote_libc *libc,
				   const struct launch_remote_unsafe *unsafe,
				   const struct launch_remote_data *data, uint64_t *out_data,
				   struct ws_err *err)
{
	return ws_fail(err, WS_E_UNSUPPORTED,
		       "attaching is supported on x86-64 only: start the program with 'rocprofv3 "
		       "... -- PROGRAM'");
}

#endif
