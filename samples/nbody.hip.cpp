/*
 * nbody: bodies under mutual gravity, all pairs, tiles of bodies in LDS.
 *
 * A compute-bound kernel (about twenty flops per load from LDS, one reciprocal
 * square root per pair). The host repeats the steps in double precision.
 */
#include "check.h"

enum { BLOCK = 128 };

#define SOFTENING 1e-2f
#define STEP 1e-3f

__global__ void nbody_step(const float4 *body, const float4 *speed, float4 *new_body,
			   float4 *new_speed, int n)
{
	__shared__ float4 tile[BLOCK];
	int i = blockIdx.x * BLOCK + threadIdx.x;
	float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
	float ax = 0, ay = 0, az = 0;

	for (int first = 0; first < n; first += BLOCK) {
		int j = first + threadIdx.x;

		/* a body without mass pulls nobody: the tail needs no test in the loop */
		tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);
		__syncthreads();
		for (int k = 0; k < BLOCK; k++) {
			float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
			float inv = rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
			float pull = tile[k].w * inv * inv * inv;

			ax += dx * pull;
			ay += dy * pull;
			az += dz * pull;
		}
		__syncthreads();
	}
	if (i >= n)
		return;
	float4 v = speed[i];
	v.x += ax * STEP;
	v.y += ay * STEP;
	v.z += az * STEP;
	new_speed[i] = v;
	new_body[i] = make_float4(me.x + v.x * STEP, me.y + v.y * STEP, me.z + v.z * STEP, me.w);
}

static void host_step(std::vector<double> &x, std::vector<double> &v,
		      const std::vector<double> &mass)
{
	size_t n = mass.size();

	for (size_t i = 0; i < n; i++) {
		double a[3] = { 0, 0, 0 };

		for (size_t j = 0; j < n; j++) {
			double d[3], square = (double)SOFTENING;

			for (int c = 0; c < 3; c++) {
				d[c] = x[3 * j + c] - x[3 * i + c];
				square += d[c] * d[c];
			}
			for (int c = 0; c < 3; c++)
				a[c] += d[c] * mass[j] / (square * sqrt(square));
		}
		for (int c = 0; c < 3; c++)
			v[3 * i + c] += a[c] * (double)STEP;
	}
	for (size_t k = 0; k < 3 * n; k++)
		x[k] += v[k] * (double)STEP;
}

int main(int argc, char **argv)
{
	long n = 700, n_steps = 3;
	const option_row rows[] = {
		{ 'n', &n, 1, "bodies" },
		{ 's', &n_steps, 1, "time steps" },
	};
	options(argc, argv, "gravity between all pairs of bodies", rows);

	std::vector<float4> body(n), speed(n);
	std::vector<double> x(3 * n), v(3 * n, 0.0), mass(n);
	number_source numbers;
	for (long i = 0; i < n; i++) {
		body[i] = make_float4(numbers.unit(), numbers.unit(), numbers.unit(),
				      (numbers.unit() + 1.5f) / 4);
		speed[i] = make_float4(0, 0, 0, 0);
		x[3 * i] = body[i].x;
		x[3 * i + 1] = body[i].y;
		x[3 * i + 2] = body[i].z;
		mass[i] = body[i].w;
	}

	device_buffer<float4> b0(body), v0(speed), b1(n), v1(n);
	float4 *from_b = b0.ptr, *from_v = v0.ptr, *to_b = b1.ptr, *to_v = v1.ptr;
	for (long s = 0; s < n_steps; s++) {
		nbody_step<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(from_b, from_v, to_b, to_v, (int)n);
		std::swap(from_b, to_b);
		std::swap(from_v, to_v);
		host_step(x, v, mass);
	}
	LAUNCH_OK();
	HIP_OK(hipMemcpy(speed.data(), from_v, n * sizeof(float4), hipMemcpyDeviceToHost));
	HIP_OK(hipMemcpy(body.data(), from_b, n * sizeof(float4), hipMemcpyDeviceToHost));

	std::vector<float> got;
	std::vector<double> want;
	for (long i = 0; i < n; i++) {
		got.insert(got.end(), { body[i].x, body[i].y, body[i].z });
		got.insert(got.end(), { speed[i].x, speed[i].y, speed[i].z });
		want.insert(want.end(), &x[3 * i], &x[3 * i] + 3);
		want.insert(want.end(), &v[3 * i], &v[3 * i] + 3);
	}
	/* speeds are sums of n pulls, each rounded: the tolerance grows with n */
	bool pass = !count_wrong("bodies", got, want, 1e-6 * (double)(n < 100 ? 100 : n) / 10);
	printf("%ld bodies, %ld steps\n", n, n_steps);
	return verdict(pass);
}
