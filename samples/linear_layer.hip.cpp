/*
 * linear_layer: forward and backward pass of a linear layer, called from Python through ctypes.
 *
 * train_cifar_100.py computes one layer of its network with it. Weights and inputs go to the
 * GPU with every call and results come back, on a stream of the library's own; device memory is
 * kept between calls.
 */
#include "check.h"

namespace
{

enum { BLOCK = 64 };

/* Device memory that grows to the largest size that was asked for. */
class buffer
{
public:
	float *room(size_t n)
	{
		if (n > n_) {
			if (at_)
				HIP_OK(hipFree(at_));
			HIP_OK(hipMalloc((void **)&at_, n * sizeof(float)));
			n_ = n;
		}
		return at_;
	}

private:
	float *at_ = nullptr;
	size_t n_ = 0;
};

struct layer {
	hipStream_t stream;
	buffer x, w, b, y, dx, dw, db;

	layer()
	{
		HIP_OK(hipStreamCreate(&stream));
	}
};

layer &the_layer()
{
	static layer *made = new layer; /* never destroyed: HIP may be gone before */

	return *made;
}

float *upload(buffer &to, const float *from, size_t n)
{
	float *at = to.room(n);

	HIP_OK(hipMemcpyAsync(at, from, n * sizeof(float), hipMemcpyHostToDevice,
			      the_layer().stream));
	return at;
}

void download(float *to, const float *from, size_t n)
{
	HIP_OK(hipMemcpyAsync(to, from, n * sizeof(float), hipMemcpyDeviceToHost,
			      the_layer().stream));
}

} /* namespace */

/* y[n][n_out] = x[n][n_in] * w[n_out][n_in]^T + b */
__global__ void linear_forward(const float *x, const float *w, const float *b, float *y, int n_in,
			       int n_out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n * n_out)
		return;
	float sum = b[i % n_out];
	for (int k = 0; k < n_in; k++)
		sum += x[i / n_out * n_in + k] * w[i % n_out * n_in + k];
	y[i] = sum;
}

/* dx[n][n_in] = dy[n][n_out] * w[n_out][n_in] */
__global__ void linear_backward_input(const float *dy, const float *w, float *dx, int n_in,
				      int n_out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n * n_in)
		return;
	float sum = 0;
	for (int k = 0; k < n_out; k++)
		sum += dy[i / n_in * n_out + k] * w[k * n_in + i % n_in];
	dx[i] = sum;
}

/* dw[n_out][n_in] = dy^T * x; the first input's work-items also sum the bias' gradient. */
__global__ void linear_backward_weight(const float *dy, const float *x, float *dw, float *db,
				       int n_in, int n_out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n_out * n_in)
		return;
	float sum = 0, bias = 0;
	for (int k = 0; k < n; k++) {
		float g = dy[k * n_out + i / n_in];

		sum += g * x[k * n_in + i % n_in];
		bias += g;
	}
	dw[i] = sum;
	if (i % n_in == 0)
		db[i / n_in] = bias;
}

static unsigned blocks(size_t n)
{
	return (unsigned)((n + BLOCK - 1) / BLOCK);
}

extern "C" __attribute__((visibility("default"))) void
layer_forward(const float *x, const float *w, const float *b, float *y, int n_in, int n_out, int n)
{
	layer &l = the_layer();
	size_t n_y = (size_t)n * n_out;
	float *dev_x = upload(l.x, x, (size_t)n * n_in);
	float *dev_w = upload(l.w, w, (size_t)n_in * n_out), *dev_b = upload(l.b, b, n_out);
	float *dev_y = l.y.room(n_y);

	linear_forward<<<blocks(n_y), BLOCK, 0, l.stream>>>(dev_x, dev_w, dev_b, dev_y, n_in, n_out,
							    n);
	HIP_OK(hipGetLastError());
	download(y, dev_y, n_y);
	HIP_OK(hipStreamSynchronize(l.stream));
}

extern "C" __attribute__((visibility("default"))) void
layer_backward(const float *dy, const float *x, const float *w, float *dx, float *dw, float *db,
	       int n_in, int n_out, int n)
{
	layer &l = the_layer();
	size_t n_x = (size_t)n * n_in, n_w = (size_t)n_in * n_out;
	float *dev_dy = upload(l.y, dy, (size_t)n * n_out);
	float *dev_x = upload(l.x, x, n_x), *dev_w = upload(l.w, w, n_w);
	float *dev_dx = l.dx.room(n_x), *dev_dw = l.dw.room(n_w), *dev_db = l.db.room(n_out);

	linear_backward_input<<<blocks(n_x), BLOCK, 0, l.stream>>>(dev_dy, dev_w, dev_dx, n_in,
								   n_out, n);
	HIP_OK(hipGetLastError());
	linear_backward_weight<<<blocks(n_w), BLOCK, 0, l.stream>>>(dev_dy, dev_x, dev_dw, dev_db,
								    n_in, n_out, n);
	HIP_OK(hipGetLastError());
	download(dx, dev_dx, n_x);
	download(dw, dev_dw, n_w);
	download(db, dev_db, n_out);
	HIP_OK(hipStreamSynchronize(l.stream));
}
