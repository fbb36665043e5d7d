/*
 * aql_limits ARCHITECTURE: how many counters of a block aqlprofile programs at once, against the limits of
 * data/counters by which passes are planned. Needs libhsa-amd-aqlprofile64 with its second interface, and no GPU.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "collector/count/aqlprofile.h"
#include "counters/catalogue.h"

struct agent_info {
	const char *name;
	uint32_t n_dies, n_engines, n_cus, n_arrays, domain, location;
};

struct event {
	uint32_t instance, number, flags, block;
};

struct profile {
	uint64_t agent;
	const struct event *events;
	uint32_t n_events;
};

#define BLOCK_COUNTERS 4

int main(int argc, char **argv)
{
	static const char *const libraries[] = COL_AQL_LIBRARIES;
	const char *name = argc > 1 ? argv[1] : "gfx90a";
	struct agent_info info = { name, 1, 4, 40, 1, 0, 0 };
	int (*register_agent)(uint64_t *, const void *, int) = NULL;
	int (*get_info)(const struct profile *, int, void *) = NULL;
	struct cnt_catalogue *cat = NULL;
	struct profile profile = { .n_events = 1 };
	struct ws_err err;
	void *library = NULL;
	size_t n_equal = 0, n_blocks = 0;

	for (size_t i = 0; !library && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		library = dlopen(libraries[i], RTLD_LAZY);
	if (library) {
		*(void **)&register_agent = dlsym(library, "aqlprofile_register_agent_info");
		*(void **)&get_info = dlsym(library, "aqlprofile_get_pmc_info");
	}
	if (!register_agent || !get_info || register_agent(&profile.agent, &info, 2) != 0) {
		printf("  limits           FAILED         aqlprofile does not know %s\n", name);
		return 1;
	}
	if (cnt_catalogue_create_typical(name, &cat, &err)) {
		printf("  limits           FAILED         %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < cnt_catalogue_n_blocks(cat); i++) {
		const struct cnt_counter_block *block = cnt_catalogue_block(cat, i);
		struct event event = { .block = col_aql_block(block->name) };
		uint32_t n = 0;

		profile.events = &event;
		n_blocks++;
		if (event.block != UINT32_MAX && get_info(&profile, BLOCK_COUNTERS, &n) == 0 &&
		    n == block->limit)
			n_equal++;
		else
			printf("  limits           %s: %u at once, and %u in data/counters\n",
			       block->name, n, block->limit);
	}
	printf("  limits-%-9s %-14s           counters at once of %zu of %zu blocks\n", name,
	       n_equal == n_blocks ? "ok" : "FAILED", n_equal, n_blocks);
	cnt_catalogue_destroy(cat);
	return n_equal != n_blocks;
}
