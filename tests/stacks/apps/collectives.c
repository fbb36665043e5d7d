/*
 * collectives: RCCL's operations over all GPUs of the machine, every value checked.
 *
 *   collectives threads [ELEMENTS...]       one process drives all GPUs (ncclCommInitAll)
 *   collectives processes [ELEMENTS...]     one process per GPU (ncclCommInitRank)
 *
 * Small counts take RCCL's latency protocols, where data and flags travel in one store; large
 * ones its ring with flow control. Prints one line per operation and count, and exits with 1 if
 * a value is wrong.
 *
 * Built in a stack, with its compiler: this is a program of the user's, not a part of wavescope.
 */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <rccl/rccl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RANKS = 16, MAX_COUNTS = 16 };

#define HIP_OK(call)                                                                               \
	do {                                                                                       \
		hipError_t hip_status = (call);                                                    \
		if (hip_status != hipSuccess) {                                                    \
			fprintf(stderr, "collectives: %s: %s\n", #call,                            \
				hipGetErrorString(hip_status));                                    \
			_exit(2);                                                                  \
		}                                                                                  \
	} while (0)

#define NCCL_OK(call)                                                                              \
	do {                                                                                       \
		ncclResult_t nccl_status = (call);                                                 \
		if (nccl_status != ncclSuccess) {                                                  \
			fprintf(stderr, "collectives: %s: %s\n", #call,                            \
				ncclGetErrorString(nccl_status));                                  \
			_exit(2);                                                                  \
		}                                                                                  \
	} while (0)

/* One GPU of the communicator that this process drives. */
struct member {
	int rank, device;
	ncclComm_t comm;
	hipStream_t stream;
	float *send, *receive; /* device memory, n_ranks * n_elements each */
};

struct group {
	struct member members[MAX_RANKS]; /* the ones of this process */
	int n_members, n_ranks;
	size_t n_elements;
	float *host; /* n_ranks * n_elements */
};

/* Small integers: sums over all ranks are exact in a float. */
static float sent_by(int rank, size_t i)
{
	return (float)((i * 7 + (size_t)rank * 131) % 1021);
}

static float sum_over_ranks(int n_ranks, size_t i)
{
	float sum = 0;

	for (int r = 0; r < n_ranks; r++)
		sum += sent_by(r, i);
	return sum;
}

static float max_over_ranks(int n_ranks, size_t i)
{
	float max = 0;

	for (int r = 0; r < n_ranks; r++)
		max = sent_by(r, i) > max ? sent_by(r, i) : max;
	return max;
}

/* Each operation: how a member takes part, how many elements it gets, and the value of each. */

static void all_reduce(const struct group *g, const struct member *m)
{
	NCCL_OK(ncclAllReduce(m->send, m->receive, g->n_elements, ncclFloat, ncclSum, m->comm,
			      m->stream));
}

static float all_reduce_value(const struct group *g, const struct member *m, size_t i)
{
	(void)m;
	return sum_over_ranks(g->n_ranks, i);
}

static void all_reduce_max(const struct group *g, const struct member *m)
{
	NCCL_OK(ncclAllReduce(m->send, m->receive, g->n_elements, ncclFloat, ncclMax, m->comm,
			      m->stream));
}

static float all_reduce_max_value(const struct group *g, const struct member *m, size_t i)
{
	(void)m;
	return max_over_ranks(g->n_ranks, i);
}

static int last_rank(const struct group *g)
{
	return g->n_ranks - 1;
}

static void broadcast(const struct group *g, const struct member *m)
{
	NCCL_OK(ncclBroadcast(m->send, m->receive, g->n_elements, ncclFloat, last_rank(g), m->comm,
			      m->stream));
}

static float broadcast_value(const struct group *g, const struct member *m, size_t i)
{
	(void)m;
	return sent_by(last_rank(g), i);
}

static void reduce(const struct group *g, const struct member *m)
{
	NCCL_OK(ncclReduce(m->send, m->receive, g->n_elements, ncclFloat, ncclSum, last_rank(g),
			   m->comm, m->stream));
}

/* Only the root receives something; what the others find in their buffer is undefined. */
static float reduce_value(const struct group *g, const struct member *m, size_t i)
{
	return m->rank == last_rank(g) ? sum_over_ranks(g->n_ranks, i) : -1;
}

static void all_gather(const struct group *g, const struct member *m)
{
	NCCL_OK(ncclAllGather(m->send, m->receive, g->n_elements, ncclFloat, m->comm, m->stream));
}

static float all_gather_value(const struct group *g, const struct member *m, size_t i)
{
	(void)m;
	return sent_by((int)(i / g->n_elements), i % g->n_elements);
}

static void reduce_scatter(const struct group *g, const struct member *m)
{
	NCCL_OK(ncclReduceScatter(m->send, m->receive, g->n_elements, ncclFloat, ncclSum, m->comm,
				  m->stream));
}

