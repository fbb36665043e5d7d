/*
 * table: the functions of MPI that are wrapped.
 *
 *	X(name, number of arguments, what moves)
 *
 * Arguments are not described further: in the C interface all of them are pointers, integers or
 * handles, which an MPI passes as pointers (Open MPI) or integers (MPICH). Each takes one register
 * or one slot on the stack, so all of them are forwarded as uintptr_t, and nothing is
 * built against one MPI. A test compares the numbers with the headers of both.
 *
 * What moves names the arguments, from 0, that are the count and the datatype of what this rank
 * sends and receives.
 */
#ifndef WS_COLLECTOR_MPI_TABLE_H
#define WS_COLLECTOR_MPI_TABLE_H

#include <stdint.h>

/* clang-format off */
enum col_mpi_moves_flag {
	COL_MPI_SEND_EACH = 1,  /* the count is per rank of the communicator */
	COL_MPI_RECV_EACH = 2,
	COL_MPI_SEND_ROOT = 4,  /* only the root sends, or receives */
	COL_MPI_RECV_ROOT = 8,
	COL_MPI_RECV_OTHERS = 16, /* all but the root */
};

struct col_mpi_moves {
	int8_t send_count, send_type, recv_count, recv_type; /* -1: nothing */
	int8_t root, comm;
	uint8_t flags;
};

#define NOTHING                  { -1, -1, -1, -1, -1, -1, 0 }
#define SEND(count, type)        { count, type, -1, -1, -1, -1, 0 }
#define RECV(count, type)        { -1, -1, count, type, -1, -1, 0 }
#define BOTH(sc, st, rc, rt)     { sc, st, rc, rt, -1, -1, 0 }
/* of a collective operation */
#define ALL(sc, st, rc, rt, root, comm, flags) { sc, st, rc, rt, root, comm, flags }
#define SE COL_MPI_SEND_EACH
#define RE COL_MPI_RECV_EACH
#define SR COL_MPI_SEND_ROOT
#define RR COL_MPI_RECV_ROOT
#define RO COL_MPI_RECV_OTHERS

/* Recorded always, because reports need them. */
#define COL_MPI_BASE_TABLE(X)                                      \
	X(MPI_Init,                     2,  NOTHING)               \
	X(MPI_Init_thread,              4,  NOTHING)               \
	X(MPI_Finalize,                 0,  NOTHING)               \
	X(MPI_Comm_rank,                2,  NOTHING)               \
	X(MPI_Comm_size,                2,  NOTHING)

#define COL_MPI_POINT_TABLE(X)                                     \
	X(MPI_Abort,                    2,  NOTHING)               \
	X(MPI_Send,                     6,  SEND(1, 2))            \
	X(MPI_Bsend,                    6,  SEND(1, 2))            \
	X(MPI_Ssend,                    6,  SEND(1, 2))            \
	X(MPI_Rsend,                    6,  SEND(1, 2))            \
	X(MPI_Recv,                     7,  RECV(1, 2))            \
	X(MPI_Isend,                    7,  SEND(1, 2))            \
	X(MPI_Ibsend,                   7,  SEND(1, 2))            \
	X(MPI_Issend,                   7,  SEND(1, 2))            \
	X(MPI_Irsend,                   7,  SEND(1, 2))            \
	X(MPI_Irecv,                    7,  RECV(1, 2))            \
	X(MPI_Sendrecv,                 12, BOTH(1, 2, 6, 7))      \
	X(MPI_Sendrecv_replace,         9,  BOTH(1, 2, 1, 2))      \
	X(MPI_Probe,                    4,  NOTHING)               \
	X(MPI_Iprobe,                   5,  NOTHING)               \
	X(MPI_Mprobe,                   5,  NOTHING)               \
	X(MPI_Improbe,                  6,  NOTHING)               \
	X(MPI_Mrecv,                    5,  RECV(1, 2))            \
	X(MPI_Imrecv,                   5,  RECV(1, 2))            \
	X(MPI_Send_init,                7,  NOTHING)               \
	X(MPI_Bsend_init,               7,  NOTHING)               \
	X(MPI_Ssend_init,               7,  NOTHING)               \
	X(MPI_Rsend_init,               7,  NOTHING)               \
	X(MPI_Recv_init,                7,  NOTHING)               \
	X(MPI_Start,                    1,  NOTHING)               \
	X(MPI_Startall,                 2,  NOTHING)               \
	X(MPI_Wait,                     2,  NOTHING)               \
	X(MPI_Waitall,                  3,  NOTHING)               \
	X(MPI_Waitany,                  4,  NOTHING)               \
	X(MPI_Waitsome,                 5,  NOTHING)               \
	X(MPI_Test,                     3,  NOTHING)               \
	X(MPI_Testall,                  4,  NOTHING)               \
	X(MPI_Testany,                  5,  NOTHING)               \
	X(MPI_Testsome,                 5,  NOTHING)               \
	X(MPI_Cancel,                   1,  NOTHING)               \
	X(MPI_Request_free,             1,  NOTHING)               \
	X(MPI_Pack,                     7,  NOTHING)               \
	X(MPI_Unpack,                   7,  NOTHING)

