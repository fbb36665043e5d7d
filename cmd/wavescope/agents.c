/*
 * wavescope _agents: ask AMD's HSA runtime what it sees, and print it in the
 * layout of rocminfo, which people and scripts know how to read.
 *
 * This runs in a process of its own: the runtime aborts when it disagrees with
 * its driver library.
 */
#include "cmd/wavescope/wavescope.h"

#include "base/file.h"
#include "base/str.h"
#include "gpu/hsa.h"

#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* clang-format off */
#define HSA_FUNCTIONS(X)                     \
	X(hsa_init)                          \
	X(hsa_shut_down)                     \
	X(hsa_system_get_info)               \
	X(hsa_iterate_agents)                \
	X(hsa_agent_get_info)                \
	X(hsa_agent_iterate_isas)            \
	X(hsa_isa_get_info_alt)              \
	X(hsa_amd_agent_iterate_memory_pools) \
	X(hsa_amd_memory_pool_get_info)
/* clang-format on */

static struct {
	HSA_FUNCTIONS(GPU_HSA_POINTER)
} hsa;
static const char *const hsa_names[] = { HSA_FUNCTIONS(GPU_HSA_NAME) };

/* The layout: labels 25 wide, values 35, two columns of indent per level. */
static void print_line(unsigned level, const char *label, const char *value)
{
	printf("%*s%-25s%-35s\n", (int)level * 2, "", label, value);
}

static void print_label(unsigned level, const char *label)
{
	printf("%*s%-25s\n", (int)level * 2, "", label);
}

/* 104 prints as "104(0x68) ". */
static const char *both(uint64_t value)
{
	static char text[48];

	snprintf(text, sizeof(text), "%llu(0x%llx) ", (unsigned long long)value,
		 (unsigned long long)value);
	return text;
}

enum format {
	TEXT,   /* char[64] */
	WHOLE,  /* uint32_t in decimal */
	BOTH,   /* uint32_t in decimal and hexadecimal */
	BOTH64, /* uint64_t */
	WORD,   /* an enum: one of `words` */
	FLAG,   /* bool: TRUE or FALSE */
	KIB,    /* size_t in bytes, as KB */
	KIBS,   /* uint32_t[4] of bytes: one line each */
	XYZ16,  /* uint16_t[3]: a line each */
	XYZ32,  /* uint32_t[3] */
	MODES,  /* bool[3]: the words of those set */
	KERNEL, /* the features line, which ends the part that all agents have */
};

struct row {
	const char *label;
	int attribute;
	enum format format;
	const char *const *words; /* by value; NULL at the end */
	const char *other;        /* a value that has no word */
};

static const char *const features[] = { "None specified", "KERNEL_DISPATCH", "AGENT_DISPATCH",
					"KERNEL_DISPATCH & AGENT_DISPATCH", NULL };
static const char *const profiles[] = { "BASE_PROFILE", "FULL_PROFILE", NULL };
static const char *const roundings[] = { "Not Supported", "ZERO", "NEAR", NULL };
static const char *const queue_types[] = { "MULTI", "SINGLE", NULL };
static const char *const device_types[] = { "CPU", "GPU", "DSP", NULL };
static const char *const models[] = { "HSA_MACHINE_MODEL_SMALL ", "HSA_MACHINE_MODEL_LARGE", NULL };
static const char *const isa_profiles[] = { "HSA_PROFILE_BASE ", "HSA_PROFILE_FULL", NULL };
static const char *const isa_roundings[] = { "DEFAULT ", "ZERO ", "NEAR", NULL };

