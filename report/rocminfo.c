#include "report/rocminfo.h"

#include "base/util.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <string.h>

/* The layout: labels 25 wide, values 35, two columns of indent per level. */
static void print_line(FILE *to, unsigned level, const char *label, const char *value)
{
	fprintf(to, "%*s%-25s%-35s\n", (int)level * 2, "", label, value);
}

static void print_label(FILE *to, unsigned level, const char *label)
{
	fprintf(to, "%*s%-25s\n", (int)level * 2, "", label);
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
	TEXT,     /* char[] */
	WHOLE,    /* uint32_t in decimal */
	BOTH,     /* uint32_t in decimal and hexadecimal */
	BOTH_LOW, /* the lower half of a uint64_t, as rocminfo prints it */
	WORD,     /* uint32_t: one of `words` */
	FEATURES, /* uint32_t: the bits of an agent's features */
	FLAG,     /* uint8_t: TRUE or FALSE */
	KIB,      /* uint64_t in bytes, as KB */
	KIB_BOTH, /* the same in decimal and hexadecimal */
	CACHES,   /* uint32_t[4] in bytes: one line each */
	XYZ16,    /* uint16_t[3]: a line each */
	XYZ32,    /* uint32_t[3] */
	MODES,    /* uint8_t[]: the words of those set */
};

