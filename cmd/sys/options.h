/*
 * options: the command lines of rocprof-sys-run and rocprof-sys-sample, as settings.
 */
#ifndef WS_CMD_SYS_OPTIONS_H
#define WS_CMD_SYS_OPTIONS_H

#include "base/opt.h"
#include "cmd/sys/option_table.h"
#include "settings/values.h"

enum sys_program { SYS_RUN, SYS_SAMPLE };

/* The value of an option that belongs to a setting: the type of the setting says which. */
union sys_option {
	enum ws_tri tri;
	const char *text;
	struct ws_strv words;
};

struct sys_args {
	union sys_option by[SET_COUNT];
	struct ws_strv config, output, sample, include, exclude, profile_format, profile_diff;
	struct ws_strv cputime, realtime, overflow;
	enum ws_tri flat_profile, host, device;
	const char *wait, *duration, *launcher, *hsa_interrupt, *recover;
	bool fork, question;
};

/* clang-format off */
#define SYS_IN_RUN_RS + 1
#define SYS_IN_RUN_R  + 1
#define SYS_IN_RUN_S
#define SYS_IN_SAMPLE_RS + 1
#define SYS_IN_SAMPLE_R
#define SYS_IN_SAMPLE_S  + 1
#define SYS_COUNT_RUN(who, ...) SYS_IN_RUN_##who
#define SYS_COUNT_SAMPLE(who, ...) SYS_IN_SAMPLE_##who
#define SYS_COUNT_SETTING(id, ...) + 1
#define SYS_COUNT(ROW) SYS_OPTION_TABLE(ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW)

enum {
	SYS_N_SAMPLE_ROWS = 0 SYS_COUNT(SYS_COUNT_SAMPLE),
	SYS_N_RUN_ROWS = 0 SYS_COUNT(SYS_COUNT_RUN) + 1 /* a heading */
		SET_OPTION_TABLE(SYS_COUNT_SETTING, SYS_COUNT_SETTING, SYS_COUNT_SETTING),
};
/* clang-format on */
extern const struct ws_opt sys_run_rows[SYS_N_RUN_ROWS], sys_sample_rows[SYS_N_SAMPLE_ROWS];

/* Sets what was typed. HSA_ENABLE_INTERRUPT goes to values->exports. */
enum ws_status sys_apply(enum sys_program program, const struct sys_args *args,
			 struct set_values *values, struct ws_err *err);

#endif
