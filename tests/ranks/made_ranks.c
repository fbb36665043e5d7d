#include "tests/ranks/made_ranks.h"

#include "capture/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_NS 40000u
#define SLOW_NS 60000u /* of the slow rank */
#define EXIT_NS 3000u  /* from the last entry to the first exit, at least */
#define FIRST_PID 1000u
#define TEXT(w, text) cap_writer_intern(w, text, strlen(text))

/* Numbers that are the same for the same seed, rank and step, in whatever order they are asked for. */
static double chance(uint64_t a, uint64_t b)
{
	uint64_t x = (a * 0x9e3779b97f4a7c15u) ^ (b + 0x7f4a7c15u) * 0xbf58476d1ce4e5b9u;

	x = (x ^ x >> 31) * 0x94d049bb133111ebu;
	x ^= x >> 29;
	return (double)(x >> 11) / (double)(1ull << 53);
}

uint64_t made_ranks_shown(const struct made_ranks *made, uint32_t node, uint64_t true_ns)
{
	double drift = made->drift_ppm * 1e-6 * node;

	return true_ns + (uint64_t)(made->offset_ns * node) +
	       (uint64_t)(int64_t)(drift * (double)(int64_t)(true_ns - MADE_RANKS_START_NS));
}

static uint64_t kernel_ns(const struct made_ranks *made, uint32_t rank)
{
	return rank == made->slow_rank ? SLOW_NS : KERNEL_NS;
}

/* True times of a rank in a step. */
static uint64_t entered_ns(const struct made_ranks *made, uint32_t rank, uint32_t step)
{
	return MADE_RANKS_START_NS + step * made->step_ns +
	       made->n_kernels * kernel_ns(made, rank) +
	       (uint64_t)(20000 * chance(made->seed + rank, step));
}

static uint32_t n_pairs(const struct made_ranks *made)
{
	uint32_t n_nodes = (made->n_ranks + made->per_node - 1) / made->per_node;

	return made->chain && n_nodes > 1 ? n_nodes - 1 : 1;
}

static bool takes_part(const struct made_ranks *made, uint32_t rank, uint32_t step)
{
	uint32_t pair = step % n_pairs(made), node = rank / made->per_node;

	return !made->chain || node == pair || node == pair + 1;
}

static uint64_t last_ns(const struct made_ranks *made, uint32_t step)
{
	uint64_t last = 0;

	for (uint32_t rank = 0; rank < made->n_ranks; rank++) {
		uint64_t entered = entered_ns(made, rank, step);

		if (takes_part(made, rank, step))
			last = entered > last ? entered : last;
	}
	return last;
}

static void put_facts(const struct made_ranks *made, struct cap_writer *w, uint32_t rank,
		      uint64_t now_ns)
{
	struct cap_rec_process process = {
		.h = { CAP_REC_FIXED_TAG(PROCESS, struct cap_rec_process), FIRST_PID + rank,
		       now_ns },
		.ppid = 1,
		.main_tid = FIRST_PID + rank,
		.domains = 1u << CAP_DOMAIN_KERNEL_DISPATCH,
	};
	struct cap_rec_agent gpu = { .h = { CAP_REC_FIXED_TAG(AGENT, struct cap_rec_agent), 1, 0 },
				     .type = CAP_AGENT_GPU,
				     .name_str = TEXT(w, "gfx90a") };
	struct cap_rec_queue queue = {
		.h = { CAP_REC_FIXED_TAG(QUEUE, struct cap_rec_queue), 1, 0 }, .agent = 1
	};
	struct cap_rec_code_object code = {
		.h = { CAP_REC_FIXED_TAG(CODE_OBJECT, struct cap_rec_code_object), 1, 0 },
		.agent = 1,
		.uri_str = TEXT(w, "memory://1"),
	};
	struct cap_rec_kernel kernel = {
		.h = { CAP_REC_FIXED_TAG(KERNEL, struct cap_rec_kernel), 1, 0 },
		.code_object = 1,
		.name_str = TEXT(w, "step.kd"),
	};
	struct cap_rec_kernel collective = {
		.h = { CAP_REC_FIXED_TAG(KERNEL, struct cap_rec_kernel), 2, 0 },
		.code_object = 1,
		.name_str = TEXT(w, "ncclDevKernel.kd"),
	};
	struct cap_rec_region region = {
		.h = { CAP_REC_FIXED_TAG(REGION, struct cap_rec_region), 1, 0 },
		.category = made->rccl ? CAP_REGION_RCCL : CAP_REGION_MPI,
		.name_str = made->rccl ? TEXT(w, "ncclAllReduce") : TEXT(w, "MPI_Allreduce"),
	};
	char text[64];

	cap_writer_meta(w, &process.h);
	cap_writer_fact(w, CAP_FACT_ARGV, "./made");
	snprintf(text, sizeof(text), "node%u", rank / made->per_node);
	cap_writer_fact(w, CAP_FACT_HOSTNAME, text);
	snprintf(text, sizeof(text), "OMPI_COMM_WORLD_RANK=%u", rank);
	cap_writer_fact(w, CAP_FACT_ENV, text);
	snprintf(text, sizeof(text), "OMPI_COMM_WORLD_SIZE=%u", made->n_ranks);
	cap_writer_fact(w, CAP_FACT_ENV, text);
	cap_writer_meta(w, &gpu.h);
	cap_writer_meta(w, &queue.h);
	cap_writer_meta(w, &code.h);
	cap_writer_meta(w, &kernel.h);
	if (made->rccl)
		cap_writer_meta(w, &collective.h);
	cap_writer_meta(w, &region.h);
}

