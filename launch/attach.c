#include "launch/attach.h"

#include "base/file.h"
#include "base/str.h"
#include "base/util.h"
#include "launch/attach_priv.h"
#include "launch/elf_symbol.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOAD_MS 20000 /* for the library to load: a slow file system, a busy machine */

/* ---- what is mapped ---- */

struct mapping {
	uint64_t begin, end, file_at;
	bool executable;
	const char *path; /* "" none */
	const char *name; /* last part of it */
};

struct maps {
	FILE *file;
	char *line;
	size_t room;
};

static bool maps_open(pid_t pid, struct maps *maps)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	*maps = (struct maps){ .file = fopen(path, "re") };
	return maps->file != NULL;
}

static bool maps_next(struct maps *maps, struct mapping *out)
{
	char access[5] = "";
	ssize_t n;
	int path_at = 0;

	for (;;) {
		n = getline(&maps->line, &maps->room, maps->file);
		if (n <= 0)
			return false;
		if (maps->line[n - 1] == '\n')
			maps->line[n - 1] = '\0';
		if (sscanf(maps->line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n",
			   &out->begin, &out->end, access, &out->file_at, &path_at) < 4)
			continue;
		out->executable = access[2] == 'x';
		out->path = path_at ? maps->line + path_at : "";
		out->name = strrchr(out->path, '/');
		out->name = out->name ? out->name + 1 : out->path;
		return true;
	}
}

static void maps_close(struct maps *maps)
{
	free(maps->line);
	if (maps->file)
		fclose(maps->file);
}

static bool begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool launch_attach_is_mapped(pid_t pid, const char *path)
{
	struct mapping m;
	struct maps maps;
	bool found = false;

	if (!maps_open(pid, &maps))
		return false;
	while (!found && maps_next(&maps, &m))
		found = strcmp(m.path, path) == 0;
	maps_close(&maps);
	return found;
}

/* ---- the C library, as the program has it ---- */

static const char *const libc_names[] = { "libc.so.6", "libc-2.", "libpthread", "libdl" };

static bool is_libc(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(libc_names); i++)
		if (begins(name, libc_names[i]))
			return true;
	return false;
}

/* Who allocates, and who loads: on top of them nothing may be called. */
static bool is_unsafe(const char *name)
{
	return is_libc(name) || begins(name, "ld-") || strstr(name, "malloc") ||
	       strstr(name, "san.so") || strstr(name, "san_");
}

enum { SYM_MMAP, SYM_CREATE, SYM_SELF, SYM_DETACH, SYM_DLOPEN, SYM_DLSYM, SYM_DLERROR, N_SYMS };

struct target {
	uint64_t address[N_SYMS];
	uint64_t trap; /* of a byte 0xcc in code */
	struct launch_remote_unsafe unsafe;
};

/* What one of the C library's files has, at where it is loaded. */
static void take_symbols(pid_t pid, const struct mapping *m, struct target *target)
{
	struct launch_elf_symbol symbols[N_SYMS] = {
		[SYM_MMAP] = { "mmap" },         [SYM_CREATE] = { "pthread_create" },
		[SYM_SELF] = { "pthread_self" }, [SYM_DETACH] = { "pthread_detach" },
		[SYM_DLOPEN] = { "dlopen" },     [SYM_DLSYM] = { "dlsym" },
		[SYM_DLERROR] = { "dlerror" },
	};
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, m->path);
	if (launch_elf_symbols(path, symbols, N_SYMS, NULL))
		return;
	for (unsigned i = 0; i < N_SYMS; i++)
		if (symbols[i].offset)
			target->address[i] = m->begin - m->file_at + symbols[i].offset;
}

/* Any 0xcc will do: executed from its middle, an instruction is another one. */
static void find_trap(pid_t pid, const struct mapping *m, struct target *target)
{
	static uint8_t bytes[1 << 16];
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (uint64_t at = m->begin; fd >= 0 && !target->trap && at < m->end; at += sizeof(bytes)) {
		ssize_t n = pread(fd, bytes, WS_MIN(sizeof(bytes), m->end - at), (off_t)at);
		const uint8_t *found = n > 0 ? memchr(bytes, 0xcc, (size_t)n) : NULL;

		if (found)
			target->trap = at + (uint64_t)(found - bytes);
	}
	if (fd >= 0)
		close(fd);
}

