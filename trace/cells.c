#include "trace/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IN_MEMORY_BYTES ((size_t)64 << 20)

static int nameless_file(size_t n_bytes)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Room is taken now: a page that finds none later would be a signal. */
	if (fd >= 0 && posix_fallocate(fd, 0, (off_t)n_bytes) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

enum ws_status trc_cells_init(struct trc_cells *cells, size_t n_rows, size_t n_columns,
			      struct ws_err *err)
{
	size_t n_bytes = 0;
	int fd = -1;

	*cells = (struct trc_cells){ .n_rows = n_rows, .n_columns = n_columns };
	if (__builtin_mul_overflow(n_rows, n_columns, &n_bytes) ||
	    __builtin_mul_overflow(n_bytes, sizeof(double), &n_bytes))
		return ws_fail(err, WS_E_LIMIT, "a table of %zu times %zu values", n_rows,
			       n_columns);
	if (!n_bytes)
		return WS_OK;
	if (n_bytes > IN_MEMORY_BYTES) {
		fd = nameless_file(n_bytes);
		if (fd < 0)
			return ws_fail_errno(err, errno,
					     "no space for a table of %zu times %zu values: set "
					     "TMPDIR to another folder",
					     n_rows, n_columns);
	}
	cells->at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			 fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (fd >= 0)
		close(fd);
	if (cells->at == MAP_FAILED) {
		cells->at = NULL;
		return ws_fail(err, WS_E_NOMEM, "a table of %zu times %zu values", n_rows,
			       n_columns);
	}
	cells->n_bytes = n_bytes;
	for (size_t i = 0; i < n_rows * n_columns; i++)
		cells->at[i] = NAN;
	return WS_OK;
}

void trc_cells_fini(struct trc_cells *cells)
{
	if (cells->at)
		munmap(cells->at, cells->n_bytes);
	memset(cells, 0, sizeof(*cells));
}
