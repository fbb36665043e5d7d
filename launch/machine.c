#include "launch/machine.h"

#include "base/env.h"
#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"
#include "counters/catalogue.h"
#include "gpu/present.h"
#include "launch/agents.h"
#include "launch/elf_symbol.h"
#include "launch/library.h"
#include "launch/other_profiler.h"
#include "launch/pc_sampling.h"
#include "launch/perfmon.h"
#include "launch/softgpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

/* hipcc is a slow script on a cold disk; AMD's runtime starts in well under a second. */
#define ASK_TIMEOUT_MS 20000

static void found(struct launch_machine *m, enum launch_fact fact, bool yes, const char *fmt, ...)
	WS_PRINTF(4, 5);

static void found(struct launch_machine *m, enum launch_fact fact, bool yes, const char *fmt, ...)
{
	va_list args;

	m->facts[fact].yes = yes;
	va_start(args, fmt);
	vsnprintf(m->facts[fact].detail, sizeof(m->facts[fact].detail), fmt, args);
	va_end(args);
}

static bool in_container(void)
{
	return ws_path_exists("/.dockerenv") || ws_path_exists("/run/.containerenv") ||
	       getenv("APPTAINER_CONTAINER") || getenv("SINGULARITY_CONTAINER");
}

static void look_system(struct launch_machine *m)
{
	struct ws_buf text;
	struct ws_str rest, line;
	struct utsname kernel;
	struct sysinfo memory;
	char name[80] = "unknown system";

	ws_buf_init(&text, 65536);
	if (!ws_file_read("/etc/os-release", &text, NULL)) {
		rest = ws_buf_view(&text);
		while (ws_str_next(&rest, '\n', &line))
			if (ws_str_starts(line, "PRETTY_NAME="))
				snprintf(name, sizeof(name), "%.*s", (int)line.n - 12,
					 line.at + 12);
	}
	ws_buf_fini(&text);
	if (name[0] == '"') { /* the file is shell: take the quotes off */
		memmove(name, name + 1, strlen(name));
		name[strcspn(name, "\"")] = '\0';
	}
	if (uname(&kernel) != 0 || sysinfo(&memory) != 0)
		return;
	snprintf(m->system, sizeof(m->system), "%s, Linux %.40s %.20s, %ld cores, %.0f GiB%s", name,
		 kernel.release, kernel.machine, sysconf(_SC_NPROCESSORS_ONLN),
		 (double)memory.totalram * memory.mem_unit / (1 << 30),
		 in_container() ? ", in a container" : "");
}

static void look_gpus(struct launch_machine *m)
{
	struct ws_buf names;
	struct ws_err err;
	char driver[64];

	gpu_driver_version("/sys", driver, sizeof(driver));
	if (gpu_present("/sys", &m->gpus, &err)) {
		found(m, LAUNCH_FACT_GPU, false, "%s", err.text);
	} else {
		ws_buf_init(&names, 190);
		for (size_t i = 0; i < m->gpus.n; i++)
			ws_buf_printf(&names, "%s%s %s", i ? ", " : "",
				      m->gpus.at[i].model ? m->gpus.at[i].model->model : "",
				      m->gpus.at[i].arch);
		found(m, LAUNCH_FACT_GPU, m->gpus.n > 0, "%s", m->gpus.n ? names.at : "none");
		ws_buf_fini(&names);
	}
	if (driver[0])
		found(m, LAUNCH_FACT_DRIVER, true, "version %s", driver);
	else /* built from the kernel's own tree it has no version */
		found(m, LAUNCH_FACT_DRIVER, ws_path_exists("/sys/module/amdgpu"), "%s",
		      ws_path_exists("/sys/module/amdgpu") ? "loaded" : "not loaded");
}

/* Hardware counters have to be known for one of the GPUs. */
static void look_counters(struct launch_machine *m)
{
	found(m, LAUNCH_FACT_KNOWN, false, "%s", m->gpus.n ? "" : "no GPU");
	for (size_t i = 0; i < m->gpus.n && !m->facts[LAUNCH_FACT_KNOWN].yes; i++) {
		struct cnt_catalogue *cat = NULL;
		struct ws_err err;
		bool known = !cnt_catalogue_create_typical(m->gpus.at[i].arch, &cat, &err);

		found(m, LAUNCH_FACT_KNOWN, known, "%.190s", known ? m->gpus.at[i].arch : err.text);
		cnt_catalogue_destroy(cat);
	}
}

