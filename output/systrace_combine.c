/* Perfetto traces of several processes as one: a sequence of traces is a trace. */
#include "output/systrace.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>

static enum ws_status append(FILE *to, const char *path, uint64_t *n_bytes, struct ws_err *err)
{
	FILE *from = fopen(path, "rb");
	char bytes[65536];
	size_t n;
	bool bad;

	if (!from)
		return ws_fail_errno(err, errno, "cannot read '%s'", path);
	while ((n = fread(bytes, 1, sizeof(bytes), from)) > 0) {
		if (fwrite(bytes, 1, n, to) != n)
			break;
		*n_bytes += n;
	}
	bad = ferror(from) || ferror(to);
	if (bad)
		ws_fail_errno(err, errno, "cannot copy '%s'", path);
	fclose(from);
	return bad ? WS_E_IO : WS_OK;
}

enum ws_status output_systrace_combine(const char *const *paths, size_t n_paths,
				       const char *to_path, uint64_t *out_bytes, struct ws_err *err)
{
	FILE *to = NULL;
	enum ws_status st = ws_file_begin(to_path, &to, err);

	*out_bytes = 0;
	if (st)
		return st;
	for (size_t i = 0; i < n_paths && !st; i++)
		st = append(to, paths[i], out_bytes, err);
	if (!st)
		return ws_file_commit(to_path, to, err);
	ws_file_discard(to_path, to);
	return st;
}