#define COL_MPI_COLLECTIVE_TABLE(X)                                                      \
	X(MPI_Barrier,                  1,  NOTHING)                                     \
	X(MPI_Bcast,                    5,  ALL(1, 2, 1, 2, 3, 4, SR | RO))              \
	X(MPI_Gather,                   8,  ALL(1, 2, 4, 5, 6, 7, RR | RE))              \
	X(MPI_Gatherv,                  9,  SEND(1, 2))                                  \
	X(MPI_Scatter,                  8,  ALL(1, 2, 4, 5, 6, 7, SR | SE))              \
	X(MPI_Scatterv,                 9,  RECV(5, 6))                                  \
	X(MPI_Allgather,                7,  ALL(1, 2, 4, 5, -1, 6, RE))                  \
	X(MPI_Allgatherv,               8,  SEND(1, 2))                                  \
	X(MPI_Alltoall,                 7,  ALL(1, 2, 4, 5, -1, 6, SE | RE))             \
	X(MPI_Alltoallv,                9,  NOTHING)                                     \
	X(MPI_Alltoallw,                9,  NOTHING)                                     \
	X(MPI_Reduce,                   7,  ALL(2, 3, 2, 3, 5, 6, RR))                   \
	X(MPI_Allreduce,                6,  BOTH(2, 3, 2, 3))                            \
	X(MPI_Reduce_scatter,           6,  NOTHING)                                     \
	X(MPI_Reduce_scatter_block,     6,  ALL(2, 3, 2, 3, -1, 5, SE))                  \
	X(MPI_Scan,                     6,  BOTH(2, 3, 2, 3))                            \
	X(MPI_Exscan,                   6,  BOTH(2, 3, 2, 3))                            \
	X(MPI_Reduce_local,             5,  NOTHING)                                     \
	X(MPI_Ibarrier,                 2,  NOTHING)                                     \
	X(MPI_Ibcast,                   6,  ALL(1, 2, 1, 2, 3, 4, SR | RO))              \
	X(MPI_Igather,                  9,  ALL(1, 2, 4, 5, 6, 7, RR | RE))              \
	X(MPI_Igatherv,                 10, SEND(1, 2))                                  \
	X(MPI_Iscatter,                 9,  ALL(1, 2, 4, 5, 6, 7, SR | SE))              \
	X(MPI_Iscatterv,                10, RECV(5, 6))                                  \
	X(MPI_Iallgather,               8,  ALL(1, 2, 4, 5, -1, 6, RE))                  \
	X(MPI_Iallgatherv,              9,  SEND(1, 2))                                  \
	X(MPI_Ialltoall,                8,  ALL(1, 2, 4, 5, -1, 6, SE | RE))             \
	X(MPI_Ialltoallv,               10, NOTHING)                                     \
	X(MPI_Ialltoallw,               10, NOTHING)                                     \
	X(MPI_Ireduce,                  8,  ALL(2, 3, 2, 3, 5, 6, RR))                   \
	X(MPI_Iallreduce,               7,  BOTH(2, 3, 2, 3))                            \
	X(MPI_Ireduce_scatter,          7,  NOTHING)                                     \
	X(MPI_Ireduce_scatter_block,    7,  ALL(2, 3, 2, 3, -1, 5, SE))                  \
	X(MPI_Iscan,                    7,  BOTH(2, 3, 2, 3))                            \
	X(MPI_Iexscan,                  7,  BOTH(2, 3, 2, 3))                            \
	X(MPI_Neighbor_allgather,       7,  NOTHING)                                     \
	X(MPI_Neighbor_allgatherv,      8,  NOTHING)                                     \
	X(MPI_Neighbor_alltoall,        7,  NOTHING)                                     \
	X(MPI_Neighbor_alltoallv,       9,  NOTHING)                                     \
	X(MPI_Neighbor_alltoallw,       9,  NOTHING)

