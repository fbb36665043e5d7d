#include "collector/comm.h"

#include "collector/collector_priv.h"

#include <errno.h>
#include <string.h>

/* Metrics over time (collector/monitor/) are numbered from 1 to 8192. */
#define FIRST_METRIC 8193u

static struct {
	struct col_lock
		lock; /* also: totals of several threads are recorded in the order of time */
	uint64_t totals[COL_COMM_COUNT];
	uint32_t told; /* bit per row: the capture knows the metric */
	struct cap_writer *writer;
} comm;

static void tell(enum col_comm what)
{
	static const char *const names[] = {
#define NAME_ROW(id, name) name,
		COL_COMM_TABLE(NAME_ROW)
#undef NAME_ROW
	};
	struct cap_rec_metric rec = {
		.h = { CAP_REC_FIXED_TAG(METRIC, struct cap_rec_metric), FIRST_METRIC + what, 0 },
		.name_str = cap_writer_intern(comm.writer, names[what], strlen(names[what])),
		.unit_str = cap_writer_intern(comm.writer, "bytes", 5),
		.category = CAP_METRIC_COMM_DATA,
		.device = -1,
	};

	cap_writer_meta(comm.writer, &rec.h);
	comm.told |= 1u << what;
}

void col_comm_add(enum col_comm what, uint64_t n_bytes)
{
	struct {
		struct cap_rec_metrics head;
		struct cap_metric_value value;
	} *rec = NULL;
	int saved_errno = errno;
	struct col_thread *t;
	struct cap_lane *lane;

	if (!n_bytes)
		return;
	t = col_thread(); /* before the lock: it may open the capture */
	col_lock(&comm.lock);
	if (comm.writer && !(comm.told >> what & 1))
		tell(what);
	comm.totals[what] += n_bytes;
	lane = t ? col_thread_lane(t) : NULL;
	if (lane)
		rec = cap_lane_reserve(&lane, sizeof(*rec));
	if (rec) {
		rec->head.h.what = 0;
		rec->head.h.time = cap_ticks();
		rec->head.n_values = 1;
		rec->value = (struct cap_metric_value){ .metric = FIRST_METRIC + what,
							.value = (double)comm.totals[what] };
		cap_lane_commit(lane, &rec->head.h, CAP_REC_TAG(CAP_REC_METRICS, sizeof(*rec)));
	} else {
		col_call_lost_(t, CAP_DOMAIN_METRICS);
	}
	col_unlock(&comm.lock);
	errno = saved_errno;
}

static void append(const struct cap_rec *from, uint32_t tag, uint32_t n_bytes)
{
	struct cap_rec *rec = NULL;
	int saved_errno = errno;
	struct col_thread *t = col_thread();
	struct cap_lane *lane = t ? col_thread_lane(t) : NULL;

	if (lane)
		rec = cap_lane_reserve(&lane, n_bytes);
	if (rec) {
		memcpy(rec, from, n_bytes);
		cap_lane_commit(lane, rec, tag);
	} else {
		col_call_lost_(t, col_asked(COL_SERVICE_REGIONS) ? CAP_DOMAIN_REGIONS
								 : CAP_DOMAIN_RCCL_API);
	}
	errno = saved_errno;
}

void col_comm_collective(const struct cap_rec_collective *collective)
{
	append(&collective->h, CAP_REC_FIXED_TAG(COLLECTIVE, struct cap_rec_collective),
	       sizeof(*collective));
}

void col_comm_launched(const struct cap_rec_launched *launched)
{
	append(&launched->h, CAP_REC_FIXED_TAG(LAUNCHED, struct cap_rec_launched),
	       sizeof(*launched));
}

static void state(struct cap_writer *writer)
{
	col_lock(&comm.lock);
	comm.writer = writer;
	comm.told = 0;
	col_unlock(&comm.lock);
}

static void forked(void)
{
	memset(&comm, 0, sizeof(comm));
}

static void detach(void)
{
	col_lock(&comm.lock);
	comm.writer = NULL;
	col_unlock(&comm.lock);
}

extern const struct col_provider col_provider_comm;
const struct col_provider col_provider_comm = {
	.name = "comm",
	.state = state,
	.forked = forked,
	.detach = detach,
};
