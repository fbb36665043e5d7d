/* Uses AMD's user interface in every way; what it records is in regions.sh. */
#include <rocprofiler-systems/causal.h>
#include <rocprofiler-systems/user.h>

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#undef NDEBUG
#define PUSH(name) assert(rocprofsys_user_push_region(name) == 0)
#define POP(name) assert(rocprofsys_user_pop_region(name) == 0)

static void *work(void *arg)
{
	for (int i = 0; i < 100; i++) {
		PUSH("work");
		PUSH("inner");
		POP("inner");
		POP("work");
	}
	return arg;
}

static void nest(int depth)
{
	PUSH("nest");
	if (depth > 1)
		nest(depth - 1);
	POP("nest");
}

static void all(void)
{
	pthread_t threads[2];
	double real = 2.5;
	int32_t small = -7;
	uint16_t tiny = 65535;
	float single = 0.5f;
	rocprofsys_annotation_t values[] = {
		{ "text", ROCPROFSYS_VALUE_CSTR, (void *)"a text" },
		{ "real", ROCPROFSYS_VALUE_FLOAT64, &real },
		{ "small", ROCPROFSYS_VALUE_INT32, &small },
		{ "tiny", ROCPROFSYS_VALUE_UINT16, &tiny },
		{ "single", ROCPROFSYS_VALUE_FLOAT32, &single },
		{ "where", ROCPROFSYS_VALUE_VOID_P, (void *)0x1000 },
		{ "nothing", ROCPROFSYS_VALUE_CSTR, NULL },
		{ NULL, ROCPROFSYS_VALUE_CSTR, (void *)"no name" },
		{ "newer", 99, &real },
	};

	errno = 4711;
	PUSH("outer");
	PUSH("left open by its inner one");
	POP("outer");
	assert(errno == 4711);
	assert(rocprofsys_user_push_annotated_region("annotated", values, 9) == 0);
	assert(rocprofsys_user_pop_annotated_region("annotated", values, 1) == 0);
	nest(300); /* deeper than what is remembered per thread */
	ROCPROFSYS_CAUSAL_PROGRESS_NAMED("step")
	ROCPROFSYS_CAUSAL_PROGRESS_NAMED("step")
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void pauses(void)
{
	PUSH("over the pause");
	assert(rocprofsys_user_stop_trace() == 0);
	PUSH("paused");
	POP("paused");
	PUSH("begun in the pause");
	assert(rocprofsys_user_start_trace() == 0);
	POP("begun in the pause");
	PUSH("after");
	assert(rocprofsys_user_stop_trace() == 0);
	POP("after");
	POP("over the pause");
	assert(rocprofsys_user_start_trace() == 0);
	PUSH("over the thread's pause");
	assert(rocprofsys_user_stop_thread_trace() == 0);
	PUSH("thread paused");
	POP("thread paused");
	POP("over the thread's pause");
	assert(rocprofsys_user_start_thread_trace() == 0);
	PUSH("end");
	POP("end");
}

static void forks(void)
{
	pid_t child;

	PUSH("before fork");
	child = fork();
	if (!child) {
		PUSH("in the child");
		POP("in the child");
		POP("before fork");
		PUSH("child goes on");
		POP("child goes on");
		exit(0);
	}
	waitpid(child, NULL, 0);
	POP("before fork");
}

static int own(const char *name)
{
	printf("own %s\n", name);
	return strcmp(name, "bad") == 0;
}

static void configures(void)
{
	rocprofsys_user_callbacks_t mine = ROCPROFSYS_USER_CALLBACKS_INIT, old, now;

	assert(rocprofsys_user_get_callbacks(NULL) == ROCPROFSYS_USER_ERROR_BAD_VALUE);
	assert(rocprofsys_user_get_callbacks(&old) == 0 && old.push_region && old.pop_region);
	assert(rocprofsys_user_push_region(NULL) == ROCPROFSYS_USER_ERROR_BAD_VALUE);
	assert(rocprofsys_user_push_annotated_region("x", NULL, 1) ==
	       ROCPROFSYS_USER_ERROR_BAD_VALUE);
	mine.push_region = own;
	assert(rocprofsys_user_configure(ROCPROFSYS_USER_UNION_CONFIG, mine, &now) == 0);
	assert(memcmp(&now, &old, sizeof(now)) == 0);
	PUSH("union");
	assert(rocprofsys_user_push_region("bad") == ROCPROFSYS_USER_ERROR_INTERNAL);
	assert(old.push_region("by the old one") == 0);
	POP("by the old one");
	assert(rocprofsys_user_configure(ROCPROFSYS_USER_INTERSECT_CONFIG, mine, NULL) == 0);
	PUSH("intersection");
	assert(rocprofsys_user_pop_region("x") == ROCPROFSYS_USER_ERROR_NO_BINDING);
	assert(rocprofsys_user_configure(ROCPROFSYS_USER_REPLACE_CONFIG, old, NULL) == 0);
	PUSH("restored");
	POP("restored");
	assert(rocprofsys_user_configure((rocprofsys_user_configure_mode_t)99, old, NULL) ==
	       ROCPROFSYS_USER_ERROR_INVALID_CATEGORY);
	assert(strcmp(rocprofsys_user_error_string(ROCPROFSYS_USER_ERROR_NO_BINDING),
		      "Function pointer not assigned") == 0);
	assert(rocprofsys_user_error_string(-1) && rocprofsys_user_error_string(1000));
}

/* Without the profiler nothing is bound, and the program runs as it is. */
static void bare(void)
{
	rocprofsys_user_callbacks_t now;

	assert(rocprofsys_user_push_region("x") == ROCPROFSYS_USER_ERROR_NO_BINDING);
	assert(rocprofsys_user_pop_region("x") == ROCPROFSYS_USER_ERROR_NO_BINDING);
	assert(rocprofsys_user_start_trace() == ROCPROFSYS_USER_ERROR_NO_BINDING);
	assert(rocprofsys_user_stop_thread_trace() == ROCPROFSYS_USER_ERROR_NO_BINDING);
	assert(rocprofsys_user_annotated_progress("x", NULL, 0) ==
	       ROCPROFSYS_USER_ERROR_NO_BINDING);
	assert(rocprofsys_user_get_callbacks(&now) == 0 && !now.push_region);
}

static void killed(void)
{
	PUSH("open");
	PUSH("closed");
	POP("closed");
	abort();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "all", all },   { "pauses", pauses }, { "forks", forks },
		{ "bare", bare }, { "killed", killed }, { "configures", configures },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run();
			puts("ok");
			return 7;
		}
	return 2;
}
