/* file_priv: what the readers of text, JSON and XML share. */
#ifndef WS_SETTINGS_FILE_PRIV_H
#define WS_SETTINGS_FILE_PRIV_H

#include "base/doc.h"
#include "settings/values.h"

/* A line of a file: what is set, and where. In the values' arena. */
struct set_entry {
	const char *name, *text;
	unsigned line; /* 0: unknown */
};
WS_VEC_TYPE(set_entries, struct set_entry);

#define SET_ENTRIES_MAX 65536

/* Each appends to @out. Variables of the environment go to values->exports. */
enum ws_status set_parse_lines(struct set_values *values, const char *path, struct ws_str text,
			       struct set_entries *out, struct ws_err *err);
enum ws_status set_parse_tree(struct set_values *values, const char *path,
			      const struct ws_doc *root, struct set_entries *out,
			      struct ws_err *err);

/* Elements as a tree: maps, lists where a name comes twice, texts. In @arena. */
enum ws_status set_parse_xml(const char *path, struct ws_str text, struct ws_arena *arena,
			     struct ws_doc **out_root, struct ws_err *err);

#endif