#define COL_MPI_COMM_TABLE(X)                                      \
	X(MPI_Comm_create,              3,  NOTHING)               \
	X(MPI_Comm_create_group,        4,  NOTHING)               \
	X(MPI_Comm_dup,                 2,  NOTHING)               \
	X(MPI_Comm_dup_with_info,       3,  NOTHING)               \
	X(MPI_Comm_idup,                3,  NOTHING)               \
	X(MPI_Comm_split,               4,  NOTHING)               \
	X(MPI_Comm_split_type,          5,  NOTHING)               \
	X(MPI_Comm_free,                1,  NOTHING)               \
	X(MPI_Comm_spawn,               8,  NOTHING)               \
	X(MPI_Comm_spawn_multiple,      9,  NOTHING)               \
	X(MPI_Comm_accept,              5,  NOTHING)               \
	X(MPI_Comm_connect,             5,  NOTHING)               \
	X(MPI_Comm_disconnect,          1,  NOTHING)               \
	X(MPI_Intercomm_create,         6,  NOTHING)               \
	X(MPI_Intercomm_merge,          3,  NOTHING)               \
	X(MPI_Cart_create,              6,  NOTHING)               \
	X(MPI_Cart_sub,                 3,  NOTHING)               \
	X(MPI_Graph_create,             6,  NOTHING)               \
	X(MPI_Dist_graph_create,        9,  NOTHING)               \
	X(MPI_Dist_graph_create_adjacent, 10, NOTHING)

#define COL_MPI_MEMORY_TABLE(X)                                    \
	X(MPI_Win_create,               6,  NOTHING)               \
	X(MPI_Win_allocate,             6,  NOTHING)               \
	X(MPI_Win_allocate_shared,      6,  NOTHING)               \
	X(MPI_Win_create_dynamic,       3,  NOTHING)               \
	X(MPI_Win_attach,               3,  NOTHING)               \
	X(MPI_Win_detach,               2,  NOTHING)               \
	X(MPI_Win_free,                 1,  NOTHING)               \
	X(MPI_Win_fence,                2,  NOTHING)               \
	X(MPI_Win_start,                3,  NOTHING)               \
	X(MPI_Win_complete,             1,  NOTHING)               \
	X(MPI_Win_post,                 3,  NOTHING)               \
	X(MPI_Win_wait,                 1,  NOTHING)               \
	X(MPI_Win_test,                 2,  NOTHING)               \
	X(MPI_Win_lock,                 4,  NOTHING)               \
	X(MPI_Win_unlock,               2,  NOTHING)               \
	X(MPI_Win_lock_all,             2,  NOTHING)               \
	X(MPI_Win_unlock_all,           1,  NOTHING)               \
	X(MPI_Win_flush,                2,  NOTHING)               \
	X(MPI_Win_flush_all,            1,  NOTHING)               \
	X(MPI_Win_flush_local,          2,  NOTHING)               \
	X(MPI_Win_flush_local_all,      1,  NOTHING)               \
	X(MPI_Win_sync,                 1,  NOTHING)               \
	X(MPI_Put,                      8,  SEND(1, 2))            \
	X(MPI_Get,                      8,  RECV(1, 2))            \
	X(MPI_Accumulate,               9,  SEND(1, 2))            \
	X(MPI_Get_accumulate,           12, BOTH(1, 2, 4, 5))      \
	X(MPI_Fetch_and_op,             7,  NOTHING)               \
	X(MPI_Compare_and_swap,         7,  NOTHING)               \
	X(MPI_Rput,                     9,  SEND(1, 2))            \
	X(MPI_Rget,                     9,  RECV(1, 2))            \
	X(MPI_Raccumulate,              10, SEND(1, 2))            \
	X(MPI_Rget_accumulate,          13, BOTH(1, 2, 4, 5))

