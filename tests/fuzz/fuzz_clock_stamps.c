/* Any bytes as readings of clocks: the rest of a merge must not notice lines that are none. */
#include "launch/clock_stamps.h"
#include "ranks/stamps.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct rnk_node nodes[2] = { { .boot_id = { 1 } }, { .boot_id = { 1, 1 } } };
	struct rnk_job job = { .nodes = nodes, .n_nodes = 2 };
	char name[64];
	const char *names[] = { name };
	struct ws_strv files = { .at = names, .n = 1 };
	struct rnk_stamp_list stamps;
	struct ws_err err;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
	CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	CHECK(rnk_stamps_read(&job, &files, &stamps, &err) == WS_OK);
	CHECK(stamps.n <= size / 68); /* two ids and two numbers */
	for (size_t i = 0; i < stamps.n; i++)
		CHECK(stamps.at[i].reader + stamps.at[i].writer == 1);
	ws_vec_fini(&stamps);
	return 0;
}
