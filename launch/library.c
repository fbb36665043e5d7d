#include "launch/library.h"

#include "base/proc.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK_TIMEOUT_MS 20000

/* Read through ldconfig, which knows the format of the cache. */
void launch_library_cache(struct ws_buf *out_text)
{
	/* the second is not on every user's PATH */
	static const char *const programs[] = { "ldconfig", "/sbin/ldconfig" };
	char *argv[] = { "ldconfig", "-p", NULL };
	struct ws_proc_end end;

	for (size_t i = 0; i < WS_ARRAY_LEN(programs); i++) {
		ws_buf_clear(out_text);
		if (!ws_proc_read(programs[i], argv, environ, true, ASK_TIMEOUT_MS, out_text, &end,
				  NULL) &&
		    end.exit_code == 0)
			return;
	}
	ws_buf_clear(out_text);
}

bool launch_library_find(const struct ws_buf *cache, const char *name, char out_path[PATH_MAX])
{
	struct ws_str rest = ws_str_from(getenv("LD_LIBRARY_PATH")), dir, line;
	char path[PATH_MAX];
	glob_t places;
	bool hit = false;

	while (ws_str_next(&rest, ':', &dir)) {
		snprintf(path, sizeof(path), "%.*s/%s", WS_STR_ARGS(dir), name);
		if (dir.n && realpath(path, out_path))
			return true;
	}
	rest = ws_buf_view(cache);
	while (ws_str_next(&rest, '\n', &line)) {
		const char *arrow = memmem(line.at, line.n, "=> ", 3);

		line = ws_str_trim(line);
		if (!arrow || !ws_str_starts(line, name))
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)(line.at + line.n - arrow) - 3,
			 arrow + 3);
		if (realpath(path, out_path))
			return true;
	}
	snprintf(path, sizeof(path), "/opt/rocm*/lib/%s", name);
	if (glob(path, 0, NULL, &places) == 0) {
		hit = realpath(places.gl_pathv[places.gl_pathc - 1], out_path) != NULL;
		globfree(&places);
	}
	return hit;
}
