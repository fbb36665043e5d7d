#include "output/ledger.h"

#include "base/log.h"
#include "base/str.h"
#include "base/util.h"
#include "trace/trace.h"

#include <string.h>

/*
 * In any of the files. Formats differ in what they can hold (OTF2 has no marks, a timeline no
 * frees); a file that could not be written is reported by itself.
 */
static uint64_t written(const struct output_result *result, uint32_t formats, unsigned domain)
{
	uint64_t n = 0;

	for (unsigned f = 0; f < OUTPUT_COUNT; f++)
		if (formats >> f & 1)
			n = WS_MAX(n, result->n_written[f][domain]);
	return n;
}

static const char *tool_of(const struct output_ledger *ledger)
{
	return ledger->tool ? ledger->tool : "rocprofv3";
}

static void print_damage(const struct trc_process *process)
{
	const struct cap_damage *d = &process->damage;

	if (d->n_pages_cut)
		ws_log_warn(
			"%s was truncated while process %u was recording: its contents are lost, "
			"and nothing was recorded from then on",
			process->path, process->pid);
	else if (cap_damage_any(d))
		ws_log_warn("%s is damaged: %llu records and %llu bytes could not be read; the "
			    "rest is used",
			    process->path, (unsigned long long)(d->n_records + d->n_unknown),
			    (unsigned long long)d->n_skipped_bytes);
	if (process->n_dangling)
		ws_log_warn("%llu references in the records of process %u are invalid",
			    (unsigned long long)process->n_dangling, process->pid);
	for (size_t i = 0; i < process->n_notes; i++)
		ws_log_warn("process %u: %s", process->pid, process->notes[i]);
}

/* What the GPU times of a process are. */
static const char *times_text(const struct output_ledger *ledger, const struct trc_process *process)
{
	static const char *const texts[] = {
		[TRC_GPU_TIMES_HARDWARE] = "",
		[TRC_GPU_TIMES_HOST] = ", on the software GPU: GPU times are host times",
		[TRC_GPU_TIMES_COUNTED] = ", on the software GPU: GPU times of counted kernels are "
					  "simulated",
		[TRC_GPU_TIMES_SIMULATED] = ", on the software GPU: GPU times are simulated",
	};

	if (ledger->tool && !process->runtimes)
		return ""; /* it used no GPU */
	/* rocprofv3 has an option about it. */
	if (!ledger->tool && trc_process_gpu_times(process) == TRC_GPU_TIMES_HOST)
		return ", on the software GPU: GPU times are host times (--gpu-time)";
	return texts[trc_process_gpu_times(process)];
}

/* Of a GPU that does not report the end of a kernel: what the process did not live to observe. */
static void print_unended(const struct trc_process *process, FILE *to)
{
	if (process->n_unended)
		fprintf(to,
			"    %llu %s submitted but did not complete, or completed too late to be "
			"recorded\n",
			(unsigned long long)process->n_unended,
			process->n_unended == 1 ? "kernel was" : "kernels were");
}

static const char *state_text(const struct trc_process *process,
			      const struct output_ledger_how *how)
{
	if (process->ended)
		return "";
	if (how->replaced)
		return ", which another program replaced (exec)";
	return how->is_running ? ", which is still running"
			       : ", which was killed: its records are complete";
}

static void print_line(unsigned domain, const struct trc_ledger_sum *sum, uint64_t seen,
		       uint64_t wrote, FILE *to)
{
	fprintf(to, "    %-24s %11llu %11llu %11llu", trc_domain_label(domain),
		(unsigned long long)seen, (unsigned long long)wrote,
		(unsigned long long)(sum->dropped + sum->failed));
	if (sum->paused)
		fprintf(to, "  (%llu while paused)", (unsigned long long)sum->paused);
	if (sum->left_out)
		fprintf(to, "  (%llu symbol queries left out)", (unsigned long long)sum->left_out);
	fputc('\n', to);
}

