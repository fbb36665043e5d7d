// kokkos_like: calls the tools of KOKKOS_TOOLS_LIBS as Kokkos does: opened by name, each function
// looked up, those that are missing left out. A kernel runs inside a parallel_for.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

struct SpaceHandle {
	char name[64];
};
struct ToolSettings {
	bool requires_global_fencing;
	bool padding[255];
};

static std::vector<void *> tools;

template <class F, class... Args> static int call(const char *name, Args... args)
{
	int n = 0;

	for (void *tool : tools)
		if (void *f = dlsym(tool, name)) {
			((F *)f)(args...);
			n++;
		}
	return n;
}

__global__ void kernel_with_an_unreadable_name(int *to)
{
	to[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
	const char *list = getenv("KOKKOS_TOOLS_LIBS");
	std::string rest = list ? list : "";
	ToolSettings settings = { true, {} };
	SpaceHandle host = { "Host" }, device = { "HIP" };
	uint64_t id = 0, inner = 0;
	uint32_t section = 0;
	int *memory, n = 0;

	for (size_t at; !rest.empty(); rest = at == std::string::npos ? "" : rest.substr(at + 1)) {
		at = rest.find(';');
		std::string path = rest.substr(0, at);
		void *tool = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);

		if (tool)
			tools.push_back(tool);
		else if (!path.empty())
			fprintf(stderr, "kokkos_like: %s\n", dlerror());
	}
	if (hipMalloc(&memory, 256) != hipSuccess)
		return 2;
	n += call<void(int, uint64_t, uint32_t, void *)>("kokkosp_init_library", 0, 20211015ul, 1u, nullptr);
	n += call<void(uint32_t, ToolSettings *)>("kokkosp_request_tool_settings", 1u, &settings);
	call<void(const char *)>("kokkosp_push_profile_region", "time step");
	call<void(const char *, uint32_t *)>("kokkosp_create_profile_section", "solver", &section);
	call<void(uint32_t)>("kokkosp_start_profile_section", section);
	call<void(const char *, uint32_t, uint64_t *)>("kokkosp_begin_parallel_for", "axpy", 1u, &id);
	hipLaunchKernelGGL(kernel_with_an_unreadable_name, dim3(1), dim3(64), 0, nullptr, memory);
	call<void(uint64_t)>("kokkosp_end_parallel_for", id);
	call<void(const char *, uint32_t, uint64_t *)>("kokkosp_begin_parallel_reduce", "norm", 1u, &inner);
	call<void(uint64_t)>("kokkosp_end_parallel_reduce", inner);
	call<void(SpaceHandle, const char *, const void *, SpaceHandle, const char *, const void *, uint64_t)>(
		"kokkosp_begin_deep_copy", host, "x_host", nullptr, device, "x", memory, 256ul);
	call<void()>("kokkosp_end_deep_copy");
	call<void(uint32_t)>("kokkosp_stop_profile_section", section);
	call<void(const char *)>("kokkosp_profile_event", "checkpoint");
	call<void()>("kokkosp_pop_profile_region");
	call<void(uint32_t)>("kokkosp_destroy_profile_section", section);
	call<void()>("kokkosp_finalize_library");
	if (hipDeviceSynchronize() != hipSuccess || (n && id == inner))
		return 2;
	printf("%zu tools, fencing %s\n", tools.size(), settings.requires_global_fencing ? "on" : "off");
	return 0;
}
