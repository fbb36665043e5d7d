#include "cmd/rocprofv3/pc.h"

#include "base/cmd.h"
#include "base/log.h"
#include "code/samples.h"
#include "report/pc_listing.h"

#include <stdio.h>
#include <unistd.h>

/* The line and the lines that inlined calls around it were written in: "a.h:3 -> b.cpp:7". */
static void describe(const struct code_insn *insn, char *room, size_t n_room)
{
	int n = 0;

	room[0] = '\0';
	if (insn->line)
		n = snprintf(room, n_room, "%s:%u", insn->file, insn->line);
	for (size_t i = 0; i < insn->n_callers && n > 0 && (size_t)n < n_room; i++)
		n += snprintf(room + n, n_room - (size_t)n, " -> %s:%u", insn->callers[i].file,
			      insn->callers[i].line);
}

static bool decode(void *ctx, const struct trc_process *process, uint64_t code_object,
		   uint64_t offset, const char **out_instruction, const char **out_comment)
{
	struct rp_pc *pc = ctx;
	struct code_code *code =
		code_object && code_object <= UINT32_MAX
			? code_objects_get(&pc->objects, process, (uint32_t)code_object)
			: NULL;
	struct code_insn insn;

	if (!code || !code_at(code, offset, &insn))
		return false;
	describe(&insn, pc->comment, sizeof(pc->comment));
	*out_instruction = insn.text;
	*out_comment = pc->comment;
	return true;
}

void rp_pc_init(struct rp_pc *pc)
{
	code_objects_init(&pc->objects);
	pc->decoder = (struct output_decoder){ .decode = decode, .ctx = pc };
}

void rp_pc_fini(struct rp_pc *pc)
{
	if (pc->objects.n_missing)
		ws_log_warn("PC samples of %u code objects have no instructions: %s",
			    pc->objects.n_missing, pc->objects.first_error.text);
	code_objects_fini(&pc->objects);
}

enum ws_status rp_pc_report(struct rp_pc *pc, const struct trc_trace *trace,
			    const struct trc_process *process, struct ws_err *err)
{
	struct rpt_pc_listing_opts opts = {
		.n_columns = isatty(STDOUT_FILENO) ? ws_help_columns() : 120,
		.color = ws_colour_ok(STDOUT_FILENO),
	};
	struct code_pc_profile profile;
	enum ws_status st = code_pc_profile_read(trace, process, &profile, err);

	if (st)
		return st;
	if (profile.n)
		putchar('\n'); /* the program's own output is above */
	if (profile.n)
		st = rpt_pc_listing(stdout, process, &profile, &pc->objects, &opts, err);
	code_pc_profile_fini(&profile);
	return st;
}