static enum ws_status examine(pid_t pid, struct target *out, struct ws_err *err)
{
	struct mapping m;
	struct maps maps;
	bool complete = true;

	*out = (struct target){ .trap = 0 };
	if (!maps_open(pid, &maps))
		return ws_fail_errno(err, errno, "cannot read /proc/%d/maps", (int)pid);
	while (maps_next(&maps, &m)) {
		if (m.file_at == 0 && is_libc(m.name))
			take_symbols(pid, &m, out);
		if (!m.executable || !is_unsafe(m.name))
			continue;
		if (out->unsafe.n < WS_ARRAY_LEN(out->unsafe.at))
			out->unsafe.at[out->unsafe.n++] = (struct launch_range){ m.begin, m.end };
		if (!out->trap && is_libc(m.name))
			find_trap(pid, &m, out);
	}
	maps_close(&maps);
	for (unsigned i = 0; i < N_SYMS; i++)
		complete &= out->address[i] != 0;
	if (!complete || !out->trap)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "process %d is statically linked or does not use glibc: only "
			       "programs linked dynamically with glibc can be attached to",
			       (int)pid);
	return WS_OK;
}

/* ---- whether it is allowed ---- */

/* A number after "Name:" in /proc/PID/status; -1: it is not there. */
static long status_number(pid_t pid, const char *name)
{
	char path[64], line[256];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && value < 0 && fgets(line, sizeof(line), file))
		if (begins(line, name))
			value = atol(line + strlen(name));
	if (file)
		fclose(file);
	return value;
}

static long ptrace_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	long scope = 0;

	if (file && fscanf(file, "%ld", &scope) != 1)
		scope = 0;
	if (file)
		fclose(file);
	return scope;
}

static enum ws_status check_right(pid_t pid, struct ws_err *err)
{
	long tracer = status_number(pid, "TracerPid:"), uid = status_number(pid, "Uid:");
	long scope = ptrace_scope();

	if (tracer > 0)
		return ws_fail(
			err, WS_E_ACCESS,
			"process %d is already traced by process %ld: stop that debugger first",
			(int)pid, tracer);
	if (geteuid() != 0 && uid != (long)geteuid())
		return ws_fail(err, WS_E_ACCESS,
			       "process %d belongs to another user: run this as that user or as "
			       "root",
			       (int)pid);
	if (geteuid() != 0 && scope > 0)
		return ws_fail(err, WS_E_ACCESS,
			       "the kernel forbids attaching to process %d "
			       "(kernel.yama.ptrace_scope is %ld): run this as root, or allow it "
			       "with 'sysctl kernel.yama.ptrace_scope=0'",
			       (int)pid, scope);
	if (scope == 3)
		return ws_fail(err, WS_E_ACCESS,
			       "the kernel forbids attaching until the next boot "
			       "(kernel.yama.ptrace_scope is 3): start the program with "
			       "'rocprofv3 ... -- PROGRAM'");
	return WS_OK;
}

static enum ws_status check_program(pid_t pid, struct ws_err *err)
{
	Elf64_Ehdr head = { .e_machine = 0 };
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ws_fail(
			err, WS_E_NOTFOUND,
			errno == ENOENT
				? "process %d is a kernel thread or has ended: cannot attach"
				: "no permission to inspect process %d: run as its user or as root",
			(int)pid);
	n = read(fd, &head, sizeof(head));
	close(fd);
	if (n != sizeof(head) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_machine != EM_X86_64)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"process %d is not a 64-bit x86 program: attaching to it is not supported",
			(int)pid);
	return WS_OK;
}

enum ws_status launch_attach_check(pid_t pid, const char *library, struct ws_err *err)
{
	char path[PATH_MAX + 64];
	struct target target;
	enum ws_status st;

	if (pid <= 0 || (kill(pid, 0) && errno == ESRCH))
		return ws_fail(err, WS_E_NOTFOUND, "process %d does not exist", (int)pid);
	if (pid == getpid())
		return ws_fail(err, WS_E_USAGE, "cannot attach to process %d: it is this process",
			       (int)pid);
	st = check_right(pid, err);
	if (!st)
		st = check_program(pid, err);
	if (st)
		return st;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, library);
	if (access(path, R_OK))
		return ws_fail(err, WS_E_NOTFOUND,
			       "process %d cannot access %s: it runs in a container; run rocprofv3 "
			       "inside it",
			       (int)pid, library);
	return examine(pid, &target, err);
}

