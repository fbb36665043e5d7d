! The same functions under their Fortran names: two ranks, known numbers of bytes.
program exchange
  include 'mpif.h'
  integer :: rank, ranks, error, i, numbers(1000), total(10)
  numbers = 1
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  do i = 1, 10
    if (rank == 0) then
      call mpi_send(numbers, 1000, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, error)
    else
      call mpi_recv(numbers, 1000, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end if
  end do
  call mpi_bcast(numbers, 50, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call mpi_allreduce(numbers, total, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (total(10) /= 2) stop 1
  call mpi_barrier(MPI_COMM_WORLD, error)
  call mpi_finalize(error)
end program
