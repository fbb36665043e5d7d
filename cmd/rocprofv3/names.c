/* Names of output files that can be known to go wrong before the program has run for hours. */
#include "cmd/rocprofv3/run.h"

#include "base/str.h"
#include "launch/placeholder.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Behind the name: "_memory_allocation_trace.csv.partial" is the longest. */
#define SUFFIX_BYTES 36

static enum ws_status check_lengths(const char *option, const struct launch_place *place,
				    const char *text, bool is_file, struct ws_err *err)
{
	struct ws_str rest, part;
	struct ws_buf path;
	enum ws_status st;

	ws_buf_init(&path, LAUNCH_PLACE_TEXT_MAX);
	st = launch_place_expand(place, text, &path, err);
	if (st)
		ws_fail_in(err, st, "%s", option);
	rest = ws_buf_view(&path);
	while (!st && ws_str_next(&rest, '/', &part)) {
		bool last = is_file && !rest.n;
		size_t room = last ? NAME_MAX - SUFFIX_BYTES : NAME_MAX;

		if (part.n > room)
			st = ws_fail(err, WS_E_USAGE,
				     "%s: '%.20s...' is too long for a name of a %s: %zu bytes, "
				     "and %zu is the limit",
				     option, part.at, last ? "file" : "folder", part.n, room);
	}
	if (!st && path.n + SUFFIX_BYTES + (*path.at == '/' ? 0 : strlen(place->cwd)) >= PATH_MAX)
		st = ws_fail(err, WS_E_USAGE, "%s: '%.20s...' is too long for a path", option,
			     path.at);
	ws_buf_fini(&path);
	return st == WS_E_LIMIT ? WS_E_USAGE : st;
}

enum ws_status rp_check_names(const struct rp_args *args, char *const *argv, struct ws_err *err)
{
	static char hostname[256], cwd[PATH_MAX];
	struct launch_place place;
	enum ws_status st = WS_OK;

	launch_place_init(&place, hostname, cwd);
	place.argv = (const char *const *)argv;
	for (place.n_argv = 0; argv[place.n_argv];)
		place.n_argv++;
	launch_place_warn("-o", args->output_file);
	launch_place_warn("-d", args->output_directory);
	if (rp_given(args->output_directory))
		st = check_lengths("-d", &place, args->output_directory, false, err);
	if (!st && rp_given(args->output_file))
		st = check_lengths("-o", &place, args->output_file, true, err);
	return st;
}
