#include "cmd/rocprofv3/pc.h"

#include "base/cmd.h"
#include "base/log.h"
#include "code/samples.h"
#include "report/pc_listing.h"

#include <stdio.h>
#include <unistd.h>

static bool decode(void *ctx, const struct ws_process *process, uint64_t code_object,
		   uint64_t offset, const char **out_instruction, const char **out_comment)
{
	struct rp_pc *pc = ctx;
	struct ws_code *code =
		code_object && code_object <= UINT32_MAX
			? ws_code_objects_get(&pc->objects, process, (uint32_t)code_object)
			: NULL;
	struct ws_code_insn insn;

	if (!code || !ws_code_at(code, offset, &insn))
		return false;
	pc->comment[0] = '\0';
	if (insn.line)
		snprintf(pc->comment, sizeof(pc->comment), "%s:%u", insn.file, insn.line);
	*out_instruction = insn.text;
	*out_comment = pc->comment;
	return true;
}

void rp_pc_init(struct rp_pc *pc)
{
	ws_code_objects_init(&pc->objects);
	pc->decoder = (struct ws_output_decoder){ .decode = decode, .ctx = pc };
}

void rp_pc_fini(struct rp_pc *pc)
{
	if (pc->objects.n_missing)
		ws_log_warn("PC samples of %u code objects have no instructions: %s",
			    pc->objects.n_missing, pc->objects.first_error.text);
	ws_code_objects_fini(&pc->objects);
}

enum ws_status rp_pc_report(struct rp_pc *pc, const struct ws_trace *trace,
			    const struct ws_process *process, struct ws_err *err)
{
	struct ws_pc_listing_opts opts = {
		.n_columns = isatty(STDOUT_FILENO) ? ws_help_columns() : 120,
		.color = ws_colour_ok(STDOUT_FILENO),
	};
	struct ws_pc_profile profile;
	enum ws_status st = ws_pc_profile_read(trace, process, &profile, err);

	if (st)
		return st;
	if (profile.n)
		putchar('\n'); /* the program's own output is above */
	if (profile.n)
		st = ws_pc_listing(stdout, process, &profile, &pc->objects, &opts, err);
	ws_pc_profile_fini(&profile);
	return st;
}
