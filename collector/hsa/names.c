/*
 * names: names that the program gives to its agents (roctxNameHsaAgent, roctxNameHipDevice).
 *
 * A device may be named before HSA is initialised: the name is kept, and written when the
 * agent is known.
 */
#include "collector/hsa/hsa_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 64u
#define TEXT_BYTES 128

struct given {
	uint64_t handle; /* hsa_agent_t; 0: a device of HIP's */
	int32_t device;
	char text[TEXT_BYTES];
};

static struct {
	struct col_lock lock;
	struct given all[NAMES_MAX];
	uint32_t n;
} names;

/*
 * HIP counts the devices that it was left: HIP_VISIBLE_DEVICES=2,0 makes 0 of 2. Looked up now and
 * not at the start, because programs set it for themselves. UINT32_MAX: not a number.
 */
static uint32_t gpu_of_device(int32_t device)
{
	const char *list = getenv("HIP_VISIBLE_DEVICES");
	char *end;
	long gpu;

	if (!list || !*list)
		list = getenv("CUDA_VISIBLE_DEVICES"); /* HIP's second choice */
	if (!list || !*list)
		return (uint32_t)device;
	for (; device > 0; device--) {
		list = strchr(list, ',');
		if (!list++)
			return UINT32_MAX;
	}
	gpu = strtol(list, &end, 10);
	return end != list && (*end == ',' || *end == '\0') && gpu >= 0 ? (uint32_t)gpu
									: UINT32_MAX;
}

static void write_name(struct cap_writer *writer, const struct given *g)
{
	struct cap_rec_agent_name rec = {
		.h = { .tag = CAP_REC_FIXED_TAG(AGENT_NAME, struct cap_rec_agent_name),
		       .what = g->handle ? col_agent_by_handle(g->handle)
					 : col_agent_by_gpu(gpu_of_device(g->device)) },
	};

	if (!rec.h.what)
		return;
	rec.name_str = cap_writer_intern(writer, g->text, strlen(g->text));
	cap_writer_meta(writer, &rec.h);
}

void col_agent_names_state(struct cap_writer *writer)
{
	col_lock(&names.lock);
	for (uint32_t i = 0; i < names.n; i++)
		write_name(writer, &names.all[i]);
	col_unlock(&names.lock);
}

static void keep(const struct given *given)
{
	struct cap_writer *writer = col_capture(); /* before the lock: a fresh one asks for names */
	int saved_errno = errno;
	uint32_t i = 0;

	col_lock(&names.lock);
	while (i < names.n &&
	       (names.all[i].handle != given->handle || names.all[i].device != given->device))
		i++;
	if (i < NAMES_MAX) {
		names.all[i] = *given;
		names.n = WS_MAX(names.n, i + 1);
		if (writer)
			write_name(writer, given);
	}
	col_unlock(&names.lock);
	errno = saved_errno;
}

void col_agent_name_hsa(uint64_t handle, const char *name)
{
	struct given given = { .handle = handle, .device = -1 };

	strncpy(given.text, name, sizeof(given.text) - 1);
	if (handle)
		keep(&given);
}

void col_agent_name_hip(int device, const char *name)
{
	struct given given = { .device = device };

	strncpy(given.text, name, sizeof(given.text) - 1);
	if (device >= 0)
		keep(&given);
}

void col_agent_names_forked(void)
{
	names.lock =
		(struct col_lock){ 0 }; /* the thread that held it does not exist in the child */
}
