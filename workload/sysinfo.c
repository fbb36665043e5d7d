#include "workload/sysinfo.h"

#include "base/file.h"
#include "base/str.h"
#include "workload/names.h"
#include "workload/outfile.h"

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const struct wl_sysinfo_row wl_sysinfo_rows[WL_SYSINFO_COUNT] = {
#define ROW(id, shown, unit, text) [WL_SYSINFO_##id] = { #id, shown, unit, text },
	WL_SYSINFO_TABLE(ROW)
#undef ROW
};

/* Major version of AMD's layout that this is; its analyze compares it with its own. */
#define LAYOUT_VERSION "3"
#define BLOCKS "SQ|LDS|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF"

struct looking {
	const char *root;
	struct ws_arena *arena;
	struct wl_sysinfo *info;
	bool failed; /* out of memory */
};

static void set(struct looking *l, enum wl_sysinfo_id id, const char *text)
{
	char *copy = ws_arena_strdup(l->arena, text);

	l->failed |= !copy;
	l->info->at[id] = copy ? copy : "";
}

static void set_number(struct looking *l, enum wl_sysinfo_id id, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	set(l, id, number ? text : "");
}

/* The value of the first line "KEY<sep> value" of a file; "" when there is none. */
static void file_value(const struct looking *l, const char *file, const char *key, char sep,
		       char *out, size_t room)
{
	char path[PATH_MAX];
	struct ws_buf text;
	struct ws_str rest, line, name;

	*out = '\0';
	snprintf(path, sizeof(path), "%s%s", l->root, file);
	ws_buf_init(&text, 16 << 20); /* cpuinfo of a large machine */
	if (!ws_file_read(path, &text, NULL)) {
		rest = ws_buf_view(&text);
		while (!*out && ws_str_next(&rest, '\n', &line)) {
			ws_str_next(&line, sep, &name);
			if (line.at && ws_str_is(ws_str_trim(name), key)) {
				line = ws_str_trim(line);
				if (line.n > 1 && line.at[0] == '"') {
					line.at++;
					line.n -= 2;
				}
				snprintf(out, room, "%.*s", WS_STR_ARGS(line));
			}
		}
	}
	ws_buf_fini(&text);
}

static bool root_line(const struct looking *l, const char *file, char *out, size_t room)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", l->root, file);
	return ws_file_line(path, out, room);
}

static void look_host(struct looking *l)
{
	char text[256], vendor[128] = "", version[128] = "";
	const char *word;

	if (gethostname(text, sizeof(text)) != 0)
		strcpy(text, "localhost");
	text[sizeof(text) - 1] = '\0';
	set(l, WL_SYSINFO_hostname, text);
	file_value(l, "/proc/cpuinfo", "model name", ':', text, sizeof(text));
	set(l, WL_SYSINFO_cpu_model, text);
	root_line(l, "/sys/class/dmi/id/bios_vendor", vendor, sizeof(vendor));
	root_line(l, "/sys/class/dmi/id/bios_version", version, sizeof(version));
	snprintf(text, sizeof(text), "%s%s", vendor, version);
	set(l, WL_SYSINFO_sbios, text);
	file_value(l, "/etc/os-release", "PRETTY_NAME", '=', text, sizeof(text));
	set(l, WL_SYSINFO_linux_distro, text);
	if (root_line(l, "/proc/version", text, sizeof(text)) &&
	    (word = strstr(text, "version "))) {
		char release[128];

		snprintf(release, sizeof(release), "%.*s", (int)strcspn(word + 8, " "), word + 8);
		set(l, WL_SYSINFO_linux_kernel_version, release);
	}
	if (root_line(l, "/sys/module/amdgpu/version", text, sizeof(text)))
		set(l, WL_SYSINFO_amd_gpu_kernel_version, text);
	file_value(l, "/proc/meminfo", "MemTotal", ':', text, sizeof(text));
	text[strspn(text, "0123456789")] = '\0';
	set(l, WL_SYSINFO_cpu_memory, text);
}