static float reduce_scatter_value(const struct group *g, const struct member *m, size_t i)
{
	return sum_over_ranks(g->n_ranks, (size_t)m->rank * g->n_elements + i);
}

static int previous_rank(const struct group *g, const struct member *m)
{
	return (m->rank + g->n_ranks - 1) % g->n_ranks;
}

static void send_receive(const struct group *g, const struct member *m)
{
	NCCL_OK(ncclSend(m->send, g->n_elements, ncclFloat, (m->rank + 1) % g->n_ranks, m->comm,
			 m->stream));
	NCCL_OK(ncclRecv(m->receive, g->n_elements, ncclFloat, previous_rank(g, m), m->comm,
			 m->stream));
}

static float send_receive_value(const struct group *g, const struct member *m, size_t i)
{
	return sent_by(previous_rank(g, m), i);
}

static void all_to_all(const struct group *g, const struct member *m)
{
	NCCL_OK(ncclAllToAll(m->send, m->receive, g->n_elements, ncclFloat, m->comm, m->stream));
}

static float all_to_all_value(const struct group *g, const struct member *m, size_t i)
{
	return sent_by((int)(i / g->n_elements),
		       (size_t)m->rank * g->n_elements + i % g->n_elements);
}

static const struct operation {
	const char *name;
	void (*start)(const struct group *g, const struct member *m);
	float (*value)(const struct group *g, const struct member *m, size_t i); /* -1: any */
	bool all_ranks; /* n_ranks * n_elements are received, otherwise n_elements */
} operations[] = {
	{ "all-reduce", all_reduce, all_reduce_value, false },
	{ "all-reduce max", all_reduce_max, all_reduce_max_value, false },
	{ "broadcast", broadcast, broadcast_value, false },
	{ "reduce", reduce, reduce_value, false },
	{ "all-gather", all_gather, all_gather_value, true },
	{ "reduce-scatter", reduce_scatter, reduce_scatter_value, false },
	{ "send and receive", send_receive, send_receive_value, false },
	{ "all-to-all", all_to_all, all_to_all_value, true },
};

static void fill_buffers(const struct group *g, const struct member *m)
{
	size_t n = (size_t)g->n_ranks * g->n_elements;

	HIP_OK(hipSetDevice(m->device));
	for (size_t i = 0; i < n; i++)
		g->host[i] = sent_by(m->rank, i);
	HIP_OK(hipMemcpy(m->send, g->host, n * sizeof(float), hipMemcpyHostToDevice));
	HIP_OK(hipMemset(m->receive, 0xff, n * sizeof(float))); /* NaN: equal to no value */
	HIP_OK(hipDeviceSynchronize());
}

static size_t count_wrong(const struct group *g, const struct member *m, const struct operation *op)
{
	size_t n = op->all_ranks ? (size_t)g->n_ranks * g->n_elements : g->n_elements, n_wrong = 0;

	HIP_OK(hipSetDevice(m->device));
	HIP_OK(hipStreamSynchronize(m->stream));
	HIP_OK(hipMemcpy(g->host, m->receive, n * sizeof(float), hipMemcpyDeviceToHost));
	for (size_t i = 0; i < n; i++) {
		float want = op->value(g, m, i);

		if (want == -1 || g->host[i] == want)
			continue;
		if (!n_wrong++)
			fprintf(stderr, "collectives: %s: rank %d: element %zu is %g, not %g\n",
				op->name, m->rank, i, (double)g->host[i], (double)want);
	}
	return n_wrong;
}

static bool run_operation(const struct group *g, const struct operation *op)
{
	size_t n_wrong = 0;

	for (int i = 0; i < g->n_members; i++)
		fill_buffers(g, &g->members[i]);
	NCCL_OK(ncclGroupStart());
	for (int i = 0; i < g->n_members; i++)
		op->start(g, &g->members[i]);
	NCCL_OK(ncclGroupEnd());
	for (int i = 0; i < g->n_members; i++)
		n_wrong += count_wrong(g, &g->members[i], op);
	if (n_wrong || g->members[0].rank == 0)
		printf("%-17s %8zu elements, %d ranks: %s\n", op->name, g->n_elements, g->n_ranks,
		       n_wrong ? "WRONG" : "ok");
	return n_wrong == 0;
}

