/* wavescope doctor: what is here, which features will work, and what to do about the others. */
#include "cmd/wavescope/selftest.h"
#include "cmd/wavescope/wavescope.h"
#include "counters/catalogue.h"
#include "launch/machine.h"

#include "base/log.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *group, *label;
	unsigned after; /* facts whose lack explains the lack of this one */
	const char *why, *fix;
} facts[] = {
#define LAUNCH_FACT_ROW(name, group, label, after, why, fix)                                       \
	{ #name, group, label, after, why, fix },
	LAUNCH_FACT_TABLE(LAUNCH_FACT_ROW)
#undef LAUNCH_FACT_ROW
};

/*
 * A feature works when all facts of one of its ways are there; the first way is
 * the one whose gaps are explained.
 */
struct feature {
	const char *name;
	unsigned ways[2];
};

/* clang-format off */
#define BIT(name) LAUNCH_FACT_BIT(name)
#define SOFT (BIT(HSA) | BIT(SOFTGPU) | BIT(SOFTRUNS))
#define REAL (BIT(HSA) | BIT(DRIVER) | BIT(GPU) | BIT(KFD) | BIT(RENDER))

static const struct feature features[] = {
	{ "HIP programs on the software GPU",  { SOFT | BIT(HIP) } },
	{ "HIP programs on a real GPU",        { REAL | BIT(HIP) } },
	{ "compiling HIP programs",            { BIT(HIPCC) | BIT(TARGETS) } },
	{ "tracing through HSA's interface",   { SOFT | BIT(COLLECTOR),            REAL | BIT(COLLECTOR) } },
	{ "tracing HIP calls",                 { SOFT | BIT(HIP) | BIT(COLLECTOR), REAL | BIT(HIP) | BIT(COLLECTOR) } },
	{ "counters of the software GPU",      { SOFT | BIT(COLLECTOR) } },
	{ "counters of a real GPU",            { REAL | BIT(KNOWN) | BIT(AQLPROFILE) | BIT(SOLE) | BIT(COLLECTOR) } },
	{ "counters of all its processes",     { REAL | BIT(KNOWN) | BIT(AQLPROFILE) | BIT(SOLE) | BIT(PROFILER) | BIT(PERFMON) | BIT(COLLECTOR) } },
	{ "PC sampling on a real GPU",         { REAL | BIT(PCSAMPLING) | BIT(COLLECTOR) } },
	{ "call stacks and CPU counters",      { BIT(PERF) | BIT(MEMLOCK) | BIT(COLLECTOR) } },
	{ "attaching to a running process",    { BIT(PTRACE) | BIT(COLLECTOR) } },
	{ "ranks under Slurm, MPI or flux",    { BIT(LAUNCHER) | BIT(COLLECTOR) } },
};
/* clang-format on */

struct doctor_args {
	bool json, selftest;
};

static const struct ws_opt doctor_opts[] = {
	WS_OPT_BOOL(struct doctor_args, json, 0, "json", "print one JSON object instead"),
	WS_OPT_BOOL(
		struct doctor_args, selftest, 0, "selftest",
		"also count kernels whose counters are known by construction, and print a table "
		"of the differences. Takes a minute or less"),
};

static unsigned facts_there(const struct launch_machine *m)
{
	unsigned there = 0;

	for (unsigned i = 0; i < LAUNCH_FACT_COUNT; i++)
		there |= (unsigned)m->facts[i].yes << i;
	return there;
}

/* The facts that the feature lacks; 0: it works. */
static unsigned lacks(const struct feature *feature, unsigned there)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(feature->ways) && feature->ways[i]; i++)
		if ((feature->ways[i] & ~there) == 0)
			return 0;
	return feature->ways[0] & ~there;
}

/* Without those that another missing fact explains. */
static unsigned root_causes(unsigned missing)
{
	unsigned roots = missing;

	for (unsigned i = 0; i < LAUNCH_FACT_COUNT; i++)
		if (facts[i].after & missing)
			roots &= ~(1u << i);
	return roots;
}

