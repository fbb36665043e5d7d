/*
 * torch_kernels: kernels for a PyTorch that has no GPU, called from Python through ctypes.
 *
 * Debian's PyTorch computes on the CPU. torch_train.py uses these for the parts of its
 * network that are to run on a GPU: data goes there and back with every call, which is slow
 * and simple.
 */
#include "check.h"

#include <algorithm>

__global__ void linear_kernel(const float *x, const float *w, const float *b, float *y, int n_in,
			      int n_out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum;

	if (i >= n * n_out)
		return;
	sum = b[i % n_out];
	for (int k = 0; k < n_in; k++)
		sum += x[i / n_out * n_in + k] * w[i % n_out * n_in + k];
	y[i] = sum;
}

__global__ void elementwise_relu_kernel(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = x[i] > 0 ? x[i] : 0;
}

enum { BLOCK = 64 };

static std::vector<float> vector_at(const float *at, size_t n)
{
	return std::vector<float>(at, at + n);
}

extern "C" __attribute__((visibility("default"))) void
gpu_linear(const float *x, const float *w, const float *b, float *y, int n_in, int n_out, int n)
{
	device_buffer<float> dx(vector_at(x, (size_t)n * n_in)), db(vector_at(b, n_out));
	device_buffer<float> dw(vector_at(w, (size_t)n_in * n_out)), dy((size_t)n * n_out);

	linear_kernel<<<(n * n_out + BLOCK - 1) / BLOCK, BLOCK>>>(dx.ptr, dw.ptr, db.ptr, dy.ptr,
								  n_in, n_out, n);
	LAUNCH_OK();
	std::vector<float> result = dy.download();
	std::copy(result.begin(), result.end(), y);
}

extern "C" __attribute__((visibility("default"))) void gpu_relu(const float *x, float *y, int n)
{
	device_buffer<float> dx(vector_at(x, n)), dy(n);

	elementwise_relu_kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(dx.ptr, dy.ptr, n);
	LAUNCH_OK();
	std::vector<float> result = dy.download();
	std::copy(result.begin(), result.end(), y);
}
