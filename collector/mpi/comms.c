#include "collector/mpi/comms.h"

#include "base/util.h"
#include "capture/record.h"
#include "collector/interpose/resolve.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

/* Handles of MPICH are numbers; mpi.h, and fixed by the MPICH ABI initiative. */
#define MPICH_COMM_WORLD 0x44000000u
#define MPICH_COMM_NULL 0x04000000u

/* ---- the functions that are called ---- */

enum fn {
	FN_COMM_GROUP,
	FN_COMM_TEST_INTER,
	FN_GROUP_SIZE,
	FN_GROUP_RANK,
	FN_GROUP_TRANSLATE,
	FN_GROUP_FREE,
	FN_NEEDED,
	FN_F2C = FN_NEEDED, /* MPICH: a macro that does nothing */
	FN_OMPI_WORLD,      /* variables of Open MPI, whose handles are addresses */
	FN_OMPI_NULL,
	FN_MPICH, /* what every MPI with MPICH's handles exports: mpi.h has it in a macro */
	FN_COUNT
};
static const char *const symbols[FN_COUNT] = {
	[FN_COMM_GROUP] = "MPI_Comm_group",
	[FN_COMM_TEST_INTER] = "MPI_Comm_test_inter",
	[FN_GROUP_SIZE] = "MPI_Group_size",
	[FN_GROUP_RANK] = "MPI_Group_rank",
	[FN_GROUP_TRANSLATE] = "MPI_Group_translate_ranks",
	[FN_GROUP_FREE] = "MPI_Group_free",
	[FN_F2C] = "MPI_Comm_f2c",
	[FN_OMPI_WORLD] = "ompi_mpi_comm_world",
	[FN_OMPI_NULL] = "ompi_mpi_comm_null",
	[FN_MPICH] = "MPIR_Dup_fn",
};
static void *functions[FN_COUNT];
static struct col_api api = { functions, symbols, FN_COUNT, col_mpi_libraries, NULL };

typedef int of_comm(uintptr_t comm, void *out);
typedef int of_group(uintptr_t group, int *out);
typedef int translate(uintptr_t from, int n, const int *ranks, uintptr_t to, int *out);
typedef uintptr_t f2c(int comm);

/* ---- tables ---- */

struct member_list { /* communicators with the same members */
	uint64_t hash;
	uint64_t n_made;
};
struct comm {
	uintptr_t handle;
	uint64_t id; /* 0: it has no number */
	uint64_t n_collectives;
	uint32_t rank, n_ranks;
	bool live;
};

