/* From what runs recorded to the files of their passes. */
#include "cmd/compute/profile_collect.h"

#include "base/map.h"
#include "base/str.h"
#include "capture/chunk.h"
#include "cmd/compute/profile_log.h"
#include "workload/match.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define KERNELS_MAX 65536u
#define LAUNCHES_RECOMMENDED 50u
#define DISK_LEAST_BYTES CAP_CHUNK_BYTES_MAX /* what a capture grows by: with less it is full */

/* Sheets of the plan's passes @first .. + @n - 1, from one table. */
static enum ws_status write_sheets(struct pf_collect *c, const struct trc_counted *table,
				   const struct wl_sheet_rows *rows, size_t first, size_t n,
				   bool done, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < c->sheets.n && !st; i++) {
		const struct wl_sheet *sheet = &c->sheets.at[i];
		struct wl_state_pass *pass = &c->state.passes.at[c->first_pass + i];
		bool long_form = c->pf->args->format == PF_FORMAT_ROCPD;
		const char *file;

		if (sheet->pass < first || sheet->pass >= first + n)
			continue;
		file = wl_pass_file(sheet->name, c->first_pass + i, long_form, &c->pf->arena);
		if (!file)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		st = (long_form ? wl_sheet_write_long : wl_sheet_write_csv)(
			&c->sheets, sheet, table, rows, c->pf->dir, file, err);
		pass->done = done && !st;
		pass->n_rows = st ? 0 : trc_counted_n_rows(table);
	}
	return st;
}

static const char *name_of_pass(const struct pf_collect *c, size_t pass)
{
	for (size_t i = 0; i < c->sheets.n; i++)
		if (c->sheets.at[i].pass == pass)
			return c->sheets.at[i].name;
	return "pmc_perf";
}

static bool disk_is_full(const char *dir)
{
	struct statvfs disk;

	return statvfs(dir, &disk) == 0 && disk.f_bavail * disk.f_frsize < DISK_LEAST_BYTES;
}

/* The kernels that the program has loaded, short: a filter that matches none is a misspelling. */
static enum ws_status no_match(const struct pf_collect *c, const struct trc_trace *trace,
			       struct ws_err *err)
{
	struct ws_map names;
	char list[128] = "";
	size_t n = 0;

	ws_map_init(&names, WS_MAP_STR, KERNELS_MAX);
	for (size_t i = 0; i < trc_n_processes(trace); i++) {
		const struct trc_process *process = trc_process_at(trace, i);

		for (size_t k = 0; k < process->kernels.n; k++) {
			const struct trc_kernel *kernel = &process->kernels.at[k];

			/* HIP's own, for copies and fills, are of no interest to anybody. */
			if (kernel->info && strncmp(kernel->symbol, "__amd_", 6) != 0)
				ws_map_put(&names, ws_str_from(kernel->truncated), NULL, NULL);
		}
	}
	ws_map_each(name, &names) {
		size_t used = strlen(list);

		if (used + name->str.n + 8 > sizeof(list))
			break;
		snprintf(list + used, sizeof(list) - used, "%s%.*s", n++ ? ", " : "",
			 (int)name->str.n, name->str.at);
	}
	if (n < names.n && n)
		strcat(list, ", ...");
	ws_map_fini(&names);
	return ws_fail(err, WS_E_NOTFOUND, "no dispatch of '%s' matches --kernel%s%s%s",
		       c->pf->argv[0], c->n_numbers ? " and --dispatch together" : "",
		       n ? ": its kernels are " : ": remove it to see all", list);
}

/* Dispatches that were not recorded, and runs that have none: each with its reason. */
static enum ws_status check_losses(struct pf_collect *c, const struct trc_counted *table, bool done,
				   uint64_t *out_n_lost, struct ws_err *err)
{
	const struct trc_trace *trace = trc_counted_trace(table);
	uint64_t n_lost = 0;
	const char *note = NULL;

	for (size_t i = 0; i < trc_n_processes(trace); i++) {
		const struct trc_process *process = trc_process_at(trace, i);
		const struct trc_ledger_sum *sum = &process->ledger[CAP_DOMAIN_COUNTER_COLLECTION];

		n_lost += sum->dropped + sum->failed;
		if (process->n_notes)
			note = process->notes[0];
	}
	c->lost = n_lost && disk_is_full(c->pf->dir);
	if (n_lost && !c->lost && trc_counted_n_rows(table))
		pf_log(PF_LOG_WARNING, "%llu dispatches were not recorded%s%s",
		       (unsigned long long)n_lost, note ? ": " : "", note ? note : "");
	*out_n_lost = n_lost;
	if (trc_counted_n_rows(table) || !done)
		return WS_OK;
	if (disk_is_full(c->pf->dir))
		return ws_fail_errno(err, ENOSPC, "nothing could be recorded in '%s'", c->pf->dir);
	if (note || n_lost)
		return ws_fail(err, WS_E_STATE, "nothing was recorded: %s",
			       note ? note : "all dispatches were lost");
	if (c->include)
		return no_match(c, trace, err);
	if (c->n_numbers)
		return ws_fail(err, WS_E_NOTFOUND,
			       "'%s' has no such dispatch: --dispatch counts those of a program "
			       "from 0",
			       c->pf->argv[0]);
	if (c->pf->args->attach_pid)
		return ws_fail(err, WS_E_NOTFOUND,
			       "process %lld launched no kernel while attached: attach longer, or "
			       "while it uses the GPU",
			       (long long)c->pf->args->attach_pid);
	return ws_fail(err, WS_E_NOTFOUND, "'%s' dispatched no kernel on a GPU", c->pf->argv[0]);
}

