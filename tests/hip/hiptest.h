/*
 * hiptest: the frame of a HIP test program.
 *
 * A program exits 0 when all its checks held, 1 when one did not, 77 when it
 * could not run and said why. CHECK() reports and goes on; HIP_OK() from
 * check.h ends the program at once.
 *
 * run_child() is for what ends a process: it runs a function in a forked
 * child and returns how it ended and all it printed. HIP does not survive a
 * fork, so the parent must not have called it before.
 */
#ifndef WS_TESTS_HIP_HIPTEST_H
#define WS_TESTS_HIP_HIPTEST_H

#include "samples/check.h"

#include <csignal>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>

enum { EXIT_SKIP = 77 };

static int n_failed_checks;

#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s: ", __FILE__, __LINE__, #condition);  \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			n_failed_checks++;                                                         \
		}                                                                                  \
	} while (0)

/* All elements equal, the first few differences printed. */
template <class T>
static void check_equal(const char *what, const std::vector<T> &got, const std::vector<T> &want)
{
	n_failed_checks += count_wrong(what, got, want, 0.0) != 0;
}

static inline int finish()
{
	if (n_failed_checks)
		fprintf(stderr, "%d checks failed\n", n_failed_checks);
	return verdict(n_failed_checks == 0);
}

__attribute__((noreturn)) static inline void skip(const char *why)
{
	printf("SKIP: %s\n", why);
	fflush(stdout);
	_exit(EXIT_SKIP);
}

/* HIP 5.7 refuses memory with a pitch on GPUs without images; every version must accept it on the others. */
static inline bool pitch_is_refused(hipError_t status)
{
	int images = 1;

	HIP_OK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	if (status != hipErrorInvalidValue || images)
		return false;
	(void)hipGetLastError();
	return true;
}

/* hipMallocPitch(); where that is refused, with a pitch of our own */
static inline void malloc_rows(void **out, size_t *pitch, size_t width, size_t height)
{
	hipError_t status = hipMallocPitch(out, pitch, width, height);

	if (pitch_is_refused(status)) {
		*pitch = (width + 255) / 256 * 256;
		status = hipMalloc(out, *pitch * height);
	}
	HIP_OK(status);
}

/* the same for hipMalloc3D() */
static inline hipPitchedPtr malloc_box(size_t width, size_t height, size_t depth)
{
	hipPitchedPtr made = {};
	hipError_t status = hipMalloc3D(&made, make_hipExtent(width, height, depth));

	if (pitch_is_refused(status)) {
		made.pitch = (width + 255) / 256 * 256;
		made.xsize = width;
		made.ysize = height;
		status = hipMalloc(&made.ptr, made.pitch * height * depth);
	}
	HIP_OK(status);
	return made;
}

struct child_result {
	int status;       /* as waitpid() gives it */
	std::string text; /* stdout and stderr together */

	bool aborted() const
	{
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
	}
	bool exited(int code) const
	{
		return WIFEXITED(status) && WEXITSTATUS(status) == code;
	}
	bool says(const char *part) const
	{
		return text.find(part) != std::string::npos;
	}
};

/* A child that hangs is ended by its own alarm, which then shows in the status. */
static inline child_result run_child(int (*body)(), unsigned limit_s = 60)
{
	child_result r = { 0, "" };
	int ends[2];
	char piece[4096];
	ssize_t n;

	fflush(stdout);
	fflush(stderr);
	if (pipe(ends)) {
		perror("pipe");
		_exit(1);
	}
	pid_t pid = fork();
	if (pid < 0) {
		perror("fork");
		_exit(1);
	}
	if (pid == 0) {
		struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		close(ends[0]);
		close(ends[1]);
		alarm(limit_s);
		int code = body();
		fflush(stdout);
		fflush(stderr);
		_exit(code);
	}
	close(ends[1]);
	while ((n = read(ends[0], piece, sizeof(piece))) > 0)
		r.text.append(piece, (size_t)n);
	close(ends[0]);
	waitpid(pid, &r.status, 0);
	return r;
}

static inline void show_child(const char *name, const child_result &r)
{
	fprintf(stderr, "--- %s: status 0x%x, printed:\n%s---\n", name, r.status, r.text.c_str());
}

/* The bytes of a file, such as a code object built beside the test. */
static inline std::vector<char> read_all(const char *path)
{
	std::vector<char> bytes;
	char piece[4096];
	size_t n;
	FILE *f = fopen(path, "rb");

	if (!f) {
		perror(path);
		_exit(1);
	}
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		bytes.insert(bytes.end(), piece, piece + n);
	fclose(f);
	return bytes;
}

#endif