struct paint {
	const char *good, *bad, *head, *off;
};

static void print_machine(const struct launch_machine *m, const struct paint *paint)
{
	const char *group = "";

	printf("%s\n", m->system);
	for (size_t i = 0; i < LAUNCH_FACT_COUNT; i++) {
		if (strcmp(group, facts[i].group) != 0)
			printf("\n%s%s%s\n", paint->head, facts[i].group, paint->off);
		group = facts[i].group;
		printf("  %s%-4s%s %-18s %s\n", m->facts[i].yes ? paint->good : "",
		       m->facts[i].yes ? "yes" : "no", paint->off, facts[i].label,
		       m->facts[i].detail);
	}
}

/* The architectures of the GPUs that are here, each once, or that of the software GPU. */
static size_t architectures(const struct launch_machine *m, const char *out_names[], size_t room)
{
	size_t n = 0, k;

	for (size_t i = 0; i < m->gpus.n && n < room; i++) {
		for (k = 0; k < n && strcmp(out_names[k], m->gpus.at[i].arch) != 0; k++)
			;
		if (k == n)
			out_names[n++] = m->gpus.at[i].arch;
	}
	if (!n && m->facts[LAUNCH_FACT_SOFTRUNS].yes)
		out_names[n++] = "gfx90a";
	return n;
}

#define ARCHITECTURES_MAX 8u

/* How many counters of a block fit into one pass, and so how many passes a list of counters takes. */
static void print_blocks(const struct launch_machine *m, const struct paint *paint)
{
	const char *names[ARCHITECTURES_MAX];
	size_t n = architectures(m, names, ARCHITECTURES_MAX);

	if (n)
		printf("\n%sCounters at once%s\n", paint->head, paint->off);
	for (size_t i = 0; i < n; i++) {
		struct cnt_catalogue *cat;
		struct ws_err err;

		printf("  %-23s ", names[i]);
		if (cnt_catalogue_create_typical(names[i], &cat, &err)) {
			printf("%s\n", err.text);
			continue;
		}
		for (size_t b = 0; b < cnt_catalogue_n_blocks(cat); b++)
			printf("%s%s %u", b ? ", " : "", cnt_catalogue_block(cat, b)->name,
			       cnt_catalogue_block(cat, b)->limit);
		printf("\n");
		cnt_catalogue_destroy(cat);
	}
}

static void print_json_blocks(const struct launch_machine *m)
{
	const char *names[ARCHITECTURES_MAX];
	size_t n = architectures(m, names, ARCHITECTURES_MAX), n_printed = 0;

	printf("],\n \"counters_at_once\": {");
	for (size_t i = 0; i < n; i++) {
		struct cnt_catalogue *cat;
		struct ws_err err;

		if (cnt_catalogue_create_typical(names[i], &cat, &err))
			continue;
		printf("%s\n  \"%s\": {", n_printed++ ? "," : "", names[i]);
		for (size_t b = 0; b < cnt_catalogue_n_blocks(cat); b++)
			printf("%s\"%s\": %u", b ? ", " : "", cnt_catalogue_block(cat, b)->name,
			       cnt_catalogue_block(cat, b)->limit);
		printf("}");
		cnt_catalogue_destroy(cat);
	}
	printf("}}\n");
}

static void print_features(const struct launch_machine *m, const struct paint *paint)
{
	unsigned there = facts_there(m), all_missing = 0;

	printf("\n%sWhat works%s\n", paint->head, paint->off);
	for (size_t i = 0; i < WS_ARRAY_LEN(features); i++) {
		unsigned missing = root_causes(lacks(&features[i], there));
		const char *sep = " needs ";

		printf("  %s%-4s%s %-*s", missing ? paint->bad : paint->good,
		       missing ? "no" : "yes", paint->off, missing ? 34 : 0, features[i].name);
		for (size_t f = 0; f < LAUNCH_FACT_COUNT; f++)
			if (missing & 1u << f) {
				printf("%s%s", sep, facts[f].label);
				sep = ", ";
			}
		printf("\n");
		all_missing |= missing;
	}
	if (all_missing)
		printf("\n%sWhat to do%s\n", paint->head, paint->off);
	for (size_t f = 0; f < LAUNCH_FACT_COUNT; f++)
		if (all_missing & 1u << f) {
			printf("  %s: %s\n    ", facts[f].label, facts[f].why);
			ws_help_fill(stdout, facts[f].fix, 4, ws_help_columns());
		}
}

