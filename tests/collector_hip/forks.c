/* forks: streams and calls before a fork, in the child, and in the parent after it. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int hipStreamCreate(void **stream);
int hipStreamQuery(void *stream);
int hipGetLastError(void);
int hipSetDevice(int device);

int main(void)
{
	void *stream, *more;
	int status, bad = 0;
	pid_t child;

	bad |= hipStreamCreate(&stream);
	bad |= hipStreamQuery(stream);
	child = fork();
	if (child == 0) {
		bad |= hipStreamQuery(stream); /* known from before */
		bad |= hipStreamCreate(&more);
		bad |= hipStreamQuery(more);
		_exit(bad ? 1 : 7);
	}
	waitpid(child, &status, 0);
	bad |= !WIFEXITED(status) || WEXITSTATUS(status) != 7;
	bad |= hipSetDevice(1) != 101 || hipGetLastError() != 101;
	printf("%s\n", bad ? "bad" : "good");
	return bad;
}
