/* The files that metrics come from: lines, numbers, descriptors that are closed, the driver's tree. */
#include "tests/unit/unit.h"

#include "capture/reader.h"
#include "collector/monitor/monitor_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-monitor-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void put_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0777);
		*at = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct col_monitor_file file_of(const char *name)
{
	struct col_monitor_file file = { 0 };

	snprintf(file.path, sizeof(file.path), "%s/%s", dir, name);
	return file;
}

static void lines_come_one_by_one_and_long_ones_are_cut(void **state)
{
	static char text[3 * COL_MONITOR_LINE_MAX];
	static struct col_monitor_lines lines;
	struct col_monitor_file file;
	const char *line;

	strcpy(text, "first\n\n");
	memset(text + 7, 'x', 2 * COL_MONITOR_LINE_MAX);
	strcpy(text + 7 + 2 * COL_MONITOR_LINE_MAX, "\nlast");
	put_file("lines", text);
	file = file_of("lines");
	for (int i = 0; i < 2; i++) { /* and again from the start */
		col_monitor_lines_start(&lines, &file);
		assert_string_equal(col_monitor_line(&lines), "first");
		assert_string_equal(col_monitor_line(&lines), "");
		line = col_monitor_line(&lines);
		assert_int_equal(strlen(line), COL_MONITOR_LINE_MAX - 1);
		assert_int_equal(line[100], 'x');
		assert_string_equal(col_monitor_line(&lines), "last");
		assert_null(col_monitor_line(&lines));
	}
	col_monitor_close(&file);
}

static void numbers_are_read_without_the_locale(void **state)
{
	uint64_t n;
	double d;

	assert_string_equal(col_monitor_number("  \t42 rest", &n), " rest");
	assert_int_equal(n, 42);
	assert_null(col_monitor_number("", &n));
	assert_null(col_monitor_number("-1", &n));
	assert_non_null(col_monitor_decimal("2445.404", &d));
	assert_true(d > 2445.4039 && d < 2445.4041);
	assert_string_equal(col_monitor_decimal("7,5", &d), ",5");
	assert_true(d == 7);
	assert_null(col_monitor_decimal("x", &d));
	assert_string_equal(col_monitor_after("cpu MHz : 1", "cpu MHz"), " : 1");
	assert_null(col_monitor_after("cpu", "cpu MHz"));
}

static void a_descriptor_of_the_programs_is_neither_read_nor_closed(void **state)
{
	struct col_monitor_file file;
	int64_t value = 0;
	char path[128];
	int other;

	put_file("number", "-7\n");
	put_file("other", "99\n");
	file = file_of("number");
	assert_true(col_monitor_read_number(&file, &value));
	assert_int_equal(value, -7);
	assert_true(file.fd >= 512);
	/* the program closes it and opens a file of its own there */
	snprintf(path, sizeof(path), "%s/other", dir);
	other = open(path, O_RDONLY);
	assert_int_equal(dup2(other, file.fd), file.fd);
	assert_true(col_monitor_read_number(&file, &value));
	assert_int_equal(value, -7);
	other = dup2(other, file.fd);
	col_monitor_close(&file);
	assert_int_equal(fcntl(other, F_GETFD), 0);
	close(other);
	/* what is not there is not tried again */
	file = file_of("missing");
	assert_false(col_monitor_read_number(&file, &value));
	put_file("missing", "1");
	assert_false(col_monitor_read_number(&file, &value));
	put_file("text", "high");
	file = file_of("text");
	assert_false(col_monitor_read_number(&file, &value));
	col_monitor_close(&file);
}

#define ALL_GROUPS ~0u

static void the_drivers_files_give_figures(void **state)
{
	struct col_monitor_figures out = { 0 };

	put_file("card0/device/vendor", "0x10de\n"); /* of another vendor */
	put_file("card1/device/vendor", "0x1002\n");
	put_file("card1/device/gpu_busy_percent", "37\n");
	put_file("card1/device/mem_busy_percent", "12\n");
	put_file("card1/device/mem_info_vram_used", "3000000\n");
	put_file("card1/device/hwmon/hwmon5/temp1_input", "40000\n");
	put_file("card1/device/hwmon/hwmon5/temp2_input", "61500\n");
	put_file("card1/device/hwmon/hwmon5/power1_average", "120500000\n");
	put_file("card1/device/hwmon/hwmon5/freq1_input", "1700000000\n");
	put_file("card3/device/vendor", "0x1002\n");
	put_file("card3/device/gpu_busy_percent", "not a number\n");
	put_file("card3/device/hwmon/hwmon2/power1_average", "1000000\n");
	put_file("card3/device/hwmon/hwmon2/power1_input", "2000000\n");
	col_monitor_sysfs_root(dir);
	assert_int_equal(col_monitor_sysfs.open(), 2);
	col_monitor_sysfs.read(0, ALL_GROUPS, 0, &out);
	assert_int_equal(out.has, 1u << COL_FIGURE_GFX_BUSY | 1u << COL_FIGURE_UMC_BUSY |
					  1u << COL_FIGURE_MEMORY | 1u << COL_FIGURE_TEMP |
					  1u << COL_FIGURE_POWER | 1u << COL_FIGURE_GFX_CLOCK);
	assert_true(out.at[COL_FIGURE_GFX_BUSY] == 37);
	assert_true(out.at[COL_FIGURE_UMC_BUSY] == 12);
	assert_true(out.at[COL_FIGURE_MEMORY] == 3000000);
	assert_true(out.at[COL_FIGURE_TEMP] == 61.5);
	assert_true(out.at[COL_FIGURE_POWER] == 120.5);
	assert_true(out.at[COL_FIGURE_GFX_CLOCK] == 1700);
	/* it is read again, not remembered */
	put_file("card1/device/gpu_busy_percent", "38\n");
	out.has = 0;
	col_monitor_sysfs.read(0, COL_MONITOR_BIT(GPU_BUSY), 0, &out);
	assert_int_equal(out.has, 1u << COL_FIGURE_GFX_BUSY | 1u << COL_FIGURE_UMC_BUSY);
	assert_true(out.at[COL_FIGURE_GFX_BUSY] == 38);
	/* a driver that knows the present power and the average */
	out.has = 0;
	col_monitor_sysfs.read(1, ALL_GROUPS, 0, &out);
	assert_int_equal(out.has, 1u << COL_FIGURE_POWER);
	assert_true(out.at[COL_FIGURE_POWER] == 2);
	col_monitor_sysfs_forked();
	col_monitor_sysfs_root("/nowhere");
	assert_int_equal(col_monitor_sysfs.open(), 0);
}

