#include "workload/outfile.h"

#include "base/file.h"
#include "base/path.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum ws_status wl_outfile_open(struct wl_outfile *file, const char *dir, const char *name,
			       struct ws_err *err)
{
	enum ws_status st = ws_path_join(dir, name, file->path, err);

	file->to = NULL;
	if (st)
		return st;
	if ((size_t)snprintf(file->part, sizeof(file->part), "%s.part", file->path) >=
	    sizeof(file->part))
		return ws_fail(err, WS_E_LIMIT, "'%s' is too long for a path", file->path);
	return ws_file_create_stream(file->part, &file->to, err);
}

enum ws_status wl_outfile_commit(struct wl_outfile *file, struct ws_err *err)
{
	FILE *to = file->to;
	bool failed;
	int error;

	if (!to)
		return ws_fail(err, WS_E_STATE, "'%s' is not open", file->path);
	file->to = NULL;
	errno = 0;
	failed = ferror(to) || fflush(to) != 0;
	error = errno;
	if (fclose(to) != 0 && !failed) {
		failed = true;
		error = errno;
	}
	if (!failed && rename(file->part, file->path) != 0) {
		failed = true;
		error = errno;
	}
	if (!failed)
		return WS_OK;
	unlink(file->part);
	/* A write that failed earlier left no errno: the disk is the likely cause. */
	return ws_fail_errno(err, error ? error : ENOSPC, "cannot write '%s'", file->path);
}

void wl_outfile_abandon(struct wl_outfile *file)
{
	if (!file->to)
		return;
	fclose(file->to);
	file->to = NULL;
	unlink(file->part);
}

void wl_put_text(FILE *to, const char *text, char end)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, to);
	} else {
		putc_unlocked('"', to);
		for (; *text; text++) {
			if (*text == '"')
				putc_unlocked('"', to);
			putc_unlocked(*text, to);
		}
		putc_unlocked('"', to);
	}
	putc_unlocked(end, to);
}

void wl_put_u64(FILE *to, uint64_t value, char end)
{
	fprintf(to, "%" PRIu64 "%c", value, end);
}

void wl_put_number(FILE *to, double value, char end)
{
	if (isnan(value))
		putc_unlocked(end, to);
	else if (fabs(value) < 9.007199254740992e15 && value == trunc(value))
		fprintf(to, "%.0f%c", value, end);
	else
		fprintf(to, "%.17g%c", value, end);
}