/*
 * Calls of RCCL return long before the collective is done, by a kernel from @entered to @left. Two are a
 * group. The correlation ids of a step are from 10 on; another thread has the same ones, and so does a
 * kernel that the step launched outside of the group.
 */
static uint64_t put_rccl(const struct made_ranks *made, struct cap_lane *gpu, struct cap_lane *host,
			 struct cap_rec_collective *first, uint64_t entered, uint64_t left)
{
	uint32_t node = first->rank / made->per_node;
	uint64_t step = first->seq, called = entered - 30000;
	struct cap_rec_collective op = *first;
	struct cap_rec_launched launched = {
		.h = { CAP_REC_FIXED_TAG(LAUNCHED, struct cap_rec_launched), (uint32_t)step + 1,
		       made_ranks_shown(made, node, called + 2000) },
		.first_corr_id = step * 100 + 10,
		.end_corr_id = step * 100 + 20,
		.tid = FIRST_PID + first->rank,
	};
	struct cap_rec_dispatch dispatch = {
		.h = { CAP_REC_FIXED_TAG(DISPATCH, struct cap_rec_dispatch), 2,
		       made_ranks_shown(made, node, entered) },
		.end_ns = made_ranks_shown(made, node, left),
		.corr_id = step * 100 + 19,
		.dispatch_id = 1000000 + step,
		.tid = launched.tid,
		.agent = 1,
		.queue = 1,
	};
	uint64_t n = 0;

	for (uint32_t i = 0; i < 2; i++) {
		op.seq = step * 2 + i;
		op.launch = launched.h.what;
		op.h.time = made_ranks_shown(made, node, called + i * 500);
		op.end_ticks = op.h.time + 400;
		n += cap_lane_append(host, &op.h);
	}
	n += cap_lane_append(host, &launched.h);
	n += cap_lane_append(gpu, &dispatch.h);
	dispatch.h.time -= 1000000;
	dispatch.end_ns += 1000000;
	dispatch.tid++;
	n += cap_lane_append(gpu, &dispatch.h);
	dispatch.tid--;
	dispatch.corr_id++; /* the end is the first id that is not its own */
	n += cap_lane_append(gpu, &dispatch.h);
	return n;
}