static void a_full_list_takes_no_more(void **state)
{
	static struct col_monitor_list list;
	static const struct col_monitor_kind kind = { "GPU %u", "%", CAP_METRIC_DEVICE_TEMP };
	uint32_t id = 0, again;

	for (int32_t i = 0; i < (int32_t)COL_MONITOR_METRICS_MAX; i++) {
		id = 0;
		col_monitor_put(&list, &id, &kind, i, 0, i);
		assert_int_equal(id, i + 1);
	}
	again = id;
	col_monitor_put(&list, &again, &kind, 5, 0, 77);
	assert_int_equal(again, id);
	assert_true(list.at[id - 1].value == 77);
	assert_string_equal(list.at[5].name, "GPU 5");
	id = 0;
	col_monitor_put(&list, &id, &kind, 1, 0, 1);
	assert_int_equal(id, 0);
	assert_int_equal(list.n, COL_MONITOR_METRICS_MAX);
}

/* ---- attaching ---- */

extern const struct col_provider col_provider_monitor;

struct found {
	unsigned n_readings, n_metrics;
	bool dangles; /* a value of a metric that the capture does not describe */
};

/* The capture with this number. No readings: it is not there, or has none yet. */
static struct found read_capture(uint32_t number)
{
	struct cap_reader *reader = NULL;
	struct cap_view view = { 0 };
	struct found found = { 0 };
	char path[128];
	size_t n = (size_t)snprintf(path, sizeof(path), "%s/", dir);
	const struct cap_rec *rec;

	col_capture_name((uint32_t)getpid(), number, path + n);
	if (cap_reader_open(path, &reader, NULL))
		return found;
	for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
		assert_int_equal(cap_reader_load(reader, i, &view, NULL), WS_OK);
		while ((rec = cap_view_next(&view)))
			found.n_metrics += cap_rec_type(rec) == CAP_REC_METRIC;
	}
	for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
		assert_int_equal(cap_reader_load(reader, i, &view, NULL), WS_OK);
		while ((rec = cap_view_next(&view))) {
			const struct cap_rec_metrics *values = (const void *)rec;
			const struct cap_metric_value *value = (const void *)(values + 1);

			if (cap_rec_type(rec) != CAP_REC_METRICS)
				continue;
			found.n_readings++;
			for (uint32_t k = 0; k < values->n_values; k++)
				found.dangles |= value[k].metric > found.n_metrics;
		}
	}
	cap_view_fini(&view);
	cap_reader_close(reader);
	return found;
}

static void sleep_ms(long ms)
{
	struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

/* Until there are so many readings, which takes long on a busy machine, but not for ever. */
static void attach(uint32_t number, uint64_t duration_ns, unsigned n_readings)
{
	static struct col_collect_config config;

	config = (struct col_collect_config){
		.services = COL_SERVICE_BIT(METRICS),
		.monitor = { .period_ns = 2000000,
			     .duration_ns = duration_ns,
			     .what = COL_MONITOR_BIT(PROCESS) },
	};
	strcpy(config.dir, dir);
	col_core_attach(&config);
	col_control_attach(&config);
	/* it is called again and again */
	for (int i = 0; i < 10 || (i < 500 && read_capture(number).n_readings < n_readings); i++) {
		col_provider_monitor.attach();
		sleep_ms(10);
	}
}

static void each_attach_has_its_own_readings(void **state)
{
	for (uint32_t i = 0; i < 4; i++) {
		bool limited = i == 2;
		unsigned least = limited ? 1 : 8;
		struct found found;

		attach(i, limited ? 10000000 : 0, least);
		cap_writer_close(col_core_detach());
		found = read_capture(i);
		assert_int_equal(found.n_metrics, 7);
		assert_false(found.dangles);
		assert_true(found.n_readings >= least);
		if (limited) /* and is not begun again */
			assert_true(found.n_readings <= 7);
		assert_null(col_capture_now());
	}
	/* nothing is read when nobody is attached */
	sleep_ms(20);
	assert_int_equal(col_capture_now() != NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_one_by_one_and_long_ones_are_cut),
		cmocka_unit_test(numbers_are_read_without_the_locale),
		cmocka_unit_test(a_descriptor_of_the_programs_is_neither_read_nor_closed),
		cmocka_unit_test(the_drivers_files_give_figures),
		cmocka_unit_test(a_full_list_takes_no_more),
		cmocka_unit_test(each_attach_has_its_own_readings),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