/* clang-format off */
static const struct row agent_rows[] = {
	{ "Name:",                     HSA_AGENT_INFO_NAME,                         TEXT, NULL, NULL },
	{ "Uuid:",                     HSA_AMD_AGENT_INFO_UUID,                     TEXT, NULL, NULL },
	{ "Marketing Name:",           HSA_AMD_AGENT_INFO_PRODUCT_NAME,             TEXT, NULL, NULL },
	{ "Vendor Name:",              HSA_AGENT_INFO_VENDOR_NAME,                  TEXT, NULL, NULL },
	{ "Feature:",                  HSA_AGENT_INFO_FEATURE,                      WORD, features, "Unknown" },
	{ "Profile:",                  HSA_AGENT_INFO_PROFILE,                      WORD, profiles, "Unknown" },
	{ "Float Round Mode:",         HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE,  WORD, roundings, "Not Supported" },
	{ "Max Queue Number:",         HSA_AGENT_INFO_QUEUES_MAX,                   BOTH, NULL, NULL },
	{ "Queue Min Size:",           HSA_AGENT_INFO_QUEUE_MIN_SIZE,               BOTH, NULL, NULL },
	{ "Queue Max Size:",           HSA_AGENT_INFO_QUEUE_MAX_SIZE,               BOTH, NULL, NULL },
	{ "Queue Type:",               HSA_AGENT_INFO_QUEUE_TYPE,                   WORD, queue_types, "Unknown" },
	{ "Node:",                     HSA_AGENT_INFO_NODE,                         WHOLE, NULL, NULL },
	{ "Device Type:",              HSA_AGENT_INFO_DEVICE,                       WORD, device_types, "DSP" },
	{ "Cache Info:",               HSA_AGENT_INFO_CACHE_SIZE,                   KIBS, NULL, NULL },
	{ "Chip ID:",                  HSA_AMD_AGENT_INFO_CHIP_ID,                  BOTH, NULL, NULL },
	{ "Cacheline Size:",           HSA_AMD_AGENT_INFO_CACHELINE_SIZE,           BOTH, NULL, NULL },
	{ "Max Clock Freq. (MHz):",    HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY,      WHOLE, NULL, NULL },
	{ "BDFID:",                    HSA_AMD_AGENT_INFO_BDFID,                    WHOLE, NULL, NULL },
	{ "Internal Node ID:",         HSA_AMD_AGENT_INFO_DRIVER_NODE_ID,           WHOLE, NULL, NULL },
	{ "Compute Unit:",             HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,       WHOLE, NULL, NULL },
	{ "SIMDs per CU:",             HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU,         WHOLE, NULL, NULL },
	{ "Shader Engines:",           HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES,       WHOLE, NULL, NULL },
	{ "Shader Arrs. per Eng.:",    HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, WHOLE, NULL, NULL },
	{ "WatchPts on Addr. Ranges:", HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, WHOLE, NULL, NULL },
	{ "Features:",                 HSA_AGENT_INFO_FEATURE,                      KERNEL, NULL, NULL },
	{ "Fast F16 Operation:",       HSA_AGENT_INFO_FAST_F16_OPERATION,           FLAG, NULL, NULL },
	{ "Wavefront Size:",           HSA_AGENT_INFO_WAVEFRONT_SIZE,               BOTH, NULL, NULL },
	{ "Workgroup Max Size:",       HSA_AGENT_INFO_WORKGROUP_MAX_SIZE,           BOTH, NULL, NULL },
	{ "Workgroup Max Size per Dimension:", HSA_AGENT_INFO_WORKGROUP_MAX_DIM,    XYZ16, NULL, NULL },
	{ "Max Waves Per CU:",         HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU,         BOTH, NULL, NULL },
	{ "Max Work-item Per CU:",     -1,                                          BOTH, NULL, NULL },
	{ "Grid Max Size:",            HSA_AGENT_INFO_GRID_MAX_SIZE,                BOTH, NULL, NULL },
	{ "Grid Max Size per Dimension:", HSA_AGENT_INFO_GRID_MAX_DIM,              XYZ32, NULL, NULL },
	{ "Max fbarriers/Workgrp:",    HSA_AGENT_INFO_FBARRIER_MAX_SIZE,            WHOLE, NULL, NULL },
};

static const struct row pool_rows[] = {
	{ "Size:",              HSA_AMD_MEMORY_POOL_INFO_SIZE,                    BOTH64, NULL, NULL },
	{ "Allocatable:",       HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,   FLAG, NULL, NULL },
	{ "Alloc Granule:",     HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE,   KIB, NULL, NULL },
	{ "Alloc Alignment:",   HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, KIB, NULL, NULL },
	{ "Accessible by all:", HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL,       FLAG, NULL, NULL },
};

