/*
 * The ledger: what was asked for, seen, written and dropped. A run that records nothing
 * and says nothing is the worst thing a profiler can do.
 */
#include "cmd/rocprofv3/convert.h"

#include "base/log.h"
#include "base/str.h"
#include "cmd/rocprofv3/counting.h"
#include "cmd/rocprofv3/services.h"
#include "output/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *rp_base_name(const struct trc_process *process)
{
	const char *name = process->n_argv ? process->argv[0] : "?";
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/*
 * In any of the files. Formats differ in what they have a place for (OTF2 has no marks, a
 * timeline no frees); a file that could not be written is told of by itself.
 */
static uint64_t written(const struct output_result *result, uint32_t formats, unsigned domain)
{
	uint64_t n = 0;

	for (unsigned f = 0; f < OUTPUT_COUNT; f++)
		if (formats >> f & 1)
			n = WS_MAX(n, result->n_written[f][domain]);
	return n;
}

/* The listing on the terminal holds every sample. */
static bool is_reported(const struct rp_convert *how, unsigned domain)
{
	return how->args->pc_report == WS_TRI_YES && (domain == CAP_DOMAIN_PC_SAMPLING_HOST_TRAP ||
						      domain == CAP_DOMAIN_PC_SAMPLING_STOCHASTIC);
}

static void print_damage(const struct trc_process *process)
{
	const struct cap_damage *d = &process->damage;

	if (d->n_pages_cut)
		ws_log_warn(
			"%s was truncated while process %u recorded: what was in it is lost, and "
			"nothing was recorded from then on",
			process->path, process->pid);
	else if (cap_damage_any(d))
		ws_log_warn("%s is damaged: %llu records and %llu bytes could not be read; "
			    "the rest was",
			    process->path, (unsigned long long)(d->n_records + d->n_unknown),
			    (unsigned long long)d->n_skipped_bytes);
	if (process->n_dangling)
		ws_log_warn("%llu references in the records of process %u lead nowhere",
			    (unsigned long long)process->n_dangling, process->pid);
	for (size_t i = 0; i < process->n_notes; i++)
		ws_log_warn("process %u: %s", process->pid, process->notes[i]);
}

static const char *whose_times(const struct trc_process *process)
{
	static const char *const texts[] = {
		[TRC_GPU_TIMES_HARDWARE] = "",
		[TRC_GPU_TIMES_HOST] =
			", on the software GPU: GPU times are the host's (--gpu-time)",
		[TRC_GPU_TIMES_COUNTED] = ", on the software GPU: GPU times of counted kernels are "
					  "simulated",
		[TRC_GPU_TIMES_SIMULATED] = ", on the software GPU: GPU times are simulated",
	};

	return texts[trc_process_gpu_times(process)];
}

/* Of a GPU that tells nobody when a kernel ends: what the process did not live to find out. */
static void print_unended(const struct trc_process *process, struct rp_outcome *outcome)
{
	outcome->n_unended += process->n_unended;
	outcome->seen[CAP_DOMAIN_KERNEL_DISPATCH] += process->n_unended;
	if (process->n_unended)
		fprintf(stderr,
			"    %llu %s submitted and did not end, or ended too late to be recorded\n",
			(unsigned long long)process->n_unended,
			process->n_unended == 1 ? "kernel was" : "kernels were");
}

void rp_ledger_process(const struct rp_convert *how, const struct trc_process *process,
		       uint32_t formats, const struct output_result *result,
		       struct rp_outcome *outcome)
{
	/* That was the user's wish: nothing is lost. */
	bool no_files = result->below_minimum || how->args->benchmark_mode;
	uint64_t n_seen = 0;

	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++) {
		const struct trc_ledger_sum *sum = &process->ledger[d];

		n_seen += sum->written + sum->dropped + sum->failed + sum->paused;
	}
	if (!how->again)
		print_damage(process);
	if (process->damage.n_pages_cut)
		outcome->n_cut++;
	if (!n_seen && !process->runtimes) {
		outcome->n_idle += !process->damage.n_pages_cut;
		return;
	}
	outcome->n_processes++;
	if (how->again) {
		for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++)
			outcome->seen[d] += process->ledger[d].written;
		return;
	}
	ws_print(stderr, "rocprofv3: process %u (%s)%s%s\n", process->pid, rp_base_name(process),
		 whose_times(process),
		 process->ended ? ""
		 : launch_running_process(process)
			 ? ", which is still running"
			 : ", which did not end in the usual way: all it recorded is here");
	if (!n_seen) {
		print_unended(process, outcome);
		return;
	}
	fprintf(stderr, "    %-24s %11s %11s %11s\n", "SERVICE", "SEEN", "WRITTEN", "DROPPED");
	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++) {
		const struct trc_ledger_sum *sum = &process->ledger[d];
		uint64_t seen = sum->written + sum->dropped + sum->failed;
		uint64_t wrote = is_reported(how, d) ? seen : written(result, formats, d);

		if (!seen && !sum->paused)
			continue;
		outcome->seen[d] += seen;
		if (!no_files)
			outcome->n_lost += seen - WS_MIN(seen, wrote);
		fprintf(stderr, "    %-24s %11llu %11llu %11llu", trc_domain_label(d),
			(unsigned long long)seen, (unsigned long long)wrote,
			(unsigned long long)(sum->dropped + sum->failed));
		if (sum->paused)
			fprintf(stderr, "  (%llu while paused)", (unsigned long long)sum->paused);
		fputc('\n', stderr);
	}
	print_unended(process, outcome);
	if (no_files)
		fputs(result->below_minimum ? "    less than --minimum-output-data: no files\n"
					    : "    --benchmark-mode: no files\n",
		      stderr);
}

