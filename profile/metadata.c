/*
 * `metadata`: the machine, the settings, the environment and the files of a run; `functions`: the
 * names in its tables. Keys are AMD's. What is read from this machine is left out when the
 * process ran on another.
 */
#include "base/file.h"
#include "profile/report_priv.h"
#include "trace/host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MODULES_MAX 65536u

static void put_key(FILE *to, const char *key, bool *first)
{
	fputs(*first ? "\n" : ",\n", to);
	*first = false;
	prof_json_text(to, key);
	fputc(':', to);
}

static void put_pair(FILE *to, const char *key, const char *text, bool *first)
{
	put_key(to, key, first);
	prof_json_text(to, text);
}

static void put_count(FILE *to, const char *key, uint64_t value, bool *first)
{
	put_key(to, key, first);
	fprintf(to, "%llu", (unsigned long long)value);
}

static bool ran_here(const struct trc_process *process)
{
	struct utsname name;

	return !uname(&name) && !strcmp(name.nodename, process->facts[CAP_FACT_HOSTNAME]);
}

/* A variable of the profiled program's environment, or NULL. */
static const char *variable(const struct trc_process *process, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < process->n_env; i++)
		if (!strncmp(process->env[i], name, n) && process->env[i][n] == '=')
			return process->env[i] + n + 1;
	return NULL;
}

/* ---- the CPU ---- */

/* The first line of /proc/cpuinfo with this key. */
static struct ws_str cpu_line(struct ws_str text, const char *key)
{
	struct ws_str line, name;

	while (ws_str_next(&text, '\n', &line))
		if (ws_str_next(&line, ':', &name) && ws_str_is(ws_str_trim(name), key))
			return ws_str_trim(line);
	return (struct ws_str){ "", 0 };
}

static void put_view(FILE *to, const char *key, struct ws_str text, bool *first)
{
	if (!text.n)
		return;
	put_key(to, key, first);
	prof_json_text_n(to, text.at, text.n);
}

static void put_features(FILE *to, struct ws_str flags, bool *first)
{
	struct ws_str word;
	bool more = false;

	put_key(to, "CPU_FEATURES", first);
	fputc('[', to);
	while (ws_str_next(&flags, ' ', &word)) {
		if (!word.n)
			continue;
		fputs(more ? "," : "", to);
		prof_json_text_n(to, word.at, word.n);
		more = true;
	}
	fputc(']', to);
}

/* Size of the data or unified cache of a level; 0: unknown. */
static uint64_t cache_bytes(unsigned level)
{
	char path[96], text[32];
	uint64_t at_level, kb;

	for (unsigned i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/level", i);
		if (!ws_file_u64(path, &at_level) || at_level != level)
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/type", i);
		if (!ws_file_line(path, text, sizeof(text)) || !strcmp(text, "Instruction"))
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/size", i);
		if (!ws_file_line(path, text, sizeof(text)) || !strchr(text, 'K'))
			continue;
		*strchr(text, 'K') = '\0';
		if (ws_str_u64(ws_str_from(text), &kb))
			return kb * 1024;
	}
	return 0;
}

static void put_cpu(FILE *to, bool *first)
{
	static const char *const caches[] = { "HW_L1_CACHE_SIZE", "HW_L2_CACHE_SIZE",
					      "HW_L3_CACHE_SIZE" };
	uint64_t cores = 0;
	struct ws_buf text;
	struct ws_str view;

	ws_buf_init(&text, 16u << 20);
	if (!ws_file_read("/proc/cpuinfo", &text, NULL)) {
		view = ws_buf_view(&text);
		put_view(to, "CPU_MODEL", cpu_line(view, "model name"), first);
		put_view(to, "CPU_VENDOR", cpu_line(view, "vendor_id"), first);
		put_features(to, cpu_line(view, "flags"), first);
		if (ws_str_u64(cpu_line(view, "cpu cores"), &cores))
			put_count(to, "HW_PHYSICAL_CPU", cores, first);
	}
	ws_buf_fini(&text);
	put_count(to, "HW_CONCURRENCY", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), first);
	for (unsigned i = 0; i < WS_ARRAY_LEN(caches); i++)
		if (cache_bytes(i + 1))
			put_count(to, caches[i], cache_bytes(i + 1), first);
}

