#include "gpu/present.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A tree shaped like /sys, with the lines a MI250X machine has. */
static char root[] = "/tmp/ws-test-sys-XXXXXX";

static void put(const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *c = whole + sizeof(root); *c; c++)
		if (*c == '/') {
			*c = '\0';
			mkdir(whole, 0700);
			*c = '/';
		}
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_root(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char line[64];

	snprintf(line, sizeof(line), "rm -rf %s", root);
	return system(line);
}

static void no_driver_is_no_gpus_and_no_error(void **state)
{
	static struct gpu_agents set;
	char driver[64];

	assert_int_equal(gpu_present(root, &set, NULL), WS_OK);
	assert_int_equal(set.n, 0);
	gpu_driver_version(root, driver, sizeof(driver));
	assert_string_equal(driver, "");
}

static void gpus_are_read_from_the_topology(void **state)
{
	static struct gpu_agents set;
	char driver[64];

	put("module/amdgpu/version", "6.3.6\n");
	put("class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\nsimd_count 0\n");
	put("class/kfd/kfd/topology/nodes/10/properties",
	    "cpu_cores_count 0\nsimd_count 440\nsimd_per_cu 4\ngfx_target_version 90010\n"
	    "device_id 29704\ndrm_render_minor 129\n"
	    "max_engine_clk_fcompute 1700\nlocation_id 49664\ndomain 0\n");
	put("class/kfd/kfd/topology/nodes/2/properties",
	    "simd_count 480\nsimd_per_cu 4\ngfx_target_version 90008\ndevice_id 29580\n");
	put("class/kfd/kfd/topology/nodes/3/properties",
	    "simd_count 4\nsimd_count_extra 7\ngfx_target_version 110501\ndevice_id 1\n");
	assert_int_equal(gpu_present(root, &set, NULL), WS_OK);
	gpu_driver_version(root, driver, sizeof(driver));
	assert_string_equal(driver, "6.3.6");
	assert_int_equal(set.n, 3);
	assert_int_equal(set.at[0].node, 2);
	assert_string_equal(set.at[0].arch, "gfx908");
	assert_int_equal(gpu_agent_n_cus(&set.at[0]), 120);
	assert_string_equal(set.at[1].arch, "gfx1151");
	assert_null(set.at[1].model);
	assert_int_equal(gpu_agent_n_cus(&set.at[1]),
			 4); /* a driver that does not say simd_per_cu */
	assert_string_equal(set.at[2].arch, "gfx90a");
	assert_string_equal(set.at[2].model->model, "MI250X");
	assert_int_equal(gpu_agent_n_cus(&set.at[2]), 110);
	assert_int_equal(set.at[2].drm_render_minor, 129);
	assert_int_equal(set.at[2].location_id, 49664);
	assert_int_equal(set.at[2].freq_mhz, 1700);
	assert_int_equal(set.at[2].num_xcc, 1); /* from the model: this driver does not say */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_driver_is_no_gpus_and_no_error),
		cmocka_unit_test(gpus_are_read_from_the_topology),
	};

	return RUN_WITH(tests, make_root, remove_root);
}