/* Whether a person named this service, not just a group it is in. */
static bool named(const struct rp_convert *how, const struct rp_service *service)
{
	return rp_wants(how->asked, service);
}

/* A list of names, each once, after a heading; nothing when there are none. */
struct names {
	struct ws_buf text;
	const char *last;
};

static void add_name(struct names *names, const char *name)
{
	/* Those with one name follow each other in the table. */
	if (names->last && strcmp(names->last, name) == 0)
		return;
	names->last = name;
	ws_buf_printf(&names->text, "%s%s", names->text.n ? ", " : "", name);
}

void rp_ledger_end(const struct rp_convert *how, struct rp_outcome *outcome)
{
	/* What a group such as --sys-trace brings along is no news when it is not there. */
	struct names unseen = { .last = NULL }, missing = { .last = NULL };
	struct names of_groups = { .last = NULL };
	bool group_only = false, any_seen = false;
	const char *what;

	ws_buf_init(&unseen.text, 4096);
	ws_buf_init(&missing.text, 4096);
	ws_buf_init(&of_groups.text, 4096);
	for (size_t i = 0; i < rp_n_services; i++) {
		const struct rp_service *s = &rp_services[i];

		if (!rp_wants(how->args, s))
			continue;
		group_only |= !named(how, s);
		if (s->missing && named(how, s)) {
			add_name(&missing, s->missing);
			outcome->short_of_strict = true;
		} else if (s->missing) {
			continue;
		} else if (!outcome->seen[s->domain]) {
			add_name(named(how, s) ? &unseen : &of_groups, trc_domain_label(s->domain));
			outcome->short_of_strict |= named(how, s);
		} else {
			any_seen = true;
		}
	}
	if (rp_counts(how->args)) {
		if (!outcome->seen[CAP_DOMAIN_COUNTER_COLLECTION]) {
			add_name(&unseen, trc_domain_label(CAP_DOMAIN_COUNTER_COLLECTION));
			outcome->short_of_strict = true;
		} else {
			any_seen = true;
		}
	}
	for (size_t i = 0; (what = rp_missing(how->args, i)); i++) {
		add_name(&missing, what);
		outcome->short_of_strict = true;
	}
	if (!any_seen && of_groups.text.n)
		add_name(&unseen, of_groups.text.at);
	if (how->again) {
		unseen.text.n = missing.text.n = 0;
	} else if (outcome->n_unrecorded) {
		ws_log_error("%u %s had no room to record anything: ROCPROF_TMPDIR=DIR puts the "
			     "records elsewhere",
			     outcome->n_unrecorded,
			     outcome->n_unrecorded == 1 ? "process" : "processes");
	} else if (!outcome->n_processes && !outcome->n_cut)
		fputs(outcome->n_running
			      ? "rocprofv3: no process of the program has used a GPU runtime yet\n"
			      : "rocprofv3: no process of the program used a GPU runtime that "
				"could be traced\n",
		      stderr);
	if (unseen.text.n)
		fprintf(stderr, "rocprofv3: requested, but never observed: %s\n", unseen.text.at);
	if (missing.text.n)
		fprintf(stderr, "rocprofv3: requested, but not recorded by this version: %s\n",
			missing.text.at);
	if (outcome->n_idle && outcome->n_processes)
		fprintf(stderr, "rocprofv3: %u more %s no GPU\n", outcome->n_idle,
			outcome->n_idle == 1 ? "process used" : "processes used");
	if (outcome->n_lost)
		fprintf(stderr, "rocprofv3: %llu %s seen and not in the output\n",
			(unsigned long long)outcome->n_lost,
			outcome->n_lost == 1 ? "record was" : "records were");
	outcome->short_of_strict |= outcome->n_lost || outcome->n_failed || outcome->n_unrecorded ||
				    outcome->n_cut || outcome->n_unended || outcome->n_running ||
				    (group_only && !any_seen);
	ws_buf_fini(&unseen.text);
	ws_buf_fini(&missing.text);
	ws_buf_fini(&of_groups.text);
}
