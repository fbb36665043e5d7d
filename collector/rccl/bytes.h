/*
 * bytes: what calls of RCCL send and receive, as metrics (collector/comm.h).
 *
 * rccl.abi names a hook for each function that moves data; the wrappers call it after the
 * function, with its result and arguments. Bytes are counted while regions are recorded
 * (rocprof-sys), and are those of the arguments: the operation itself may run later.
 *
 * Threads  any.
 */
#ifndef WS_COLLECTOR_RCCL_BYTES_H
#define WS_COLLECTOR_RCCL_BYTES_H

#include <stdint.h>

#define COL_RCCL_SEND 1u
#define COL_RCCL_RECV 2u
#define COL_RCCL_SEND_EACH 4u /* the count is per rank of the communicator */
#define COL_RCCL_RECV_EACH 8u
#define COL_RCCL_SEND_ROOT 16u /* only the root sends, or receives */
#define COL_RCCL_RECV_ROOT 32u
#define COL_RCCL_RECV_OTHERS 64u /* all but the root */

void col_rccl_moved(int32_t ret, uint64_t count, int32_t type, int32_t root, void *comm,
		    uint32_t what);

/* clang-format off */
#define COL_RCCL_BOTH (COL_RCCL_SEND | COL_RCCL_RECV)
#define col_rccl_send(ret, token, buff, count, type, peer, comm, stream) \
	col_rccl_moved(ret, count, type, -1, comm, COL_RCCL_SEND)
#define col_rccl_recv(ret, token, buff, count, type, peer, comm, stream) \
	col_rccl_moved(ret, count, type, -1, comm, COL_RCCL_RECV)
#define col_rccl_all_gather(ret, token, send, recv, count, type, comm, stream) \
	col_rccl_moved(ret, count, type, -1, comm, COL_RCCL_BOTH | COL_RCCL_RECV_EACH)
#define col_rccl_all_to_all(ret, token, send, recv, count, type, comm, stream) \
	col_rccl_moved(ret, count, type, -1, comm, COL_RCCL_BOTH | COL_RCCL_SEND_EACH | COL_RCCL_RECV_EACH)
#define col_rccl_all_reduce(ret, token, send, recv, count, type, op, comm, ...) \
	col_rccl_moved(ret, count, type, -1, comm, COL_RCCL_BOTH)
#define col_rccl_reduce_scatter(ret, token, send, recv, count, type, op, comm, stream) \
	col_rccl_moved(ret, count, type, -1, comm, COL_RCCL_BOTH | COL_RCCL_SEND_EACH)
#define col_rccl_reduce(ret, token, send, recv, count, type, op, root, comm, stream) \
	col_rccl_moved(ret, count, type, root, comm, COL_RCCL_BOTH | COL_RCCL_RECV_ROOT)
#define col_rccl_broadcast(ret, token, send, recv, count, type, root, comm, stream) \
	col_rccl_moved(ret, count, type, root, comm, COL_RCCL_BOTH | COL_RCCL_SEND_ROOT | COL_RCCL_RECV_OTHERS)
#define col_rccl_bcast(ret, token, buff, count, type, root, comm, stream) \
	col_rccl_moved(ret, count, type, root, comm, COL_RCCL_BOTH | COL_RCCL_SEND_ROOT | COL_RCCL_RECV_OTHERS)
#define col_rccl_gather(ret, token, send, recv, count, type, root, comm, stream) \
	col_rccl_moved(ret, count, type, root, comm, COL_RCCL_BOTH | COL_RCCL_RECV_ROOT | COL_RCCL_RECV_EACH)
#define col_rccl_scatter(ret, token, send, recv, count, type, root, comm, stream) \
	col_rccl_moved(ret, count, type, root, comm, COL_RCCL_BOTH | COL_RCCL_SEND_ROOT | COL_RCCL_SEND_EACH)
/* clang-format on */

#endif
