/*
 * csv: one file per domain, `agent_info`, and the statistics. docs/formats/csv.md.
 *
 * Rows are by start, so that files of two runs can be compared: threads and queues write their
 * records apart from each other. Text is quoted, and a quote inside it doubled.
 */
#include "output/output_priv.h"

#include <stdlib.h>

struct csv {
	struct output_run *run;
	struct output_sink sinks[CAP_DOMAIN_COUNT];
	struct output_counter_sum *sums;
	size_t n_sums;
	struct ws_err *err;
};

/* clang-format off */
static const char *const headers[] = {
	[OUTPUT_SHAPE_CALL] =
		"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
		"\"Start_Timestamp\",\"End_Timestamp\"\n",
	[OUTPUT_SHAPE_MARKER] =
		"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
		"\"Start_Timestamp\",\"End_Timestamp\"\n",
	[OUTPUT_SHAPE_DISPATCH] =
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
		"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
		"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
		"\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\","
		"\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n",
	[OUTPUT_SHAPE_COPY] =
		"\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
		"\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n",
	[OUTPUT_SHAPE_ALLOC] =
		"\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\",\"Correlation_Id\","
		"\"Start_Timestamp\",\"End_Timestamp\"\n",
	[OUTPUT_SHAPE_SCRATCH] =
		"\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\","
		"\"Start_Timestamp\",\"End_Timestamp\",\"Allocation_Size\"\n",
	[OUTPUT_SHAPE_COUNTERS] =
		"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
		"\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
		"\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
		"\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n",
	[OUTPUT_SHAPE_SAMPLE] =
		"\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\","
		"\"Instruction_Comment\",\"Correlation_Id\"",
};

#define STATS_HEADER                                                                               \
	"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\","           \
	"\"MaxNs\",\"StdDev\"\n"

/* column, field of struct cap_rec_agent; text columns follow separately */
#define AGENT_COLUMNS(X)                                                                           \
	X("Cpu_Cores_Count", cpu_cores_count) X("Simd_Count", simd_count)                          \
	X("Cpu_Core_Id_Base", cpu_core_id_base) X("Simd_Id_Base", simd_id_base)                    \
	X("Max_Waves_Per_Simd", max_waves_per_simd) X("Lds_Size_In_Kb", lds_size_in_kb)            \
	X("Gds_Size_In_Kb", gds_size_in_kb) X("Num_Gws", num_gws)                                  \
	X("Wave_Front_Size", wave_front_size) X("Num_Xcc", num_xcc) X("Cu_Count", cu_count)        \
	X("Array_Count", array_count) X("Num_Shader_Banks", num_shader_banks)                      \
	X("Simd_Arrays_Per_Engine", simd_arrays_per_engine)                                        \
	X("Cu_Per_Simd_Array", cu_per_simd_array) X("Simd_Per_Cu", simd_per_cu)                    \
	X("Max_Slots_Scratch_Cu", max_slots_scratch_cu) X("Gfx_Target_Version", gfx_target_version)\
	X("Vendor_Id", vendor_id) X("Device_Id", device_id) X("Location_Id", location_id)          \
	X("Domain", domain) X("Drm_Render_Minor", drm_render_minor)                                \
	X("Num_Sdma_Engines", num_sdma_engines) X("Num_Sdma_Xgmi_Engines", num_sdma_xgmi_engines)  \
	X("Num_Sdma_Queues_Per_Engine", num_sdma_queues_per_engine)                                \
	X("Num_Cp_Queues", num_cp_queues) X("Max_Engine_Clk_Ccompute", max_engine_clk_ccompute)    \
	X("Max_Engine_Clk_Fcompute", max_engine_clk_fcompute) X("Sdma_Fw_Version", sdma_fw_version)\
	X("Fw_Version", fw_version) X("Capability", capability) X("Cu_Per_Engine", cu_per_engine)  \
	X("Max_Waves_Per_Cu", max_waves_per_cu) X("Family_Id", family_id)                          \
	X("Workgroup_Max_Size", workgroup_max_size) X("Grid_Max_Size", grid_max_size)              \
	X("Local_Mem_Size", local_mem_size) X("Hive_Id", hive_id) X("Gpu_Id", gpu_id)              \
	X("Workgroup_Max_Dim_X", workgroup_max_dim[0])                                             \
	X("Workgroup_Max_Dim_Y", workgroup_max_dim[1])                                             \
	X("Workgroup_Max_Dim_Z", workgroup_max_dim[2])                                             \
	X("Grid_Max_Dim_X", grid_max_dim[0]) X("Grid_Max_Dim_Y", grid_max_dim[1])                  \
	X("Grid_Max_Dim_Z", grid_max_dim[2])
