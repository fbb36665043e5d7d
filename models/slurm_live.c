#include "base/log.h"
#include "models/slurm_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a node prints between two turns may be more: the next turn goes on with it. */
#define LIVE_BYTES_A_TURN (256u << 10)

void mdl_slurm_live_begin(const struct mdl_slurm_plan *plan, const char *job,
			  struct ws_arena *arena, struct mdl_slurm_live *out_live)
{
	*out_live = (struct mdl_slurm_live){ .plan = plan, .job = job };
	if (plan->options->live_output)
		out_live->shown_bytes =
			ws_arena_array(arena, plan->n_nodes, sizeof(*out_live->shown_bytes));
}

/* Prints the whole lines of @text with the rank in front; returns how many bytes these are. */
static size_t print_lines(size_t rank, bool many, struct ws_str text)
{
	const char *last = memrchr(text.at, '\n', text.n);
	size_t n = last ? (size_t)(last - text.at) + 1 : 0;
	struct ws_str rest = { text.at, n }, line;

	if (!last && text.n == LIVE_BYTES_A_TURN)
		rest.n = n = text.n; /* a line that long is shown in parts */
	while (rest.n && ws_str_next(&rest, '\n', &line)) {
		if (many)
			printf("[%zu] ", rank);
		ws_print(stdout, "%.*s\n", WS_STR_ARGS(line));
	}
	return n;
}

void mdl_slurm_live_turn(struct mdl_slurm_live *live)
{
	const struct mdl_slurm_plan *plan = live->plan;
	static char block[LIVE_BYTES_A_TURN]; /* the main thread only */

	for (size_t i = 0; live->shown_bytes && i < plan->n_nodes; i++) {
		char path[PATH_MAX];
		ssize_t n;
		int fd;

		if (snprintf(path, sizeof(path), "%s/madengine-%s_%s_node_%zu.out",
			     plan->output_dir, plan->model, live->job, i) >= (int)sizeof(path))
			continue;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue; /* it has not started yet */
		n = pread(fd, block, sizeof(block), (off_t)live->shown_bytes[i]);
		close(fd);
		if (n > 0)
			live->shown_bytes[i] += print_lines(i, plan->n_nodes > 1,
							    (struct ws_str){ block, (size_t)n });
	}
	if (live->shown_bytes)
		fflush(stdout);
}