/* ---- doing it ---- */

/* The result that the tracing child sends to its parent. */
struct remote_result {
	struct ws_err err;
	uint64_t data;
};

/* In a child: when it ends, however it does, the kernel lets the program go. */
static enum ws_status start(pid_t pid, const struct target *target,
			    const struct launch_remote_data *data, uint64_t *out_data,
			    struct ws_err *err)
{
	struct launch_remote_libc libc = { target->address[SYM_MMAP], target->address[SYM_CREATE],
					   target->trap };
	struct remote_result result = { .data = 0 };
	int pipe_fds[2];
	ssize_t n;
	pid_t child;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return ws_fail_errno(err, errno, "pipe");
	child = fork();
	if (child == 0) {
		result.err.status = launch_remote_start(pid, &libc, &target->unsafe, data,
							&result.data, &result.err);
		n = write(pipe_fds[1], &result, sizeof(result));
		_exit(n != (ssize_t)sizeof(result));
	}
	close(pipe_fds[1]);
	n = child < 0 ? -1 : read(pipe_fds[0], &result, sizeof(result));
	close(pipe_fds[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(result))
		return ws_fail(err, WS_E_STATE, "tracing of process %d ended unexpectedly",
			       (int)pid);
	if (result.err.status)
		return ws_fail(err, result.err.status, "%s", result.err.text);
	*out_data = result.data;
	return WS_OK;
}

/* The loader's own words, from the program's memory. */
static enum ws_status load_failed(pid_t pid, int mem, uint64_t error, struct ws_err *err)
{
	char text[160] = "";
	ssize_t n = error ? pread(mem, text, sizeof(text) - 1, (off_t)error) : 0;

	text[n > 0 ? n : 0] = '\0';
	return ws_fail(err, WS_E_STATE, "process %d could not load the collector: %s", (int)pid,
		       *text ? text : "no reason was given");
}

enum ws_status launch_attach_call(pid_t pid, const char *library, const char *function,
				  const char *text, struct ws_err *err)
{
	static struct launch_remote_data data;
	struct target target;
	uint64_t at = 0, state[2] = { LAUNCH_REMOTE_STARTED, 0 };
	char path[64];
	enum ws_status st = launch_attach_check(pid, library, err);
	int mem;

	if (!st)
		st = examine(pid, &target, err);
	if (st)
		return st;
	data = (struct launch_remote_data){
		.dlopen = target.address[SYM_DLOPEN],
		.dlsym = target.address[SYM_DLSYM],
		.dlerror = target.address[SYM_DLERROR],
		.pthread_self = target.address[SYM_SELF],
		.pthread_detach = target.address[SYM_DETACH],
	};
	if (strlen(text) >= sizeof(data.text) || strlen(library) >= sizeof(data.library) ||
	    strlen(function) >= sizeof(data.function))
		return ws_fail(err, WS_E_LIMIT, "'%s': the path is too long", library);
	strcpy(data.text, text);
	strcpy(data.library, library);
	strcpy(data.function, function);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return ws_fail_errno(err, errno, "no permission to read process %d", (int)pid);
	st = start(pid, &target, &data, &at, err);
	for (int ms = 0; !st && state[0] == LAUNCH_REMOTE_STARTED; ms += 2) {
		if (ms > LOAD_MS)
			st = ws_fail(err, WS_E_TIMEOUT,
				     "process %d has not loaded the collector after %d s", (int)pid,
				     LOAD_MS / 1000);
		else if (pread(mem, state, sizeof(state),
			       (off_t)(at + offsetof(struct launch_remote_data, stage))) !=
			 (ssize_t)sizeof(state))
			st = ws_fail(err, WS_E_STATE, "process %d ended during the attach",
				     (int)pid);
		else if (state[0] == LAUNCH_REMOTE_STARTED)
			nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
	}
	if (!st && state[0] == LAUNCH_REMOTE_FAILED)
		st = load_failed(pid, mem, state[1], err);
	close(mem);
	return st;
}