struct row {
	const char *label;
	size_t offset; /* in the structure that the table is of */
	enum format format;
	const char *const *words; /* by value; NULL at the end */
	const char *other;        /* for a value that has no word */
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
#define AGENT(member) offsetof(struct gpu_hsa_agent, member)
static const struct row agent_rows[] = {
	{ "Name:",                     AGENT(name),            TEXT, NULL, NULL },
	{ "Uuid:",                     AGENT(uuid),            TEXT, NULL, NULL },
	{ "Marketing Name:",           AGENT(product),         TEXT, NULL, NULL },
	{ "Vendor Name:",              AGENT(vendor),          TEXT, NULL, NULL },
	{ "Feature:",                  AGENT(feature),         WORD, features, "Unknown" },
	{ "Profile:",                  AGENT(profile),         WORD, profiles, "Unknown" },
	{ "Float Round Mode:",         AGENT(float_rounding),  WORD, roundings, "Not Supported" },
	{ "Max Queue Number:",         AGENT(queues_max),      BOTH, NULL, NULL },
	{ "Queue Min Size:",           AGENT(queue_min_size),  BOTH, NULL, NULL },
	{ "Queue Max Size:",           AGENT(queue_max_size),  BOTH, NULL, NULL },
	{ "Queue Type:",               AGENT(queue_type),      WORD, queue_types, "Unknown" },
	{ "Node:",                     AGENT(node),            WHOLE, NULL, NULL },
	{ "Device Type:",              AGENT(device_type),     WORD, device_types, "DSP" },
	{ "Cache Info:",               AGENT(cache_bytes),     CACHES, NULL, NULL },
	{ "Chip ID:",                  AGENT(chip_id),         BOTH, NULL, NULL },
	{ "Cacheline Size:",           AGENT(cacheline_bytes), BOTH, NULL, NULL },
	{ "Max Clock Freq. (MHz):",    AGENT(freq_mhz),        WHOLE, NULL, NULL },
	{ "BDFID:",                    AGENT(bdfid),           WHOLE, NULL, NULL },
	{ "Internal Node ID:",         AGENT(driver_node),     WHOLE, NULL, NULL },
	{ "Compute Unit:",             AGENT(n_cus),           WHOLE, NULL, NULL },
	{ "SIMDs per CU:",             AGENT(simds_per_cu),    WHOLE, NULL, NULL },
	{ "Shader Engines:",           AGENT(n_ses),           WHOLE, NULL, NULL },
	{ "Shader Arrs. per Eng.:",    AGENT(arrays_per_se),   WHOLE, NULL, NULL },
	{ "WatchPts on Addr. Ranges:", AGENT(watch_points),    WHOLE, NULL, NULL },
	{ "Features:",                 AGENT(feature),         FEATURES, NULL, NULL },
};

/* Of agents that run kernels; "Max Work-item Per CU:" stands between the two. */
static const struct row wave_rows[] = {
	{ "Fast F16 Operation:",               AGENT(fast_f16),          FLAG, NULL, NULL },
	{ "Wavefront Size:",                   AGENT(wave_size),         BOTH, NULL, NULL },
	{ "Workgroup Max Size:",               AGENT(workgroup_max),     BOTH, NULL, NULL },
	{ "Workgroup Max Size per Dimension:", AGENT(workgroup_max_dim), XYZ16, NULL, NULL },
	{ "Max Waves Per CU:",                 AGENT(waves_per_cu),      BOTH, NULL, NULL },
};
static const struct row grid_rows[] = {
	{ "Grid Max Size:",                    AGENT(grid_max),          BOTH, NULL, NULL },
	{ "Grid Max Size per Dimension:",      AGENT(grid_max_dim),      XYZ32, NULL, NULL },
	{ "Max fbarriers/Workgrp:",            AGENT(fbarriers_max),     WHOLE, NULL, NULL },
};

#define POOL(member) offsetof(struct gpu_hsa_pool, member)
static const struct row pool_rows[] = {
	{ "Size:",              POOL(size_bytes),        KIB_BOTH, NULL, NULL },
	{ "Allocatable:",       POOL(can_allocate),      FLAG, NULL, NULL },
	{ "Alloc Granule:",     POOL(granule_bytes),     KIB, NULL, NULL },
	{ "Alloc Alignment:",   POOL(alignment_bytes),   KIB, NULL, NULL },
	{ "Accessible by all:", POOL(accessible_by_all), FLAG, NULL, NULL },
};

#define ISA(member) offsetof(struct gpu_hsa_isa, member)
static const struct row isa_rows[] = {
	{ "Name:",                             ISA(name),              TEXT, NULL, NULL },
	{ "Machine Models:",                   ISA(machine_models),    MODES, models, NULL },
	{ "Profiles:",                         ISA(profiles),          MODES, isa_profiles, NULL },
	{ "Default Rounding Mode:",            ISA(roundings),         MODES, isa_roundings, NULL },
	{ "Default Rounding Mode:",            ISA(base_roundings),    MODES, isa_roundings, NULL },
	{ "Fast f16:",                         ISA(fast_f16),          FLAG, NULL, NULL },
	{ "Workgroup Max Size:",               ISA(workgroup_max),     BOTH, NULL, NULL },
	{ "Workgroup Max Size per Dimension:", ISA(workgroup_max_dim), XYZ16, NULL, NULL },
	{ "Grid Max Size:",                    ISA(grid_max),          BOTH_LOW, NULL, NULL },
	{ "Grid Max Size per Dimension:",      ISA(grid_max_dim),      XYZ32, NULL, NULL },
	{ "FBarrier Max Size:",                ISA(fbarriers_max),     WHOLE, NULL, NULL },
};
/* clang-format on */

static void print_xyz(FILE *to, unsigned level, const char *label, uint32_t x, uint32_t y,
		      uint32_t z)
{
	print_label(to, level, label);
	print_line(to, level + 1, "x", both(x));
	print_line(to, level + 1, "y", both(y));
	print_line(to, level + 1, "z", both(z));
}

static void print_modes(FILE *to, unsigned level, const struct row *row, const uint8_t *set)
{
	char text[128] = "";

	for (size_t i = 0; row->words[i]; i++)
		if (set[i])
			strcat(text, row->words[i]);
	print_line(to, level, row->label, text);
}

static void print_caches(FILE *to, unsigned level, const struct row *row, const uint32_t *bytes)
{
	char label[8], text[64];

	print_label(to, level, row->label);
	for (unsigned i = 0; i < 4; i++) {
		if (!bytes[i])
			continue;
		snprintf(label, sizeof(label), "L%u:", i + 1);
		snprintf(text, sizeof(text), "%sKB", both(bytes[i] / 1024));
		print_line(to, level + 1, label, text);
	}
}

static void print_word(FILE *to, unsigned level, const struct row *row, uint32_t value)
{
	const char *word = row->other;

	for (uint32_t i = 0; row->words[i]; i++)
		if (i == value)
			word = row->words[i];
	print_line(to, level, row->label, word);
}

static void print_features(FILE *to, unsigned level, const struct row *row, uint32_t value)
{
	fprintf(to, "%*s%-25s%s%s%s\n", (int)level * 2, "", row->label,
		value & HSA_AGENT_FEATURE_KERNEL_DISPATCH ? "KERNEL_DISPATCH " : "",
		value & HSA_AGENT_FEATURE_AGENT_DISPATCH ? "AGENT_DISPATCH" : "",
		value ? "" : "None");
}

static void print_row(FILE *to, unsigned level, const struct row *row, const void *of)
{
	const void *at = (const char *)of + row->offset;
	const uint16_t *u16 = at;
	const uint32_t *u32 = at;
	const uint64_t *u64 = at;
	char text[64];

	switch (row->format) {
	case TEXT:
		print_line(to, level, row->label, at);
		break;
	case WHOLE:
		snprintf(text, sizeof(text), "%d", (int)*u32);
		print_line(to, level, row->label, text);
		break;
	case BOTH:
		print_line(to, level, row->label, both(*u32));
		break;
	case BOTH_LOW:
		print_line(to, level, row->label, both((uint32_t)*u64));
		break;
	case WORD:
		print_word(to, level, row, *u32);
		break;
	case FEATURES:
		print_features(to, level, row, *u32);
		break;
	case FLAG:
		print_line(to, level, row->label, *(const uint8_t *)at ? "TRUE" : "FALSE");
		break;
	case KIB:
		snprintf(text, sizeof(text), "%lluKB", (unsigned long long)*u64 / 1024);
		print_line(to, level, row->label, text);
		break;
	case KIB_BOTH:
		snprintf(text, sizeof(text), "%sKB", both(*u64 / 1024));
		print_line(to, level, row->label, text);
		break;
	case CACHES:
		print_caches(to, level, row, at);
		break;
	case XYZ16:
		print_xyz(to, level, row->label, u16[0], u16[1], u16[2]);
		break;
	case XYZ32:
		print_xyz(to, level, row->label, u32[0], u32[1], u32[2]);
		break;
	case MODES:
		print_modes(to, level, row, at);
		break;
	}
}

#define PRINT_ROWS(to, level, rows, of)                                                            \
	for (size_t row_ = 0; row_ < WS_ARRAY_LEN(rows); row_++)                                   \
	print_row(to, level, &(rows)[row_], of)

static void print_pool(FILE *to, const struct gpu_hsa_pool *pool, size_t number)
{
	static const char *const segments[] = { "GLOBAL; FLAGS: ", "READONLY", "PRIVATE", "GROUP" };
	static const char *const flags[] = { "KERNARG", "FINE GRAINED", "COARSE GRAINED" };
	char text[128];

	snprintf(text, sizeof(text), "Pool %zu", number);
	print_label(to, 2, text);
	snprintf(text, sizeof(text), "%s",
		 pool->segment < WS_ARRAY_LEN(segments) ? segments[pool->segment]
							: "Not Supported");
	if (pool->segment == HSA_AMD_SEGMENT_GLOBAL)
		for (size_t i = 0, n = 0; i < WS_ARRAY_LEN(flags); i++)
			if (pool->flags & 1u << i) {
				strcat(text, n++ ? ", " : "");
				strcat(text, flags[i]);
			}
	print_line(to, 3, "Segment:", text);
	PRINT_ROWS(to, 3, pool_rows, pool);
}

static void print_agent(FILE *to, const struct gpu_hsa_agent *agent, size_t number)
{
	char text[32];

	print_label(to, 0, "*******");
	snprintf(text, sizeof(text), "Agent %zu", number);
	print_label(to, 0, text);
	print_label(to, 0, "*******");
	PRINT_ROWS(to, 1, agent_rows, agent);
	if (agent->runs_kernels) {
		PRINT_ROWS(to, 1, wave_rows, agent);
		print_line(to, 1,
			   "Max Work-item Per CU:", both(agent->wave_size * agent->waves_per_cu));
		PRINT_ROWS(to, 1, grid_rows, agent);
	}
	print_label(to, 1, "Pool Info:");
	for (size_t i = 0; i < agent->n_pools; i++)
		print_pool(to, &agent->pools[i], i + 1);
	print_label(to, 1, "ISA Info:");
	if (!agent->has_isas)
		print_label(to, 2, "N/A");
	for (size_t i = 0; i < agent->n_isas; i++) {
		snprintf(text, sizeof(text), "ISA %zu", i + 1);
		print_label(to, 2, text);
		PRINT_ROWS(to, 3, isa_rows, &agent->isas[i]);
	}
}

static void print_system(FILE *to, const struct gpu_hsa_agents *from)
{
	print_label(to, 0, "=====================");
	print_label(to, 0, "HSA System Attributes");
	print_label(to, 0, "=====================");
	fprintf(to, "%-25s%u.%u\n", "Runtime Version:", from->version_major, from->version_minor);
	fprintf(to, "%-25s%fMHz\n", "System Timestamp Freq.:", (double)from->timestamp_hz / 1e6);
	fprintf(to, "%-25s%llu (0x%llX) (timestamp count)\n",
		"Sig. Max Wait Duration:", (unsigned long long)from->max_wait,
		(unsigned long long)from->max_wait);
	print_line(to, 0, "Machine Model:",
		   from->machine_model == HSA_MACHINE_MODEL_SMALL ? "SMALL" : "LARGE");
	print_line(to, 0, "System Endianness:",
		   from->endianness == HSA_ENDIANNESS_LITTLE ? "LITTLE" : "BIG");
	fprintf(to, "\n");
}

void rpt_rocminfo(FILE *to, const struct gpu_hsa_agents *agents)
{
	print_system(to, agents);
	print_label(to, 0, "==========");
	print_label(to, 0, "HSA Agents");
	print_label(to, 0, "==========");
	for (size_t i = 0; i < agents->n_agents; i++)
		print_agent(to, &agents->agents[i], i + 1);
	print_label(to, 0, "*** Done ***");
}
