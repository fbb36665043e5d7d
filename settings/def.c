#include "settings/def.h"

#include "base/util.h"

#include <string.h>
#include <strings.h>

enum set_id set_find(struct ws_str name)
{
	size_t n_prefix = strlen(SET_PREFIX);

	if (name.n > n_prefix && strncasecmp(name.at, SET_PREFIX, n_prefix) == 0)
		name = (struct ws_str){ name.at + n_prefix, name.n - n_prefix };
	for (unsigned id = 0; id < SET_COUNT; id++)
		if (strlen(set_defs[id].key) == name.n &&
		    strncasecmp(set_defs[id].key, name.at, name.n) == 0)
			return (enum set_id)id;
	return SET_COUNT;
}

static const char *next_name(const void *list, size_t i)
{
	(void)list;
	return i < SET_COUNT ? set_defs[i].name : NULL;
}

static const char *next_key(const void *list, size_t i)
{
	(void)list;
	return i < SET_COUNT ? set_defs[i].key : NULL;
}

const char *set_nearest(const char *name)
{
	const char *near;

	if (strncmp(name, SET_PREFIX, strlen(SET_PREFIX)) == 0)
		return ws_str_nearest(name, next_name, NULL);
	near = ws_str_nearest(name, next_key, NULL);
	return near ? set_defs[set_find(ws_str_from(near))].name : NULL;
}

bool set_in_category(enum set_id id, const char *category)
{
	for (const char *const *at = set_defs[id].categories; *at; at++)
		if (strcmp(*at, category) == 0)
			return true;
	return false;
}

const char *set_type_name(enum set_type type)
{
	static const char *const names[] = {
		"bool", "int", "unsigned", "double", "string", "string"
	};

	return names[type];
}

static bool separates(char c, bool colons)
{
	return strchr(" \t\r\n,;", c) || (colons && c == ':');
}

bool set_next_word(struct ws_str *rest, bool colons, struct ws_str *out_word)
{
	size_t n = 0;

	while (rest->n && separates(*rest->at, colons))
		rest->at++, rest->n--;
	while (n < rest->n && !separates(rest->at[n], colons))
		n++;
	*out_word = (struct ws_str){ rest->at, n };
	rest->at += n;
	rest->n -= n;
	return n > 0;
}

bool set_is_environment_only(const char *name)
{
	static const char *const names[] = {
		"CI_TIMEOUT",
		"COMMAND_LINE",
		"DATABASE_DIR",
		"DEFAULT_MIN_INSTRUCTIONS",
		"DL_LIBRARY",
		"INIT_TOOLING",
		"LIBRARY",
		"NUM_THREADS",
		"PERFETTO_BACKEND_SYSTEM",
		"PRELOAD",
		"PRINT_ENV",
		"RECYCLE_TIDS",
		"ROOT_PROCESS",
		"SAMPLING_KEEP_DYNINST_SUFFIX",
		"SCRIPT_PATH",
		"SETTINGS_DESC",
		"USER_LIBRARY",
		"VERBOSE_AVAIL",
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
		if (strcmp(name + strlen(SET_PREFIX), names[i]) == 0)
			return true;
	return false;
}