/* clang-format on */

/* ---- cells ---- */

/* Between quotes, any length. */
void output_csv_text(struct output_sink *sink, const char *text)
{
	size_t n = strlen(text);
	const char *quote;
	char *p;

	if (n < OUTPUT_SINK_ROOM_MAX / 2 && !memchr(text, '"', n)) {
		p = output_sink_room(sink, n + 2);
		*p++ = '"';
		memcpy(p, text, n);
		p += n;
		*p++ = '"';
		output_sink_at(sink, p);
		return;
	}
	output_sink_lit(sink, "\"");
	while ((quote = memchr(text, '"', n))) {
		size_t head = (size_t)(quote - text) + 1;

		output_sink_put(sink, text, head);
		output_sink_lit(sink, "\"");
		text += head;
		n -= head;
	}
	output_sink_put(sink, text, n);
	output_sink_lit(sink, "\"");
}

static char *comma_u64(char *p, uint64_t v)
{
	*p++ = ',';
	return output_fmt_u64(p, v);
}

static char *fmt_agent(const struct csv *csv, char *p, const struct trc_agent *agent)
{
	*p++ = '"';
	if (agent) {
		uint32_t number;
		const char *label = output_agent_label(agent, csv->run->cfg->agent_index, &number);
		size_t n = strlen(label);

		memcpy(p, label, n);
		p += n;
		*p++ = ' ';
		p = output_fmt_u64(p, number);
	}
	*p++ = '"';
	return p;
}

static char *fmt_dims(char *p, const uint32_t dims[3])
{
	for (int i = 0; i < 3; i++)
		p = comma_u64(p, dims[i]);
	return p;
}

static uint64_t product(const uint32_t dims[3])
{
	return (uint64_t)dims[0] * dims[1] * dims[2];
}

/* Static LDS in the hardware's blocks of 512 bytes, then scratch and registers. */
static char *fmt_resources(char *p, const struct trc_event *ev)
{
	const struct cap_rec_kernel *kernel = ev->dispatch.kernel->info;

	p = comma_u64(p, kernel ? ((uint64_t)kernel->group_bytes + 511) / 512 * 512 : 0);
	p = comma_u64(p, ev->dispatch.info->private_bytes);
	p = comma_u64(p, kernel ? kernel->arch_vgpr_count : 0);
	p = comma_u64(p, kernel ? kernel->accum_vgpr_count : 0);
	return comma_u64(p, kernel ? kernel->sgpr_count : 0);
}

/* ---- rows ---- */

static void put_call(struct csv *csv, struct output_sink *sink, const struct trc_event *ev)
{
	const char *kind = trc_kind_name(ev->kind);
	size_t n = strlen(kind);
	char *p = output_sink_room(sink, n + 8);

	*p++ = '"';
	memcpy(p, kind, n);
	p += n;
	p = OUTPUT_FMT_LIT(p, "\",");
	output_sink_at(sink, p);
	output_csv_text(sink, ev->name);
	p = output_sink_room(sink, 128);
	p = comma_u64(p, ev->process->pid);
	p = comma_u64(p, ev->thread->tid);
	p = comma_u64(p, ev->corr_id);
	p = comma_u64(p, ev->start_ns);
	p = comma_u64(p, ev->end_ns);
	*p++ = '\n';
	output_sink_at(sink, p);
	sink->n_rows++;
}