/* Why a device that is there cannot be opened, beyond its mode and group. */
static const char *refusal(int error)
{
	uint64_t enforced = 0;

	/* files allow it, the kernel's list of devices of the container does not */
	if (error == EPERM)
		return ", refused by the container: start it with this device";
	if (error == EACCES && ws_file_u64("/sys/fs/selinux/enforce", &enforced) && enforced)
		return ", SELinux is enforcing: 'setsebool -P container_use_devices 1' allows "
		       "devices in containers";
	if (error == EACCES)
		return ", you are not in the group";
	return "";
}

/* Opening is what programs do: access() does not know what a container allows. */
static bool can_open(const char *path, const char **out_refusal)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	*out_refusal = fd < 0 ? refusal(errno) : "";
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* "/dev/kfd, mode 660, group render": what an administrator wants to see. True: it can be opened. */
static bool describe_device(const char *path, char *out_text, size_t room)
{
	struct stat info;
	struct group *group;
	const char *why;
	bool opens;

	if (stat(path, &info) != 0) {
		snprintf(out_text, room, "not there%s",
			 in_container() ? ", in a container: start it with this device" : "");
		return false;
	}
	opens = can_open(path, &why);
	group = getgrgid(info.st_gid);
	snprintf(out_text, room, "%s, mode %03o, group %s%s", path, info.st_mode & 0777u,
		 group ? group->gr_name : "?", why);
	return opens;
}

/* The first GPU's; a machine's GPUs are set alike. */
static void look_level(struct launch_machine *m)
{
	char line[64];
	glob_t files;

	found(m, LAUNCH_FACT_LEVEL, true, "not reported by the driver");
	if (glob("/sys/class/drm/card*/device/power_dpm_force_performance_level", 0, NULL,
		 &files) != 0)
		return;
	if (ws_file_line(files.gl_pathv[0], line, sizeof(line)))
		found(m, LAUNCH_FACT_LEVEL, strcmp(line, "low") != 0, "%s", line);
	globfree(&files);
}

static void look_devices(struct launch_machine *m)
{
	char text[190];
	glob_t nodes;
	bool usable;

	usable = describe_device("/dev/kfd", text, sizeof(text));
	found(m, LAUNCH_FACT_KFD, usable, "%s", text);
	if (glob("/dev/dri/renderD*", 0, NULL, &nodes) != 0) {
		found(m, LAUNCH_FACT_RENDER, false, "not there");
		return;
	}
	usable = describe_device(nodes.gl_pathv[0], text, sizeof(text));
	for (size_t i = 1; i < nodes.gl_pathc && !usable; i++)
		usable = describe_device(nodes.gl_pathv[i], text, sizeof(text));
	found(m, LAUNCH_FACT_RENDER, usable, "%zu render nodes; %.160s", nodes.gl_pathc, text);
	globfree(&nodes);
}

/* Run a program and keep what it prints; false when it cannot run or fails. */
static bool ask(const char *program, char *const *argv, char *const *envp, struct ws_buf *out)
{
	struct ws_proc_end end;

	ws_buf_clear(out);
	return !ws_proc_read(program, argv, envp, WS_PROC_STDERR_JOIN, ASK_TIMEOUT_MS, out, &end,
			     NULL) &&
	       end.exit_code == 0;
}

/* Its version is in the name of the file, and ROCm's after it; which interface it has, in its symbols. */
static void look_aqlprofile(struct launch_machine *m, const char *path)
{
	struct launch_elf_symbol second = { .name = "aqlprofile_pmc_create_packets" };
	char file[PATH_MAX];
	const char *version;
	struct ws_err err;

	if (!realpath(path, file))
		return;
	version = strstr(file, ".so.");
	if (launch_elf_symbols(file, &second, 1, &err))
		found(m, LAUNCH_FACT_AQLPROFILE, false, "%.150s: not a library", path);
	else
		found(m, LAUNCH_FACT_AQLPROFILE, true, "%.120s, version %.20s, %s interface", path,
		      version ? version + 4 : "unknown", second.offset ? "second" : "first");
}

static void look_rocm(struct launch_machine *m)
{
	/* In order of preference; the file behind the name carries the version. */
	static const struct {
		enum launch_fact fact;
		const char *name;
	} libraries[] = {
		{ LAUNCH_FACT_HSA, "libhsa-runtime64.so.1" },
		{ LAUNCH_FACT_HIP, "libamdhip64.so.7" },
		{ LAUNCH_FACT_HIP, "libamdhip64.so.6" },
		{ LAUNCH_FACT_HIP, "libamdhip64.so.5" },
		{ LAUNCH_FACT_AQLPROFILE, "libhsa-amd-aqlprofile64.so" },
	};
	char path[PATH_MAX];
	struct ws_buf text;

	ws_buf_init(&text, 4 << 20);
	launch_library_cache(&text);
	for (size_t i = 0; i < WS_ARRAY_LEN(libraries); i++)
		if (!m->facts[libraries[i].fact].yes) {
			bool here = launch_library_find(&text, libraries[i].name, path);

			found(m, libraries[i].fact, here, "%.190s", here ? path : "not found");
			if (here && libraries[i].fact == LAUNCH_FACT_AQLPROFILE)
				look_aqlprofile(m, path);
		}
	ws_buf_fini(&text);
}

