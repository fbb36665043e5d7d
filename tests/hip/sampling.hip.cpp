/*
 * sampling: large kernels that are modelled in part (WAVESCOPE_SAMPLE_WAVES) or executed in part
 * (WAVESCOPE_SAMPLE_ONLY). Each child has its own environment, because the GPU reads it once.
 */
#include "tests/hip/hiptest.h"

#include <dlfcn.h>
extern "C" {
#include "softgpu/counters/service.h"
}

static decltype(&softgpu_count) choose;
static decltype(&softgpu_next_result) next_result;

template <class F> static void find(F &f, const char *name)
{
	f = (F)dlsym(RTLD_DEFAULT, name);
	if (!f)
		skip("not the software GPU: no counting service");
}

static const unsigned wg_size = 256;
static unsigned n_wgs; /* five times what a sample must have at least: four waves per wave slot of the GPU */

__global__ void mark(unsigned *out)
{
	/* The times of a sample are multiplied, so what a launch takes by itself has to be a small part of them. */
	__builtin_amdgcn_s_sleep(127);
	__builtin_amdgcn_s_sleep(127);
	if (threadIdx.x == 0)
		out[blockIdx.x] = blockIdx.x + 1;
}

/* Prints the numbers; what they ought to be is the parent's business. */
static int count_marks()
{
	const char *names[] = { "SQ_WAVES", "SQ_INSTS_VALU" };
	struct softgpu_result r;
	unsigned *out, n_marked = 0;
	int n_cus;
	char error[200];

	find(choose, "softgpu_count");
	find(next_result, "softgpu_next_result");
	HIP_OK(hipDeviceGetAttribute(&n_cus, hipDeviceAttributeMultiprocessorCount, 0));
	n_wgs = 160 * (unsigned)n_cus;
	std::vector<unsigned> got(n_wgs);
	HIP_OK(hipMalloc(&out, n_wgs * 4));
	HIP_OK(hipMemset(out, 0, n_wgs * 4));
	mark<<<1, 64>>>(out); /* loads code */
	HIP_OK(hipMemset(out, 0, n_wgs * 4));
	HIP_OK(hipDeviceSynchronize());
	CHECK(!choose(1, names, 2, error, sizeof(error)), "%s", error);
	mark<<<n_wgs, wg_size>>>(out);
	HIP_OK(hipDeviceSynchronize());
	choose(1, NULL, 0, error, sizeof(error));
	CHECK(!next_result(1, 0, &r), "no result");
	HIP_OK(hipMemcpy(got.data(), out, n_wgs * 4, hipMemcpyDeviceToHost));
	for (unsigned k = 0; k < n_wgs; k++) {
		CHECK(!got[k] || got[k] == k + 1, "out[%u] is %u", k, got[k]);
		n_marked += got[k] != 0;
	}
	uint64_t sums[2] = { 0, 0 };
	for (int v = 0; v < 2; v++)
		for (uint32_t i = 0; i < r.values[v].n_values; i++)
			sums[v] += r.values[v].values[i];
	printf("sampled %.4f waves %lu valu %lu duration %lu marked %u of %u\n", r.sampled, (unsigned long)sums[0],
	       (unsigned long)sums[1], (unsigned long)r.duration_ns, n_marked, n_wgs);
	fflush(stdout);
	return n_failed_checks != 0;
}

struct counted {
	double sampled = 0;
	unsigned long waves = 0, valu = 0, duration = 0;
	unsigned marked = 0;
};

static counted run(const char *sample_waves, const char *only)
{
	counted c;

	if (sample_waves)
		setenv("WAVESCOPE_SAMPLE_WAVES", sample_waves, 1);
	if (only)
		setenv("WAVESCOPE_SAMPLE_ONLY", only, 1);
	child_result r = run_child(count_marks);
	unsetenv("WAVESCOPE_SAMPLE_WAVES");
	unsetenv("WAVESCOPE_SAMPLE_ONLY");
	size_t at = r.text.find("sampled ");
	CHECK(r.status == 0 && at != std::string::npos &&
	      sscanf(r.text.c_str() + at, "sampled %lf waves %lu valu %lu duration %lu marked %u of %u", &c.sampled,
		     &c.waves, &c.valu, &c.duration, &c.marked, &n_wgs) == 6, "%s", r.text.c_str());
	return c;
}

static bool near(double a, double b, double part)
{
	return a > b * (1 - part) && a < b * (1 + part);
}

static void a_sample_is_scaled_and_labelled()
{
	counted all = run(NULL, NULL), part = run("1", NULL), only = run("1", "1"), alone = run(NULL, "1");

	CHECK(all.sampled == 1 && all.marked == n_wgs && all.waves == n_wgs * wg_size / 64, "%f, %u, %lu",
	      all.sampled, all.marked, all.waves);
	CHECK(part.sampled < 0.5 && part.sampled > 0.1 && part.marked == n_wgs, "%f, %u", part.sampled, part.marked);
	CHECK(near(part.waves, all.waves, 0.001) && near(part.valu, all.valu, 0.001), "%lu waves, %lu", part.waves,
	      part.valu);
	CHECK(near(part.duration, all.duration, 0.35), "%lu ns, not %lu", part.duration, all.duration);
	/* the same numbers, of which only the executed part has left its mark */
	CHECK(only.sampled == part.sampled && only.waves == part.waves && only.valu == part.valu &&
	      only.duration == part.duration, "%lu waves, %lu ns", only.waves, only.duration);
	CHECK(near(only.marked, n_wgs * part.sampled, 0.001), "%u workgroups ran", only.marked);
	CHECK(alone.sampled == 1 && alone.marked == n_wgs, "a sample without its size: %u ran", alone.marked);
}

int main()
{
	a_sample_is_scaled_and_labelled();
	return finish();
}