static void put_dispatch(struct csv *csv, struct output_sink *sink, const struct trc_event *ev)
{
	const struct cap_rec_dispatch *info = ev->dispatch.info;
	char *p = output_sink_room(sink, 256);

	p = OUTPUT_FMT_LIT(p, "\"KERNEL_DISPATCH\",");
	p = fmt_agent(csv, p, ev->dispatch.agent);
	p = comma_u64(p, ev->dispatch.queue->id);
	p = comma_u64(p, output_run_stream(csv->run, ev));
	p = comma_u64(p, ev->thread->tid);
	p = comma_u64(p, info->dispatch_id);
	p = comma_u64(p, ev->dispatch.kernel->id);
	*p++ = ',';
	output_sink_at(sink, p);
	output_csv_text(sink, output_run_name(csv->run, ev));
	p = output_sink_room(sink, 512);
	p = comma_u64(p, ev->corr_id);
	p = comma_u64(p, ev->start_ns);
	p = comma_u64(p, ev->end_ns);
	p = fmt_resources(p, ev);
	p = fmt_dims(p, info->workgroup);
	p = fmt_dims(p, info->grid);
	*p++ = '\n';
	output_sink_at(sink, p);
	sink->n_rows++;
}

static void put_counters(struct csv *csv, struct output_sink *sink, const struct trc_event *ev)
{
	const struct cap_rec_dispatch *info = ev->dispatch.info;
	size_t n = output_counter_sums(ev, csv->sums, csv->n_sums);

	for (size_t i = 0; i < n; i++) {
		uint32_t id = csv->sums[i].counter;
		const char *name =
			id < ev->process->counters.n ? ev->process->counters.at[id].name : "";
		char *p = output_sink_room(sink, 512);

		p = output_fmt_u64(p, ev->corr_id);
		p = comma_u64(p, info->dispatch_id);
		*p++ = ',';
		p = fmt_agent(csv, p, ev->dispatch.agent);
		p = comma_u64(p, ev->dispatch.queue->id);
		p = comma_u64(p, ev->process->pid);
		p = comma_u64(p, ev->thread->tid);
		p = comma_u64(p, product(info->grid));
		p = comma_u64(p, ev->dispatch.kernel->id);
		*p++ = ',';
		output_sink_at(sink, p);
		output_csv_text(sink, output_run_name(csv->run, ev));
		p = output_sink_room(sink, 512);
		p = comma_u64(p, product(info->workgroup));
		p = fmt_resources(p, ev);
		*p++ = ',';
		output_sink_at(sink, p);
		output_csv_text(sink, name);
		p = output_sink_room(sink, OUTPUT_FMT_F64_MAX + 64);
		*p++ = ',';
		p = output_fmt_counter(p, csv->sums[i].value);
		p = comma_u64(p, ev->start_ns);
		p = comma_u64(p, ev->end_ns);
		*p++ = '\n';
		output_sink_at(sink, p);
		sink->n_rows++;
	}
}

static void put_copy(struct csv *csv, struct output_sink *sink, const struct trc_event *ev)
{
	char *p;

	output_sink_lit(sink, "\"MEMORY_COPY\",");
	output_csv_text(sink, ev->name);
	p = output_sink_room(sink, 256);
	p = comma_u64(p, output_run_stream(csv->run, ev));
	*p++ = ',';
	p = fmt_agent(csv, p, ev->copy.src);
	*p++ = ',';
	p = fmt_agent(csv, p, ev->copy.dst);
	p = comma_u64(p, ev->corr_id);
	p = comma_u64(p, ev->start_ns);
	p = comma_u64(p, ev->end_ns);
	*p++ = '\n';
	output_sink_at(sink, p);
	sink->n_rows++;
}

