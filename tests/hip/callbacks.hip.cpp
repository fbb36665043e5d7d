/* Host functions in a stream: they run once, in order, after what came before them. */
#include "hiptest.h"

#include <atomic>
#include <dlfcn.h>

__global__ void fill(unsigned *x, unsigned value) { x[threadIdx.x] = value; }

struct step {
	unsigned *pinned;
	unsigned want;
	std::atomic<unsigned> *next;
	unsigned index;
	bool saw_data, in_order, status_ok;
};

static void look(step *s)
{
	s->saw_data = s->pinned[0] == s->want && s->pinned[63] == s->want;
	s->in_order = s->next->fetch_add(1) == s->index;
}

static void on_stream(hipStream_t, hipError_t status, void *data)
{
	step *s = (step *)data;

	s->status_ok = status == hipSuccess;
	look(s);
}

static void on_host(void *data)
{
	step *s = (step *)data;

	s->status_ok = true;
	look(s);
}

using host_func = hipError_t (*)(hipStream_t, void (*)(void *), void *);

static void run(const char *name, host_func launch)
{
	enum { N = 12 };
	device_buffer<unsigned> x(64);
	std::atomic<unsigned> next{ 0 };
	std::vector<step> steps(N);
	unsigned *pinned;
	hipStream_t s;

	HIP_OK(hipStreamCreate(&s));
	HIP_OK(hipHostMalloc((void **)&pinned, N * 64 * sizeof(unsigned), 0));
	for (unsigned i = 0; i < N; i++) {
		steps[i] = { pinned + i * 64, 100 + i, &next, i, false, false, false };
		fill<<<1, 64, 0, s>>>(x.ptr, 100 + i);
		HIP_OK(hipMemcpyAsync(steps[i].pinned, x.ptr, 64 * sizeof(unsigned),
				      hipMemcpyDeviceToHost, s));
		if (launch)
			HIP_OK(launch(s, on_host, &steps[i]));
		else
			HIP_OK(hipStreamAddCallback(s, on_stream, &steps[i], 0));
	}
	HIP_OK(hipStreamSynchronize(s));
	CHECK(next == N, "%s: %u callbacks ran", name, next.load());
	for (const step &st : steps)
		CHECK(st.saw_data && st.in_order && st.status_ok,
		      "%s %u: data %d order %d status %d", name, st.index, st.saw_data, st.in_order,
		      st.status_ok);
	HIP_OK(hipStreamDestroy(s));
	HIP_OK(hipHostFree(pinned));
}

int main()
{
	run("hipStreamAddCallback", nullptr);

	/* HIP 5.2.3 declares hipLaunchHostFunc() but its library does not have it. */
	host_func launch = (host_func)dlsym(RTLD_DEFAULT, "hipLaunchHostFunc");
	if (launch)
		run("hipLaunchHostFunc", launch);
	else
		printf("hipLaunchHostFunc: not in this HIP\n");
	return finish();
}
