/*
 * comm: what the process exchanges with others: bytes as metrics, and collective operations.
 *
 * Each transfer is a value of a counter track: the total so far. A total that is never added to is
 * not in the capture.
 *
 * Threads  any.
 * errno    kept.
 */
#ifndef WS_COLLECTOR_COMM_H
#define WS_COLLECTOR_COMM_H

#include <stdint.h>

/* clang-format off */
/* Names of the tracks are AMD's. */
#define COL_COMM_TABLE(X)                    \
	X(MPI_SEND,  "MPI Comm Send")        \
	X(MPI_RECV,  "MPI Comm Recv")        \
	X(RCCL_SEND, "RCCL Comm Send")       \
	X(RCCL_RECV, "RCCL Comm Recv")
/* clang-format on */

enum col_comm {
#define COL_COMM_ROW(id, name) COL_COMM_##id,
	COL_COMM_TABLE(COL_COMM_ROW)
#undef COL_COMM_ROW
		COL_COMM_COUNT
};

/* To be called while regions are recorded. */
__attribute__((visibility("default"))) void col_comm_add(enum col_comm what, uint64_t n_bytes);

/* A collective operation of the calling thread has returned; the tag is filled in here. */
struct cap_rec_collective;
__attribute__((visibility("default"))) void col_comm_collective(
	const struct cap_rec_collective *collective);

/* The calling thread has launched the GPU work of collectives; likewise. */
struct cap_rec_launched;
__attribute__((visibility("default"))) void col_comm_launched(
	const struct cap_rec_launched *launched);

#endif