static void put_alloc(struct csv *csv, struct output_sink *sink, const struct trc_event *ev)
{
	char *p;

	output_sink_lit(sink, "\"MEMORY_ALLOCATION\",");
	output_csv_text(sink, ev->name);
	p = output_sink_room(sink, 256);
	*p++ = ',';
	p = fmt_agent(csv, p, ev->alloc.agent);
	p = comma_u64(p, ev->alloc.info->n_bytes);
	p = OUTPUT_FMT_LIT(p, ",\"");
	p = output_fmt_hex16(p, ev->alloc.info->address);
	*p++ = '"';
	p = comma_u64(p, ev->corr_id);
	p = comma_u64(p, ev->start_ns);
	p = comma_u64(p, ev->end_ns);
	*p++ = '\n';
	output_sink_at(sink, p);
	sink->n_rows++;
}

static void put_scratch(struct csv *csv, struct output_sink *sink, const struct trc_event *ev)
{
	char *p;

	output_sink_lit(sink, "\"SCRATCH_MEMORY\",");
	output_csv_text(sink, ev->name);
	p = output_sink_room(sink, 256);
	*p++ = ',';
	p = fmt_agent(csv, p, ev->scratch.agent);
	p = comma_u64(p, ev->scratch.queue->id);
	p = comma_u64(p, ev->thread->tid);
	p = comma_u64(p, ev->scratch.info->flags);
	p = comma_u64(p, ev->start_ns);
	p = comma_u64(p, ev->end_ns);
	p = comma_u64(p, ev->scratch.info->n_bytes);
	*p++ = '\n';
	output_sink_at(sink, p);
	sink->n_rows++;
}

static void put_sample(struct csv *csv, struct output_sink *sink, const struct trc_event *ev)
{
	const struct output_decoder *decoder = csv->run->cfg->decoder;
	const struct cap_rec_pc_sample *info = ev->sample.info;
	const char *instruction = "", *comment = "";
	char unknown[96];
	char *p = output_sink_room(sink, 128);

	if (!decoder || !decoder->decode(decoder->ctx, ev->process, info->code_object, info->offset,
					 &instruction, &comment)) {
		instruction = "";
		comment = unknown;
		snprintf(unknown, sizeof(unknown),
			 "Unrecognized code object id, physical virtual address of PC:%llu",
			 (unsigned long long)info->offset);
	}
	p = output_fmt_u64(p, ev->start_ns);
	p = comma_u64(p, info->exec_mask);
	p = comma_u64(p, info->dispatch_id);
	*p++ = ',';
	output_sink_at(sink, p);
	output_csv_text(sink, instruction);
	output_sink_lit(sink, ",");
	output_csv_text(sink, comment);
	p = output_sink_room(sink, 256);
	p = comma_u64(p, ev->corr_id);
	if (info->h.what & CAP_PC_STOCHASTIC) {
		p = comma_u64(p, info->wave_issued != 0);
		*p++ = ',';
		output_sink_at(sink, p);
		output_csv_text(sink, output_pc_inst_type(info->inst_type));
		output_sink_lit(sink, ",");
		output_csv_text(sink, output_pc_stall_reason(info->stall_reason));
		p = output_sink_room(sink, 64);
		p = comma_u64(p, info->wave_count);
	}
	*p++ = '\n';
	output_sink_at(sink, p);
	sink->n_rows++;
}

typedef void put_row(struct csv *csv, struct output_sink *sink, const struct trc_event *ev);

static put_row *const put_rows[] = {
	[OUTPUT_SHAPE_CALL] = put_call,         [OUTPUT_SHAPE_MARKER] = put_call,
	[OUTPUT_SHAPE_DISPATCH] = put_dispatch, [OUTPUT_SHAPE_COUNTERS] = put_counters,
	[OUTPUT_SHAPE_COPY] = put_copy,         [OUTPUT_SHAPE_ALLOC] = put_alloc,
	[OUTPUT_SHAPE_SCRATCH] = put_scratch,   [OUTPUT_SHAPE_SAMPLE] = put_sample,
};

/* A file that cannot be written any more does not stop the others. */
static void put_in(struct csv *csv, enum cap_domain domain, const struct trc_event *ev)
{
	struct output_sink *sink = &csv->sinks[domain];

	if (!sink->buf || sink->err.status)
		return;
	put_rows[output_domain_infos[domain].shape](csv, sink, ev);
	csv->run->result->n_written[OUTPUT_CSV][domain]++;
}

