/*
 * A program whose metrics are known, for monitor.py. It prints what it reads about itself, with
 * the time of each reading.
 */
#include "base/util.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static unsigned long long io_bytes(const char *key)
{
	FILE *f = fopen("/proc/self/io", "r");
	unsigned long long value = 0, n;
	char name[64];

	while (f && fscanf(f, "%63s %llu", name, &n) == 2)
		value = strcmp(name, key) ? value : n;
	if (f)
		fclose(f);
	return value;
}

/* time, then resident and virtual bytes, peak bytes, switches, faults, CPU microseconds, bytes read */
static void say(const char *word)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long long total = 0, resident = 0;
	struct rusage usage;

	if (!f || fscanf(f, "%llu %llu", &total, &resident) != 2)
		exit(2);
	fclose(f);
	getrusage(RUSAGE_SELF, &usage);
	printf("%s %llu %llu %llu %llu %ld %ld %lld %lld %llu\n", word, now_ns(), resident * 4096,
	       total * 4096, (unsigned long long)usage.ru_maxrss * 1024,
	       usage.ru_nvcsw + usage.ru_nivcsw, usage.ru_majflt + usage.ru_minflt,
	       usage.ru_utime.tv_sec * 1000000ll + usage.ru_utime.tv_usec,
	       usage.ru_stime.tv_sec * 1000000ll + usage.ru_stime.tv_usec, io_bytes("rchar:"));
	fflush(stdout);
}

static void use_memory(void)
{
	size_t n_bytes = 300u << 20;
	char *at;

	say("before");
	sleep_ms(200);
	at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		exit(2);
	for (size_t i = 0; i < n_bytes; i += 4096)
		at[i] = 1;
	say("full");
	sleep_ms(200);
	say("still-full");
	munmap(at, n_bytes);
	say("freed");
	sleep_ms(300);
	say("end");
}

static void switch_and_read(void)
{
	static char block[1 << 20];
	int fd = open("/proc/self/exe", O_RDONLY), zero = open("/dev/zero", O_RDONLY);

	say("before");
	sleep_ms(200);
	for (int i = 0; i < 300; i++)
		usleep(100);
	for (int i = 0; i < 64; i++)
		if (read(zero, block, sizeof(block)) != sizeof(block))
			exit(2);
	say("done");
	sleep_ms(150);
	close(fd);
	close(zero);
}

static void burn(long ms)
{
	unsigned long long end = now_ns() + (unsigned long long)ms * 1000000ull;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	while (now_ns() < end)
		;
	say("burnt");
}

/* Every descriptor that it does not know, and files of its own in their places. */
static void close_all(void)
{
	char first[16] = "", again[16];
	int own;

	sleep_ms(250);
	for (int fd = 3; fd < 2048; fd++)
		close(fd);
	own = open("/proc/self/exe", O_RDONLY);
	for (int fd = 500; fd < 540; fd++)
		dup2(own, fd);
	if (read(own, first, 4) != 4)
		exit(2);
	printf("closed %llu\n", now_ns());
	fflush(stdout);
	sleep_ms(200);
	/* they are still its own, where it left them */
	if (pread(520, again, 4, 0) != 4 || memcmp(first, again, 4) || lseek(own, 0, SEEK_CUR) != 4)
		exit(3);
}

#define KILL(name)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(open),
		KILL(openat),
		KILL(fstat),
		KILL(newfstatat),
		KILL(pread64),
		KILL(getrusage),
		KILL(fcntl),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { WS_ARRAY_LEN(filter), filter };

	sleep_ms(250);
	printf("sandbox %llu\n", now_ns());
	fflush(stdout);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		exit(2);
	sleep_ms(200);
	_exit(0);
}

static void fork_one(void)
{
	pid_t child;

	sleep_ms(100);
	child = fork();
	if (child == 0) {
		printf("child %d %llu\n", getpid(), now_ns());
		fflush(stdout);
		sleep_ms(350);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	/* one that calls exec at once */
	child = fork();
	if (child == 0) {
		unsetenv("WAVESCOPE_COLLECT");
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static void pause_a_while(void)
{
	void (*switch_off)(void), (*switch_on)(void);

	*(void **)&switch_off = dlsym(RTLD_DEFAULT, "col_marker_pause");
	*(void **)&switch_on = dlsym(RTLD_DEFAULT, "col_marker_resume");
	if (!switch_off || !switch_on)
		exit(2);
	sleep_ms(200);
	switch_off();
	printf("off %llu\n", now_ns());
	sleep_ms(200);
	printf("on %llu\n", now_ns());
	fflush(stdout);
	switch_on();
	sleep_ms(100);
}

static void mark(void)
{
	void (*put)(const char *);

	*(void **)&put = dlsym(RTLD_DEFAULT, "col_marker_mark");
	if (!put)
		exit(2);
	put("here");
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	long ms = argc > 2 ? atol(argv[2]) : 0;

	printf("start %llu\n", now_ns());
	fflush(stdout);
	if (!strcmp(what, "memory"))
		use_memory();
	else if (!strcmp(what, "switches"))
		switch_and_read();
	else if (!strcmp(what, "burn"))
		burn(ms);
	else if (!strcmp(what, "sleep"))
		sleep_ms(ms);
	else if (!strcmp(what, "close"))
		close_all();
	else if (!strcmp(what, "sandbox"))
		sandbox();
	else if (!strcmp(what, "fork"))
		fork_one();
	else if (!strcmp(what, "mark"))
		mark();
	else if (!strcmp(what, "pause"))
		pause_a_while();
	else if (!strcmp(what, "kill")) {
		sleep_ms(ms);
		raise(SIGKILL);
	}
	printf("stop %llu\n", now_ns());
	return 0;
}
