#include "tests/unit/unit.h"
#include "workload/sysinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What AMD's runtime reports of an MI210. */
static const struct gpu_agent mi210 = {
	.is_gpu = true,
	.arch = "gfx90a",
	.product = "AMD Instinct MI210",
	.node = 1,
	.freq_mhz = 1700,
	.workgroup_max = 1024,
	.l1_kib = 16,
	.l2_kib = 8192,
	.mem_kib = 67092480,
	.device_id = 29711,
	.location_id = 768,
	.simd_count = 416,
	.simd_per_cu = 4,
	.max_waves_per_simd = 8,
	.array_count = 8,
	.simd_arrays_per_engine = 1,
	.wave_front_size = 64,
};

static void put(const char *root, const char *path, const char *text)
{
	char full[512], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void check(const struct wl_sysinfo *info, enum wl_sysinfo_id id, const char *wanted)
{
	if (strcmp(info->at[id], wanted) != 0)
		fail_msg("%s is '%s', not '%s'", wl_sysinfo_rows[id].name, info->at[id], wanted);
}

static void the_machine_becomes_a_row(void **state)
{
	struct gpu_agent gpu = mi210;
	char root[] = "/tmp/ws-sysinfo.XXXXXX", command[600];
	const struct wl_sysinfo_run run = { "vcopy", "./vcopy -n \"1,2\"", true };
	struct wl_sysinfo info;
	struct ws_arena arena;
	struct ws_err err;

	assert_non_null(mkdtemp(root));
	put(root, "/proc/cpuinfo", "processor\t: 0\nmodel name\t: EPYC 7V13\nmodel name\t: two\n");
	put(root, "/proc/meminfo", "MemTotal:       527650760 kB\nMemFree: 1 kB\n");
	put(root, "/proc/version", "Linux version 5.14.0-162.el9 (gcc) #1\n");
	put(root, "/etc/os-release", "NAME=x\nPRETTY_NAME=\"Rocky Linux 9.1\"\n");
	put(root, "/sys/class/dmi/id/bios_vendor", "Megatrends Inc.\n");
	put(root, "/sys/class/dmi/id/bios_version", "0602\n");
	put(root, "/sys/bus/pci/devices/0000:03:00.0/pp_dpm_mclk",
	    "0: 400Mhz\n9: 700Mhz\n10: 1600Mhz *\n");
	put(root, "/sys/bus/pci/devices/0000:03:00.0/vbios_version", "113-D67301-059\n");
	put(root, "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5.2.21153", "");
	unsetenv("ROCM_VER");
	gpu.model = gpu_model_by_chip((unsigned)gpu.device_id);
	ws_arena_init(&arena, 1 << 20);
	assert_int_equal(wl_sysinfo_look(root, &gpu, &run, &arena, &info, &err), WS_OK);
	check(&info, WL_SYSINFO_cpu_model, "EPYC 7V13");
	check(&info, WL_SYSINFO_cpu_memory, "527650760");
	check(&info, WL_SYSINFO_linux_kernel_version, "5.14.0-162.el9");
	check(&info, WL_SYSINFO_linux_distro, "Rocky Linux 9.1");
	check(&info, WL_SYSINFO_sbios, "Megatrends Inc.0602");
	check(&info, WL_SYSINFO_rocm_version, "5.2.21153");
	check(&info, WL_SYSINFO_vbios, "113-D67301-059");
	/* What the public MI200 recording has for these. */
	check(&info, WL_SYSINFO_gpu_model, "MI200");
	check(&info, WL_SYSINFO_gpu_arch, "gfx90a");
	check(&info, WL_SYSINFO_max_mclk, "1600");
	check(&info, WL_SYSINFO_cur_sclk, "1700");
	check(&info, WL_SYSINFO_sqc_per_gpu, "56");
	check(&info, WL_SYSINFO_total_l2_chan, "32");
	check(&info, WL_SYSINFO_num_hbm_channels, "32");
	check(&info, WL_SYSINFO_num_xcd, "1");
	check(&info, WL_SYSINFO_memory_partition, "NA");
	check(&info, WL_SYSINFO_ip_blocks, "SQ|LDS|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF|roofline");
	check(&info, WL_SYSINFO_command, "./vcopy -n \"1,2\"");
	assert_int_equal(wl_sysinfo_write(&info, false, root, &err), WS_OK);
	snprintf(command, sizeof(command), "! grep -q hbm_bw %s/sysinfo.csv", root);
	assert_int_equal(system(command), 0);
	/* For versions that want the bandwidth, which the recording has as 1638.4. */
	assert_int_equal(wl_sysinfo_write(&info, true, root, &err), WS_OK);
	snprintf(command, sizeof(command),
		 "grep -q ',num_hbm_channels,hbm_bw$' %s/sysinfo.csv && "
		 "grep -q ',32,1638.4$' %s/sysinfo.csv",
		 root, root);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command),
		 "grep -q '^vcopy,\"./vcopy -n \"\"1,2\"\"\",SQ|' %s/sysinfo.csv && test ! -e "
		 "%s/sysinfo.csv.part && rm -r %s",
		 root, root, root);
	assert_int_equal(system(command), 0);
	/* The software GPU is named, and its memory clock is the model's. */
	gpu.soft = true;
	assert_int_equal(wl_sysinfo_look("/nowhere", &gpu, NULL, &arena, &info, &err), WS_OK);
	check(&info, WL_SYSINFO_vbios, "software GPU (wavescope)");
	check(&info, WL_SYSINFO_max_mclk, "1600");
	check(&info, WL_SYSINFO_cpu_model, "");
	ws_arena_fini(&arena);
}

