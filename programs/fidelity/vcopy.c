#include "programs/fidelity/vcopy.h"

#include "base/util.h"
#include "programs/fidelity/counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 1048576u
#define DISPATCHES 3
#define MAX_NAMES 256

struct arguments {
	uint64_t a, unused_b, c;
	uint32_t n, unused_n;
	uint64_t unused_d;
	uint32_t block;
};

/* The counters of this pass: block by block, as many as it counts at once; a level counter takes its
 * accumulation along. Returns how many passes there are. */
static size_t choose_names(const struct fid_counted *c, size_t pass, char (*names)[64],
			   size_t *out_n)
{
	size_t used = 0, group = 0, most = 0, n = 0;
	const char *block = "";

	for (size_t k = 0; k < c->n_all; k++) {
		const struct softgpu_counter *counter = &c->all[k];
		size_t places = counter->is_level ? 2 : 1;

		if (counter->fidelity == SOFTGPU_UNSUPPORTED)
			continue;
		if (strcmp(block, counter->block)) {
			block = counter->block;
			used = group = 0;
		}
		if (used + places > counter->block_limit) {
			group++;
			used = 0;
		}
		used += places;
		most = WS_MAX(group, most);
		if (group != pass || n + 2 > MAX_NAMES)
			continue;
		snprintf(names[n++], sizeof(names[0]), "%s", counter->name);
		if (counter->is_level)
			snprintf(names[n++], sizeof(names[0]), "%s_ACCUM", counter->name);
	}
	*out_n = n;
	return most + 1;
}

static void print_results(struct fid_counted *c)
{
	struct softgpu_result r;

	for (unsigned dispatch = 0; fid_counted_next(c, &r); dispatch++) {
		printf("vcopy\t%u\tduration_ns\tmodelled\t-\t%llu\n", dispatch,
		       (unsigned long long)r.duration_ns);
		for (uint32_t k = 0; k < r.n_values; k++)
			printf("vcopy\t%u\t%s\t%s\t-\t%.0f\n", dispatch, r.values[k].name,
			       fid_counted_classes[r.values[k].fidelity],
			       fid_counted_sum(&r.values[k]));
	}
}

static enum ws_status run_pass(size_t pass, size_t *out_n_passes, struct ws_err *err)
{
	static char names[MAX_NAMES][64];
	const char *pointers[MAX_NAMES];
	struct arguments arguments = { .n = N, .block = 256 };
	struct gpu_runner_call call = { .kernel = "vcopy",
					.arguments = &arguments,
					.n_arguments = sizeof(arguments),
					.grid = N,
					.workgroup = 256 };
	struct fid_counted c;
	size_t n = 0;
	uint64_t ns;
	enum ws_status st = fid_counted_open(&c, err);

	if (st)
		return st;
	*out_n_passes = choose_names(&c, pass, names, &n);
	for (size_t k = 0; k < n; k++)
		pointers[k] = names[k];
	st = gpu_runner_buffer(c.runner, 2ull * N * sizeof(double), &arguments.a, err);
	arguments.c = arguments.a + N * sizeof(double);
	if (!st)
		st = fid_counted_choose(&c, pointers, n, err);
	for (unsigned k = 0; k < DISPATCHES && !st; k++) {
		/* as the recorded runtime does after a copy; an older one does not, nor what it recorded */
		call.system_scope = k == 0;
		st = gpu_runner_run(c.runner, &call, &ns, err);
	}
	if (!st)
		print_results(&c);
	fid_counted_close(&c);
	return st;
}

/* In a child: prints the lines, and writes how many passes there are to @to. */
static _Noreturn void child(size_t pass, int to)
{
	struct ws_err err;
	size_t n_passes = 0;
	enum ws_status st = run_pass(pass, &n_passes, &err);

	if (st)
		fprintf(stderr, "fidelity-kernels: vcopy, pass %zu: %s\n", pass, err.text);
	fflush(stdout);
	if (!st && write(to, &n_passes, sizeof(n_passes)) != sizeof(n_passes))
		st = WS_E_IO;
	_exit(st != WS_OK);
}

enum ws_status fid_vcopy(struct ws_err *err)
{
	size_t n_passes = 1;

	for (size_t pass = 0; pass < n_passes; pass++) {
		int ends[2], status = 0;
		ssize_t got;
		pid_t pid;

		fflush(stdout);
		if (pipe(ends))
			return ws_fail(err, WS_E_IO, "no pipe: %m");
		pid = fork();
		if (pid < 0)
			return ws_fail(err, WS_E_LIMIT, "no process: %m");
		if (!pid)
			child(pass, ends[1]);
		close(ends[1]);
		got = read(ends[0], &n_passes, sizeof(n_passes));
		close(ends[0]);
		if (waitpid(pid, &status, 0) != pid || status || got != sizeof(n_passes))
			return ws_fail(err, WS_E_STATE, "pass %zu of vcopy failed", pass);
	}
	return WS_OK;
}
