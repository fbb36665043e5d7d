/*
 * stencil: seven-point heat diffusion in a box, its faces held at their value.
 *
 * Two kernels do the same steps: one reads every neighbour from memory, the
 * other keeps a plane with its halo in LDS and walks along z with the planes
 * above and below in registers.
 */
#include "check.h"

enum { BX = 16, BY = 16 };
#define RATE 0.1f

/* The order of the additions is the same everywhere, so results are equal to the bit
 * up to fused multiply-add, which the tolerance covers. */
__host__ __device__ static inline float blend(float c, float w, float e, float n, float s, float b,
					      float t)
{
	return c + RATE * (w + e + n + s + b + t - 6.0f * c);
}

__global__ void stencil_plain(const float *in, float *out, int nx, int ny, int nz)
{
	int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, z = blockIdx.z;
	int i = (z * ny + y) * nx + x, plane = nx * ny;

	if (x >= nx || y >= ny)
		return;
	bool face = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
	out[i] = face ? in[i]
		      : blend(in[i], in[i - 1], in[i + 1], in[i - nx], in[i + nx], in[i - plane],
			      in[i + plane]);
}

__global__ void stencil_lds(const float *in, float *out, int nx, int ny, int nz)
{
	__shared__ float plane_lds[BY + 2][BX + 2];
	int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
	int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
	int i = y * nx + x, plane = nx * ny;
	bool inside = x < nx && y < ny;
	bool rim = x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1;
	float below = 0, here = inside ? in[i] : 0, above = 0;

	for (int z = 0; z < nz; z++, i += plane) {
		above = inside && z + 1 < nz ? in[i + plane] : 0;
		plane_lds[ty][tx] = here;
		if (inside && threadIdx.x == 0 && x > 0)
			plane_lds[ty][0] = in[i - 1];
		if (inside && threadIdx.x == BX - 1 && x < nx - 1)
			plane_lds[ty][BX + 1] = in[i + 1];
		if (inside && threadIdx.y == 0 && y > 0)
			plane_lds[0][tx] = in[i - nx];
		if (inside && threadIdx.y == BY - 1 && y < ny - 1)
			plane_lds[BY + 1][tx] = in[i + nx];
		__syncthreads();
		if (inside)
			out[i] = rim || z == 0 || z == nz - 1
					 ? here
					 : blend(here, plane_lds[ty][tx - 1], plane_lds[ty][tx + 1],
						 plane_lds[ty - 1][tx], plane_lds[ty + 1][tx],
						 below, above);
		__syncthreads();
		below = here;
		here = above;
	}
}

static void host_step(const std::vector<float> &in, std::vector<float> &out, int nx, int ny, int nz)
{
	out = in;
	for (int z = 1; z < nz - 1; z++)
		for (int y = 1; y < ny - 1; y++)
			for (int x = 1; x < nx - 1; x++) {
				int i = (z * ny + y) * nx + x, plane = nx * ny;

				out[i] = blend(in[i], in[i - 1], in[i + 1], in[i - nx], in[i + nx],
					       in[i - plane], in[i + plane]);
			}
}

static bool run(const char *name, bool lds, const std::vector<float> &start,
		const std::vector<float> &want, int nx, int ny, int nz, long n_steps)
{
	device_buffer<float> a(start), b(start.size());
	dim3 grid((nx + BX - 1) / BX, (ny + BY - 1) / BY, lds ? 1 : nz), block(BX, BY);

	b.clear(0xff);
	for (long s = 0; s < n_steps; s++) {
		if (lds)
			stencil_lds<<<grid, block>>>(a.ptr, b.ptr, nx, ny, nz);
		else
			stencil_plain<<<grid, block>>>(a.ptr, b.ptr, nx, ny, nz);
		std::swap(a.ptr, b.ptr);
	}
	LAUNCH_OK();
	size_t n_wrong = count_wrong(name, a.download(), want, 1e-5);
	printf("%-6s %s\n", name, n_wrong ? "wrong" : "ok");
	return n_wrong == 0;
}

int main(int argc, char **argv)
{
	long nx = 60, ny = 50, nz = 40, n_steps = 3;
	const option_row rows[] = {
		{ 'x', &nx, 3, "points along x" },
		{ 'y', &ny, 3, "points along y" },
		{ 'z', &nz, 3, "points along z" },
		{ 's', &n_steps, 1, "time steps" },
	};
	options(argc, argv, "seven-point heat diffusion in a box", rows);

	std::vector<float> start(nx * ny * nz);
	number_source numbers;
	for (float &t : start)
		t = 10.0f * numbers.unit();

	std::vector<float> want = start, next;
	for (long s = 0; s < n_steps; s++) {
		host_step(want, next, nx, ny, nz);
		want.swap(next);
	}
	bool pass = run("plain", false, start, want, nx, ny, nz, n_steps);
	pass &= run("lds", true, start, want, nx, ny, nz, n_steps);
	return verdict(pass);
}
