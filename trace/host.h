/*
 * host: modules, call stacks and Python code of a process.
 *
 * They are written by signal handlers between the events (capture/record_host.h), so they
 * are collected by one reading of the capture when they are needed.
 *
 * Threads  constant after open.
 * Memory   grows with the number of distinct stacks, with a maximum.
 */
#ifndef WS_TRACE_HOST_H
#define WS_TRACE_HOST_H

#include "trace/trace.h"

struct trc_module {
	uint32_t id, generation;
	uint64_t start, end; /* of its mapping */
	uint64_t bias;       /* address in memory minus address in the file */
	const uint8_t *build_id;
	uint32_t n_build_id;
	const char *path; /* "[vdso]" and the like are no files */
};

struct trc_python_code {
	uint32_t id;
	const char *name, *file;
	uint32_t first_line, version; /* 0x030b: 3.11 */
	const uint8_t *line_table;
	uint32_t n_line_table;
};

struct trc_stack {
	uint32_t id, flags, generation; /* CAP_STACK_* */
	uint32_t n_frames, n_native;
	const uint64_t *frames; /* innermost first; native, then Python */
};

struct trc_host;

/* Fails only without memory; what is damaged is left out. */
enum ws_status trc_host_open(const struct trc_process *process, struct trc_host **out_host,
			     struct ws_err *err);
void trc_host_close(struct trc_host *host); /* NULL is fine */

/* NULL: no such stack, module or code was recorded. */
const struct trc_stack *trc_host_stack(const struct trc_host *host, uint32_t id);
const struct trc_module *trc_host_module(const struct trc_host *host, uint32_t generation,
					 uint64_t address);
/* In the newest generation that has one there. */
const struct trc_module *trc_host_module_latest(const struct trc_host *host, uint64_t address);
const struct trc_python_code *trc_host_python(const struct trc_host *host, uint32_t id);
uint32_t trc_host_n_stacks(const struct trc_host *host); /* ids are below this */

/* The line of the instruction at @at (CAP_FRAME_PYTHON_AT); the first line where it has none. */
uint32_t trc_python_line(const struct trc_python_code *code, uint32_t at);

#endif