static struct {
	pthread_mutex_t lock;
	bool started, usable;
	struct comm comms[COL_MPI_COMMS_MAX];
	uint32_t n_comms; /* slots that were ever used */
	struct member_list members[COL_MPI_COMMS_MAX];
	uint32_t n_members;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * A program may have its own copy of a library's variable, which is then the one that the
 * library uses, too: what the program itself would find comes first.
 */
static void *resolve(unsigned row)
{
	if (row == FN_OMPI_WORLD || row == FN_OMPI_NULL)
		functions[row] = col_dlsym_real(RTLD_DEFAULT, symbols[row]);
	return functions[row] ? functions[row] : col_resolve(&api, row);
}

void col_mpi_comms_start(void)
{
	bool usable = true;

	pthread_mutex_lock(&all.lock);
	for (unsigned i = 0; !all.started && i < FN_COUNT; i++)
		usable &= resolve(i) || i >= FN_NEEDED;
	if (!all.started)
		all.usable = usable && (functions[FN_OMPI_WORLD] ? functions[FN_OMPI_NULL] != NULL
								 : functions[FN_MPICH] != NULL);
	all.started = true;
	pthread_mutex_unlock(&all.lock);
}

static uintptr_t world(void)
{
	return functions[FN_OMPI_WORLD] ? (uintptr_t)functions[FN_OMPI_WORLD] : MPICH_COMM_WORLD;
}

uintptr_t col_mpi_comm_world(void)
{
	uintptr_t comm;

	pthread_mutex_lock(&all.lock);
	comm = all.usable ? world() : 0;
	pthread_mutex_unlock(&all.lock);
	return comm;
}

static bool is_null(uintptr_t comm)
{
	return !comm || comm == (functions[FN_OMPI_NULL] ? (uintptr_t)functions[FN_OMPI_NULL]
							 : MPICH_COMM_NULL);
}

uintptr_t col_mpi_comm_of(uintptr_t argument, bool fortran)
{
	if (fortran)
		return col_mpi_comm_at(argument, true);
	return functions[FN_OMPI_WORLD] ? argument : (uint32_t)argument;
}

uintptr_t col_mpi_comm_at(uintptr_t argument, bool fortran)
{
	if (!argument) /* an error of the program, for MPI to report */
		return 0;
	if (fortran)
		return functions[FN_OMPI_WORLD] && functions[FN_F2C]
			       ? ((f2c *)functions[FN_F2C])(*(const int *)argument)
			       : *(const uint32_t *)argument;
	return functions[FN_OMPI_WORLD] ? *(const uintptr_t *)argument
					: *(const uint32_t *)argument;
}

/* ---- numbers ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ (value + 0x632be59bd9b4e019u)) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* The ranks of the members in MPI_COMM_WORLD as one number; 0: it cannot be made. */
static uint64_t hash_members(uintptr_t group, uintptr_t world_group, int n)
{
	size_t n_bytes = 2 * (size_t)n * sizeof(int);
	int *ranks =
		mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t hash = (uint64_t)n;

	if (ranks == MAP_FAILED)
		return 0;
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	if (((translate *)functions[FN_GROUP_TRANSLATE])(group, n, ranks, world_group, ranks + n)) {
		hash = 0;
	} else {
		for (int i = 0; i < n; i++)
			hash = mix(hash, (uint64_t)(uint32_t)ranks[n + i]);
		hash |= 1;
	}
	munmap(ranks, n_bytes);
	return hash;
}

static uint64_t count_made(uint64_t hash)
{
	uint32_t i = 0;

	while (i < all.n_members && all.members[i].hash != hash)
		i++;
	if (i == COL_MPI_COMMS_MAX)
		return UINT64_MAX;
	if (i == all.n_members)
		all.members[all.n_members++].hash = hash;
	return all.members[i].n_made++;
}

static void identify(struct comm *comm)
{
	uintptr_t group = 0, world_group = 0;
	int inter = 1, n = 0, rank = -1;
	uint64_t hash = 0, n_before;

	if (((of_comm *)functions[FN_COMM_TEST_INTER])(comm->handle, &inter) || inter)
		return;
	if (((of_comm *)functions[FN_COMM_GROUP])(comm->handle, &group))
		return;
	if (!((of_comm *)functions[FN_COMM_GROUP])(world(), &world_group)) {
		if (!((of_group *)functions[FN_GROUP_SIZE])(group, &n) && n > 0 &&
		    !((of_group *)functions[FN_GROUP_RANK])(group, &rank) && rank >= 0)
			hash = hash_members(group, world_group, n);
		((of_group *)functions[FN_GROUP_FREE])((uintptr_t)&world_group, NULL);
	}
	((of_group *)functions[FN_GROUP_FREE])((uintptr_t)&group, NULL);
	n_before = hash ? count_made(hash) : UINT64_MAX;
	if (n_before == UINT64_MAX)
		return;
	comm->id = mix(hash, n_before) | 1;
	comm->rank = (uint32_t)rank;
	comm->n_ranks = (uint32_t)n;
}

/* Its row, made if it is new; NULL: the table is full. Under the lock. */
static struct comm *find(uintptr_t handle, bool make)
{
	struct comm *free_one = NULL;

	/* Linear: programs have a few, and the first is MPI_COMM_WORLD in nearly all calls. */
	for (uint32_t i = 0; i < all.n_comms; i++) {
		if (all.comms[i].live && all.comms[i].handle == handle)
			return &all.comms[i];
		if (!all.comms[i].live && !free_one)
			free_one = &all.comms[i];
	}
	if (!make)
		return NULL;
	if (!free_one && all.n_comms < COL_MPI_COMMS_MAX)
		free_one = &all.comms[all.n_comms++];
	if (free_one) {
		*free_one = (struct comm){ .handle = handle, .live = true };
		identify(free_one);
	}
	return free_one;
}

void col_mpi_comm_made(uintptr_t comm)
{
	pthread_mutex_lock(&all.lock);
	if (all.usable && !is_null(comm)) {
		/* The world was there before: its number does not depend on when it is used. */
		find(world(), true);
		find(comm, true);
	}
	pthread_mutex_unlock(&all.lock);
}

void col_mpi_comm_gone(uintptr_t comm)
{
	struct comm *row;

	pthread_mutex_lock(&all.lock);
	row = all.usable ? find(comm, false) : NULL;
	if (row)
		row->live = false;
	pthread_mutex_unlock(&all.lock);
}

bool col_mpi_comm_next(uintptr_t comm, struct cap_rec_collective *out)
{
	struct comm *row = NULL;

	pthread_mutex_lock(&all.lock);
	if (all.usable && !is_null(comm)) {
		find(world(), true);
		row = find(comm, true);
	}
	if (row && row->id) {
		out->comm = row->id;
		out->seq = row->n_collectives++;
		out->rank = row->rank;
		out->n_ranks = row->n_ranks;
	}
	pthread_mutex_unlock(&all.lock);
	return row && row->id;
}
