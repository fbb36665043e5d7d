/* Graphs: every kind of node, queries, clones, child graphs, updates, nested capture. */
#include "hiptest.h"

__global__ void scale(unsigned *x, unsigned by) { x[threadIdx.x] *= by; }

static unsigned n_host_calls;

static void host_node(void *data) { n_host_calls += *(unsigned *)data; }

static hipGraphNode_t add_scale(hipGraph_t graph, hipGraphNode_t after, unsigned **x, unsigned *by)
{
	void *args[] = { x, by };
	hipKernelNodeParams p = {};
	hipGraphNode_t node;

	p.func = (void *)scale;
	p.gridDim = dim3(1);
	p.blockDim = dim3(64);
	p.kernelParams = args;
	HIP_OK(hipGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &p));
	return node;
}

static void check_all(const char *what, const device_buffer<unsigned> &x, unsigned want)
{
	check_equal(what, x.download(), std::vector<unsigned>(x.n, want));
}

static void every_node_kind()
{
	device_buffer<unsigned> x(64), y(64);
	hipGraph_t graph, child, clone;
	hipGraphExec_t exec, clone_exec;
	hipGraphNode_t set, times, copy, host, empty, nested;
	hipStream_t s;
	unsigned three = 3, seven = 7, one = 1;

	HIP_OK(hipStreamCreate(&s));
	HIP_OK(hipGraphCreate(&graph, 0));
	hipMemsetParams m = {};
	m.dst = x.ptr;
	m.elementSize = 4;
	m.width = 64;
	m.height = 1;
	m.value = 5;
	HIP_OK(hipGraphAddMemsetNode(&set, graph, nullptr, 0, &m));
	times = add_scale(graph, set, &x.ptr, &three);
	HIP_OK(hipGraphAddMemcpyNode1D(&copy, graph, &times, 1, y.ptr, x.ptr, 64 * sizeof(unsigned),
				       hipMemcpyDeviceToDevice));
	hipHostNodeParams hp = { host_node, &one };
	HIP_OK(hipGraphAddHostNode(&host, graph, &copy, 1, &hp));
	HIP_OK(hipGraphAddEmptyNode(&empty, graph, &host, 1));
	HIP_OK(hipGraphCreate(&child, 0));
	add_scale(child, nullptr, &y.ptr, &seven);
	HIP_OK(hipGraphAddChildGraphNode(&nested, graph, &empty, 1, child));

	size_t n_nodes = 0, n_roots = 0, n_edges = 0;
	HIP_OK(hipGraphGetNodes(graph, nullptr, &n_nodes));
	HIP_OK(hipGraphGetRootNodes(graph, nullptr, &n_roots));
	HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &n_edges));
	CHECK(n_nodes == 6 && n_roots == 1 && n_edges == 5, "%zu nodes %zu roots %zu edges",
	      n_nodes, n_roots, n_edges);
	hipGraphNodeType type;
	HIP_OK(hipGraphNodeGetType(set, &type));
	CHECK(type == hipGraphNodeTypeMemset, "%d", (int)type);

	HIP_OK(hipGraphClone(&clone, graph));
	HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP_OK(hipGraphLaunch(exec, s));
	HIP_OK(hipStreamSynchronize(s));
	check_all("graph x", x, 15);
	check_all("graph y", y, 105);
	CHECK(n_host_calls == 1, "%u", n_host_calls);

	m.value = 2;
	HIP_OK(hipGraphExecMemsetNodeSetParams(exec, set, &m));
	HIP_OK(hipGraphLaunch(exec, s));
	HIP_OK(hipGraphLaunch(exec, s));
	HIP_OK(hipStreamSynchronize(s));
	check_all("after update", y, 42);
	CHECK(n_host_calls == 3, "%u", n_host_calls);

	HIP_OK(hipGraphInstantiate(&clone_exec, clone, nullptr, nullptr, 0));
	HIP_OK(hipGraphLaunch(clone_exec, s));
	HIP_OK(hipStreamSynchronize(s));
	check_all("clone keeps the old value", y, 105);
	HIP_OK(hipGraphExecDestroy(exec));
	HIP_OK(hipGraphExecDestroy(clone_exec));
	HIP_OK(hipGraphDestroy(clone));
	HIP_OK(hipGraphDestroy(graph));
	HIP_OK(hipGraphDestroy(child));
	HIP_OK(hipStreamDestroy(s));
}

static void capture()
{
	device_buffer<unsigned> x(64);
	hipStream_t s;
	hipStreamCaptureStatus status;
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_OK(hipStreamCreate(&s));
	x.clear();
	HIP_OK(hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal));
	HIP_OK(hipStreamIsCapturing(s, &status));
	CHECK(status == hipStreamCaptureStatusActive, "%d", (int)status);
	HIP_OK(hipMemsetD32Async(x.ptr, 1, 64, s));
	for (int i = 0; i < 10; i++)
		scale<<<1, 64, 0, s>>>(x.ptr, 2);
	HIP_OK(hipStreamEndCapture(s, &graph));
	HIP_OK(hipStreamIsCapturing(s, &status));
	CHECK(status == hipStreamCaptureStatusNone, "%d", (int)status);
	check_all("nothing ran while capturing", x, 0);

	HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 3; i++)
		HIP_OK(hipGraphLaunch(exec, s));
	HIP_OK(hipStreamSynchronize(s));
	check_all("captured", x, 1024);
	HIP_OK(hipGraphExecDestroy(exec));
	HIP_OK(hipGraphDestroy(graph));
	HIP_OK(hipStreamDestroy(s));
}

int main()
{
	every_node_kind();
	capture();
	return finish();
}
