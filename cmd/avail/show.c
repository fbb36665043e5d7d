/* What AMD's tool prints, to the character; docs/counters.md says what is added to it. */
#include "cmd/avail/avail.h"

#include "gpu/pc_sampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_CHARS 120

/* ---- agents ---- */

static void show_dims(const char *key, const uint32_t dim[3])
{
	printf("%-30s:\t{'x': %u, 'y': %u, 'z': %u}\n", key, dim[0], dim[1], dim[2]);
}

static void show_number(const char *key, uint64_t value)
{
	printf("%-30s:\t%" PRIu64 "\n", key, value);
}

static void show_text(const char *key, const char *value)
{
	printf("%-30s:\t%s\n", key, value);
}

static void show_agent(const struct av_gpu *gpu)
{
	const struct cap_rec_agent *info = gpu->agent->info;
	unsigned v = info->visibility;

	printf("GPU:%u\n\n", gpu->number);
	show_number("cpu_cores_count", info->cpu_cores_count);
	show_number("simd_count", info->simd_count);
	show_number("max_waves_per_simd", info->max_waves_per_simd);
	printf("%-30s:\t{'hsa': %u, 'hip': %u, 'rccl': %u, 'rocdecode': %u}\n",
	       "runtime_visibility", v & 1, v >> 1 & 1, v >> 2 & 1, v >> 3 & 1);
	show_number("wave_front_size", info->wave_front_size);
	show_number("num_xcc", info->num_xcc);
	show_number("cu_count", info->cu_count);
	show_number("array_count", info->array_count);
	show_number("num_shader_banks", info->num_shader_banks);
	show_number("simd_arrays_per_engine", info->simd_arrays_per_engine);
	show_number("cu_per_simd_array", info->cu_per_simd_array);
	show_number("simd_per_cu", info->simd_per_cu);
	show_number("gfx_target_version", info->gfx_target_version);
	show_number("max_waves_per_cu", info->max_waves_per_cu);
	show_number("gpu_id", info->gpu_id);
	show_dims("workgroup_max_dim", info->workgroup_max_dim);
	show_dims("grid_max_dim", info->grid_max_dim);
	show_text("name", gpu->agent->name);
	show_text("vendor_name", gpu->agent->vendor_name);
	show_text("product_name", gpu->agent->product_name);
	show_text("model_name", gpu->agent->model_name);
	show_number("node_id", info->node_id);
	show_number("logical_node_id", info->logical_node_id);
	show_number("logical_node_type_id", info->logical_node_type_id);
}

/* ---- counters ---- */