/* ---- the process ---- */

static void put_launch(FILE *to, const struct trc_process *process, bool *first)
{
	time_t at =
		(time_t)(((int64_t)process->init_ns + process->realtime_offset_ns) / 1000000000);
	struct tm day;
	char text[32];

	if (!localtime_r(&at, &day))
		return;
	strftime(text, sizeof(text), "%m/%d/%y", &day);
	put_pair(to, "LAUNCH_DATE", text, first);
	strftime(text, sizeof(text), "%H:%M", &day);
	put_pair(to, "LAUNCH_TIME", text, first);
}

/* The modules that were met on call stacks, each once. */
static void find_modules(struct trc_host *host, struct ws_map *modules)
{
	for (uint32_t id = 1; id < trc_host_n_stacks(host); id++) {
		const struct trc_stack *stack = trc_host_stack(host, id);

		for (uint32_t i = 0; stack && i < stack->n_native; i++) {
			const struct trc_module *module =
				trc_host_module(host, stack->generation, stack->frames[i]);

			if (module && !ws_map_get_u64(modules, module->id))
				ws_map_put_u64(modules, module->id, (void *)module, NULL);
		}
	}
}

static void put_modules(FILE *to, const struct trc_process *process, bool *first)
{
	struct trc_host *host = NULL;
	struct ws_map modules;
	bool more = false;

	if (trc_host_open(process, &host, NULL))
		return;
	ws_map_init(&modules, WS_MAP_U64, MODULES_MAX);
	find_modules(host, &modules);
	put_key(to, "memory_maps_files", first);
	fputc('[', to);
	ws_map_each(entry, &modules) {
		fputs(more ? "," : "", to);
		prof_json_text(to, ((const struct trc_module *)entry->value)->path);
		more = true;
	}
	fputc(']', to);
	put_key(to, "memory_maps", first);
	fputc('[', to);
	more = false;
	ws_map_each(entry, &modules) {
		const struct trc_module *module = entry->value;

		fprintf(to,
			"%s\n{\"load_address\":\"%llx\",\"last_address\":\"%llx\",\"offset\":"
			"\"%llx\",\"pathname\":",
			more ? "," : "", (unsigned long long)module->start,
			(unsigned long long)module->end,
			(unsigned long long)(module->start - module->bias));
		prof_json_text(to, module->path);
		fputc('}', to);
		more = true;
	}
	fputc(']', to);
	ws_map_fini(&modules);
	trc_host_close(host);
}

static void put_info(struct prof_report *r, const struct trc_process *process, FILE *to)
{
	static const char *const variables[] = { "USER", "HOME", "SHELL" };
	bool first = true;

	fputs("\"info\":{", to);
	if (ran_here(process))
		put_cpu(to, &first);
	put_launch(to, process, &first);
	put_pair(to, "PWD", process->facts[CAP_FACT_CWD], &first);
	for (size_t i = 0; i < WS_ARRAY_LEN(variables); i++)
		if (variable(process, variables[i]))
			put_pair(to, variables[i], variable(process, variables[i]), &first);
	put_pair(to, "HOSTNAME", process->facts[CAP_FACT_HOSTNAME], &first);
	if (r->opts->ranked) {
		put_count(to, "RANK", r->opts->job_rank, &first);
		put_count(to, "NUM_RANKS", r->opts->job_size, &first);
	}
	put_pair(to, "ROCPROFSYS_VERSION", r->opts->version ? r->opts->version : "", &first);
	put_pair(to, "ROCPROFSYS_SYSTEM_NAME", process->facts[CAP_FACT_SYSTEM_NAME], &first);
	put_pair(to, "ROCPROFSYS_SYSTEM_PROCESSOR", process->facts[CAP_FACT_HARDWARE_NAME], &first);
	put_pair(to, "ROCPROFSYS_SYSTEM_VERSION", process->facts[CAP_FACT_RELEASE], &first);
	put_pair(to, "ROCPROFSYS_COMPILER_ID", "GNU", &first);
	put_pair(to, "ROCPROFSYS_COMPILER_VERSION", __VERSION__, &first);
	put_pair(to, "GPU_TIMES", trc_gpu_times_word(trc_process_gpu_times(process)), &first);
	put_modules(to, process, &first);
	fputs("\n}", to);
}