void output_ledger_process(struct output_ledger *ledger, const struct trc_process *process,
			   const struct output_result *result, const struct output_ledger_how *how,
			   FILE *to)
{
	uint64_t n_seen = 0;

	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++) {
		const struct trc_ledger_sum *sum = &process->ledger[d];

		n_seen += sum->written + sum->dropped + sum->failed + sum->paused;
	}
	if (!how->silent)
		print_damage(process);
	if (process->damage.n_pages_cut)
		ledger->n_cut++;
	if (!n_seen && !process->runtimes) {
		ledger->n_idle += !process->damage.n_pages_cut;
		return;
	}
	ledger->n_processes++;
	if (how->silent) {
		for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++)
			ledger->seen[d] += process->ledger[d].written;
		return;
	}
	ledger->n_unended += process->n_unended;
	ledger->seen[CAP_DOMAIN_KERNEL_DISPATCH] += process->n_unended;
	ws_print(to, "%s: process %u (%s)%s%s\n", tool_of(ledger), process->pid,
		 trc_process_program(process), times_text(ledger, process),
		 state_text(process, how));
	if (!n_seen) {
		print_unended(process, to);
		return;
	}
	fprintf(to, "    %-24s %11s %11s %11s\n", "SERVICE", "SEEN", "WRITTEN", "DROPPED");
	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++) {
		const struct trc_ledger_sum *sum = &process->ledger[d];
		uint64_t seen = sum->written + sum->dropped + sum->failed;
		uint64_t wrote = how->elsewhere >> d & 1 ? seen : written(result, how->formats, d);

		if (!seen && !sum->paused)
			continue;
		ledger->seen[d] += seen;
		if (!how->no_files)
			ledger->n_lost += seen - WS_MIN(seen, wrote);
		print_line(d, sum, seen, wrote, to);
	}
	print_unended(process, to);
	if (how->no_files)
		fprintf(to, "    %s: no files\n", how->no_files);
}

/* ---- the end of a run ---- */

/* A list of names, each once. */
struct name_list {
	struct ws_buf text;
	const char *last;
};

static void add_name(struct name_list *names, const char *name)
{
	/* Requests with one name follow each other. */
	if (names->last && strcmp(names->last, name) == 0)
		return;
	names->last = name;
	ws_buf_printf(&names->text, "%s%s", names->text.n ? ", " : "", name);
}

static void print_end(const struct output_ledger *ledger, const struct name_list *unseen,
		      const struct name_list *unsupported, FILE *to)
{
	const char *tool = tool_of(ledger);

	if (unseen->text.n)
		fprintf(to, "%s: requested, but never observed: %s\n", tool, unseen->text.at);
	if (unsupported->text.n)
		fprintf(to, "%s: requested, but not supported by this version: %s\n", tool,
			unsupported->text.at);
	if (ledger->n_idle && ledger->n_processes)
		fprintf(to, "%s: %u more %s %s\n", tool, ledger->n_idle,
			ledger->n_idle == 1 ? "process" : "processes",
			ledger->tool ? "recorded nothing" : "used no GPU");
	if (ledger->n_lost)
		fprintf(to, "%s: %llu %s observed but not in the output\n", tool,
			(unsigned long long)ledger->n_lost,
			ledger->n_lost == 1 ? "record was" : "records were");
}

bool output_ledger_end(const struct output_ledger *ledger,
		       const struct output_ledger_request *requests, size_t n, FILE *to)
{
	struct name_list unseen = { .last = NULL }, unsupported = { .last = NULL };
	/* What a group such as --sys-trace includes is named only when nothing of it was seen. */
	struct name_list of_groups = { .last = NULL };
	bool named_missing = false, group_only = false, any_seen = false;

	ws_buf_init(&unseen.text, 4096);
	ws_buf_init(&unsupported.text, 4096);
	ws_buf_init(&of_groups.text, 4096);
	for (size_t i = 0; i < n; i++) {
		const struct output_ledger_request *r = &requests[i];

		group_only |= !r->named;
		if (r->unsupported) {
			if (r->named)
				add_name(&unsupported, r->unsupported);
			named_missing |= r->named;
		} else if (!ledger->seen[r->domain]) {
			add_name(r->named ? &unseen : &of_groups, trc_domain_label(r->domain));
			named_missing |= r->named;
		} else {
			any_seen = true;
		}
	}
	if (!any_seen && of_groups.text.n)
		add_name(&unseen, of_groups.text.at);
	if (to)
		print_end(ledger, &unseen, &unsupported, to);
	ws_buf_fini(&unseen.text);
	ws_buf_fini(&unsupported.text);
	ws_buf_fini(&of_groups.text);
	return !named_missing && !ledger->n_lost && !ledger->n_cut && !ledger->n_unended &&
	       (!group_only || any_seen);
}