bool av_is_had(const struct cnt_catalogue *cat, const struct cnt_counter_def *def)
{
	return !cnt_catalogue_is_soft(cat) || def->fidelity != CNT_FIDELITY_UNSUPPORTED;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int columns_for(int width)
{
	struct winsize size;
	int chars = LINE_CHARS, n;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		chars = size.ws_col;
	n = chars / (width + 1);
	return n ? n : 1;
}

/* Names in columns, row by row. */
static enum ws_status show_names(const struct cnt_catalogue *cat, struct ws_err *err)
{
	size_t n = 0, n_all = cat ? cnt_catalogue_n(cat) : 0;
	const char **names = calloc(n_all + 1, sizeof(*names));
	int width = 0, columns;

	if (!names)
		return ws_fail(err, WS_E_NOMEM, "out of memory for names");
	for (size_t i = 0; i < n_all; i++) {
		const struct cnt_counter_def *def = cnt_catalogue_at(cat, i);

		if (!av_is_had(cat, def))
			continue;
		names[n++] = def->name;
		if ((int)strlen(def->name) > width)
			width = (int)strlen(def->name);
	}
	qsort(names, n, sizeof(*names), by_name);
	printf("%-30s:\n\n", "PMC");
	columns = columns_for(width);
	for (size_t i = 0; i < n; i++)
		printf("%-*s%s", width, names[i],
		       i + 1 == n || (i + 1) % (size_t)columns == 0 ? "\n" : " ");
	free(names);
	return WS_OK;
}

/* The last dimension first, as AMD's library has them. */
static void show_shape(const struct cnt_shape *shape)
{
	printf("%-20s:\t", "Dimensions");
	for (unsigned d = shape->n_dims; d-- > 0;)
		printf("%s[0:%u]%s", cnt_dim_name(shape->at[d].dim), shape->at[d].n - 1,
		       d ? " " : "");
	printf("\n");
}

static void show_counter(const struct cnt_counter_def *def, bool fidelity)
{
	printf("%-20s:\t%s\n%-20s:\t%s\n", "Counter_Name", def->name, "Description", def->text);
	if (def->kind == CNT_COUNTER_DERIVED)
		printf("%-20s:\t%s\n", "Expression", def->expression);
	if (def->kind == CNT_COUNTER_HARDWARE)
		printf("%-20s:\t%s\n", "Block", def->block->name);
	if (def->kind != CNT_COUNTER_CONSTANT)
		show_shape(&def->shape);
	if (fidelity && def->kind != CNT_COUNTER_CONSTANT)
		printf("%-20s:\t%s%s%s\n", "Software_GPU", cnt_fidelity_word(def->fidelity),
		       *def->fidelity_text ? ": " : "", def->fidelity_text);
	printf("\n\n");
}

enum ws_status av_find(const struct av_gpu *gpu, const char *name,
		       const struct cnt_counter_def **out_def, struct ws_err *err)
{
	const struct cnt_counter_def *def = gpu->cat ? cnt_catalogue_find(gpu->cat, name) : NULL;
	const char *near = gpu->cat ? cnt_catalogue_nearest(gpu->cat, name) : NULL;

	if (!def && near)
		return ws_fail(err, WS_E_NOTFOUND, "no counter '%s' on %s: did you mean '%s'?",
			       name, gpu->agent->name, near);
	if (!def)
		return ws_fail(err, WS_E_NOTFOUND,
			       "no counter '%s' on %s: 'rocprofv3-avail list' lists the counters",
			       name, gpu->agent->name);
	*out_def = def;
	return WS_OK;
}

static enum ws_status show_details(const struct av_gpu *gpu, const struct av_wanted *wanted,
				   struct ws_err *err)
{
	const struct cnt_catalogue *cat = gpu->cat;
	enum ws_status st = WS_OK;

	printf("GPU:%u\nName:%s\n", gpu->number, gpu->agent->name);
	for (size_t i = 0; cat && !wanted->n_names && i < cnt_catalogue_n(cat); i++)
		if (wanted->fidelity || av_is_had(cat, cnt_catalogue_at(cat, i)))
			show_counter(cnt_catalogue_at(cat, i), wanted->fidelity);
	for (size_t i = 0; i < wanted->n_names && !st; i++) {
		const struct cnt_counter_def *def = NULL;

		st = av_find(gpu, wanted->names[i], &def, err);
		if (!st)
			show_counter(def, wanted->fidelity || !av_is_had(cat, def));
	}
	return st;
}

/* ---- PC sampling ---- */

const struct gpu_pc_sampler *av_next_sampler(const struct av_gpu *gpu,
					     const struct gpu_pc_sampler *before)
{
	return gpu_pc_sampler_next(gpu->agent->name, gpu->agent->info->flags & CAP_AGENT_SOFT,
				   before);
}

const char *av_sampler_flags(const struct gpu_pc_sampler *sampler)
{
	return sampler->is_power_of_two ? "interval pow2" : "none";
}

static void show_samplers(const struct av_gpu *gpu, bool details)
{
	bool any = false;

	for (const struct gpu_pc_sampler *s = NULL; (s = av_next_sampler(gpu, s));) {
		if (!any) {
			printf("%-8s:\t%u\n%-8s:\t%s\n", "GPU", gpu->number, "Name",
			       gpu->agent->name);
			if (details)
				printf("%-8s:\n", "configs");
		}
		any = true;
		if (details)
			printf("   %-20s:\t%s\n   %-20s:\t%s\n   %-20s:\t%" PRIu64
			       "\n   %-20s:\t%" PRIu64 "\n   %-20s:\t%s\n\n\n",
			       "Method", s->method, "Unit", s->unit, "Min_Interval", s->min,
			       "Max_Interval", s->max, "Flags", av_sampler_flags(s));
	}
	if (any)
		printf("\n\n");
}

/* ---- all of it ---- */

static enum ws_status show_gpu(const struct av_gpu *gpu, const struct av_wanted *wanted,
			       struct ws_err *err)
{
	enum ws_status st = WS_OK;

	if (wanted->agents) {
		show_agent(gpu);
		if (wanted->details)
			st = show_names(gpu->cat, err);
		printf("\n\n");
	}
	if (!st && wanted->counters && !wanted->details) {
		printf("%-30s:\t%u\n%-30s:\t%s\n", "GPU", gpu->number, "Name", gpu->agent->name);
		st = show_names(gpu->cat, err);
		printf("\n\n");
	}
	if (!st && wanted->counters && wanted->details)
		st = show_details(gpu, wanted, err);
	return st;
}

enum ws_status av_show(const struct av_machine *machine, const struct av_wanted *wanted,
		       struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < machine->n && !st; i++)
		if (wanted->device < 0 || machine->gpus[i].number == (uint64_t)wanted->device)
			st = show_gpu(&machine->gpus[i], wanted, err);
	if (st || !wanted->samplers)
		return st;
	if (!wanted->details)
		printf("Agents supporting PC Sampling\n\n");
	for (size_t i = 0; i < machine->n; i++)
		if (wanted->device < 0 || machine->gpus[i].number == (uint64_t)wanted->device)
			show_samplers(&machine->gpus[i], wanted->details);
	return WS_OK;
}
