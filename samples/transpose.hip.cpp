/*
 * transpose: out[x][y] = in[y][x], and what LDS banks have to do with it.
 *
 *   plain     rows are read in order, columns are written: scattered stores
 *   conflict  a 32 x 32 tile in LDS makes both sides orderly, but a column of
 *             it lies in one bank
 *   padded    33 words per row spread a column over all banks
 *
 * All three give the same matrix; profile them to see the difference.
 */
#include "check.h"

enum { TILE = 32, ROWS = 8 };

__global__ void transpose_plain(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * TILE + threadIdx.x;

	for (int r = 0; r < TILE; r += ROWS) {
		int y = blockIdx.y * TILE + threadIdx.y + r;

		if (x < width && y < height)
			out[x * height + y] = in[y * width + x];
	}
}

template <int PITCH>
__device__ void transpose_tile(const float *in, float *out, int width, int height)
{
	__shared__ float tile[TILE][PITCH];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	for (int r = 0; r < TILE; r += ROWS)
		if (x < width && y + r < height)
			tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * width + x];
	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	for (int r = 0; r < TILE; r += ROWS)
		if (x < height && y + r < width)
			out[(y + r) * height + x] = tile[threadIdx.x][threadIdx.y + r];
}

__global__ void transpose_conflict(const float *in, float *out, int width, int height)
{
	transpose_tile<TILE>(in, out, width, height);
}

__global__ void transpose_padded(const float *in, float *out, int width, int height)
{
	transpose_tile<TILE + 1>(in, out, width, height);
}

static bool run(const char *name, void (*kernel)(const float *, float *, int, int),
		const device_buffer<float> &in, int width, int height,
		const std::vector<float> &want)
{
	device_buffer<float> out(in.n);
	dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), block(TILE, ROWS);

	out.clear(0xff);
	kernel<<<grid, block>>>(in.ptr, out.ptr, width, height);
	LAUNCH_OK();
	size_t n_wrong = count_wrong(name, out.download(), want, 0.0);
	printf("%-9s %s\n", name, n_wrong ? "wrong" : "ok");
	return n_wrong == 0;
}

int main(int argc, char **argv)
{
	long width = 500, height = 300;
	const option_row rows[] = {
		{ 'x', &width, 1, "columns" },
		{ 'y', &height, 1, "rows" },
	};
	options(argc, argv, "matrix transpose with and without LDS bank conflicts", rows);

	std::vector<float> host(width * height), want(width * height);
	for (long y = 0; y < height; y++)
		for (long x = 0; x < width; x++)
			want[x * height + y] = host[y * width + x] = (float)(y * width + x);

	device_buffer<float> in(host);
	bool pass = run("plain", transpose_plain, in, width, height, want);
	pass &= run("conflict", transpose_conflict, in, width, height, want);
	pass &= run("padded", transpose_padded, in, width, height, want);
	return verdict(pass);
}