/* As Python's strftime("%c") gives it in the C locale, and the zone. */
static void look_time(struct looking *l)
{
	char text[80];
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local) &&
	    strftime(text, sizeof(text), "%a %b %e %T %Y (%Z)", &local))
		set(l, WL_SYSINFO_timestamp, text);
}

/* libamdhip64.so.5.2.21153: distributions have no version file, but the library's name. */
static bool hip_library_version(const struct looking *l, char *out, size_t room)
{
	static const char *const places[] = {
		"/opt/rocm*/lib",
		"/usr/lib/*-linux-gnu",
		"/usr/lib64",
		"/usr/lib",
	};
	bool hit = false;

	for (size_t i = 0; i < WS_ARRAY_LEN(places) && !hit; i++) {
		char pattern[PATH_MAX];
		glob_t files;

		snprintf(pattern, sizeof(pattern), "%s%s/libamdhip64.so.*.*", l->root, places[i]);
		if (glob(pattern, 0, NULL, &files) != 0)
			continue;
		for (size_t k = 0; k < files.gl_pathc && !hit; k++) {
			const char *version = strstr(files.gl_pathv[k], ".so.") + 4;

			hit = isdigit((unsigned char)*version);
			if (hit)
				snprintf(out, room, "%s", version);
		}
		globfree(&files);
	}
	return hit;
}

static void look_rocm(struct looking *l)
{
	const char *rocm = getenv("ROCM_PATH"), *given = getenv("ROCM_VER");
	char path[PATH_MAX], text[128] = "";

	snprintf(path, sizeof(path), "%s/.info/version", rocm && *rocm ? rocm : "/opt/rocm");
	if (!root_line(l, path, text, sizeof(text))) {
		if (given && *given)
			snprintf(text, sizeof(text), "%s", given);
		else
			hip_library_version(l, text, sizeof(text));
	}
	set(l, WL_SYSINFO_rocm_version, text);
}

/* The highest of "0: 400Mhz\n1: 1600Mhz *", as numbers: level 10 is above level 9. */
static unsigned highest_level(const char *text)
{
	unsigned best = 0, mhz;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		while (*line == '\n')
			line++;
		if (sscanf(line, "%*u: %uMhz", &mhz) == 1)
			best = WS_MAX(best, mhz);
	}
	return best;
}

/* /sys/bus/pci/devices/<address> of a real GPU; the bus number is in its BDF id. */
static void device_file(const struct looking *l, const struct gpu_agent *gpu, const char *name,
			struct ws_buf *out)
{
	char pattern[PATH_MAX];
	glob_t files;

	snprintf(pattern, sizeof(pattern), "%s/sys/bus/pci/devices/*:%02x:%02x.%x/%s", l->root,
		 (unsigned)(gpu->location_id >> 8) & 0xff, (unsigned)(gpu->location_id >> 3) & 0x1f,
		 (unsigned)gpu->location_id & 7, name);
	ws_buf_clear(out);
	if (glob(pattern, 0, NULL, &files) != 0)
		return;
	if (files.gl_pathc && ws_file_read(files.gl_pathv[0], out, NULL))
		ws_buf_clear(out);
	globfree(&files);
	while (out->n && isspace((unsigned char)out->at[out->n - 1]))
		out->at[--out->n] = '\0';
}

/* Whether kernels are counted by a part of their workgroups: softgpu/counters/service.h. */
static bool is_sampled(void)
{
	const char *waves = getenv("WAVESCOPE_SAMPLE_WAVES");

	return waves && strtoull(waves, NULL, 0) > 0;
}

