/* Whole GPUs: the driver's request in its two forms, and which capabilities a started program has. */
#include "collector/count/gpu_lock.h"
#include "launch/perfmon.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A driver: number of its request, word of its operands, and what it answers to a lock. */
static struct {
	uint32_t number, first_word;
	int error;
	uint32_t locked[3];
} driver;

int ioctl(int fd, unsigned long request, ...)
{
	uint32_t *words;
	va_list args;

	va_start(args, request);
	words = va_arg(args, uint32_t *);
	va_end(args);
	errno = ENOTTY;
	if (_IOC_TYPE(request) != 'K' || _IOC_NR(request) != driver.number)
		return -1;
	assert_int_equal(_IOC_SIZE(request), 40);
	if (words[0] == 2) {
		words[driver.first_word] = 3;
		return 0;
	}
	assert_int_equal(words[0], 0);
	memcpy(driver.locked, words + driver.first_word, sizeof(driver.locked));
	errno = driver.error;
	return driver.error ? -1 : 0;
}

static void lock_is_found_in_both_forms(void **state)
{
	static const uint32_t forms[][2] = { { 0x86, 2 }, { 0x28, 1 }, { 0x28, 2 } };
	struct col_gpu_lock_way way;

	for (size_t i = 0; i < 3; i++) {
		driver.number = forms[i][0];
		driver.first_word = forms[i][1];
		driver.error = 0;
		assert_true(col_gpu_lock_find(0, &way));
		assert_int_equal(way.version, 3);
		assert_int_equal(way.first_word, forms[i][1]);
		assert_int_equal(col_gpu_lock_set(0, &way, 777, true), 0);
		assert_memory_equal(driver.locked, ((uint32_t[]){ 777, 1, 1 }), 12);
		assert_int_equal(col_gpu_lock_set(0, &way, 777, false), 0);
		assert_memory_equal(driver.locked, ((uint32_t[]){ 777, 0, 0 }), 12);
		driver.error = EALREADY; /* ours */
		assert_int_equal(col_gpu_lock_set(0, &way, 777, true), 0);
		driver.error = EBUSY;
		assert_int_equal(col_gpu_lock_set(0, &way, 777, true), EBUSY);
	}
	driver.number = 0x85;
	errno = 5;
	assert_false(col_gpu_lock_find(0, &way));
	assert_int_equal(errno, 5);
}

static void ambient_capabilities_are_what_a_program_gets(void **state)
{
	static const char user[] = "CapPrm:\t0000004000000000\nCapEff:\t0000004000000000\n"
				   "CapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\n";
	static const char ambient[] = "CapEff:\t0000004000000000\nCapAmb:\t0000004000000000\n";
	static const char admin[] = "CapEff:\t0000000000200000\nCapAmb:\t0000000000000000\n";
	char text[120];

	assert_false(launch_perfmon_capable(user, false, text, sizeof(text)));
	assert_non_null(strstr(text, "but not the programs that it starts"));
	assert_true(launch_perfmon_capable(ambient, false, text, sizeof(text)));
	assert_string_equal(text, "CAP_PERFMON");
	assert_true(launch_perfmon_capable(admin, true, text, sizeof(text)));
	assert_string_equal(text, "CAP_SYS_ADMIN");
	/* a container's root without it */
	assert_false(
		launch_perfmon_capable("CapEff:\t00000000a80425fb\n", true, text, sizeof(text)));
	assert_string_equal(text, "neither CAP_PERFMON nor CAP_SYS_ADMIN");
	assert_false(launch_perfmon_capable("", true, text, sizeof(text)));
}

/* The pid instead of PCI's domain: several of these tests may run at once. */
static void one_process_at_a_time_counts_a_gpu(void **state)
{
	uint32_t domain = (uint32_t)getpid();
	int status, held[2];
	pid_t other;
	char byte;

	assert_int_equal(pipe(held), 0);
	other = fork();
	if (!other) {
		byte = (char)(col_gpu_claim(domain, 0x300) && col_gpu_claim(domain, 0x400));
		_exit(write(held[1], &byte, 1) != 1 || pause());
	}
	assert_int_equal(read(held[0], &byte, 1), 1);
	assert_true(byte);
	errno = 5;
	assert_false(col_gpu_claim(domain, 0x300));
	assert_int_equal(errno, 5);
	assert_true(col_gpu_claim(domain, 0x500));
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_true(col_gpu_claim(domain, 0x300)); /* killed: nothing is left */
	assert_false(col_gpu_claim(domain, 0x300));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock_is_found_in_both_forms),
		cmocka_unit_test(one_process_at_a_time_counts_a_gpu),
		cmocka_unit_test(ambient_capabilities_are_what_a_program_gets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
