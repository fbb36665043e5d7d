/* annotated: every roctx function, on two threads. Prints what they returned. */
#include "rocprofiler-sdk-roctx/roctx.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static roctx_range_id_t across; /* started on one thread, stopped on the other */

static void *other(void *arg)
{
	roctxNameOsThread("worker");
	printf("worker push %d\n", roctxRangePush("worker"));
	roctxRangeStop(across);
	printf("worker pop %d\n", roctxRangePop());
	return NULL;
}

int main(void)
{
	roctx_thread_id_t tid = 0;
	char message[64] = "outer";
	const unsigned long long agent = 7; /* of nobody: all that hsa_agent_t holds */
	pthread_t thread;
	int bad_tid;

	roctxMark("a mark");
	printf("push %d", roctxRangePush(message));
	strcpy(message, "overwritten"); /* messages are copied */
	printf(" %d\n", roctxRangePush("inner \"quoted\", with comma"));
	across = roctxRangeStart("across");
	printf("start %d\n", across != 0);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	printf("pop %d", roctxRangePop());
	printf(" %d", roctxRangePop());
	printf(" %d\n", roctxRangePop() < 0);
	bad_tid = roctxGetThreadId(&tid);
	printf("tid %d %d\n", bad_tid, tid == (roctx_thread_id_t)syscall(SYS_gettid));
	printf("pause %d\n", roctxProfilerPause(0));
	roctxMark("not recorded");
	roctxRangePush("not recorded either");
	roctxRangePop();
	printf("resume %d\n", roctxProfilerResume(0));
	roctxMark("recorded again");
	roctxRangeStop(12345); /* of nobody */
	printf("names %d %d %d\n", roctxNameHsaAgent("a", (const void *)&agent),
	       roctxNameHipDevice("d", 0), roctxNameHipStream("s", NULL));
	printf("version %u.%u\n", roctx_version_major(), roctx_version_minor());
	roctxRangePush("left open");
	return 0;
}
