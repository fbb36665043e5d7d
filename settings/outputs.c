#include "settings/outputs.h"

#include "base/str.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MERGED "merged"

bool set_output_parse(const char *name, struct ws_arena *arena, struct set_output *out_output)
{
	const char *dot = strrchr(name, '.'), *dash;
	struct ws_str number;

	if (!dot || !dot[1] || strncmp(name, MERGED, strlen(MERGED)) == 0)
		return false;
	for (dash = dot; dash > name && *dash != '-';)
		dash--;
	number = (struct ws_str){ dash + 1, (size_t)(dot - dash) - (dash < dot) };
	if (dash == name || dash == dot || !ws_str_u64(number, &out_output->number))
		return false;
	out_output->stem = ws_arena_strndup(arena, name, (size_t)(dash - name));
	out_output->ext = ws_arena_strdup(arena, dot + 1);
	return out_output->stem && out_output->ext;
}

/* How many were added. */
static enum ws_status add_folder(struct set_outputs *outputs, const char *folder,
				 struct ws_arena *arena, size_t *out_n, struct ws_err *err)
{
	DIR *dir = opendir(folder);
	enum ws_status st = WS_OK;
	const struct dirent *entry;

	*out_n = 0;
	if (!dir)
		return ws_fail_errno(err, errno, "cannot read '%s'", folder);
	while (!st && (entry = readdir(dir))) {
		struct set_output output = { .stem = NULL };
		char path[PATH_MAX];
		struct stat file;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!set_output_parse(entry->d_name, arena, &output) || stat(path, &file) ||
		    !S_ISREG(file.st_mode))
			continue;
		output.path = ws_arena_strdup(arena, path);
		output.written = file.st_mtim;
		st = output.path ? ws_vec_push(outputs, output, err)
				 : ws_fail(err, WS_E_NOMEM, "out of memory");
		++*out_n;
	}
	closedir(dir);
	return st;
}

/* The newest subfolder that has files; "" none. */
static void newest_inside(const char *folder, char out_path[PATH_MAX])
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, NULL, alphasort);

	*out_path = '\0';
	for (int i = n - 1; i >= 0; i--) {
		struct set_outputs inside = { .max_n = 1u << 20 };
		struct ws_arena arena;
		char path[PATH_MAX];
		size_t n_inside = 0;

		ws_arena_init(&arena, 64u << 20);
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (!*out_path && entries[i]->d_name[0] != '.' &&
		    !add_folder(&inside, path, &arena, &n_inside, NULL) && n_inside)
			strcpy(out_path, path);
		ws_vec_fini(&inside);
		ws_arena_fini(&arena);
		free(entries[i]);
	}
	free(entries);
}

enum ws_status set_outputs_add(struct set_outputs *outputs, const char *folder,
			       struct ws_arena *arena, struct ws_err *err)
{
	char inside[PATH_MAX];
	size_t n;
	enum ws_status st = add_folder(outputs, folder, arena, &n, err);

	if (st || n)
		return st;
	newest_inside(folder, inside);
	if (*inside)
		return ws_fail(
			err, WS_E_NOTFOUND,
			"'%s' has no output of processes, but folders that do: the newest is "
			"'%s'",
			folder, inside);
	return ws_fail(err, WS_E_NOTFOUND,
		       "'%s' has no output of processes: names end in a rank or pid, such as "
		       "perfetto-trace-0.proto",
		       folder);
}

static bool is_writing(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = ws_str_ends(ws_str_from(entry->d_name), ".partial");
	if (dir)
		closedir(dir);
	return found;
}

void set_outputs_await(const char *folder, uint64_t seconds)
{
	const struct timespec pause = { .tv_nsec = 100000000 };

	for (uint64_t n = WS_MIN(seconds, (uint64_t)86400) * 10; n && is_writing(folder); n--)
		nanosleep(&pause, NULL);
}

static int by_name(const void *a, const void *b)
{
	const struct set_output *x = a, *y = b;
	int order = strcmp(x->ext, y->ext);

	order = order ? order : strcmp(x->stem, y->stem);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

enum ws_status set_outputs_sort(struct set_outputs *outputs, struct ws_err *err)
{
	ws_vec_sort(outputs, by_name);
	for (size_t i = 1; i < outputs->n; i++)
		if (by_name(&outputs->at[i - 1], &outputs->at[i]) == 0)
			return ws_fail(
				err, WS_E_USAGE,
				"'%s' and '%s' are of the same process: name the folders of one "
				"run",
				outputs->at[i - 1].path, outputs->at[i].path);
	return WS_OK;
}

size_t set_outputs_group(const struct set_outputs *outputs, size_t i)
{
	size_t n = 0;

	while (i + n < outputs->n && strcmp(outputs->at[i + n].stem, outputs->at[i].stem) == 0 &&
	       strcmp(outputs->at[i + n].ext, outputs->at[i].ext) == 0)
		n++;
	return n;
}

static bool is_older(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

bool set_outputs_complete(const struct set_outputs *outputs, const char *stem, const char *ext,
			  uint64_t n, struct timespec since)
{
	uint64_t found = 0;

	for (size_t i = 0; i < outputs->n; i++) {
		const struct set_output *at = &outputs->at[i];

		found += at->number < n && strcmp(at->stem, stem) == 0 &&
			 strcmp(at->ext, ext) == 0 && !is_older(at->written, since);
	}
	return found == n;
}
