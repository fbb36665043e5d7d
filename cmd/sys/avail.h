/*
 * avail: rocprof-sys-avail: the settings, components and counters that there are.
 */
#ifndef WS_CMD_SYS_AVAIL_H
#define WS_CMD_SYS_AVAIL_H

#include "base/arena.h"
#include "base/opt.h"
#include "cmd/sys/filter.h"
#include "cmd/sys/table.h"
#include "settings/names.h"
#include "settings/values.h"

#include <stdio.h>

struct sys_avail_args {
	enum ws_tri monochrome, debug;
	struct ws_strv verbose;
	enum ws_tri settings, components, hw_counters, all, advanced;
	enum ws_tri list_categories, list_keys, expand_keys;
	enum ws_tri available, ignore_case, highlight, alphabetical;
	struct ws_strv filter, category_filter;
	enum ws_tri brief, description, string, value, filename;
	struct ws_strv categories;
	const char *column_width, *max_total_width;
	struct ws_strv generate_config, config_format;
	const char *output, *tag;
	enum ws_tri markdown, csv, force;
	const char *csv_separator;
	bool question; /* -? */
};

/* What is shown, and from what. */
struct sys_avail {
	const struct sys_avail_args *args;
	const struct set_values *values;
	const struct launch_place *place; /* for the values of keys */
	struct sys_filter *filter, *category_filter;
	struct ws_strv categories; /* of -c, in full: "settings::core"; none: all */
	struct sys_table_style style;
	struct ws_arena arena; /* of cells */
	FILE *to;
};

/* Whether a column is requested. */
bool sys_avail_shows(const struct sys_avail *avail, enum ws_tri column);
/* Whether -c and -R leave something that has these @names of @kind ("settings"). */
bool sys_avail_in_categories(const struct sys_avail *avail, const char *kind,
			     const char *const *names);

/* All categories, sorted and in full; in @arena. */
enum ws_status sys_avail_categories(struct ws_arena *arena, struct ws_strv *out_names,
				    struct ws_err *err);

enum ws_status sys_avail_settings(struct sys_avail *avail, struct ws_err *err);
enum ws_status sys_avail_components(struct sys_avail *avail, struct ws_err *err);
enum ws_status sys_avail_counters(struct sys_avail *avail, struct ws_err *err);
enum ws_status sys_avail_keys(struct sys_avail *avail, struct ws_err *err);

/* Whether -A, -c, -R and --advanced leave a setting. */
bool sys_avail_has_setting(const struct sys_avail *avail, enum set_id id);

/* -G: the values as files. */
enum ws_status sys_avail_generate(struct sys_avail *avail, struct ws_err *err);

/* All settings as the JSON object of metadata files and -G; @details: all members. */
void sys_settings_json(const struct sys_avail *avail, bool details, struct ws_buf *out);

/* A component of the profile. */
struct sys_component {
	const char *name;
	const char *value_type;
	const char *file; /* stem of its files; "" none */
	const char *help;
	const char *const *categories; /* NULL at the end */
};
extern const struct sys_component sys_components[];
extern const size_t sys_n_components;
bool sys_has_component(const struct sys_component *component); /* for TIMEMORY_COMPONENTS */

#endif