static bool run_all(struct group *g, const size_t *counts, int n_counts)
{
	bool right = true;

	for (int c = 0; c < n_counts; c++) {
		size_t n_bytes = (size_t)g->n_ranks * counts[c] * sizeof(float);

		g->n_elements = counts[c];
		g->host = malloc(n_bytes);
		if (!g->host) {
			fprintf(stderr, "collectives: out of memory\n");
			_exit(2);
		}
		for (int i = 0; i < g->n_members; i++) {
			HIP_OK(hipSetDevice(g->members[i].device));
			HIP_OK(hipMalloc((void **)&g->members[i].send, n_bytes));
			HIP_OK(hipMalloc((void **)&g->members[i].receive, n_bytes));
		}
		for (size_t o = 0; o < sizeof(operations) / sizeof(*operations); o++)
			right &= run_operation(g, &operations[o]);
		for (int i = 0; i < g->n_members; i++) {
			HIP_OK(hipFree(g->members[i].send));
			HIP_OK(hipFree(g->members[i].receive));
		}
		free(g->host);
	}
	for (int i = 0; i < g->n_members; i++) {
		HIP_OK(hipStreamDestroy(g->members[i].stream));
		NCCL_OK(ncclCommDestroy(g->members[i].comm));
	}
	return right;
}

static int one_process(const size_t *counts, int n_counts)
{
	struct group g = { 0 };
	ncclComm_t comms[MAX_RANKS];

	HIP_OK(hipGetDeviceCount(&g.n_ranks));
	if (g.n_ranks > MAX_RANKS)
		g.n_ranks = MAX_RANKS;
	g.n_members = g.n_ranks;
	NCCL_OK(ncclCommInitAll(comms, g.n_ranks, NULL));
	for (int i = 0; i < g.n_ranks; i++) {
		g.members[i] = (struct member){ .rank = i, .device = i, .comm = comms[i] };
		HIP_OK(hipSetDevice(i));
		HIP_OK(hipStreamCreate(&g.members[i].stream));
	}
	return run_all(&g, counts, n_counts) ? 0 : 1;
}

/* A rank: reads number of ranks, its own and the id from the parent, a fresh program. */
static int rank_main(int fd, const size_t *counts, int n_counts)
{
	struct group g = { .n_members = 1 };
	struct member *m = &g.members[0];
	ncclUniqueId id;

	if (read(fd, &g.n_ranks, sizeof(int)) != sizeof(int) ||
	    read(fd, &m->rank, sizeof(int)) != sizeof(int) ||
	    read(fd, &id, sizeof(id)) != sizeof(id)) {
		fprintf(stderr, "collectives: rank: nothing to read on descriptor %d\n", fd);
		return 2;
	}
	m->device = m->rank;
	HIP_OK(hipSetDevice(m->device));
	HIP_OK(hipStreamCreate(&m->stream));
	NCCL_OK(ncclCommInitRank(&m->comm, g.n_ranks, id, m->rank));
	return run_all(&g, counts, n_counts) ? 0 : 1;
}

/* Every rank starts over by exec: HIP does not survive a fork. The parent is the meeting place. */
static int one_process_per_gpu(char **argv)
{
	ncclUniqueId id;
	pid_t pids[MAX_RANKS];
	int n_ranks, result = 0;

	HIP_OK(hipGetDeviceCount(&n_ranks));
	if (n_ranks > MAX_RANKS)
		n_ranks = MAX_RANKS;
	NCCL_OK(ncclGetUniqueId(&id));
	for (int rank = 0; rank < n_ranks; rank++) {
		int ends[2];

		if (pipe(ends)) {
			perror("collectives: pipe");
			return 2;
		}
		if (write(ends[1], &n_ranks, sizeof(int)) < 0 ||
		    write(ends[1], &rank, sizeof(int)) < 0 || write(ends[1], &id, sizeof(id)) < 0)
			return 2;
		close(ends[1]);
		pids[rank] = fork();
		if (pids[rank] == 0) {
			char number[16];

			snprintf(number, sizeof(number), "rank:%d", ends[0]);
			argv[1] = number;
			execv("/proc/self/exe", argv);
			_exit(127);
		}
		close(ends[0]);
	}
	for (int rank = 0; rank < n_ranks; rank++) {
		int status = 0;

		if (pids[rank] > 0 && waitpid(pids[rank], &status, 0) == pids[rank] &&
		    WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		fprintf(stderr, "collectives: rank %d ended with status 0x%x\n", rank, status);
		result = 1;
	}
	return result;
}

int main(int argc, char **argv)
{
	size_t counts[MAX_COUNTS] = { 100, 20000 };
	int n_counts = 2, fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2)
		n_counts = argc - 2 < MAX_COUNTS ? argc - 2 : MAX_COUNTS;
	for (int i = 0; i < argc - 2 && i < MAX_COUNTS; i++)
		counts[i] = strtoul(argv[i + 2], NULL, 0);
	if (argc > 1 && !strcmp(argv[1], "threads"))
		return one_process(counts, n_counts);
	if (argc > 1 && !strcmp(argv[1], "processes"))
		return one_process_per_gpu(argv);
	if (argc > 1 && sscanf(argv[1], "rank:%d", &fd) == 1)
		return rank_main(fd, counts, n_counts);
	fprintf(stderr, "usage: collectives threads|processes [ELEMENTS...]\n");
	return 2;
}