static void put_environment(const struct trc_process *process, FILE *to)
{
	bool more = false;

	fputs(",\n\"environment\":[", to);
	for (size_t i = 0; i < process->n_env; i++) {
		const char *equals = strchr(process->env[i], '=');

		if (!equals)
			continue;
		fputs(more ? ",\n{\"key\":" : "\n{\"key\":", to);
		prof_json_text_n(to, process->env[i], (size_t)(equals - process->env[i]));
		fputs(",\"value\":", to);
		prof_json_text(to, equals + 1);
		fputc('}', to);
		more = true;
	}
	fputs("]", to);
}

/* ---- the files ---- */

static const struct prof_report_file *file_at(const struct prof_report *r, size_t i)
{
	return i < r->result->n_files ? &r->result->files[i]
				      : &r->opts->others[i - r->result->n_files];
}

/* {"text":[{"key":"wall_clock","value":["a.txt"]}],"json":[...]} */
static void put_output(const struct prof_report *r, FILE *to)
{
	size_t n = r->result->n_files + r->opts->n_others;
	bool more = false;

	fputs(",\n\"output\":{", to);
	for (size_t i = 0; i < n; i++) {
		const char *format = file_at(r, i)->format;
		bool listed = false;

		for (size_t k = 0; k < i; k++)
			listed |= !strcmp(file_at(r, k)->format, format);
		if (listed)
			continue;
		put_key(to, format, &(bool){ !more });
		fputc('[', to);
		for (size_t k = i, any = 0; k < n; k++) {
			if (strcmp(file_at(r, k)->format, format))
				continue;
			fputs(any++ ? ",\n{\"key\":" : "{\"key\":", to);
			prof_json_text(to, file_at(r, k)->label);
			fputs(",\"value\":[", to);
			prof_json_text(to, file_at(r, k)->path);
			fputs("]}", to);
		}
		fputc(']', to);
		more = true;
	}
	fputs("}", to);
}

void prof_report_metadata(struct prof_report *r)
{
	const struct trc_process *process = r->processes[0];
	const char *path = prof_report_path(r, "metadata", "json");
	FILE *to = prof_report_begin(r, path);

	if (!to)
		return;
	fputs("{\"rocprofiler-systems\":{\"metadata\":{", to);
	put_info(r, process, to);
	fprintf(to, ",\n\"settings\":%s", r->opts->settings_json ? r->opts->settings_json : "{}");
	fputs(",\n\"command_line\":[", to);
	for (size_t i = 0; i < process->n_argv; i++) {
		fputs(i ? "," : "", to);
		prof_json_text(to, process->argv[i]);
	}
	fputc(']', to);
	put_output(r, to);
	put_environment(process, to);
	fputs("\n}}}\n", to);
	prof_report_finish(r, to, "json", "metadata", path);
}

void prof_report_functions(struct prof_report *r)
{
	const struct prof_tree *trees[] = { r->calls, r->samples };
	const char *path = prof_report_path(r, "functions", "json");
	FILE *to = prof_report_begin(r, path);
	bool first = true;

	if (!to)
		return;
	fputs("{\"rocprofiler-systems\":{\"functions\":{", to);
	for (size_t i = 0; i < WS_ARRAY_LEN(trees); i++) {
		if (!trees[i])
			continue;
		ws_map_each(entry, &trees[i]->names) {
			/* A name of both trees is written once. */
			if (i && trees[0] && ws_map_find(&trees[0]->names, entry->str))
				continue;
			put_key(to, entry->str.at, &first);
			fprintf(to, "[%llu]", (unsigned long long)prof_name_hash(entry->str.at));
		}
	}
	fputs("\n}}}\n", to);
	prof_report_finish(r, to, "json", "functions", path);
}