static void look_sampling(struct launch_machine *m)
{
	const char *why = m->facts[LAUNCH_FACT_KFD].yes ? launch_pc_obstacle() : "no driver";

	found(m, LAUNCH_FACT_PCSAMPLING, !why, "%.190s", why ? why : "driver and runtime have it");
}

/* Compiling nothing for both targets is enough to find missing device libraries. */
static void try_hipcc(struct launch_machine *m, const char *hipcc)
{
	char object[PATH_MAX];
	/* clang-format off */
	char *argv[] = { "hipcc", "--offload-arch=gfx90a", "--offload-arch=gfx908", "-x", "hip",
			 "-c", "-o", object, "/dev/null", NULL };
	/* clang-format on */
	struct ws_buf text;
	struct ws_err err;
	bool ok;
	int fd;

	if (ws_file_temp("wavescope-doctor", object, &fd, &err)) {
		found(m, LAUNCH_FACT_TARGETS, false, "%.190s", err.text);
		return;
	}
	close(fd);
	ws_buf_init(&text, 65536);
	ok = ask(hipcc, argv, environ, &text);
	/* The first line of a compiler's complaint is the one that matters. */
	if (ok || text.n)
		found(m, LAUNCH_FACT_TARGETS, ok, "%.*s",
		      ok ? 14 : (int)WS_MIN(strcspn(text.at, "\n"), 190u),
		      ok ? "gfx90a, gfx908" : text.at);
	else
		found(m, LAUNCH_FACT_TARGETS, false, "no answer within %d s",
		      ASK_TIMEOUT_MS / 1000);
	ws_buf_fini(&text);
	unlink(object);
}

static void look_hipcc(struct launch_machine *m)
{
	char *version[] = { "hipcc", "--version", NULL };
	struct ws_str rest, line;
	struct ws_buf text;
	char path[PATH_MAX];

	found(m, LAUNCH_FACT_HIPCC, false, "not found");
	found(m, LAUNCH_FACT_TARGETS, false, "not tried");
	/* ROCm's packages put it where PATH does not look by itself. */
	if (ws_path_program("hipcc", path, NULL) &&
	    ws_path_program("/opt/rocm/bin/hipcc", path, NULL))
		return;
	ws_buf_init(&text, 65536);
	if (ask(path, version, environ, &text)) {
		found(m, LAUNCH_FACT_HIPCC, true, "%.190s", path);
		rest = ws_buf_view(&text);
		while (ws_str_next(&rest, '\n', &line))
			if (ws_str_starts(line, "HIP version"))
				found(m, LAUNCH_FACT_HIPCC, true, "%.100s, %.*s", path,
				      (int)WS_MIN(line.n, (size_t)60), line.at);
		try_hipcc(m, path);
	} else {
		found(m, LAUNCH_FACT_HIPCC, false, "%.150s does not run", path);
	}
	ws_buf_fini(&text);
}

/* The only way to know that AMD's runtime starts on the software GPU is to start it. */
static enum ws_status try_softgpu(struct launch_machine *m, const char *library, struct ws_err *err)
{
	struct gpu_hsa_agents *agents = malloc(sizeof(*agents));
	struct launch_softgpu soft = { .gpus = SOFTGPU_DEFAULT };
	struct gpu_agents *gpus = malloc(sizeof(*gpus));
	struct ws_env env = { 0 };
	enum ws_status st;
	char line[190];

	if (!agents || !gpus) {
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
		goto out;
	}
	st = ws_env_init(&env, environ, err);
	if (!st)
		st = launch_softgpu_env(&soft, &env, err);
	if (!st)
		st = launch_hsa_agents(&env, library, ASK_TIMEOUT_MS, agents, err);
	if (!st) {
		gpu_agents_of_hsa(agents, gpus);
		if (gpus->n) /* the last of the agents: CPUs come first */
			gpu_agent_line(&gpus->at[gpus->n - 1], agents->n_agents, line,
				       sizeof(line));
		found(m, LAUNCH_FACT_SOFTRUNS, gpus->n > 0, "%s", gpus->n ? line : "no GPU");
	} else if (st != WS_E_NOMEM) {
		found(m, LAUNCH_FACT_SOFTRUNS, false, "%.190s", err->text);
		st = WS_OK;
	}
out:
	ws_env_fini(&env);
	free(gpus);
	free(agents);
	return st;
}

