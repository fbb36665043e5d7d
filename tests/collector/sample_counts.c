/* CPU events beside samples: a known number of page faults, and descriptors that the program takes back. */
#include "tests/collector/sample_program.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096

static void spend(double s)
{
	double end = seconds(CLOCK_THREAD_CPUTIME_ID) + s;

	while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* One at a time, so that a fault is a page; and some time for a sample that sees them all. */
__attribute__((noinline)) static void touch(size_t n)
{
	char *pages =
		mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, n * PAGE, MADV_NOHUGEPAGE) != 0)
		fail("memory: %s", strerror(errno));
	spend(0.1);
	for (size_t i = 0; i < n; i++)
		((volatile char *)pages)[i * PAGE] = 1;
	spend(0.1);
	munmap(pages, n * PAGE);
}

static void *touch_more(void *arg)
{
	touch(5000);
	return arg;
}

void counts(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, touch_more, NULL);
	touch(3000);
	pthread_join(thread, NULL);
}

/* Closes what it did not open, as daemons do, and has data of its own behind those numbers. */
void reuse(void)
{
	char data[4096], back[sizeof(data)];
	struct rlimit limit;
	int ends[2];

	spend(0.05);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 4096)
		fail("needs a small limit of open files");
	for (int fd = 3; fd < (int)limit.rlim_cur; fd++)
		close(fd);
	if (pipe(ends) != 0)
		fail("pipe: %s", strerror(errno));
	for (int fd = 10; fd < (int)limit.rlim_cur; fd++)
		dup2(ends[0], fd);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7);
	if (write(ends[1], data, sizeof(data)) != sizeof(data))
		fail("write: %s", strerror(errno));
	spend(0.1);
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
	    read(ends[0], back, sizeof(back)) != sizeof(back) || memcmp(data, back, sizeof(data)))
		fail("somebody else has read what was written");
	for (int fd = 10; fd < (int)limit.rlim_cur; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			fail("somebody else has closed a descriptor");
}