/* The modes of a software GPU: its dies, and what WAVESCOPE_GPU says of its memory. */
static void look_soft_partitions(struct looking *l, const struct gpu_agent *gpu)
{
	const char *list = getenv("WAVESCOPE_GPU");
	struct ws_str rest = ws_str_from(list ? list : ""), part;
	struct gpu_soft soft;
	unsigned nps = 1;
	char text[16];

	if (!gpu->model || gpu->model->n_xcds == 1)
		return;
	while (ws_str_next(&rest, ',', &part))
		if (part.n && !gpu_soft_read(part, &soft, NULL) && soft.model == gpu->model &&
		    soft.n_xcds == gpu->num_xcc)
			nps = soft.nps;
	snprintf(text, sizeof(text), "NPS%u", nps);
	set(l, WL_SYSINFO_compute_partition, gpu_partition(gpu->model, (unsigned)gpu->num_xcc));
	set(l, WL_SYSINFO_memory_partition, text);
}

static void look_board(struct looking *l, const struct gpu_agent *gpu)
{
	struct ws_buf text;
	unsigned mclk = 0;

	ws_buf_init(&text, 65536);
	set(l, WL_SYSINFO_compute_partition, "SPX"); /* undivided is all that older GPUs know */
	set(l, WL_SYSINFO_memory_partition, "NA");
	if (gpu->soft) {
		set(l, WL_SYSINFO_vbios,
		    is_sampled() ? "software GPU (wavescope), sampled"
				 : "software GPU (wavescope)");
		look_soft_partitions(l, gpu);
	} else {
		device_file(l, gpu, "vbios_version", &text);
		set(l, WL_SYSINFO_vbios, text.at);
		device_file(l, gpu, "current_compute_partition", &text);
		if (text.n)
			set(l, WL_SYSINFO_compute_partition, text.at);
		device_file(l, gpu, "current_memory_partition", &text);
		if (text.n)
			set(l, WL_SYSINFO_memory_partition, text.at);
		device_file(l, gpu, "pp_dpm_mclk", &text);
		mclk = highest_level(text.at);
	}
	if (!mclk && gpu->model)
		mclk = gpu->model->mem_freq_mhz;
	set_number(l, WL_SYSINFO_max_mclk, mclk);
	set_number(l, WL_SYSINFO_cur_mclk, mclk);
	ws_buf_fini(&text);
}

static const struct gpu_model *any_of_arch(const char *arch)
{
	size_t n;
	const struct gpu_model *models = gpu_models(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(models[i].arch, arch) == 0)
			return &models[i];
	return NULL;
}

static uint64_t hbm_channels(const char *memory_partition, uint64_t n_l2_channels)
{
	unsigned parts = 1;

	if (strncasecmp(memory_partition, "NPS", 3) != 0)
		return n_l2_channels;
	sscanf(memory_partition + 3, "%u", &parts);
	return 128 / WS_MAX(parts, 1u);
}