static enum ws_status look_softgpu(struct launch_machine *m, struct ws_err *err)
{
	static const char *const places[] = { "../lib/wavescope", "../lib", NULL };
	char path[PATH_MAX];
	enum ws_status st;

	found(m, LAUNCH_FACT_COLLECTOR,
	      !ws_path_beside(places, "libwavescope-collector.so", path, NULL), "not found");
	if (m->facts[LAUNCH_FACT_COLLECTOR].yes)
		found(m, LAUNCH_FACT_COLLECTOR, true, "%.190s", path);
	st = launch_softgpu_library(path, err);
	found(m, LAUNCH_FACT_SOFTGPU, st == WS_OK, "%.190s", st ? "not found" : path);
	found(m, LAUNCH_FACT_SOFTRUNS, false, "not tried");
	if (st || !m->facts[LAUNCH_FACT_HSA].yes)
		return WS_OK;
	return try_softgpu(m, path, err);
}

static void look_permissions(struct launch_machine *m)
{
	struct launch_perfmon perfmon;
	char line[32], other[190];
	struct rlimit lock;
	int64_t level = 0;
	uint64_t scope = 0;
	bool root = geteuid() == 0, shared;

	if (!ws_file_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)) ||
	    !ws_str_i64(ws_str_from(line), &level))
		found(m, LAUNCH_FACT_PERF, false, "not in this kernel");
	else
		found(m, LAUNCH_FACT_PERF, root || level <= 2, "perf_event_paranoid is %d%s",
		      (int)level, root ? ", and you are root" : "");
	launch_perfmon_look(&perfmon);
	found(m, LAUNCH_FACT_PROFILER, perfmon.version > 0, perfmon.version ? "version %u" : "none",
	      perfmon.version);
	found(m, LAUNCH_FACT_PERFMON, perfmon.is_capable, "%s", perfmon.capability);
	shared = launch_other_profiler(other, sizeof(other));
	found(m, LAUNCH_FACT_SOLE, !shared, "%.189s",
	      shared ? other : "no other in the environment");
	/* Without the Yama module there is no such file and no restriction. */
	if (!ws_file_u64("/proc/sys/kernel/yama/ptrace_scope", &scope))
		found(m, LAUNCH_FACT_PTRACE, true, "not restricted");
	else
		found(m, LAUNCH_FACT_PTRACE, scope == 0 || (root && scope < 3),
		      "ptrace_scope is %u%s", (unsigned)scope, root ? ", and you are root" : "");
	if (getrlimit(RLIMIT_MEMLOCK, &lock) != 0 || lock.rlim_cur == RLIM_INFINITY)
		found(m, LAUNCH_FACT_MEMLOCK, true, "unlimited");
	else /* perf buffers and page-locked copies: 64 KiB is the old default, 8 MiB the new */
		found(m, LAUNCH_FACT_MEMLOCK, root || lock.rlim_cur >= 8 << 20, "%llu KiB%s",
		      (unsigned long long)lock.rlim_cur >> 10, root ? ", and you are root" : "");
}

static void look_cluster(struct launch_machine *m)
{
	static const char *const launchers[] = { "srun", "mpirun", "mpiexec", "flux" };
	const char *job = getenv("SLURM_JOB_ID");
	char path[PATH_MAX];
	struct ws_buf names;

	ws_buf_init(&names, 190);
	for (size_t i = 0; i < WS_ARRAY_LEN(launchers); i++)
		if (!ws_path_program(launchers[i], path, NULL))
			ws_buf_printf(&names, "%s%s", names.n ? ", " : "", launchers[i]);
	if (job)
		ws_buf_printf(&names, "%sin Slurm job %.20s", names.n ? "; " : "", job);
	found(m, LAUNCH_FACT_LAUNCHER, names.n > 0, "%s", names.n ? names.at : "none");
	ws_buf_fini(&names);
}

enum ws_status launch_machine_look(struct launch_machine *out_machine, struct ws_err *err)
{
	memset(out_machine, 0, sizeof(*out_machine));
	look_system(out_machine);
	look_gpus(out_machine);
	look_counters(out_machine);
	look_devices(out_machine);
	look_level(out_machine);
	look_rocm(out_machine);
	look_sampling(out_machine);
	look_hipcc(out_machine);
	look_permissions(out_machine);
	look_cluster(out_machine);
	return look_softgpu(out_machine, err);
}
