/*
 * comms: numbers for communicators of RCCL and their collectives that all ranks agree on.
 *
 * A communicator made from a unique id has its number from that id, because all ranks pass the
 * same one. One that is split from another has it from the other's number, from which operation of the
 * other made it, and from the color. One of ncclCommInitAll() is of this process alone. Operations are
 * counted, because all ranks call those of a communicator in the same order. So nothing has to be
 * communicated, and no function of RCCL is called that waits.
 *
 * Communicators made in other ways (ncclCommShrink(), or before the process was attached to) have
 * no number.
 *
 * Threads  any.
 * Memory   tables of fixed size; a program with more than COL_RCCL_COMMS_MAX communicators at a
 *          time gets no numbers for further ones.
 */
#ifndef WS_COLLECTOR_RCCL_COMMS_H
#define WS_COLLECTOR_RCCL_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#define COL_RCCL_COMMS_MAX 1024u
#define COL_RCCL_UNIQUE_ID_BYTES 128u /* rccl.h */

struct cap_rec_collective;

/* The number of a communicator from its ncclUniqueId; never 0. */
uint64_t col_rccl_comm_id(const void *unique_id);
/* Of one that only this process knows. */
uint64_t col_rccl_comm_own_id(void);
/* Of one that the operation @seq of communicator @id made for ranks of a color. */
uint64_t col_rccl_comm_split_id(uint64_t id, uint64_t seq, int32_t color);

/* @rank -1: RCCL tells it, and the number of ranks, once the communicator is ready. */
void col_rccl_comm_made(void *comm, uint64_t id, int32_t rank, int32_t n_ranks);
void col_rccl_comm_gone(void *comm); /* before it is destroyed */

/* Number an operation: comm, seq, rank and n_ranks are set. False: it has no number. */
bool col_rccl_comm_next(void *comm, struct cap_rec_collective *out);

/* What RCCL says of a communicator; -1: it cannot tell. */
int32_t col_rccl_comm_rank(void *comm);
int32_t col_rccl_comm_count(void *comm);

#endif
