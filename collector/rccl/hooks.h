/*
 * hooks: what happens before and after calls of RCCL, besides the record of the call.
 *
 * rccl.abi names a hook for each function that moves data or makes communicators. Collectives get the
 * number of their communicator (comms.h) and, because GPU work does them after the call has returned,
 * the correlation ids of what the call launched (cap_rec_launched). In a group that is the call
 * which ends the group.
 *
 * Calls that RCCL makes to itself are part of the program's call. Operations are numbered also while
 * nothing is recorded: all ranks have to agree.
 *
 * Threads  any. A group belongs to the thread that began it.
 * errno    kept.
 */
#ifndef WS_COLLECTOR_RCCL_HOOKS_H
#define WS_COLLECTOR_RCCL_HOOKS_H

#include "collector/rccl/bytes.h"
#include "collector/rccl/comms.h"

#include <stdint.h>

/* Of a function, whose hook has one. */
struct col_rccl_fn {
	const char *name;
	uint32_t region; /* 0: not interned yet */
};

/* Before a call. The token is for the hook after it; 0: RCCL called itself. */
uint64_t col_rccl_enter(void);

void col_rccl_collective(struct col_rccl_fn *fn, uint64_t token, int32_t ret, uint64_t count,
			 int32_t root, void *comm);
void col_rccl_point(uint64_t token); /* after a call that is no collective */
void col_rccl_init(struct col_rccl_fn *fn, uint64_t token, int32_t ret, void **comm,
		   const void *unique_id, int32_t rank, int32_t n_ranks);
void col_rccl_init_all(uint64_t token, int32_t ret, void **comms, int32_t n);
void col_rccl_split(struct col_rccl_fn *fn, uint64_t token, int32_t ret, void *from, int32_t color,
		    void **comm);
void col_rccl_group_started(int32_t ret);
void col_rccl_group_ended(uint64_t token, int32_t ret);

/* clang-format off */
#define col_rccl_before(...) col_rccl_enter()
#define col_rccl_gone(comm) col_rccl_comm_gone(comm)

#define COL_RCCL_COLLECTIVE(name, token, ret, count, type, root, comm, what)           \
	do {                                                                    \
		static struct col_rccl_fn fn_ = { name, 0 };                    \
		col_rccl_moved(ret, count, type, root, comm, what);             \
		col_rccl_collective(&fn_, token, ret, count, root, comm);       \
	} while (0)
#define COL_RCCL_MADE(call, name, ...)                                          \
	do {                                                                    \
		static struct col_rccl_fn fn_ = { name, 0 };                    \
		call(&fn_, __VA_ARGS__);                                        \
	} while (0)

#define col_rccl_send(ret, token, buff, count, type, peer, comm, stream) \
	(col_rccl_moved(ret, count, type, -1, comm, COL_RCCL_SEND), col_rccl_point(token))
#define col_rccl_recv(ret, token, buff, count, type, peer, comm, stream) \
	(col_rccl_moved(ret, count, type, -1, comm, COL_RCCL_RECV), col_rccl_point(token))
#define col_rccl_all_gather(ret, token, send, recv, count, type, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclAllGather", token, ret, count, type, -1, comm, COL_RCCL_BOTH | COL_RCCL_RECV_EACH)
#define col_rccl_all_to_all(ret, token, send, recv, count, type, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclAllToAll", token, ret, count, type, -1, comm, \
			    COL_RCCL_BOTH | COL_RCCL_SEND_EACH | COL_RCCL_RECV_EACH)
/* It moves what the arrays say: a rank may neither send nor receive. */
#define col_rccl_all_to_allv(ret, token, send, counts, at, recv, recv_counts, recv_at, type, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclAllToAllv", token, ret, 0, type, -1, comm, 0)
#define col_rccl_all_reduce(ret, token, send, recv, count, type, op, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclAllReduce", token, ret, count, type, -1, comm, COL_RCCL_BOTH)
#define col_rccl_all_reduce_bias(ret, token, send, recv, count, type, op, comm, stream, acc) \
	COL_RCCL_COLLECTIVE("ncclAllReduceWithBias", token, ret, count, type, -1, comm, COL_RCCL_BOTH)
#define col_rccl_reduce_scatter(ret, token, send, recv, count, type, op, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclReduceScatter", token, ret, count, type, -1, comm, COL_RCCL_BOTH | COL_RCCL_SEND_EACH)
#define col_rccl_reduce(ret, token, send, recv, count, type, op, root, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclReduce", token, ret, count, type, root, comm, COL_RCCL_BOTH | COL_RCCL_RECV_ROOT)
#define col_rccl_broadcast(ret, token, send, recv, count, type, root, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclBroadcast", token, ret, count, type, root, comm, \
			    COL_RCCL_BOTH | COL_RCCL_SEND_ROOT | COL_RCCL_RECV_OTHERS)
#define col_rccl_bcast(ret, token, buff, count, type, root, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclBcast", token, ret, count, type, root, comm, \
			    COL_RCCL_BOTH | COL_RCCL_SEND_ROOT | COL_RCCL_RECV_OTHERS)
#define col_rccl_gather(ret, token, send, recv, count, type, root, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclGather", token, ret, count, type, root, comm, \
			    COL_RCCL_BOTH | COL_RCCL_RECV_ROOT | COL_RCCL_RECV_EACH)
#define col_rccl_scatter(ret, token, send, recv, count, type, root, comm, stream) \
	COL_RCCL_COLLECTIVE("ncclScatter", token, ret, count, type, root, comm, \
			    COL_RCCL_BOTH | COL_RCCL_SEND_ROOT | COL_RCCL_SEND_EACH)

#define col_rccl_init_rank(ret, token, comm, n_ranks, id, rank) \
	COL_RCCL_MADE(col_rccl_init, "ncclCommInitRank", token, ret, (void **)(comm), \
		      &(id), rank, n_ranks)
#define col_rccl_init_rank_config(ret, token, comm, n_ranks, id, rank, config) \
	COL_RCCL_MADE(col_rccl_init, "ncclCommInitRankConfig", token, ret, (void **)(comm), \
		      &(id), rank, n_ranks)
/* All ranks pass the same ids: the first is enough. */
#define col_rccl_init_scalable(ret, token, comm, n_ranks, rank, n_ids, ids, config) \
	COL_RCCL_MADE(col_rccl_init, "ncclCommInitRankScalable", token, ret, (void **)(comm), \
		      (n_ids) > 0 ? (ids) : NULL, rank, n_ranks)
#define col_rccl_made_all(ret, token, comms, n, devices) col_rccl_init_all(token, ret, (void **)(comms), n)
#define col_rccl_made_split(ret, token, comm, color, key, made, config) \
	COL_RCCL_MADE(col_rccl_split, "ncclCommSplit", token, ret, comm, color, (void **)(made))
#define col_rccl_group_start(ret, token) col_rccl_group_started(ret)
#define col_rccl_group_end(ret, token) col_rccl_group_ended(token, ret)
/* clang-format on */

#endif