static enum ws_status put_event(void *ctx, const struct trc_event *ev)
{
	struct csv *csv = ctx;

	if (!output_event_is_dispatch(ev)) {
		put_in(csv, ev->domain, ev);
		return WS_OK;
	}
	if (output_event_traced(ev))
		put_in(csv, CAP_DOMAIN_KERNEL_DISPATCH, ev);
	if (ev->dispatch.info->n_values) {
		if (ev->dispatch.info->n_values > csv->n_sums) {
			size_t n = (size_t)ev->dispatch.info->n_values * 2;
			struct output_counter_sum *more = realloc(csv->sums, n * sizeof(*more));

			if (!more)
				return ws_fail(csv->err, WS_E_NOMEM, "no memory for counters");
			csv->sums = more;
			csv->n_sums = n;
		}
		put_in(csv, CAP_DOMAIN_COUNTER_COLLECTION, ev);
	}
	return WS_OK;
}

/* ---- the small files ---- */

static enum ws_status write_agents(struct output_run *run, struct ws_err *err)
{
	struct output_sink sink;
	enum ws_status st = output_run_open(run, &sink, "agent_info.csv", err);

	if (st)
		return st;
	output_sink_lit(&sink, "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\"");
#define HEADER(column, field) output_sink_lit(&sink, ",\"" column "\"");
	AGENT_COLUMNS(HEADER)
#undef HEADER
	output_sink_lit(&sink, ",\"Name\",\"Vendor_Name\",\"Product_Name\",\"Model_Name\"\n");
	for (size_t k = 0; k < run->n_processes; k++) {
		const struct trc_process *process = run->processes[k];

		for (size_t i = 0; i < process->agents.n; i++) {
			const struct trc_agent *agent = process->agents.at[i];
			const struct cap_rec_agent *info = agent->info;
			char *p = output_sink_room(&sink, 4096);

			p = output_fmt_u64(p, info->node_id);
			p = comma_u64(p, info->logical_node_id);
			p = OUTPUT_FMT_LIT(p, ",\"");
			memcpy(p, output_agent_type_text(agent), 3);
			p += 3;
			*p++ = '"';
#define CELL(column, field) p = comma_u64(p, info->field);
			AGENT_COLUMNS(CELL)
#undef CELL
			output_sink_at(&sink, p);
			output_sink_lit(&sink, ",");
			output_csv_text(&sink, agent->name);
			output_sink_lit(&sink, ",");
			output_csv_text(&sink, agent->vendor_name);
			output_sink_lit(&sink, ",");
			output_csv_text(&sink, agent->product_name);
			output_sink_lit(&sink, ",");
			output_csv_text(&sink, agent->model_name);
			output_sink_lit(&sink, "\n");
			sink.n_rows++;
		}
	}
	return output_run_finish(run, OUTPUT_CSV, &sink, err);
}

static enum ws_status write_stat_rows(struct output_run *run, const char *stem,
				      struct output_stat *const *stats, size_t n,
				      struct ws_err *err)
{
	unsigned __int128 total = 0;
	struct output_sink sink;
	char name[64];
	enum ws_status st;

	snprintf(name, sizeof(name), "%s.csv", stem);
	st = output_run_open(run, &sink, name, err);
	if (st)
		return st;
	for (size_t i = 0; i < n; i++)
		total += stats[i]->sum_ns;
	output_sink_lit(&sink, STATS_HEADER);
	for (size_t i = 0; i < n; i++) {
		const struct output_stat *stat = stats[i];
		char *p;

		output_csv_text(&sink, stat->name);
		p = output_sink_room(&sink, 3 * OUTPUT_FMT_F64_MAX);
		p = comma_u64(p, stat->count);
		*p++ = ',';
		p = output_fmt_u128(p, stat->sum_ns);
		*p++ = ',';
		p = output_fmt_stat(p, output_stat_mean(stat));
		*p++ = ',';
		p = output_fmt_percent(p, total ? (double)(100.0L * (long double)stat->sum_ns /
							   (long double)total)
						: 0);
		p = comma_u64(p, stat->min_ns);
		p = comma_u64(p, stat->max_ns);
		*p++ = ',';
		p = output_fmt_stat(p, sqrt(output_stat_variance(stat)));
		*p++ = '\n';
		output_sink_at(&sink, p);
		sink.n_rows++;
	}
	return output_run_finish(run, OUTPUT_CSV, &sink, err);
}