static void print_json_text(const char *text)
{
	putchar('"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else if (*c < 0x20)
			printf("\\u%04x", *c);
		else
			putchar(*c);
	}
	putchar('"');
}

static void print_json(const struct launch_machine *m)
{
	unsigned there = facts_there(m);

	printf("{\"system\": ");
	print_json_text(m->system);
	printf(",\n \"facts\": [");
	for (size_t i = 0; i < LAUNCH_FACT_COUNT; i++) {
		printf("%s\n  {\"name\": ", i ? "," : "");
		print_json_text(facts[i].name);
		printf(", \"yes\": %s, \"detail\": ", m->facts[i].yes ? "true" : "false");
		print_json_text(m->facts[i].detail);
		printf("}");
	}
	printf("],\n \"features\": [");
	for (size_t i = 0; i < WS_ARRAY_LEN(features); i++) {
		unsigned missing = root_causes(lacks(&features[i], there)), n = 0;

		printf("%s\n  {\"name\": ", i ? "," : "");
		print_json_text(features[i].name);
		printf(", \"works\": %s, \"lacks\": [", missing ? "false" : "true");
		for (size_t f = 0; f < LAUNCH_FACT_COUNT; f++)
			if (missing & 1u << f) {
				printf("%s", n++ ? ", " : "");
				print_json_text(facts[f].name);
			}
		printf("]}");
	}
	print_json_blocks(m);
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	static const struct paint plain = { "", "", "", "" };
	static const struct paint coloured = { "\033[32m", "\033[31m", "\033[1m", "\033[0m" };
	const struct doctor_args *args = call->values;
	const struct paint *paint = ws_colour_ok(STDOUT_FILENO) ? &coloured : &plain;
	struct launch_machine *m;
	enum ws_status st;

	if (args->json && args->selftest)
		return ws_fail(err, WS_E_USAGE,
			       "--json and --selftest exclude each other: the self-test prints a "
			       "table");
	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE,
			       "unexpected argument '%s': doctor takes only options",
			       call->rest.operands[0]);
	m = calloc(1, sizeof(*m));
	if (!m)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = launch_machine_look(m, err);
	if (!st) {
		if (args->json) {
			print_json(m);
		} else {
			print_machine(m, paint);
			print_blocks(m, paint);
			print_features(m, paint);
		}
		*exit_code = lacks(&features[0], facts_there(m)) ? WS_EXIT_FAILED : 0;
	}
	if (!st && args->selftest) {
		bool equal = false;

		st = wavescope_selftest(&equal, err);
		*exit_code = equal ? 0 : WS_EXIT_FAILED;
	}
	free(m);
	return st;
}

const struct ws_cmd wavescope_doctor_cmd = {
	.name = "doctor",
	.summary = "check which features work on this machine, and how to fix the others",
	.usage = "[options]",
	.about = "Checks GPUs, drivers, ROCm, permissions and launchers, and prints for each "
		 "feature whether it works on this machine. If a feature does not work, it prints "
		 "why, and what to do. Changes nothing.",
	.notes =
		"Exit code:\n"
		"  0 if HIP programs can run on the software GPU, 1 if not. With --selftest: 0 if\n"
		"  all values are equal.",
	.opts = { doctor_opts, WS_ARRAY_LEN(doctor_opts) },
	.values_bytes = sizeof(struct doctor_args),
	.only_prints = true,
	.run = run,
};
