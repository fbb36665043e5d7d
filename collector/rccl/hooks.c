#include "collector/rccl/hooks.h"

#include "base/util.h"
#include "collector/comm.h"
#include "collector/regions.h"

#include <errno.h>
#include <pthread.h>

#define NCCL_SUCCESS 0
#define NCCL_IN_PROGRESS 7 /* of a communicator that does not block: it is begun */
#define PENDING_MAX 1024u  /* communicators that open groups make */

/* A communicator that is there when its group ends. */
struct pending {
	const void *group; /* the thread's; NULL: free */
	void **comm;
	uint64_t id;
	int32_t rank, n_ranks;
};

static __thread struct {
	uint32_t depth;         /* of calls with hooks: deeper ones are RCCL's own */
	uint32_t group;         /* open groups */
	uint32_t launch;        /* of the group's collectives; 0: it has none yet */
	uint64_t first_corr_id; /* of the outermost call */
} self __attribute__((tls_model("initial-exec")));

static uint32_t n_launches;

/* Not the thread's: a library that is loaded late gets little thread-local memory. */
static struct {
	pthread_mutex_t lock;
	struct pending at[PENDING_MAX];
	uint32_t n; /* slots that were ever used */
} pending = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t next_corr_id(void)
{
	struct col_thread *t = col_thread();

	return t ? t->next_id : 0;
}

uint64_t col_rccl_enter(void)
{
	int saved_errno = errno;

	if (self.depth++)
		return 0;
	self.first_corr_id = next_corr_id();
	errno = saved_errno;
	return cap_ticks();
}

/* Whether this was the program's call. */
static bool leave(uint64_t token)
{
	self.depth--;
	return token != 0;
}

static bool begun(int32_t ret)
{
	return ret == NCCL_SUCCESS || ret == NCCL_IN_PROGRESS;
}

static void record(struct col_rccl_fn *fn, uint64_t token, struct cap_rec_collective *rec)
{
	uint32_t region = __atomic_load_n(&fn->region, __ATOMIC_RELAXED);

	if (!region) {
		region = col_region_intern(CAP_REGION_RCCL, fn->name, NULL, 0);
		__atomic_store_n(&fn->region, region, __ATOMIC_RELAXED);
	}
	rec->h.what = region;
	rec->h.time = token;
	rec->end_ticks = cap_ticks();
	col_comm_collective(rec);
}

static void record_launch(uint32_t launch)
{
	struct cap_rec_launched rec = {
		.h = { .what = launch, .time = cap_ticks() },
		.first_corr_id = self.first_corr_id,
		.end_corr_id = next_corr_id(),
		.tid = col_thread_self_.tid,
	};

	col_comm_launched(&rec);
}

static uint32_t new_launch(void)
{
	return __atomic_add_fetch(&n_launches, 1, __ATOMIC_RELAXED);
}

void col_rccl_collective(struct col_rccl_fn *fn, uint64_t token, int32_t ret, uint64_t count,
			 int32_t root, void *comm)
{
	struct cap_rec_collective rec = { .root = root };
	int saved_errno = errno;

	/* Of nothing: RCCL launches nothing for it, and nobody waits. */
	if (leave(token) && begun(ret) && col_rccl_comm_next(comm, &rec) && count &&
	    col_on(COL_SERVICE_RCCL)) {
		if (!self.group || !self.launch)
			self.launch = new_launch();
		rec.launch = self.launch;
		record(fn, token, &rec);
		if (!self.group)
			record_launch(rec.launch);
	}
	errno = saved_errno;
}

void col_rccl_point(uint64_t token)
{
	leave(token);
}

/* ---- communicators ---- */

static void made(void **comm, uint64_t id, int32_t rank, int32_t n_ranks)
{
	uint32_t i = 0;

	if (!self.group) {
		col_rccl_comm_made(*comm, id, rank, n_ranks);
		return;
	}
	pthread_mutex_lock(&pending.lock);
	while (i < pending.n && pending.at[i].group)
		i++;
	if (i < PENDING_MAX) {
		pending.at[i] = (struct pending){ &self, comm, id, rank, n_ranks };
		pending.n = WS_MAX(pending.n, i + 1);
	}
	pthread_mutex_unlock(&pending.lock);
}

/* The thread's group has ended: its communicators are there, if all went well. */
static void settle(bool there)
{
	pthread_mutex_lock(&pending.lock);
	for (uint32_t i = 0; i < pending.n; i++) {
		struct pending *p = &pending.at[i];

		if (p->group != &self)
			continue;
		if (there)
			col_rccl_comm_made(*p->comm, p->id, p->rank, p->n_ranks);
		p->group = NULL;
	}
	pthread_mutex_unlock(&pending.lock);
}

/*
 * Ranks exchange addresses to make a communicator: no rank is done before all have begun. A call in a group,
 * or of a communicator that does not block, returns before that.
 */
static void record_waited(struct col_rccl_fn *fn, uint64_t token, int32_t ret,
			  struct cap_rec_collective *rec)
{
	if (!self.group && ret == NCCL_SUCCESS && col_on(COL_SERVICE_RCCL))
		record(fn, token, rec);
}

void col_rccl_init(struct col_rccl_fn *fn, uint64_t token, int32_t ret, void **comm,
		   const void *unique_id, int32_t rank, int32_t n_ranks)
{
	struct cap_rec_collective rec = { .seq = UINT64_MAX, /* before its operations */
					  .rank = (uint32_t)rank,
					  .n_ranks = (uint32_t)n_ranks,
					  .root = -1 };
	int saved_errno = errno;

	if (leave(token) && begun(ret) && comm && unique_id) {
		rec.comm = col_rccl_comm_id(unique_id);
		made(comm, rec.comm, rank, n_ranks);
		record_waited(fn, token, ret, &rec);
	}
	errno = saved_errno;
}

void col_rccl_init_all(uint64_t token, int32_t ret, void **comms, int32_t n)
{
	uint64_t id = col_rccl_comm_own_id();
	int saved_errno = errno;

	if (leave(token) && begun(ret) && comms)
		for (int32_t i = 0; i < n; i++)
			made(&comms[i], id, i, n);
	errno = saved_errno;
}

void col_rccl_split(struct col_rccl_fn *fn, uint64_t token, int32_t ret, void *from, int32_t color,
		    void **comm)
{
	struct cap_rec_collective rec = { .root = -1 };
	int saved_errno = errno;

	if (leave(token) && begun(ret) && comm && col_rccl_comm_next(from, &rec)) {
		made(comm, col_rccl_comm_split_id(rec.comm, rec.seq, color), -1, 0);
		record_waited(fn, token, ret, &rec);
	}
	errno = saved_errno;
}

/* ---- groups ---- */

void col_rccl_group_started(int32_t ret)
{
	if (self.depth || ret != NCCL_SUCCESS)
		return;
	if (self.group++ == 0)
		self.launch = 0;
}

void col_rccl_group_ended(uint64_t token, int32_t ret)
{
	int saved_errno = errno;

	if (leave(token) && self.group && --self.group == 0) {
		settle(begun(ret));
		if (self.launch && begun(ret))
			record_launch(self.launch);
		self.launch = 0;
	}
	errno = saved_errno;
}