#define COL_MPI_FILE_TABLE(X)                                      \
	X(MPI_File_open,                5,  NOTHING)               \
	X(MPI_File_close,               1,  NOTHING)               \
	X(MPI_File_delete,              2,  NOTHING)               \
	X(MPI_File_set_size,            2,  NOTHING)               \
	X(MPI_File_preallocate,         2,  NOTHING)               \
	X(MPI_File_get_size,            2,  NOTHING)               \
	X(MPI_File_set_view,            6,  NOTHING)               \
	X(MPI_File_seek,                3,  NOTHING)               \
	X(MPI_File_sync,                1,  NOTHING)               \
	X(MPI_File_read,                5,  NOTHING)               \
	X(MPI_File_read_all,            5,  NOTHING)               \
	X(MPI_File_read_at,             6,  NOTHING)               \
	X(MPI_File_read_at_all,         6,  NOTHING)               \
	X(MPI_File_read_shared,         5,  NOTHING)               \
	X(MPI_File_read_ordered,        5,  NOTHING)               \
	X(MPI_File_write,               5,  NOTHING)               \
	X(MPI_File_write_all,           5,  NOTHING)               \
	X(MPI_File_write_at,            6,  NOTHING)               \
	X(MPI_File_write_at_all,        6,  NOTHING)               \
	X(MPI_File_write_shared,        5,  NOTHING)               \
	X(MPI_File_write_ordered,       5,  NOTHING)               \
	X(MPI_File_iread,               5,  NOTHING)               \
	X(MPI_File_iread_at,            6,  NOTHING)               \
	X(MPI_File_iwrite,              5,  NOTHING)               \
	X(MPI_File_iwrite_at,           6,  NOTHING)

/* The first are the base functions. */
#define COL_MPI_TABLE(X)            \
	COL_MPI_BASE_TABLE(X)       \
	COL_MPI_POINT_TABLE(X)      \
	COL_MPI_COLLECTIVE_TABLE(X) \
	COL_MPI_COMM_TABLE(X)       \
	COL_MPI_MEMORY_TABLE(X)     \
	COL_MPI_FILE_TABLE(X)

/*
 * Collective operations that are recorded with their communicator (comms.h).
 * C(name, argument that is the communicator, argument that is the root or -1)
 */
#define COL_MPI_SHARED_TABLE(C)                                    \
	C(MPI_Barrier,                  0,  -1)                    \
	C(MPI_Bcast,                    4,  3)                     \
	C(MPI_Gather,                   7,  6)                     \
	C(MPI_Gatherv,                  8,  7)                     \
	C(MPI_Scatter,                  7,  6)                     \
	C(MPI_Scatterv,                 8,  7)                     \
	C(MPI_Allgather,                6,  -1)                    \
	C(MPI_Allgatherv,               7,  -1)                    \
	C(MPI_Alltoall,                 6,  -1)                    \
	C(MPI_Alltoallv,                8,  -1)                    \
	C(MPI_Alltoallw,                8,  -1)                    \
	C(MPI_Reduce,                   6,  5)                     \
	C(MPI_Allreduce,                5,  -1)                    \
	C(MPI_Reduce_scatter,           5,  -1)                    \
	C(MPI_Reduce_scatter_block,     5,  -1)                    \
	C(MPI_Scan,                     5,  -1)                    \
	C(MPI_Exscan,                   5,  -1)                    \
	C(MPI_Ibarrier,                 0,  -1)                    \
	C(MPI_Ibcast,                   4,  3)                     \
	C(MPI_Igather,                  7,  6)                     \
	C(MPI_Igatherv,                 8,  7)                     \
	C(MPI_Iscatter,                 7,  6)                     \
	C(MPI_Iscatterv,                8,  7)                     \
	C(MPI_Iallgather,               6,  -1)                    \
	C(MPI_Iallgatherv,              7,  -1)                    \
	C(MPI_Ialltoall,                6,  -1)                    \
	C(MPI_Ialltoallv,               8,  -1)                    \
	C(MPI_Ialltoallw,               8,  -1)                    \
	C(MPI_Ireduce,                  6,  5)                     \
	C(MPI_Iallreduce,               5,  -1)                    \
	C(MPI_Ireduce_scatter,          5,  -1)                    \
	C(MPI_Ireduce_scatter_block,    5,  -1)                    \
	C(MPI_Iscan,                    5,  -1)                    \
	C(MPI_Iexscan,                  5,  -1)

