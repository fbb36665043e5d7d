/* Two ranks that exchange known numbers of bytes; mpi_regions.sh compiles it with each MPI. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int rank, size, numbers[1000] = { 0 }, four[8] = { 0 }, three[6] = { 1, 1, 1, 1, 1, 1 },
			got[6];
	double reals[100] = { 0 }, others[100], sum[10];
	char text[8] = "";
	MPI_Request request;
	MPI_Comm copy;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2)
		MPI_Abort(MPI_COMM_WORLD, 9);
	for (int i = 0; i < 10; i++) {
		numbers[999] = i;
		if (rank == 0)
			MPI_Send(numbers, 1000, MPI_INT, 1, 5, MPI_COMM_WORLD);
		else
			MPI_Recv(numbers, 1000, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 100; i++)
		reals[i] = rank + i;
	/* more arguments than registers */
	MPI_Sendrecv(reals, 100, MPI_DOUBLE, 1 - rank, 6, others, 100, MPI_DOUBLE, 1 - rank, 6,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (others[99] != 1 - rank + 99)
		return 1;
	MPI_Bcast(numbers, 50, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allreduce(reals, sum, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (sum[9] != 19)
		return 1;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Gather(reals, 4, MPI_INT, four, 4, MPI_INT, 1, copy);
	MPI_Alltoall(three, 3, MPI_INT, got, 3, MPI_INT, copy);
	if (got[0] != 1)
		return 1;
	MPI_Comm_free(&copy);
	if (rank == 0)
		MPI_Isend("message", 7, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
	else
		MPI_Irecv(text, 7, MPI_CHAR, 0, 7, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 1 && strcmp(text, "message") != 0)
		return 1;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("rank %d of %d\n", rank, size);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
