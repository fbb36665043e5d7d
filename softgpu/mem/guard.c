#include "softgpu/mem/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>

#define KEEP_NS 50000u /* a system call or two per so many kernels is nothing */

static _Thread_local struct {
	sigjmp_buf back;
	volatile sig_atomic_t inside;
	uint64_t address;
	int was_write;
} guard __attribute__((tls_model("initial-exec")));

static const int signals[] = { SIGSEGV, SIGBUS };
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))
static struct sigaction before[N_SIGNALS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Copies `size` bytes and returns how many are left. All is in one instruction, which a fault
 * interrupts between two bytes: the handler knows it by its address and continues behind it.
 */
size_t sg_guard_move(void *to, const void *from, size_t size);
extern const char sg_guard_move_at[], sg_guard_move_end[];
__asm__(".text\n"
	".globl sg_guard_move, sg_guard_move_at, sg_guard_move_end\n"
	".hidden sg_guard_move, sg_guard_move_at, sg_guard_move_end\n"
	".type sg_guard_move, @function\n"
	"sg_guard_move:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	mov %rdx, %rcx\n"
	"sg_guard_move_at:\n"
	"	rep movsb\n"
	"sg_guard_move_end:\n"
	"	mov %rcx, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size sg_guard_move, . - sg_guard_move\n");

static bool leave_move(ucontext_t *context)
{
	greg_t *at = &context->uc_mcontext.gregs[REG_RIP];

	if (*at != (greg_t)(uintptr_t)sg_guard_move_at)
		return false;
	*at = (greg_t)(uintptr_t)sg_guard_move_end;
	return true;
}

bool sg_guard_copy(void *to, const void *from, size_t size)
{
	return sg_guard_move(to, from, size) == 0;
}

static void pass_on(const struct sigaction *to, int number, siginfo_t *info, void *context)
{
	bool sent = info->si_code <= 0; /* by kill() and the like: no access is behind it */

	if (to->sa_flags & SA_SIGINFO) {
		to->sa_sigaction(number, info, context);
	} else if (to->sa_handler == SIG_IGN && sent) {
		return;
	} else if (to->sa_handler == SIG_DFL || to->sa_handler == SIG_IGN) {
		/* the access is repeated on return and then ends the process, as it should */
		signal(number, SIG_DFL);
		if (sent)
			raise(number);
	} else {
		to->sa_handler(number);
	}
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	if (info->si_code > 0 && leave_move(context))
		return;
	if (guard.inside && info->si_code > 0) {
		guard.inside = 0;
		guard.address = (uint64_t)(uintptr_t)info->si_addr;
		/* page-fault error code: bit 1 is set for writes */
		guard.was_write =
			(int)(((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1);
		siglongjmp(guard.back, 1);
	}
	for (unsigned n = 0; n < N_SIGNALS; n++)
		if (signals[n] == number)
			pass_on(&before[n], number, info, context);
}

void sg_guard_install(void)
{
	struct sigaction now = { 0 }, ours = { .sa_sigaction = on_fault,
					       .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };

	sigemptyset(&ours.sa_mask);
	for (unsigned n = 0; n < N_SIGNALS; n++) {
		sigaction(signals[n], NULL, &now);
		if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
			continue;
		pthread_mutex_lock(&lock);
		sigaction(signals[n], NULL, &now);
		if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_fault) {
			before[n] = now;
			sigaction(signals[n], &ours, NULL);
		}
		pthread_mutex_unlock(&lock);
	}
}

void sg_guard_keep(uint64_t now_ns)
{
	static _Atomic uint64_t kept_ns;

	if (now_ns - atomic_load_explicit(&kept_ns, memory_order_relaxed) < KEEP_NS)
		return;
	atomic_store_explicit(&kept_ns, now_ns, memory_order_relaxed);
	sg_guard_install();
}

sigjmp_buf *sg_guard_enter_(void)
{
	guard.inside = 1;
	return &guard.back;
}

void sg_guard_leave(void)
{
	guard.inside = 0;
}

uint64_t sg_guard_address(void)
{
	return guard.address;
}

int sg_guard_was_write(void)
{
	return guard.was_write;
}
