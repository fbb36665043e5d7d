/*
 * sandboxed: uses a GPU in a sandbox that lists the system calls of AMD's runtime over a real
 * driver, and no others.
 *
 *	sandboxed errno|kill           what happens to other system calls
 *	sandboxed errno|kill traced    lists those of the collector's thread, too
 *
 * The runtime is started before, as programs do that lock themselves up for their work.
 */
#include <errno.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE (1u << 20)
#define HSA(call)                                                                                  \
	do {                                                                                       \
		hsa_status_t status_ = (call);                                                     \
		if (status_ != HSA_STATUS_SUCCESS) {                                               \
			fprintf(stderr, "sandboxed: %s: status %d\n", #call, (int)status_);        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const int listed[] = {
	SYS_read,
	SYS_write,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_mmap,
	SYS_munmap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_ioctl,
	SYS_futex,
	SYS_clone,
	SYS_clone3,
	SYS_rseq,
	SYS_set_robust_list,
	SYS_rt_sigaction,
	SYS_getpid,
	SYS_gettid,
	SYS_rt_sigprocmask,
	SYS_tgkill,
	SYS_exit,
	SYS_exit_group,
	SYS_sched_yield,
	SYS_poll,
	SYS_getrandom,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_openat,
	SYS_lseek,
	SYS_getdents64,
	SYS_readlink,
	SYS_prctl,
	SYS_get_mempolicy,
	SYS_mbind,
	SYS_unlink,
	SYS_sched_getaffinity,
};
#define N_LISTED (sizeof(listed) / sizeof(listed[0]))

/* docs/rocprofv3.md; the rest of them is above. */
static const int of_the_collector[] = {
	SYS_prlimit64,
	SYS_pwritev,
	SYS_fallocate,
	SYS_clock_gettime,
};
#define N_OF_THE_COLLECTOR (sizeof(of_the_collector) / sizeof(of_the_collector[0]))

static void lock_up(uint32_t others, bool traced)
{
	struct sock_filter filter[N_LISTED + N_OF_THE_COLLECTOR + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	size_t n = N_LISTED + (traced ? N_OF_THE_COLLECTOR : 0);
	struct sock_fprog program = { (unsigned short)(n + 3), filter };

	for (size_t i = 0; i < n; i++)
		filter[i + 1] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K,
			(uint32_t)(i < N_LISTED ? listed[i] : of_the_collector[i - N_LISTED]),
			(uint8_t)(n - i), 0);
	filter[n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
	filter[n + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	/* All threads: those of the device are in the same sandbox. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) {
		perror("sandboxed: seccomp");
		exit(77);
	}
}

static hsa_agent_t gpu, cpu;

static hsa_status_t see_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	*(type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu) = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *out)
{
	bool can_allocate = false;

	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
				     &can_allocate);
	if (!can_allocate)
		return HSA_STATUS_SUCCESS;
	*(hsa_amd_memory_pool_t *)out = pool;
	return HSA_STATUS_INFO_BREAK;
}

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent)
{
	hsa_signal_t done;

	HSA(hsa_signal_create(1, 0, NULL, &done));
	HSA(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, SIZE, 0, NULL, done));
	if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
				      HSA_WAIT_STATE_BLOCKED))
		exit(3);
	HSA(hsa_signal_destroy(done));
}

static void work(void)
{
	hsa_amd_memory_pool_t vram, ram;
	uint8_t *there, *here, *back;
	hsa_queue_t *queue;
	void *locked;

	hsa_amd_agent_iterate_memory_pools(gpu, see_pool, &vram);
	hsa_amd_agent_iterate_memory_pools(cpu, see_pool, &ram);
	HSA(hsa_amd_memory_pool_allocate(vram, SIZE, 0, (void **)&there));
	HSA(hsa_amd_memory_pool_allocate(ram, SIZE, 0, (void **)&here));
	HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, here));
	back = malloc(SIZE);
	HSA(hsa_amd_memory_lock(back, SIZE, &gpu, 1, &locked));
	for (uint32_t i = 0; i < SIZE; i++)
		here[i] = (uint8_t)(i * 7);
	copy(there, gpu, here, cpu);
	memset(here, 0, SIZE);
	copy(here, cpu, there, gpu);
	for (uint32_t i = 0; i < SIZE; i++)
		if (here[i] != (uint8_t)(i * 7))
			exit(4);
	HSA(hsa_amd_memory_unlock(back));
	HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
			     &queue));
	HSA(hsa_queue_destroy(queue));
	HSA(hsa_amd_memory_pool_free(there));
	HSA(hsa_amd_memory_pool_free(here));
	free(back);
}

int main(int argc, char **argv)
{
	bool traced = argc == 3 && strcmp(argv[2], "traced") == 0;

	if (argc != 2 && !traced)
		return 2;
	HSA(hsa_init());
	HSA(hsa_iterate_agents(see_agent, NULL));
	if (!gpu.handle)
		return 5;
	lock_up(strcmp(argv[1], "kill") ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS,
		traced);
	work();
	puts("worked");
	fflush(stdout);
	HSA(hsa_shut_down());
	return 0;
}