static const struct row isa_rows[] = {
	{ "Name:",                  HSA_ISA_INFO_NAME,                                      TEXT, NULL, NULL },
	{ "Machine Models:",        HSA_ISA_INFO_MACHINE_MODELS,                            MODES, models, NULL },
	{ "Profiles:",              HSA_ISA_INFO_PROFILES,                                  MODES, isa_profiles, NULL },
	{ "Default Rounding Mode:", HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES,              MODES, isa_roundings, NULL },
	{ "Default Rounding Mode:", HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, MODES, isa_roundings, NULL },
	{ "Fast f16:",              HSA_ISA_INFO_FAST_F16_OPERATION,                        FLAG, NULL, NULL },
	{ "Workgroup Max Size:",    HSA_ISA_INFO_WORKGROUP_MAX_SIZE,                        BOTH, NULL, NULL },
	{ "Workgroup Max Size per Dimension:", HSA_ISA_INFO_WORKGROUP_MAX_DIM,              XYZ16, NULL, NULL },
	/* 64 bits, of which rocminfo prints the lower half; so do we, for those who compare. */
	{ "Grid Max Size:",         HSA_ISA_INFO_GRID_MAX_SIZE,                             BOTH, NULL, NULL },
	{ "Grid Max Size per Dimension:", HSA_ISA_INFO_GRID_MAX_DIM,                        XYZ32, NULL, NULL },
	{ "FBarrier Max Size:",     HSA_ISA_INFO_FBARRIER_MAX_SIZE,                         WHOLE, NULL, NULL },
};
/* clang-format on */

/* Room for the largest answer; ISA names are the longest, and are asked for by length first. */
union value {
	char text[256];
	uint8_t flag;
	bool modes[8];
	uint16_t dim16[3];
	uint32_t u32, dim32[4];
	uint64_t u64;
};

static void print_xyz(unsigned level, const char *label, uint32_t x, uint32_t y, uint32_t z)
{
	print_label(level, label);
	print_line(level + 1, "x", both(x));
	print_line(level + 1, "y", both(y));
	print_line(level + 1, "z", both(z));
}

static void print_words(unsigned level, const struct row *row, const union value *v)
{
	char text[128] = "";

	for (size_t i = 0; row->words[i]; i++)
		if (v->modes[i])
			strcat(text, row->words[i]);
	print_line(level, row->label, text);
}

static void print_caches(unsigned level, const struct row *row, const union value *v)
{
	char label[8], text[64];

	print_label(level, row->label);
	for (unsigned i = 0; i < 4; i++) {
		if (!v->dim32[i])
			continue;
		snprintf(label, sizeof(label), "L%u:", i + 1);
		snprintf(text, sizeof(text), "%sKB", both(v->dim32[i] / 1024));
		print_line(level + 1, label, text);
	}
}

static void print_word(unsigned level, const struct row *row, const union value *v)
{
	for (uint32_t i = 0; row->words[i]; i++)
		if (i == v->u32) {
			print_line(level, row->label, row->words[i]);
			return;
		}
	print_line(level, row->label, row->other);
}

static void print_row(unsigned level, const struct row *row, const union value *v)
{
	char text[64];

	switch (row->format) {
	case TEXT:
		print_line(level, row->label, v->text);
		break;
	case WHOLE:
		snprintf(text, sizeof(text), "%d", (int)v->u32);
		print_line(level, row->label, text);
		break;
	case BOTH:
		print_line(level, row->label, both(v->u32));
		break;
	case BOTH64:
		print_line(level, row->label, both(v->u64));
		break;
	case WORD:
		print_word(level, row, v);
		break;
	case FLAG:
		print_line(level, row->label, v->flag ? "TRUE" : "FALSE");
		break;
	case KIB:
		snprintf(text, sizeof(text), "%lluKB", (unsigned long long)v->u64 / 1024);
		print_line(level, row->label, text);
		break;
	case KIBS:
		print_caches(level, row, v);
		break;
	case XYZ16:
		print_xyz(level, row->label, v->dim16[0], v->dim16[1], v->dim16[2]);
		break;
	case XYZ32:
		print_xyz(level, row->label, v->dim32[0], v->dim32[1], v->dim32[2]);
		break;
	case MODES:
		print_words(level, row, v);
		break;
	case KERNEL:
		printf("%*s%-25s%s%s%s\n", (int)level * 2, "", row->label,
		       v->u32 & HSA_AGENT_FEATURE_KERNEL_DISPATCH ? "KERNEL_DISPATCH " : "",
		       v->u32 & HSA_AGENT_FEATURE_AGENT_DISPATCH ? "AGENT_DISPATCH" : "",
		       v->u32 ? "" : "None");
		break;
	}
}

