#include "collector/rccl/comms.h"

#include "base/util.h"
#include "capture/writer.h"
#include "collector/interpose/resolve.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* ---- what RCCL says ---- */

enum { COMM_COUNT, COMM_USER_RANK, N_FUNCTIONS };
static const char *const symbols[N_FUNCTIONS] = { "ncclCommCount", "ncclCommUserRank" };
static const char *const libraries[] = { "librccl.so", "libnccl.so", NULL };
static void *functions[N_FUNCTIONS];
static struct col_api api = { functions, symbols, N_FUNCTIONS, libraries, NULL };

static int32_t ask(int row, void *comm)
{
	int (*fn)(const void *, int *);
	int value;

	*(void **)&fn = __atomic_load_n(&functions[row], __ATOMIC_RELAXED);
	if (!fn)
		*(void **)&fn = col_resolve(&api, (size_t)row);
	return fn && fn(comm, &value) == 0 ? value : -1;
}

int32_t col_rccl_comm_rank(void *comm)
{
	return ask(COMM_USER_RANK, comm);
}

int32_t col_rccl_comm_count(void *comm)
{
	return ask(COMM_COUNT, comm);
}

/* ---- numbers ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ (value + 0x632be59bd9b4e019u)) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

uint64_t col_rccl_comm_id(const void *unique_id)
{
	uint64_t hash = 0, word;

	for (size_t i = 0; i < COL_RCCL_UNIQUE_ID_BYTES; i += sizeof(word)) {
		memcpy(&word, (const char *)unique_id + i, sizeof(word));
		hash = mix(hash, word);
	}
	return hash | 1;
}

uint64_t col_rccl_comm_own_id(void)
{
	return mix(mix((uint64_t)getpid(), cap_ticks()), (uintptr_t)&api) | 1;
}

uint64_t col_rccl_comm_split_id(uint64_t id, uint64_t seq, int32_t color)
{
	return mix(mix(id, seq), (uint32_t)color) | 1;
}

/* ---- the table ---- */

struct comm {
	void *handle; /* NULL: free */
	uint64_t id, n_operations;
	int32_t rank, n_ranks;
};

static struct {
	pthread_mutex_t lock;
	struct comm comms[COL_RCCL_COMMS_MAX];
	uint32_t n; /* slots that were ever used */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Linear: programs have a few. Under the lock. */
static struct comm *find(void *handle)
{
	for (uint32_t i = 0; i < all.n; i++)
		if (all.comms[i].handle == handle)
			return &all.comms[i];
	return NULL;
}

void col_rccl_comm_made(void *comm, uint64_t id, int32_t rank, int32_t n_ranks)
{
	struct comm *row;

	if (!comm)
		return;
	pthread_mutex_lock(&all.lock);
	row = find(comm); /* its end was not seen, and the address is used again */
	if (!row)
		row = find(NULL);
	if (!row && all.n < COL_RCCL_COMMS_MAX)
		row = &all.comms[all.n++];
	if (row)
		*row = (struct comm){ comm, id, 0, rank, n_ranks };
	pthread_mutex_unlock(&all.lock);
}

void col_rccl_comm_gone(void *comm)
{
	struct comm *row;

	pthread_mutex_lock(&all.lock);
	row = comm ? find(comm) : NULL;
	if (row)
		*row = (struct comm){ 0 };
	pthread_mutex_unlock(&all.lock);
}

bool col_rccl_comm_next(void *comm, struct cap_rec_collective *out)
{
	struct comm *row;

	pthread_mutex_lock(&all.lock);
	row = comm ? find(comm) : NULL;
	if (row && row->rank < 0) {
		row->rank = col_rccl_comm_rank(comm);
		row->n_ranks = col_rccl_comm_count(comm);
	}
	if (row) {
		out->comm = row->id;
		out->seq = row->n_operations++;
		out->rank = (uint32_t)WS_MAX(row->rank, 0);
		out->n_ranks = (uint32_t)WS_MAX(row->n_ranks, 0); /* 0: unknown */
	}
	pthread_mutex_unlock(&all.lock);
	return row != NULL;
}