static enum ws_status write_stats(struct output_run *run, struct ws_err *err)
{
	struct output_stat *domains[CAP_DOMAIN_COUNT];
	enum ws_status first = WS_OK, st;
	size_t n = 0;

	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		struct output_stat_table *table = &run->stats.domains[d];

		if (!table->n_sorted || !output_run_has(run, d))
			continue;
		domains[n++] = &table->total;
		st = write_stat_rows(run, output_domain_infos[d].stats_stem, table->sorted,
				     table->n_sorted, err);
		first = first ? first : st;
	}
	qsort(domains, n, sizeof(*domains), output_stat_by_total);
	st = write_stat_rows(run, "domain_stats", domains, n, err);
	return first ? first : st;
}

/* ---- the format ---- */

static enum ws_status open_files(struct csv *csv, struct ws_err *err)
{
	enum ws_status first = WS_OK;

	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		const struct output_domain_info *info = &output_domain_infos[d];
		struct ws_err own = { 0 };
		char name[64];
		enum ws_status st;

		if (!info->csv_stem || !output_run_has(csv->run, d))
			continue;
		snprintf(name, sizeof(name), "%s.csv", info->csv_stem);
		st = output_run_open(csv->run, &csv->sinks[d], name, &own);
		if (st) {
			output_run_file(csv->run, OUTPUT_CSV, name, 0, 0, &own);
			if (!first)
				*err = own;
			first = first ? first : st;
			continue;
		}
		output_sink_str(&csv->sinks[d], headers[info->shape]);
		if (d == CAP_DOMAIN_PC_SAMPLING_STOCHASTIC)
			output_sink_lit(&csv->sinks[d], ",\"Wave_Issued_Instruction\","
							"\"Instruction_Type\",\"Stall_Reason\","
							"\"Wave_Count\"");
		if (info->shape == OUTPUT_SHAPE_SAMPLE)
			output_sink_lit(&csv->sinks[d], "\n");
	}
	return first;
}

static enum ws_status write_csv(struct output_run *run, struct ws_err *err)
{
	struct csv *csv = calloc(1, sizeof(*csv));
	enum ws_status first, st = WS_OK;

	if (!csv)
		return ws_fail(err, WS_E_NOMEM, "no memory to write CSV files");
	csv->run = run;
	csv->err = err;
	first = open_files(csv, err);
	for (size_t i = 0; !st && i < run->n_processes; i++)
		st = output_run_each(run, run->processes[i], 0, TRC_ORDER_START, put_event, csv,
				     err);
	first = first ? first : st;
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		if (!csv->sinks[d].buf)
			continue;
		if (st) {
			output_run_file(run, OUTPUT_CSV, csv->sinks[d].path, 0, 0, err);
			output_sink_abandon(&csv->sinks[d]);
			continue;
		}
		if (output_run_finish(run, OUTPUT_CSV, &csv->sinks[d], err)) {
			first = first ? first : csv->sinks[d].err.status;
			run->result->n_written[OUTPUT_CSV][d] = 0;
		}
	}
	st = write_agents(run, err);
	first = first ? first : st;
	st = output_csv_counter_info(run, err);
	if (!st)
		st = output_csv_intervals(run, err);
	first = first ? first : st;
	if (run->cfg->stats) {
		st = write_stats(run, err);
		first = first ? first : st;
	}
	free(csv->sums);
	free(csv);
	return first;
}

const struct output_ops output_csv = {
	.word = "csv",
	.what = "CSV files",
	.write = write_csv,
};
