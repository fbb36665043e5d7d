/* A host module of any bytes: its functions are listed, scanned and moved. */
#include "code/functions.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void look(struct code_functions *functions)
{
	struct code_moved moved;
	struct code_scan scan;
	uint64_t end = 0;

	for (size_t i = 0; i < functions->n; i++) {
		const struct code_host_function *f = &functions->at[i];

		CHECK(f->offset >= end && *f->name && f->shown);
		end = f->offset + f->size;
		code_host_function_scan(functions, f, &scan);
		if (!code_host_function_move(functions, f, &scan, &moved)) {
			CHECK(moved.why_not && *moved.why_not);
			continue;
		}
		CHECK(moved.n_patch >= 5 && moved.patch_at + moved.n_patch <= f->size);
		CHECK(moved.n_code <= CODE_MOVED_MAX && moved.n_fixups <= CODE_FIXUPS_MAX);
		for (uint32_t k = 0; k < moved.n_fixups; k++)
			CHECK(moved.fixups[k].at + 4u <= moved.fixups[k].end &&
			      moved.fixups[k].end <= moved.n_code);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("fuzz", 0);
	struct code_functions *functions;
	struct ws_err err;
	char path[64];

	CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (code_functions_open(path, &functions, &err)) {
		CHECK(err.text[0]);
	} else {
		look(functions);
		code_functions_close(functions);
	}
	close(fd);
	return 0;
}