static void look_gpu(struct looking *l, const struct gpu_agent *gpu)
{
	/* Banks and pipes are the same for all of an architecture. */
	const struct gpu_model *model = gpu->model ? gpu->model : any_of_arch(gpu->arch);
	const uint64_t n_cus = gpu_agent_n_cus(gpu), n_ses = gpu_agent_n_ses(gpu);
	uint64_t per_se = n_ses ? n_cus / n_ses : 0;
	uint64_t n_xcds, n_channels;

	set(l, WL_SYSINFO_gpu_series, model ? model->series : "");
	set(l, WL_SYSINFO_gpu_model, gpu_target_name(gpu->arch, gpu->model));
	set(l, WL_SYSINFO_gpu_arch, gpu->arch);
	set_number(l, WL_SYSINFO_gpu_chip_id, gpu->device_id);
	set_number(l, WL_SYSINFO_gpu_memory, gpu->mem_kib);
	set_number(l, WL_SYSINFO_gpu_l1, gpu->l1_kib);
	set_number(l, WL_SYSINFO_gpu_l2, gpu->l2_kib);
	set_number(l, WL_SYSINFO_cu_per_gpu, n_cus);
	set_number(l, WL_SYSINFO_simd_per_cu, gpu->simd_per_cu);
	set_number(l, WL_SYSINFO_se_per_gpu, n_ses);
	set_number(l, WL_SYSINFO_wave_size, gpu->wave_front_size);
	set_number(l, WL_SYSINFO_workgroup_max_size, gpu->workgroup_max);
	set_number(l, WL_SYSINFO_max_waves_per_cu, gpu_agent_waves_per_cu(gpu));
	set_number(l, WL_SYSINFO_max_sclk, gpu->freq_mhz);
	set_number(l, WL_SYSINFO_cur_sclk, gpu->freq_mhz);
	/* One serves two compute units, and no two of different engines. */
	if (n_ses && n_cus % n_ses)
		per_se++;
	set_number(l, WL_SYSINFO_sqc_per_gpu, (per_se + 1) / 2 * n_ses);
	if (!model)
		return;
	n_xcds = gpu_n_xcds(model, l->info->at[WL_SYSINFO_compute_partition]);
	n_channels = n_xcds * model->n_l2_banks;
	set_number(l, WL_SYSINFO_num_xcd, n_xcds);
	set_number(l, WL_SYSINFO_total_l2_chan, n_channels);
	set_number(l, WL_SYSINFO_lds_banks_per_cu, model->n_lds_banks);
	set_number(l, WL_SYSINFO_pipes_per_gpu, model->n_pipes);
	set_number(l, WL_SYSINFO_num_hbm_channels,
		   hbm_channels(l->info->at[WL_SYSINFO_memory_partition], n_channels));
}

enum ws_status wl_sysinfo_look(const char *root, const struct gpu_agent *gpu,
			       const struct wl_sysinfo_run *run, struct ws_arena *arena,
			       struct wl_sysinfo *out_info, struct ws_err *err)
{
	struct looking l = { .root = root, .arena = arena, .info = out_info };

	for (size_t i = 0; i < WL_SYSINFO_COUNT; i++)
		out_info->at[i] = "";
	set(&l, WL_SYSINFO_version, LAYOUT_VERSION);
	if (run) {
		set(&l, WL_SYSINFO_workload_name, run->name);
		set(&l, WL_SYSINFO_command, run->command);
		set(&l, WL_SYSINFO_ip_blocks, run->roofline ? BLOCKS "|roofline" : BLOCKS);
	}
	look_time(&l);
	look_host(&l);
	look_rocm(&l);
	look_board(&l, gpu);
	look_gpu(&l, gpu);
	return l.failed ? ws_fail(err, WS_E_NOMEM, "out of memory") : WS_OK;
}

enum ws_status wl_sysinfo_write(const struct wl_sysinfo *info, bool with_hbm_bw, const char *dir,
				struct ws_err *err)
{
	double mclk_mhz = atof(info->at[WL_SYSINFO_max_mclk]);
	double n_channels = atof(info->at[WL_SYSINFO_num_hbm_channels]);
	char hbm_bw[32];
	struct wl_outfile file;
	enum ws_status st = wl_outfile_open(&file, dir, WL_FILE_SYSINFO, err);

	if (st)
		return st;
	for (size_t i = 0; i < WL_SYSINFO_COUNT; i++)
		wl_put_text(file.to, wl_sysinfo_rows[i].name,
			    with_hbm_bw || i + 1 < WL_SYSINFO_COUNT ? ',' : '\n');
	if (with_hbm_bw)
		wl_put_text(file.to, "hbm_bw", '\n');
	for (size_t i = 0; i < WL_SYSINFO_COUNT; i++)
		wl_put_text(file.to, info->at[i],
			    with_hbm_bw || i + 1 < WL_SYSINFO_COUNT ? ',' : '\n');
	/* A channel moves 32 bytes per clock. */
	snprintf(hbm_bw, sizeof(hbm_bw), "%.10g", mclk_mhz / 1000 * 32 * n_channels);
	if (with_hbm_bw)
		wl_put_text(file.to, hbm_bw, '\n');
	return wl_outfile_commit(&file, err);
}