/* What the callbacks of the runtime carry along. */
struct walk {
	struct ws_err *err;
	enum ws_status st;
	bool brief;
	int n_agents, n_gpus, n_pools, n_isas;
};

/* A failed query ends the walk: HSA_STATUS_INFO_BREAK stops every iterator. */
static hsa_status_t stop(struct walk *walk, hsa_status_t status, const char *what)
{
	walk->st = gpu_hsa_fail(walk->err, status, what);
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t show_pool(hsa_amd_memory_pool_t pool, void *data)
{
	static const char *const segments[] = { "GLOBAL; FLAGS: ", "READONLY", "PRIVATE", "GROUP" };
	static const char *const flags[] = { "KERNARG", "FINE GRAINED", "COARSE GRAINED" };
	struct walk *walk = data;
	uint32_t segment = 0, flag = 0;
	char text[128];
	hsa_status_t hs;

	snprintf(text, sizeof(text), "Pool %d", ++walk->n_pools);
	print_label(2, text);
	hs = hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	if (!hs)
		hs = hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
						      &flag);
	if (hs)
		return stop(walk, hs, "memory pool");
	snprintf(text, sizeof(text), "%s",
		 segment < WS_ARRAY_LEN(segments) ? segments[segment] : "Not Supported");
	for (size_t i = 0, n = 0; segment == HSA_AMD_SEGMENT_GLOBAL && i < WS_ARRAY_LEN(flags); i++)
		if (flag & 1u << i) {
			strcat(text, n++ ? ", " : "");
			strcat(text, flags[i]);
		}
	print_line(3, "Segment:", text);
	for (size_t i = 0; i < WS_ARRAY_LEN(pool_rows); i++) {
		const struct row *row = &pool_rows[i];
		union value v = { .u64 = 0 };

		hs = hsa.hsa_amd_memory_pool_get_info(
			pool, (hsa_amd_memory_pool_info_t)row->attribute, &v);
		if (hs)
			return stop(walk, hs, row->label);
		if (row->format == BOTH64) { /* a size: in KB, both ways */
			snprintf(text, sizeof(text), "%sKB", both(v.u64 / 1024));
			print_line(3, row->label, text);
		} else {
			print_row(3, row, &v);
		}
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t show_isa(hsa_isa_t isa, void *data)
{
	struct walk *walk = data;
	uint32_t n = 0;
	char text[16];
	hsa_status_t hs;

	snprintf(text, sizeof(text), "ISA %d", ++walk->n_isas);
	print_label(2, text);
	hs = hsa.hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &n);
	if (!hs && n >= sizeof(((union value *)0)->text))
		hs = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (hs)
		return stop(walk, hs, "ISA name");
	for (size_t i = 0; i < WS_ARRAY_LEN(isa_rows); i++) {
		union value v = { .text = "" };

		hs = hsa.hsa_isa_get_info_alt(isa, (hsa_isa_info_t)isa_rows[i].attribute, &v);
		if (hs)
			return stop(walk, hs, isa_rows[i].label);
		print_row(3, &isa_rows[i], &v);
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t ask(hsa_agent_t agent, int attribute, void *out)
{
	return hsa.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, out);
}

static hsa_status_t show_whole(hsa_agent_t agent, struct walk *walk)
{
	uint32_t feature = 0, wave = 0, waves = 0;
	char text[32];
	hsa_status_t hs;

	print_label(0, "*******");
	snprintf(text, sizeof(text), "Agent %d", walk->n_agents);
	print_label(0, text);
	print_label(0, "*******");
	hs = ask(agent, HSA_AGENT_INFO_FEATURE, &feature);
	if (hs)
		return stop(walk, hs, "agent");
	for (size_t i = 0; i < WS_ARRAY_LEN(agent_rows); i++) {
		const struct row *row = &agent_rows[i];
		union value v = { .text = "" };

		if (row->attribute < 0) /* the only derived one */
			v.u32 = wave * waves;
		else
			hs = ask(agent, row->attribute, &v);
		if (hs)
			return stop(walk, hs, row->label);
		if (row->attribute == HSA_AGENT_INFO_WAVEFRONT_SIZE)
			wave = v.u32;
		if (row->attribute == HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU)
			waves = v.u32;
		print_row(1, row, &v);
		/* What follows is about kernels, and CPUs run none. */
		if (row->format == KERNEL && !(feature & HSA_AGENT_FEATURE_KERNEL_DISPATCH))
			break;
	}
	print_label(1, "Pool Info:");
	walk->n_pools = walk->n_isas = 0;
	hs = hsa.hsa_amd_agent_iterate_memory_pools(agent, show_pool, walk);
	if (walk->st)
		return HSA_STATUS_INFO_BREAK;
	if (hs)
		return stop(walk, hs, "memory pools");
	print_label(1, "ISA Info:");
	hs = hsa.hsa_agent_iterate_isas(agent, show_isa, walk);
	if (walk->st)
		return HSA_STATUS_INFO_BREAK;
	if (hs == HSA_STATUS_ERROR_INVALID_AGENT)
		print_label(2, "N/A");
	else if (hs)
		return stop(walk, hs, "ISAs");
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_vram(hsa_amd_memory_pool_t pool, void *data)
{
	uint32_t segment = 0;
	size_t size = 0, *largest = data;

	if (!hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) &&
	    segment == HSA_AMD_SEGMENT_GLOBAL &&
	    !hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size))
		*largest = WS_MAX(*largest, size);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t show_brief(hsa_agent_t agent, struct walk *walk)
{
	char name[64] = "", product[64] = "";
	uint32_t type = 0, n_cus = 0, freq_mhz = 0;
	size_t mem_bytes = 0;
	hsa_status_t hs = ask(agent, HSA_AGENT_INFO_NAME, name);

	if (!hs)
		hs = ask(agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME, product);
	if (!hs)
		hs = ask(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (!hs)
		hs = ask(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &n_cus);
	if (!hs)
		hs = ask(agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, &freq_mhz);
	if (!hs)
		hs = hsa.hsa_amd_agent_iterate_memory_pools(agent, find_vram, &mem_bytes);
	if (hs)
		return stop(walk, hs, "agent");
	printf("agent %-3d %s  %-8s %s, %u %s, %u MHz, %.0f GiB\n", walk->n_agents,
	       type == HSA_DEVICE_TYPE_GPU ? "GPU" : "CPU", type == HSA_DEVICE_TYPE_GPU ? name : "",
	       product, n_cus, type == HSA_DEVICE_TYPE_GPU ? "CUs" : "cores", freq_mhz,
	       (double)mem_bytes / (1 << 30));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t show_agent(hsa_agent_t agent, void *data)
{
	struct walk *walk = data;
	uint32_t type = 0;

	walk->n_agents++;
	if (!ask(agent, HSA_AGENT_INFO_DEVICE, &type) && type == HSA_DEVICE_TYPE_GPU)
		walk->n_gpus++;
	return walk->brief ? show_brief(agent, walk) : show_whole(agent, walk);
}

/* Its version number says little: which build it is can be seen in its file. */
static void show_library(void)
{
	char path[PATH_MAX];
	struct stat file;
	Dl_info where;

	if (!dladdr((void *)hsa.hsa_init, &where) || !realpath(where.dli_fname, path) ||
	    stat(path, &file))
		return;
	printf("%-25s%s, %lld bytes, %lld\n", "Runtime Library:", path, (long long)file.st_size,
	       (long long)file.st_mtim.tv_sec);
}

static enum ws_status show_system(bool library, struct ws_err *err)
{
	uint16_t major = 0, minor = 0;
	uint64_t freq_hz = 0, max_wait = 0;
	uint32_t endian = 0, model = 0;
	const struct {
		hsa_system_info_t attribute;
		void *to;
	} asked[] = {
		{ HSA_SYSTEM_INFO_VERSION_MAJOR, &major },
		{ HSA_SYSTEM_INFO_VERSION_MINOR, &minor },
		{ HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &freq_hz },
		{ HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, &max_wait },
		{ HSA_SYSTEM_INFO_ENDIANNESS, &endian },
		{ HSA_SYSTEM_INFO_MACHINE_MODEL, &model },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(asked); i++) {
		hsa_status_t hs = hsa.hsa_system_get_info(asked[i].attribute, asked[i].to);

		if (hs)
			return gpu_hsa_fail(err, hs, "system attributes");
	}
	print_label(0, "=====================");
	print_label(0, "HSA System Attributes");
	print_label(0, "=====================");
	printf("%-25s%u.%u\n", "Runtime Version:", major, minor);
	printf("%-25s%fMHz\n", "System Timestamp Freq.:", (double)freq_hz / 1e6);
	printf("%-25s%llu (0x%llX) (timestamp count)\n",
	       "Sig. Max Wait Duration:", (unsigned long long)max_wait,
	       (unsigned long long)max_wait);
	print_line(0, "Machine Model:", model == HSA_MACHINE_MODEL_SMALL ? "SMALL" : "LARGE");
	print_line(0, "System Endianness:", endian == HSA_ENDIANNESS_LITTLE ? "LITTLE" : "BIG");
	if (library)
		show_library();
	printf("\n");
	return WS_OK;
}

/* Whether the runtime took the driver library that it was meant to take. */
static enum ws_status check_through(const char *library, struct ws_err *err)
{
	enum ws_status st;
	struct ws_buf maps;

	ws_buf_init(&maps, 16 << 20);
	st = ws_file_read("/proc/self/maps", &maps, err);
	if (!st && !strstr(maps.at, library))
		st = ws_fail(err, WS_E_STATE,
			     "the HSA runtime did not load %s: it may contain its driver library "
			     "(ROCm 6.3 and later) or have an RPATH (try --preload)",
			     library);
	ws_buf_fini(&maps);
	return st;
}

struct agents_args {
	const char *through;
	bool brief, library;
};

static const struct ws_opt agents_opts[] = {
	WS_OPT_STR(struct agents_args, through, 0, "through", "FILE",
		   "fail unless the runtime loaded FILE"),
	WS_OPT_BOOL(struct agents_args, brief, 'b', "brief", "one line per agent"),
	WS_OPT_BOOL(struct agents_args, library, 0, "library",
		    "also print the path of the runtime"),
};

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct agents_args *args = call->values;
	struct walk walk = { .err = err, .brief = args->brief };
	enum ws_status st;
	hsa_status_t hs;

	(void)exit_code;
	st = gpu_hsa_open(hsa_names, (void **)&hsa, WS_ARRAY_LEN(hsa_names), err);
	if (!st && args->through)
		st = check_through(args->through, err);
	if (st)
		return st;
	hs = hsa.hsa_init();
	if (hs)
		return gpu_hsa_fail(err, hs, "the HSA runtime cannot start");
	st = walk.brief ? WS_OK : show_system(args->library, err);
	if (!st) {
		if (!walk.brief) {
			print_label(0, "==========");
			print_label(0, "HSA Agents");
			print_label(0, "==========");
		}
		hs = hsa.hsa_iterate_agents(show_agent, &walk);
		st = walk.st ? walk.st : hs ? gpu_hsa_fail(err, hs, "agents") : WS_OK;
	}
	if (!st && !walk.brief)
		print_label(0, "*** Done ***");
	if (!st && !walk.n_gpus)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "the HSA runtime found no GPU: 'wavescope doctor' checks why");
	fflush(stdout);
	hsa.hsa_shut_down();
	return st;
}

const struct ws_cmd wavescope_agents_cmd = {
	.name = WAVESCOPE_AGENTS_NAME,
	.usage = "[options]",
	.opts = { agents_opts, WS_ARRAY_LEN(agents_opts) },
	.values_bytes = sizeof(struct agents_args),
	.only_prints = true,
	.run = run,
};