/* The GPU's columns of the public recordings of MI300X and MI300A. */
static void dies_and_partitions_are_in_the_row(void **state)
{
	static const struct {
		const char *list;
		const char *model, *partition, *memory, *cus, *ses, *sqcs, *xcds, *channels, *mclk;
	} rows[] = {
		{ "mi300x", "MI300X_A1", "SPX", "NPS1", "304", "32", "160", "8", "128", "1300" },
		{ "mi300a", "MI300A_A1", "SPX", "NPS1", "228", "24", "120", "6", "96", "1300" },
		{ "mi300x:cpx/nps4", "MI300X_A1", "CPX", "NPS4", "38", "4", "20", "1", "16",
		  "1300" },
	};
	struct wl_sysinfo info;
	struct ws_arena arena;
	struct ws_err err;

	ws_arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		struct gpu_agent gpu;
		struct gpu_soft soft;

		assert_int_equal(gpu_soft_read(ws_str_from(rows[i].list), &soft, &err), WS_OK);
		gpu_agent_of_soft(&soft, &gpu);
		setenv("WAVESCOPE_GPU", rows[i].list, 1);
		assert_int_equal(wl_sysinfo_look("/nowhere", &gpu, NULL, &arena, &info, &err),
				 WS_OK);
		unsetenv("WAVESCOPE_GPU");
		check(&info, WL_SYSINFO_gpu_model, rows[i].model);
		check(&info, WL_SYSINFO_gpu_arch, "gfx942");
		check(&info, WL_SYSINFO_compute_partition, rows[i].partition);
		check(&info, WL_SYSINFO_memory_partition, rows[i].memory);
		check(&info, WL_SYSINFO_cu_per_gpu, rows[i].cus);
		check(&info, WL_SYSINFO_se_per_gpu, rows[i].ses);
		check(&info, WL_SYSINFO_sqc_per_gpu, rows[i].sqcs);
		check(&info, WL_SYSINFO_num_xcd, rows[i].xcds);
		check(&info, WL_SYSINFO_total_l2_chan, rows[i].channels);
		check(&info, WL_SYSINFO_max_mclk, rows[i].mclk);
		check(&info, WL_SYSINFO_max_sclk, "2100");
		check(&info, WL_SYSINFO_max_waves_per_cu, "32");
	}
	ws_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_becomes_a_row),
		cmocka_unit_test(dies_and_partitions_are_in_the_row),
	};

	return RUN(tests);
}
