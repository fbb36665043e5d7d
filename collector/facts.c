/*
 * facts: what a capture says about its process, and the operations of providers.
 */
#include "collector/collector_priv.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define PROC_BYTES_MAX (1u << 20) /* of /proc/self/environ, /proc/self/cmdline */
#define OP_ARGS_MAX 48
#define STATUS_BYTES 4096

static size_t read_whole(const char *path, char *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return 0;
	while (n < room && (got = read(fd, to + n, room - n)) > 0)
		n += (size_t)got;
	close(fd);
	return n;
}

/* The strings of a file that separates them by NUL bytes. */
static void split_facts(struct cap_writer *writer, enum cap_fact fact, const char *path,
			char *buffer)
{
	size_t n = read_whole(path, buffer, PROC_BYTES_MAX - 1);

	buffer[n] = 0;
	for (size_t at = 0; at < n; at += strlen(buffer + at) + 1)
		cap_writer_fact(writer, fact, buffer + at);
}

static uint64_t start_clock_ticks(char *buffer)
{
	size_t n = read_whole("/proc/self/stat", buffer, 4095);
	uint64_t ticks = 0;
	char *at;

	buffer[n] = 0;
	at = strrchr(buffer, ')'); /* the name before it may hold anything; field 3 follows */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	for (at = at ? at + 1 : NULL; at && *at >= '0' && *at <= '9'; at++)
		ticks = ticks * 10 + (uint64_t)(*at - '0');
	return ticks;
}

static void link_fact(struct cap_writer *writer, enum cap_fact fact, const char *path, char *buffer)
{
	ssize_t n = readlink(path, buffer, PATH_MAX - 1);

	if (n <= 0)
		return;
	buffer[n] = 0;
	cap_writer_fact(writer, fact, buffer);
}

static void uname_facts(struct cap_writer *writer)
{
	struct utsname u;
	const struct {
		enum cap_fact fact;
		const char *text;
	} rows[] = {
		{ CAP_FACT_HOSTNAME, u.nodename },     { CAP_FACT_SYSTEM_NAME, u.sysname },
		{ CAP_FACT_RELEASE, u.release },       { CAP_FACT_VERSION, u.version },
		{ CAP_FACT_HARDWARE_NAME, u.machine }, { CAP_FACT_DOMAIN_NAME, u.domainname },
	};

	if (uname(&u) != 0)
		return;
	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++)
		cap_writer_fact(writer, rows[i].fact, rows[i].text);
}

void col_facts_process(struct cap_writer *writer, bool forked)
{
	char *buffer = col_pages(PROC_BYTES_MAX);
	struct cap_rec_process rec = {
		.h = { CAP_REC_FIXED_TAG(PROCESS, struct cap_rec_process), (uint32_t)getpid(),
		       col_begin_ns() },
		.ppid = (uint32_t)getppid(),
		.main_tid = (uint32_t)getpid(),
		.parent_corr_id = forked ? col_threads_forked_in() : 0,
		.domains = col_asked_domains(),
		.uid = (uint32_t)getuid(),
		.flags = forked ? CAP_PROCESS_FORKED : 0,
	};
	char *newline;

	if (col_config()->flags & COL_COLLECT_FLAG(SOFTGPU))
		rec.flags |= CAP_PROCESS_SOFTGPU;
	if (buffer)
		rec.start_clock_ticks = start_clock_ticks(buffer);
	cap_writer_meta(writer, &rec.h);
	if (!buffer)
		return;
	split_facts(writer, CAP_FACT_ARGV, "/proc/self/cmdline", buffer);
	split_facts(writer, CAP_FACT_ENV, "/proc/self/environ", buffer);
	link_fact(writer, CAP_FACT_EXE, "/proc/self/exe", buffer);
	link_fact(writer, CAP_FACT_CWD, "/proc/self/cwd", buffer);
	buffer[read_whole("/etc/machine-id", buffer, 255)] = 0;
	newline = strchr(buffer, '\n');
	if (newline)
		*newline = 0;
	if (buffer[0])
		cap_writer_fact(writer, CAP_FACT_MACHINE_ID, buffer);
	uname_facts(writer);
	memcpy(buffer, "collect=", 8);
	if (col_collect_print(col_config(), buffer + 8, PROC_BYTES_MAX - 8))
		cap_writer_fact(writer, CAP_FACT_CONFIG, buffer);
	col_pages_free(buffer, PROC_BYTES_MAX);
}

/* "VmHWM:     1234 kB"; 0: there is no such line. */
static uint32_t status_kb(const char *status, const char *key)
{
	const char *at = strstr(status, key);
	uint64_t kb = 0;

	for (at = at ? at + strlen(key) : ""; *at == ' ' || *at == '\t'; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		kb = kb * 10 + (uint64_t)(*at - '0');
	return (uint32_t)kb;
}

void col_facts_usage(struct cap_writer *writer, uint32_t tid)
{
	/* CPU time of a thread: its number inverted, 2 for scheduler's clock, 4 for a thread */
	clockid_t clock = tid ? (clockid_t)(~tid << 3 | 2 | 4) : CLOCK_PROCESS_CPUTIME_ID;
	char status[STATUS_BYTES];
	struct timespec cpu;
	struct cap_rec_usage rec = {
		.h = { CAP_REC_FIXED_TAG(USAGE, struct cap_rec_usage), tid, 0 },
	};

	if (!col_asked(COL_SERVICE_REGIONS) || col_threads_sandboxed() ||
	    clock_gettime(clock, &cpu) != 0)
		return;
	/* Not getrusage(): its peak is also that of the program which called exec. */
	status[read_whole("/proc/self/status", status, sizeof(status) - 1)] = 0;
	rec.h.time = cap_ticks();
	rec.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
	rec.peak_kb = status_kb(status, "VmHWM:");
	rec.resident_kb = status_kb(status, "VmRSS:");
	cap_writer_meta(writer, &rec.h);
}

void col_ops_state(struct cap_writer *writer, uint32_t base, const struct col_op_def *ops,
		   size_t n_ops)
{
	struct {
		struct cap_rec_operation op;
		struct cap_op_arg args[OP_ARGS_MAX];
	} rec;

	for (size_t i = 0; i < n_ops; i++) {
		const struct col_op_def *def = &ops[i];
		uint32_t n_args = WS_MIN(def->n_args, OP_ARGS_MAX);
		uint32_t n_bytes = (uint32_t)(sizeof(rec.op) + n_args * sizeof(rec.args[0]));

		if (!def->name)
			continue;
		memset(&rec, 0, n_bytes);
		rec.op = (struct cap_rec_operation){
			.h = { CAP_REC_TAG(CAP_REC_OPERATION, n_bytes), base + (uint32_t)i, 0 },
			.kind = def->kind,
			.id = def->id,
			.domain = def->domain,
			.name_str = cap_writer_intern(writer, def->name, strlen(def->name)),
			.n_args = n_args,
			.ret_kind = def->ret_kind,
		};
		for (uint32_t a = 0; a < n_args; a++) {
			const struct col_arg_def *arg = &def->args[a];

			rec.args[a] = (struct cap_op_arg){
				.name_str = cap_writer_intern(writer, arg->name, strlen(arg->name)),
				.type_str = cap_writer_intern(writer, arg->type, strlen(arg->type)),
				.kind = arg->kind,
			};
		}
		cap_writer_meta(writer, &rec.op.h);
	}
}