static uint64_t put_step(const struct made_ranks *made, struct cap_lane *gpu, struct cap_lane *host,
			 uint32_t rank, uint32_t step, uint64_t last)
{
	uint32_t node = rank / made->per_node;
	uint64_t begin = MADE_RANKS_START_NS + step * made->step_ns;
	uint64_t entered = entered_ns(made, rank, step);
	uint64_t left = last + EXIT_NS + (uint64_t)(5000 * chance(made->seed + 77 + rank, step));
	struct cap_rec_collective collective = {
		.h = { CAP_REC_FIXED_TAG(COLLECTIVE, struct cap_rec_collective), 1, 0 },
		.comm = 7 + step % n_pairs(made),
		.seq = step / n_pairs(made),
		.rank = rank,
		.n_ranks = made->chain ? 2 * made->per_node : made->n_ranks,
		.root = -1,
	};
	struct cap_rec enter = { CAP_REC_FIXED_TAG(ENTER, struct cap_rec_enter), 1, 0 };
	struct cap_rec leave = { CAP_REC_FIXED_TAG(LEAVE, struct cap_rec_leave), 1, 0 };
	uint64_t n = 0;

	for (uint32_t i = 0; i < made->n_kernels; i++) {
		uint64_t start = begin + i * kernel_ns(made, rank);
		struct cap_rec_dispatch dispatch = {
			.h = { CAP_REC_FIXED_TAG(DISPATCH, struct cap_rec_dispatch), 1,
			       made_ranks_shown(made, node, start) },
			.end_ns = made_ranks_shown(made, node, start + kernel_ns(made, rank)),
			.dispatch_id = (uint64_t)step * made->n_kernels + i + 1,
			.tid = FIRST_PID + rank,
			.agent = 1,
			.queue = 1,
		};

		n += cap_lane_append(gpu, &dispatch.h);
	}
	if (made->no_collectives || !takes_part(made, rank, step))
		return n;
	if (made->wrong_every && step % made->wrong_every == made->wrong_every - 1 && node)
		entered += 300000000; /* as if it were another operation */
	if (made->rccl)
		return n + put_rccl(made, gpu, host, &collective, entered, left);
	collective.h.time = enter.time = made_ranks_shown(made, node, entered);
	collective.end_ticks = leave.time =
		made_ranks_shown(made, node, left > entered ? left : entered + 1);
	n += cap_lane_append(host, &enter);
	n += cap_lane_append(host, &collective.h);
	n += cap_lane_append(host, &leave);
	return n;
}

/* As mpirun on a login node: it has no rank, and takes part in nothing. */
static int write_launcher(const char *dir)
{
	struct cap_writer_opts opts = { .imported = true,
					.pid = 77,
					.boot_id = { 9 },
					.created_ns = 5000000000,
					.created_realtime_ns = MADE_RANKS_START_NS };
	struct cap_rec_process process = {
		.h = { CAP_REC_FIXED_TAG(PROCESS, struct cap_rec_process), 77, 5000000000 },
		.main_tid = 77,
	};
	struct cap_rec_end over = { .h = { CAP_REC_FIXED_TAG(END, struct cap_rec_end), CAP_END_EXIT,
					   6000000000 } };
	struct cap_writer *w = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/launcher.wcap", dir);
	if (cap_writer_open(path, &opts, &w, NULL))
		return -1;
	cap_writer_meta(w, &process.h);
	cap_writer_fact(w, CAP_FACT_ARGV, "mpirun");
	cap_writer_fact(w, CAP_FACT_HOSTNAME, "login");
	cap_writer_meta(w, &over.h);
	cap_writer_end(w, CAP_END_EXIT);
	cap_writer_close(w);
	return 0;
}

int made_ranks_write(const struct made_ranks *made, const char *dir, uint64_t *out_records)
{
	uint64_t *last = calloc(made->n_steps + 1, sizeof(*last));

	*out_records = 0;
	for (uint32_t step = 0; last && step < made->n_steps; step++)
		last[step] = last_ns(made, step);
	for (uint32_t rank = 0; last && rank < made->n_ranks; rank++) {
		uint32_t node = rank / made->per_node;
		uint64_t begin = made_ranks_shown(made, node, MADE_RANKS_START_NS - 1000000);
		uint64_t end =
			made_ranks_shown(made, node,
					 MADE_RANKS_START_NS + made->n_steps * made->step_ns);
		struct cap_writer_opts opts = { .imported = true,
						.pid = FIRST_PID + rank,
						.boot_id = { 1, (uint8_t)node,
							     (uint8_t)(node >> 8) },
						.created_ns = begin,
						.created_realtime_ns = begin };
		struct cap_rec_end over = { .h = { CAP_REC_FIXED_TAG(END, struct cap_rec_end),
						   CAP_END_EXIT, end } };
		struct cap_writer *w = NULL;
		struct cap_lane *gpu, *host;
		struct ws_err err;
		char path[4096];

		if (rank == made->skip_rank)
			continue;
		snprintf(path, sizeof(path), "%s/rank%u.wcap", dir, rank);
		if (cap_writer_open(path, &opts, &w, &err)) {
			fprintf(stderr, "%s\n", err.text);
			free(last);
			return -1;
		}
		put_facts(made, w, rank, begin);
		gpu = cap_lane_get(w, FIRST_PID + rank);
		host = cap_lane_get(w, FIRST_PID + rank);
		for (uint32_t step = 0; gpu && host && step < made->n_steps; step++)
			*out_records += put_step(made, gpu, host, rank, step, last[step]);
		cap_writer_meta(w, &over.h);
		cap_writer_end(w, CAP_END_EXIT);
		cap_writer_close(w);
	}
	free(last);
	return made->launcher ? write_launcher(dir) : 0;
}
