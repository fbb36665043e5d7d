#include "launch/rank.h"

#include "base/str.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* The first three of each are ours; AMD's tool knows the rest, in this order. */
static const char *const rank_names[] = {
	"PMI_RANK",        "PMIX_RANK",  "FLUX_TASK_RANK",      "MPI_RANK",
	"MPI_LOCALRANKID", "MPI_RANKID", "MV2_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK",
};
static const char *const size_names[] = {
	"PMI_SIZE",        "PMIX_SIZE",  "FLUX_JOB_SIZE",       "MPI_SIZE",
	"MPI_LOCALNRANKS", "MPI_NRANKS", "MV2_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
};

static const char *own_get(const void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

struct launch_lookup launch_lookup_own(void)
{
	return (struct launch_lookup){ own_get, NULL };
}

static const char *list_get(const void *ctx, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *env = ctx; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

struct launch_lookup launch_lookup_list(const char *const *env)
{
	return (struct launch_lookup){ list_get, env };
}

static bool number(struct launch_lookup env, const char *name, uint64_t *out)
{
	const char *text = env.get(env.ctx, name);

	return text && ws_str_u64(ws_str_from(text), out);
}

static bool last_set(struct launch_lookup env, const char *const *names, size_t n, uint64_t *out)
{
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found |= number(env, names[i], out);
	return found;
}

void launch_rank_find(struct launch_lookup env, struct launch_rank *out_rank)
{
	*out_rank = (struct launch_rank){ .size = 1 };
	/*
	 * Slurm first, so that another launcher's word counts more: ranks that mpirun starts
	 * inside a batch job all inherit the batch script's SLURM_PROCID, which is 0.
	 */
	out_rank->known = number(env, "SLURM_PROCID", &out_rank->rank);
	out_rank->size_known = number(env, "SLURM_STEP_NUM_TASKS", &out_rank->size);
	out_rank->known |= last_set(env, rank_names, WS_ARRAY_LEN(rank_names), &out_rank->rank);
	out_rank->size_known |=
		last_set(env, size_names, WS_ARRAY_LEN(size_names), &out_rank->size);
	number(env, "SLURM_JOB_ID", &out_rank->job);
}

/* clang-format off */
static const struct launcher {
	const char *name, *rank, *size; /* size NULL: it does not say */
} launchers[] = {
	{ "Slurm",       "SLURM_PROCID",         "SLURM_NTASKS" },
	{ "Flux",        "FLUX_TASK_RANK",       "FLUX_JOB_SIZE" },
	{ "PMI",         "PMI_RANK",             "PMI_SIZE" }, /* MPICH and Intel MPI */
	{ "PMIx",        "PMIX_RANK",            NULL },
	{ "PALS",        "PALS_RANKID",          "PALS_WORLD_SIZE" },
	{ "Open MPI",    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "MVAPICH2",    "MV2_COMM_WORLD_RANK",  "MV2_COMM_WORLD_SIZE" },
	{ "MPI",         "MPI_RANKID",           "MPI_NRANKS" },
	{ "MPI",         "MPI_LOCALRANKID",      "MPI_LOCALNRANKS" },
	{ "MPI",         "MPI_RANK",             "MPI_SIZE" },
};
/* clang-format on */

/*
 * Whether Slurm's rank may be that of somebody around us: srun numbers its steps, a batch
 * script has no number; and a step of one task may have started another launcher.
 */
static bool slurm_is_outside(struct launch_lookup env)
{
	uint64_t n_tasks;

	if (!env.get(env.ctx, "SLURM_JOB_ID"))
		return false;
	if (!env.get(env.ctx, "SLURM_STEP_ID") && !env.get(env.ctx, "SLURM_STEPID"))
		return true;
	return number(env, "SLURM_STEP_NUM_TASKS", &n_tasks) && n_tasks == 1;
}

void launch_rank_find_first(struct launch_lookup env, struct launch_rank *out_rank,
			    const char **out_launcher)
{
	const struct launcher *found = NULL;
	bool outside = slurm_is_outside(env);

	*out_rank = (struct launch_rank){ .size = 1 };
	for (size_t i = 0; i < WS_ARRAY_LEN(launchers); i++) {
		uint64_t rank;

		if (!number(env, launchers[i].rank, &rank))
			continue;
		if (!found || (outside && found == &launchers[0])) {
			found = &launchers[i];
			out_rank->rank = rank;
		}
	}
	out_rank->known = found != NULL;
	number(env, "SLURM_JOB_ID", &out_rank->job);
	/* Some leave the size to a neighbour: PMIx never says, Open MPI beside it does. */
	out_rank->size_known = found && found->size && number(env, found->size, &out_rank->size);
	for (size_t i = 0; found && !out_rank->size_known && i < WS_ARRAY_LEN(launchers); i++)
		out_rank->size_known =
			launchers[i].size && number(env, launchers[i].size, &out_rank->size);
	if (out_launcher)
		*out_launcher = found ? found->name : NULL;
}

enum ws_status launch_rank_named(struct launch_lookup env, const char *rank_name,
				 const char *size_name, struct launch_rank *out_rank,
				 struct ws_err *err)
{
	const char *rank_text = env.get(env.ctx, rank_name);
	const char *size_text = env.get(env.ctx, size_name);
	struct launch_rank rank = { .size = 1, .job = out_rank->job };

	if (size_text && (!ws_str_u64(ws_str_from(size_text), &rank.size) || !rank.size))
		return ws_fail(err, WS_E_USAGE,
			       "--mpi-world-size-variable: %s is '%s', not a number of ranks",
			       size_name, size_text);
	if (rank_text && !ws_str_u64(ws_str_from(rank_text), &rank.rank))
		return ws_fail(err, WS_E_USAGE, "--mpi-world-rank-variable: %s is '%s', not a rank",
			       rank_name, rank_text);
	rank.known = rank_text != NULL;
	rank.size_known = size_text != NULL;
	if (rank.known && rank.size_known && rank.rank >= rank.size)
		return ws_fail(err, WS_E_USAGE,
			       "--mpi-world-rank-variable: %s is %s, but %s is %s: ranks are 0 "
			       "to %llu",
			       rank_name, rank_text, size_name, size_text,
			       (unsigned long long)rank.size - 1);
	*out_rank = rank;
	return WS_OK;
}

enum ws_status launch_rank_listed(const char *list, const struct launch_rank *rank,
				  bool *out_listed, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(list), part;
	bool listed = false;

	while (ws_str_next(&rest, ',', &part)) {
		struct ws_str low;
		uint64_t first, last;

		part = ws_str_trim(part);
		ws_str_next(&part, '-', &low);
		if (!ws_str_u64(low, &first) ||
		    !(part.at ? ws_str_u64(part, &last) : (last = first, true)) || last < first)
			return ws_fail(err, WS_E_USAGE, "'%s' is not a list of ranks such as 0-3,8",
				       list);
		if (rank->size_known && last >= rank->size)
			return ws_fail(err, WS_E_USAGE,
				       "no rank %llu in '%s': this job has %llu ranks, 0 to %llu",
				       (unsigned long long)last, list,
				       (unsigned long long)rank->size,
				       (unsigned long long)rank->size - 1);
		listed |= rank->rank >= first && rank->rank <= last;
	}
	*out_listed = listed;
	return WS_OK;
}
