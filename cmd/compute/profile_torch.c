/*
 * --torch-trace: our module in the program's Python (collector/torch/) opens a roctx range per
 * operator.
 */
#include "cmd/compute/profile_collect.h"

#include "base/file.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/profile_log.h"
#include "workload/torch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_python(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	return strncmp(name, "python", 6) == 0 || ws_str_ends(ws_str_from(name), ".py");
}

enum ws_status pf_torch_begin(struct pf *pf, struct ws_err *err)
{
	static const char *const places[] = { "../lib/wavescope/torch", "../collector/torch",
					      NULL };
	const char *there = getenv("PYTHONPATH");
	char folder[PATH_MAX];
	struct ws_buf list;
	enum ws_status st;

	if (!is_python(pf->argv[0]))
		return ws_fail(err, WS_E_STATE,
			       "--torch-trace needs a Python program: 'python script.py', or a .py "
			       "file; '%s' is neither",
			       pf->argv[0]);
	st = ws_path_beside(places, "sitecustomize.py", folder, err);
	if (st)
		return ws_fail_in(err, st, "--torch-trace");
	ws_path_parent(folder);
	ws_buf_init(&list, 1 << 17);
	ws_buf_printf(&list, "%s%s%s", folder, there && *there ? ":" : "", there ? there : "");
	st = ws_buf_status(&list, err);
	/* Ours, too: every child is the program, and we run no Python ourselves. */
	if (!st && setenv("PYTHONPATH", list.at, 1) != 0)
		st = ws_fail_errno(err, errno, "--torch-trace");
	ws_buf_fini(&list);
	pf_log(PF_LOG_WARNING, "Torch trace is experimental and may change in future releases.");
	return st;
}

enum ws_status pf_torch_write(struct pf_collect *c, const struct trc_counted *table,
			      const struct wl_sheet_rows *rows, size_t first, size_t n,
			      struct ws_err *err)
{
	size_t n_calls = 0;
	enum ws_status st =
		wl_torch_write(&c->sheets, first, n, table, rows, c->pf->dir, &n_calls, err);

	if (st)
		return st;
	if (!n_calls && trc_counted_n_rows(table))
		pf_log(PF_LOG_WARNING,
		       "No PyTorch operator was observed: is torch imported, and does Python read "
		       "PYTHONPATH (no -I, no -E)?");
	else if (n_calls && first == 0)
		pf_log(PF_LOG_INFO,
		       "%zu calls of PyTorch operators; torch_trace/consolidated.csv has the "
		       "counters of their kernels",
		       n_calls);
	return WS_OK;
}
