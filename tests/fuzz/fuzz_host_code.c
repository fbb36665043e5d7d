/* A host module of any bytes: every offset may be looked up. */
#include "code/host.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t touched;

static void look(struct code_host *host, uint64_t offset)
{
	struct code_host_frame frames[CODE_HOST_FRAMES_MAX];
	size_t n = code_host_at(host, offset, frames, CODE_HOST_FRAMES_MAX);

	CHECK(n >= 1 && n <= CODE_HOST_FRAMES_MAX);
	for (size_t i = 0; i < n; i++) {
		touched += frames[i].name ? strlen(frames[i].name) : 0;
		touched += frames[i].file ? strlen(frames[i].file) : 0;
		CHECK(frames[i].inlined == (i + 1 < n));
	}
	touched += code_host_is_signal_return(host, offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("fuzz", 0);
	struct code_host *host;
	struct ws_err err;
	char path[64];

	CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (code_host_open(path, NULL, 0, &host, &err)) {
		CHECK(err.text[0]);
		close(fd);
		return 0;
	}
	for (uint64_t at = 0; at < 0x3000; at += 7)
		look(host, at);
	look(host, UINT64_MAX);
	code_host_close(host);
	close(fd);
	return 0;
}
