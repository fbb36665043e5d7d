/*
 * comms: numbers for communicators and their collectives that all ranks agree on.
 *
 * A handle means something in one process only. The number of a communicator is made from the
 * ranks in MPI_COMM_WORLD of its members, and from how many communicators of the same members
 * were made before it: all members make them in the same order. Its collectives are counted,
 * because all members call them in the same order. So nothing has to be communicated.
 *
 * Only local functions of MPI are called, and only between MPI_Init and the end. Communicators
 * between two groups, of other MPIs than Open MPI and MPICH, and of MPI's sessions have no number.
 *
 * Threads  any.
 * Memory   tables of fixed size; a program with more than COL_MPI_COMMS_MAX communicators at a
 *          time gets no numbers for further ones.
 */
#ifndef WS_COLLECTOR_MPI_COMMS_H
#define WS_COLLECTOR_MPI_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#define COL_MPI_COMMS_MAX 4096u

struct cap_rec_collective;

/* Beginnings of the file names of MPIs; NULL at the end (wrap.c). */
extern const char *const col_mpi_libraries[];

/* MPI_Init has returned. */
void col_mpi_comms_start(void);

/* MPI_COMM_WORLD; 0: not known. */
uintptr_t col_mpi_comm_world(void);

/* The handle that an argument is, or that is at its address. Fortran's are numbers of their own. */
uintptr_t col_mpi_comm_of(uintptr_t argument, bool fortran);
uintptr_t col_mpi_comm_at(uintptr_t argument, bool fortran);

void col_mpi_comm_made(uintptr_t comm);
void col_mpi_comm_gone(uintptr_t comm); /* before it is freed */

/* Number a collective: comm, seq, rank and n_ranks are set. False: it has no number. */
bool col_mpi_comm_next(uintptr_t comm, struct cap_rec_collective *out);

#endif