/* Every launch of a kernel shows the counters of those near it. */
static enum ws_status multiplex(struct pf_collect *c, const struct trc_counted *table,
				struct wl_sheet_rows *out_rows, struct ws_err *err)
{
	enum trc_alike alike =
		c->multiplex == PF_MULTIPLEX_KERNEL ? TRC_ALIKE_KERNEL : TRC_ALIKE_LAUNCH;
	struct wl_multiplexed made;
	struct ws_buf few;
	enum ws_status st = wl_multiplex_rows(c->plan, table, alike, &c->pf->arena, &made, err);

	if (st)
		return st;
	out_rows->from = made.from;
	ws_buf_init(&few, 1 << 20);
	for (size_t i = 0; i < made.n_too_few; i++)
		ws_buf_printf(&few, "%s%s (%zu dispatches)", i ? "; " : "", made.too_few[i].kernel,
			      made.too_few[i].n);
	if (few.n)
		pf_log(PF_LOG_WARNING,
		       "Insufficient kernel dispatches for iteration multiplexing: each kernel "
		       "should "
		       "be called at least %zu times (%u recommended). Counters are missing, and "
		       "metrics cannot be computed, for: %s",
		       c->plan->n_passes, LAUNCHES_RECOMMENDED, few.at);
	ws_buf_fini(&few);
	return WS_OK;
}

/* In the long form, dispatches have the numbers of those in the first pass of the folder. */
static enum ws_status number_rows(struct pf_collect *c, const struct trc_counted *table,
				  struct wl_sheet_rows *out_rows, struct ws_err *err)
{
	for (size_t i = 0; i < c->state.passes.n; i++) {
		const char *file;

		if (!c->state.passes.at[i].done)
			continue;
		file = wl_pass_file(c->state.passes.at[i].name, i, true, &c->pf->arena);
		return file ? wl_number_rows(c->pf->dir, file, table, pf_alike(c->pf->args),
					     &c->pf->arena, &out_rows->number, err)
			    : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	return WS_OK; /* this is the first */
}

enum ws_status pf_take_results(struct pf_collect *c, const struct launch_passes_result *result,
			       size_t first, size_t n, bool done, struct ws_err *err)
{
	struct wl_sheet_rows rows = { .from = NULL };
	struct trc_counted *table = NULL;
	uint64_t n_lost = 0;
	enum ws_status st = launch_passes_table(result, NULL, &table, err);

	if (st)
		return ws_fail_in(err, st, "what the program recorded");
	c->n_dispatches = WS_MAX(c->n_dispatches, trc_counted_n_rows(table));
	st = check_losses(c, table, done, &n_lost, err);
	done &= !c->lost;
	if (!st && c->multiplex)
		st = multiplex(c, table, &rows, err);
	if (!st && c->pf->args->format == PF_FORMAT_ROCPD)
		st = number_rows(c, table, &rows, err);
	if (!st && trc_counted_n_rows(table))
		st = write_sheets(c, table, &rows, first, n, done, err);
	if (!st && first == 0 && trc_counted_n_rows(table) && !c->first_pass)
		st = wl_timestamps_write(table, c->pf->dir, err);
	if (!st && c->pf->args->torch_trace)
		st = pf_torch_write(c, table, &rows, first, n, err);
	if (!st && done)
		st = pf_extras_write(c, table, n > 1 ? "pmc_perf" : name_of_pass(c, first), err);
	if (!st && c->lost)
		st = ws_fail_errno(err, ENOSPC, "%llu dispatches could not be recorded in '%s'",
				   (unsigned long long)n_lost, c->pf->dir);
	trc_counted_close(table);
	return st;
}