/* Functions that make a communicator, or free one. C(name, argument that is its address) */
#define COL_MPI_MAKES_TABLE(C)                                     \
	C(MPI_Comm_create,              2)                         \
	C(MPI_Comm_create_group,        3)                         \
	C(MPI_Comm_dup,                 1)                         \
	C(MPI_Comm_dup_with_info,       2)                         \
	C(MPI_Comm_split,               3)                         \
	C(MPI_Comm_split_type,          4)                         \
	C(MPI_Intercomm_merge,          2)                         \
	C(MPI_Cart_create,              5)                         \
	C(MPI_Cart_sub,                 2)                         \
	C(MPI_Graph_create,             5)                         \
	C(MPI_Dist_graph_create,        8)                         \
	C(MPI_Dist_graph_create_adjacent, 9)
#define COL_MPI_FREES_TABLE(C)                                     \
	C(MPI_Comm_free,                0)                         \
	C(MPI_Comm_disconnect,          0)

/*
 * Fortran programs call other functions: arguments are addresses, and there is one more, for the
 * error. X(name, the C function, number of its arguments). Init has no arguments in Fortran.
 */
#define COL_MPI_FORTRAN_TABLE(X)                                   \
	X(mpi_init_,            MPI_Init,            0)            \
	X(mpi_init_thread_,     MPI_Init_thread,     2)            \
	X(mpi_finalize_,        MPI_Finalize,        0)            \
	X(mpi_comm_rank_,       MPI_Comm_rank,       2)            \
	X(mpi_comm_size_,       MPI_Comm_size,       2)            \
	X(mpi_send_,            MPI_Send,            6)            \
	X(mpi_ssend_,           MPI_Ssend,           6)            \
	X(mpi_recv_,            MPI_Recv,            7)            \
	X(mpi_isend_,           MPI_Isend,           7)            \
	X(mpi_irecv_,           MPI_Irecv,           7)            \
	X(mpi_sendrecv_,        MPI_Sendrecv,        12)           \
	X(mpi_sendrecv_replace_, MPI_Sendrecv_replace, 9)          \
	X(mpi_probe_,           MPI_Probe,           4)            \
	X(mpi_iprobe_,          MPI_Iprobe,          5)            \
	X(mpi_start_,           MPI_Start,           1)            \
	X(mpi_startall_,        MPI_Startall,        2)            \
	X(mpi_wait_,            MPI_Wait,            2)            \
	X(mpi_waitall_,         MPI_Waitall,         3)            \
	X(mpi_waitany_,         MPI_Waitany,         4)            \
	X(mpi_test_,            MPI_Test,            3)            \
	X(mpi_barrier_,         MPI_Barrier,         1)            \
	X(mpi_bcast_,           MPI_Bcast,           5)            \
	X(mpi_gather_,          MPI_Gather,          8)            \
	X(mpi_gatherv_,         MPI_Gatherv,         9)            \
	X(mpi_scatter_,         MPI_Scatter,         8)            \
	X(mpi_scatterv_,        MPI_Scatterv,        9)            \
	X(mpi_allgather_,       MPI_Allgather,       7)            \
	X(mpi_allgatherv_,      MPI_Allgatherv,      8)            \
	X(mpi_alltoall_,        MPI_Alltoall,        7)            \
	X(mpi_alltoallv_,       MPI_Alltoallv,       9)            \
	X(mpi_reduce_,          MPI_Reduce,          7)            \
	X(mpi_allreduce_,       MPI_Allreduce,       6)            \
	X(mpi_scan_,            MPI_Scan,            6)            \
	X(mpi_comm_split_,      MPI_Comm_split,      4)            \
	X(mpi_comm_dup_,        MPI_Comm_dup,        2)            \
	X(mpi_comm_free_,       MPI_Comm_free,       1)
/* clang-format on */

#endif
