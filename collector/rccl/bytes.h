/*
 * bytes: what calls of RCCL send and receive, as metrics (collector/comm.h).
 *
 * Bytes are counted while regions are recorded (rocprof-sys), and are those of the arguments: the
 * operation itself may run later.
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

#define COL_RCCL_BOTH (COL_RCCL_SEND | COL_RCCL_RECV)

/* After a call, with its result. @root: -1: it has none. */
void col_rccl_moved(int32_t ret, uint64_t count, int32_t type, int32_t root, void *comm,
		    uint32_t what);

#endif
