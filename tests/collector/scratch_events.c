/*
 * scratch_events: stands in for ROCr 6, which reports scratch memory to tools; ROCr 5 does not.
 *
 * Presents one GPU and one queue. Gives the preloaded collector tables as ROCr does, and reports
 * two allocations, a free and a reclaim. Exits with 0 if the calls that were in the table before
 * are still reached.
 *
 * With the argument "register" the tables come as AMD's packages since ROCm 6.2 give them: by way of
 * librocprofiler-register, and afterwards from ROCr once more.
 */
#include "collector/hsa/tables.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CORE_FUNCTIONS = 125, ITERATE_AGENTS = 5, AGENT_INFO = 6, QUEUE_CREATE = 7 };

/* As ROCr 6's hsa_amd_tool.h lays them out. */
struct alloc_end {
	int kind;
	const hsa_queue_t *queue;
	int flags;
	uint64_t dispatch_id;
	size_t size, num_slots;
};

static hsa_queue_t the_queue = { .size = 64, .id = 7 };
static unsigned n_passed_on;

static hsa_status_t nothing(void)
{
	return HSA_STATUS_ERROR;
}

static hsa_status_t iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data),
				   void *data)
{
	return callback((hsa_agent_t){ 0x1234 }, data);
}

static hsa_status_t agent_info(hsa_agent_t agent, hsa_agent_info_t what, void *value)
{
	if (what != HSA_AGENT_INFO_DEVICE)
		return HSA_STATUS_ERROR;
	*(hsa_device_type_t *)value = HSA_DEVICE_TYPE_GPU;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				 uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
	*queue = &the_queue;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t another_tool(const struct alloc_end *event)
{
	n_passed_on += event->queue == &the_queue;
	return HSA_STATUS_SUCCESS;
}

/* Start and end of the pair at @at, with a while between. */
static void tell(const struct col_hsa_table *tools, unsigned at, int flags, size_t n_bytes)
{
	struct alloc_end event = { (int)at + 1, &the_queue, flags, 1, n_bytes, 64 };

	((hsa_status_t(*)(const struct alloc_end *))tools->functions[at])(&event);
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
	((hsa_status_t(*)(const struct alloc_end *))tools->functions[at + 1])(&event);
}

/* As librocprofiler-register does it. */
static bool offer(struct col_hsa_root *root)
{
	int (*set)(const char *name, uint64_t version, uint64_t instance, void **tables,
		   uint64_t n);
	void *tables[] = { root };

	*(void **)&set = dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
	return dlsym(RTLD_DEFAULT, "rocprofiler_configure") && set &&
	       !set("hsa", 10800, 0, tables, 1) &&
	       !set("hip", 60200, 0, tables, 1); /* not ours: not looked at */
}

int main(int argc, char **argv)
{
	static uint64_t core_words[2 + CORE_FUNCTIONS], tool_words[2 + 6];
	struct col_hsa_table *core = (struct col_hsa_table *)core_words;
	struct col_hsa_table *tools = (struct col_hsa_table *)tool_words;
	struct col_hsa_root root = {
		.major = 1, .minor = sizeof(root), .core = core, .tools = tools
	};
	bool (*on_load)(struct col_hsa_root *, uint64_t, uint64_t, const char *const *);
	hsa_queue_t *queue;

	core->major = tools->major = 2;
	core->minor = sizeof(core_words);
	tools->minor = sizeof(tool_words);
	for (unsigned i = 0; i < CORE_FUNCTIONS; i++)
		core->functions[i] = (void (*)(void))nothing;
	core->functions[ITERATE_AGENTS] = (void (*)(void))iterate_agents;
	core->functions[AGENT_INFO] = (void (*)(void))agent_info;
	core->functions[QUEUE_CREATE] = (void (*)(void))queue_create;
	tools->functions[1] = (void (*)(void))another_tool;

	if (argc > 1 && !strcmp(argv[1], "register") &&
	    (!offer(&root) || core->functions[QUEUE_CREATE] == (void (*)(void))queue_create)) {
		fprintf(stderr, "the tables were not taken\n");
		return 3;
	}
	*(void **)&on_load = dlsym(RTLD_DEFAULT, "OnLoad");
	if (!on_load || !on_load(&root, 1, 0, NULL)) {
		fprintf(stderr, "no collector\n");
		return 2;
	}
	((__typeof__(queue_create) *)core->functions[QUEUE_CREATE])(
		(hsa_agent_t){ 0x1234 }, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue);
	tell(tools, 0, 0, 4096);
	tell(tools, 0, 1, 1 << 20);
	tell(tools, 2, 1, 99);
	tell(tools, 4, 2, 99);
	return n_passed_on == 2 ? 0 : 1;
}
