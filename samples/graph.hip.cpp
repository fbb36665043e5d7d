/*
 * graph: work recorded once, launched many times.
 *
 * The same diamond is built twice: captured from two streams, and node by
 * node. Per launch: in -> left (x + 1) and right (x * 2) side by side -> both
 * are added into a running sum. The explicit graph then gets a new argument
 * for one node and is launched again.
 */
#include "check.h"

enum { BLOCK = 256 };

__global__ void plus(const int *in, int *out, int what, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		out[i] = in[i] + what;
}

__global__ void times(const int *in, int *out, int what, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		out[i] = in[i] * what;
}

__global__ void accumulate(const int *left, const int *right, int *sum, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		sum[i] += left[i] + right[i];
}

struct buffers {
	std::vector<int> host;
	device_buffer<int> in, left, right, sum;

	explicit buffers(int n) : host(n), in(n), left(n), right(n), sum(n)
	{
		for (int i = 0; i < n; i++)
			host[i] = i;
		in.clear();
		left.clear();
		right.clear();
		sum.clear();
	}
};

/* Each launch adds (x + left) + (2 * x). */
static bool check(const char *name, const buffers &b, long n_plain, long n_changed)
{
	std::vector<int> want(b.host.size());

	for (size_t i = 0; i < want.size(); i++) {
		int x = (int)i;

		want[i] = (int)n_plain * (x + 1 + 2 * x) + (int)n_changed * (x + 10 + 2 * x);
	}
	size_t n_wrong = count_wrong(name, b.sum.download(), want, 0.0);
	printf("%-9s %s\n", name, n_wrong ? "wrong" : "ok");
	return n_wrong == 0;
}

static bool captured(int n, long launches)
{
	buffers b(n);
	int grid = (n + BLOCK - 1) / BLOCK;
	hipStream_t main_stream, side;
	hipEvent_t fork, join;
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_OK(hipStreamCreate(&main_stream));
	HIP_OK(hipStreamCreate(&side));
	HIP_OK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
	HIP_OK(hipEventCreateWithFlags(&join, hipEventDisableTiming));

	HIP_OK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeGlobal));
	HIP_OK(hipMemcpyAsync(b.in.ptr, b.host.data(), n * sizeof(int), hipMemcpyHostToDevice,
			      main_stream));
	HIP_OK(hipEventRecord(fork, main_stream));
	HIP_OK(hipStreamWaitEvent(side, fork, 0));
	plus<<<grid, BLOCK, 0, main_stream>>>(b.in.ptr, b.left.ptr, 1, n);
	times<<<grid, BLOCK, 0, side>>>(b.in.ptr, b.right.ptr, 2, n);
	HIP_OK(hipEventRecord(join, side));
	HIP_OK(hipStreamWaitEvent(main_stream, join, 0));
	accumulate<<<grid, BLOCK, 0, main_stream>>>(b.left.ptr, b.right.ptr, b.sum.ptr, n);
	HIP_OK(hipStreamEndCapture(main_stream, &graph));

	HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (long i = 0; i < launches; i++)
		HIP_OK(hipGraphLaunch(exec, main_stream));
	HIP_OK(hipStreamSynchronize(main_stream));
	bool ok = check("captured", b, launches, 0);

	HIP_OK(hipGraphExecDestroy(exec));
	HIP_OK(hipGraphDestroy(graph));
	HIP_OK(hipEventDestroy(fork));
	HIP_OK(hipEventDestroy(join));
	HIP_OK(hipStreamDestroy(main_stream));
	HIP_OK(hipStreamDestroy(side));
	return ok;
}

static hipKernelNodeParams kernel_node(void *func, int grid, void **args)
{
	hipKernelNodeParams p = {};

	p.func = func;
	p.gridDim = dim3(grid);
	p.blockDim = dim3(BLOCK);
	p.kernelParams = args;
	return p;
}

static bool built(int n, long launches)
{
	buffers b(n);
	int grid = (n + BLOCK - 1) / BLOCK, one = 1, two = 2, ten = 10;
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipGraphNode_t copy, left, right, join;

	HIP_OK(hipStreamCreate(&stream));
	HIP_OK(hipGraphCreate(&graph, 0));
	HIP_OK(hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, b.in.ptr, b.host.data(),
				       n * sizeof(int), hipMemcpyHostToDevice));

	void *left_args[] = { &b.in.ptr, &b.left.ptr, &one, &n };
	hipKernelNodeParams p = kernel_node((void *)plus, grid, left_args);
	HIP_OK(hipGraphAddKernelNode(&left, graph, &copy, 1, &p));

	void *right_args[] = { &b.in.ptr, &b.right.ptr, &two, &n };
	p = kernel_node((void *)times, grid, right_args);
	HIP_OK(hipGraphAddKernelNode(&right, graph, &copy, 1, &p));

	void *join_args[] = { &b.left.ptr, &b.right.ptr, &b.sum.ptr, &n };
	hipGraphNode_t both[] = { left, right };
	p = kernel_node((void *)accumulate, grid, join_args);
	HIP_OK(hipGraphAddKernelNode(&join, graph, both, 2, &p));

	HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (long i = 0; i < launches; i++)
		HIP_OK(hipGraphLaunch(exec, stream));
	HIP_OK(hipStreamSynchronize(stream));

	left_args[2] = &ten;
	p = kernel_node((void *)plus, grid, left_args);
	HIP_OK(hipGraphExecKernelNodeSetParams(exec, left, &p));
	HIP_OK(hipGraphLaunch(exec, stream));
	HIP_OK(hipStreamSynchronize(stream));
	bool ok = check("built", b, launches, 1);

	HIP_OK(hipGraphExecDestroy(exec));
	HIP_OK(hipGraphDestroy(graph));
	HIP_OK(hipStreamDestroy(stream));
	return ok;
}

int main(int argc, char **argv)
{
	long n = 5000, launches = 5;
	const option_row rows[] = {
		{ 'n', &n, 1, "elements" },
		{ 'i', &launches, 1, "launches of each graph" },
	};
	options(argc, argv, "graphs, captured from streams and built by hand", rows);

	bool pass = captured((int)n, launches);
	pass &= built((int)n, launches);
	return verdict(pass);
}
