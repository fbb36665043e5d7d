/*
 * files: the files of one process, from its capture.
 */
#ifndef WS_CMD_SYS_FILES_H
#define WS_CMD_SYS_FILES_H

#include "output/output.h"
#include "settings/names.h"

struct sys_files {
	const struct set_values *values;
	const struct trc_trace *trace;
	const struct trc_process *process;
	const struct set_names *names;
	const struct launch_place *place;
	bool no_profile; /* it is part of one of all processes */
};

struct sys_files_result {
	unsigned n_failed;          /* reported on stderr */
	bool traced, profiled;      /* everything recorded is in one of these */
	uint64_t n_lost;            /* events that did not fit into the trace */
	struct output_result rocpd; /* of the database; finished by the caller */
	char trace_path[PATH_MAX];  /* "": none */
};

void sys_files_write(const struct sys_files *files, struct sys_files_result *out_result);

/* COLLAPSE_PROCESSES: one profile of all processes of @trace, named as files->process. */
void sys_files_write_collapsed(const struct sys_files *files,
			       const struct trc_process *const *processes, size_t n_processes,
			       struct sys_files_result *out_result);

/* "[rocprof-sys][4711][label]> Outputting 'path'", unless VERBOSE is below 0. */
void sys_files_say(const struct set_values *values, uint32_t pid, const char *label,
		   const char *path, const char *more);

#endif
