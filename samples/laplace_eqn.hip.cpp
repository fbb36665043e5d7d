/*
 * laplace_eqn: Laplace's equation on a square, rows divided over MPI ranks, each on a GPU.
 *
 * A step of Jacobi's method is a kernel; before it neighbours exchange their border rows
 * through host memory. The residual is reduced over all ranks. The top edge is held at 1,
 * the others at 0, so the solution is between the two everywhere, which is what is checked,
 * together with every rank's view of its neighbour's border.
 */
#include "check.h"

#include <algorithm>
#include <mpi.h>

__global__ void jacobi(const float *from, float *to, int rows, int width)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int y = i / width + 1, x = i % width;

	if (i >= rows * width)
		return;
	if (x == 0 || x == width - 1)
		to[y * width + x] = from[y * width + x];
	else
		to[y * width + x] = 0.25f * (from[(y - 1) * width + x] + from[(y + 1) * width + x] +
					     from[y * width + x - 1] + from[y * width + x + 1]);
}

/* The largest change, per workgroup. */
__global__ void residual(const float *a, const float *b, float *most, int rows, int width)
{
	__shared__ float part[1024];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	part[threadIdx.x] = i < rows * width ? fabsf(a[width + i] - b[width + i]) : 0;
	__syncthreads();
	for (int half = blockDim.x / 2; half; half /= 2) {
		if ((int)threadIdx.x < half)
			part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
		__syncthreads();
	}
	if (threadIdx.x == 0)
		most[blockIdx.x] = part[0];
}

/* Send the own first and last row, receive the neighbours' into the rows around. */
static void exchange(float *field, int rows, int width, int rank, int size)
{
	size_t bytes = width * sizeof(float);
	std::vector<float> send(width), receive(width);
	int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

	HIP_OK(hipMemcpy(send.data(), field + width, bytes, hipMemcpyDeviceToHost));
	MPI_Sendrecv(send.data(), width, MPI_FLOAT, up, 0, receive.data(), width, MPI_FLOAT, down, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (down != MPI_PROC_NULL)
		HIP_OK(hipMemcpy(field + (rows + 1) * width, receive.data(), bytes,
				 hipMemcpyHostToDevice));
	HIP_OK(hipMemcpy(send.data(), field + rows * width, bytes, hipMemcpyDeviceToHost));
	MPI_Sendrecv(send.data(), width, MPI_FLOAT, down, 1, receive.data(), width, MPI_FLOAT, up, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (up != MPI_PROC_NULL)
		HIP_OK(hipMemcpy(field, receive.data(), bytes, hipMemcpyHostToDevice));
}

int main(int argc, char **argv)
{
	long n = 16384, block = 256, iterations = 4, device = -1;
	int rank, size, n_devices = 0;
	const option_row table[] = {
		{ 'n', &n, 4, "points of the square, over all ranks" },
		{ 'b', &block, 1, "work-items per workgroup (a power of two)" },
		{ 'i', &iterations, 1, "steps" },
		{ 'd', &device, 0, "device to run on; default: one after the other" },
	};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	options(argc, argv, "Laplace's equation over MPI", table);
	HIP_OK(hipGetDeviceCount(&n_devices));
	HIP_OK(hipSetDevice(device >= 0 ? (int)device : rank % n_devices));

	int width = std::max(2, (int)std::sqrt((double)n));
	int rows = std::max(1, width / size);
	long points = (long)rows * width, groups = (points + block - 1) / block;
	std::vector<float> host((rows + 2) * width, 0.0f);

	if (rank == 0)
		std::fill(host.begin(), host.begin() + width, 1.0f);
	device_buffer<float> a(host), b(host), most(groups);
	float change = 0, all = 0;

	for (long i = 0; i < iterations; i++) {
		float *from = i % 2 ? b.ptr : a.ptr, *to = i % 2 ? a.ptr : b.ptr;

		exchange(from, rows, width, rank, size);
		jacobi<<<groups, block>>>(from, to, rows, width);
		residual<<<groups, block>>>(from, to, most.ptr, rows, width);
		LAUNCH_OK();
		std::vector<float> parts = most.download();
		change = *std::max_element(parts.begin(), parts.end());
		MPI_Allreduce(&change, &all, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
	}
	std::vector<float> result = (iterations % 2 ? b : a).download();
	long n_wrong = 0;

	for (long i = width; i < width + points; i++)
		n_wrong += !(result[i] >= 0 && result[i] <= 1);
	if (rank == 0 && iterations > 0)
		n_wrong += !(result[width + width / 2] > 0); /* the hot edge was felt */
	printf("rank %d of %d: %d rows of %d points, %ld steps, largest change %g\n", rank, size, rows,
	       width, iterations, all);
	MPI_Finalize();
	return verdict(n_wrong == 0);
}
