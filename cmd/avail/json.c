/*
 * rocprofv3-avail info --json: GPUs, counters and samplers for programs. docs/counters.md
 * has the keys; python/rocprofv3_avail_module reads them.
 */
#include "cmd/avail/avail.h"

#include "gpu/pc_sampler.h"
#include "output/jsonw.h"

#include <string.h>
#include <unistd.h>

static void put_counter(struct output_jsonw *w, const struct av_gpu *gpu,
			const struct cnt_counter_def *def)
{
	static const char *const kinds[] = {
		[CNT_COUNTER_HARDWARE] = "hardware",
		[CNT_COUNTER_DERIVED] = "derived",
		[CNT_COUNTER_CONSTANT] = "constant",
	};

	output_json_open(w, NULL, '{');
	/* Two GPUs' counters of one name are two. */
	output_json_u64(w, "handle", (uint64_t)(gpu->number + 1) << 32 | def->id);
	output_json_str(w, "name", def->name);
	output_json_str(w, "description", def->text);
	output_json_str(w, "kind", kinds[def->kind]);
	if (def->kind == CNT_COUNTER_HARDWARE)
		output_json_str(w, "block", def->block->name);
	if (def->kind == CNT_COUNTER_DERIVED)
		output_json_str(w, "expression", def->expression);
	output_json_open(w, "dimensions", '[');
	/* The last dimension first, as in the text; constants have none. */
	for (unsigned d = def->kind == CNT_COUNTER_CONSTANT ? 0 : def->shape.n_dims; d-- > 0;) {
		output_json_open(w, NULL, '{');
		output_json_u64(w, "id", def->shape.at[d].dim);
		output_json_str(w, "name", cnt_dim_name(def->shape.at[d].dim));
		output_json_u64(w, "instances", def->shape.at[d].n);
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
	if (def->kind != CNT_COUNTER_CONSTANT)
		output_json_str(w, "software_gpu", cnt_fidelity_word(def->fidelity));
	output_json_close(w, '}');
}

static bool is_asked(const struct av_wanted *wanted, const struct cnt_catalogue *cat,
		     const struct cnt_counter_def *def)
{
	for (size_t i = 0; i < wanted->n_names; i++)
		if (strcmp(wanted->names[i], def->name) == 0)
			return true;
	return !wanted->n_names && (wanted->fidelity || av_is_had(cat, def));
}

static void put_counters(struct output_jsonw *w, const struct av_gpu *gpu,
			 const struct av_wanted *wanted)
{
	output_json_open(w, "counters", '[');
	for (size_t i = 0; gpu->cat && i < cnt_catalogue_n(gpu->cat); i++)
		if (is_asked(wanted, gpu->cat, cnt_catalogue_at(gpu->cat, i)))
			put_counter(w, gpu, cnt_catalogue_at(gpu->cat, i));
	output_json_close(w, ']');
}

static void put_samplers(struct output_jsonw *w, const struct av_gpu *gpu)
{
	output_json_open(w, "pc_sampling", '[');
	for (const struct gpu_pc_sampler *s = NULL; (s = av_next_sampler(gpu, s));) {
		output_json_open(w, NULL, '{');
		output_json_str(w, "method", s->method);
		output_json_str(w, "unit", s->unit);
		output_json_u64(w, "min_interval", s->min);
		output_json_u64(w, "max_interval", s->max);
		output_json_str(w, "flags", av_sampler_flags(s));
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

static bool is_chosen(const struct av_wanted *wanted, const struct av_gpu *gpu)
{
	return wanted->device < 0 || gpu->number == (uint64_t)wanted->device;
}

static void put_gpus(struct output_jsonw *w, const struct av_machine *machine,
		     const struct av_wanted *wanted)
{
	output_json_open(w, "gpus", '[');
	for (size_t i = 0; i < machine->n; i++) {
		const struct av_gpu *gpu = &machine->gpus[i];

		if (!is_chosen(wanted, gpu))
			continue;
		output_json_open(w, NULL, '{');
		output_json_u64(w, "device", gpu->number);
		output_json_u64(w, "agent", gpu->agent->info->handle);
		output_json_str(w, "name", gpu->agent->name);
		put_counters(w, gpu, wanted);
		put_samplers(w, gpu);
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

/* The capture has the CPUs, too. */
static void put_agents(struct output_jsonw *w, const struct av_machine *machine)
{
	bool done = false;

	output_json_open(w, "agents", '[');
	for (size_t p = 0; p < trc_n_processes(machine->trace) && !done; p++) {
		const struct trc_process *process = trc_process_at(machine->trace, p);

		for (size_t i = 0; i < process->agents.n; i++)
			output_json_agent(w, NULL, process->agents.at[i]);
		done = process->agents.n > 0;
	}
	output_json_close(w, ']');
}

enum ws_status av_json(const struct av_machine *machine, const struct av_wanted *wanted,
		       struct ws_err *err)
{
	struct output_sink sink = { .buf = NULL };
	struct output_jsonw w = { .sink = &sink };
	const struct cnt_counter_def *def;
	enum ws_status st = WS_OK;

	/* A name that is not there is known before half an object is printed. */
	for (size_t i = 0; i < machine->n && !st; i++)
		for (size_t k = 0; k < wanted->n_names && !st; k++)
			if (is_chosen(wanted, &machine->gpus[i]))
				st = av_find(&machine->gpus[i], wanted->names[k], &def, err);
	if (!st)
		st = output_sink_open(&sink, "stdout", STDOUT_FILENO, err);
	if (st)
		return st;
	output_json_open(&w, NULL, '{');
	put_agents(&w, machine);
	put_gpus(&w, machine, wanted);
	output_json_close(&w, '}');
	output_sink_lit(&sink, "\n");
	return output_sink_finish(&sink, err);
}
