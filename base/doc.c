#include "base/doc.h"

#include "base/file.h"

#include <string.h>

static const char *const kind_names[] = {
	"nothing", "yes or no", "a whole number", "a number", "a text", "a list", "a mapping",
};

const char *ws_doc_kind_name(enum ws_doc_kind kind)
{
	return kind_names[kind];
}

const struct ws_doc *ws_doc_get(const struct ws_doc *map, const char *key)
{
	if (!map || map->kind != WS_DOC_MAP)
		return NULL;
	for (size_t i = map->n; i-- > 0;)
		if (strcmp(map->at[i]->key, key) == 0)
			return map->at[i];
	return NULL;
}

enum ws_status ws_doc_read(const char *path, struct ws_arena *arena, struct ws_doc **out_doc,
			   struct ws_err *err)
{
	struct ws_str name = ws_str_from(path);
	bool yaml = ws_str_ends(name, ".yaml") || ws_str_ends(name, ".yml");
	struct ws_buf text;
	enum ws_status st;

	if (!yaml && !ws_str_ends(name, ".json"))
		return ws_fail(err, WS_E_FORMAT, "'%s' is neither .yaml, .yml nor .json", path);
	ws_buf_init(&text, WS_DOC_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	if (!st && yaml)
		st = ws_doc_parse_yaml(path, ws_buf_view(&text), arena, out_doc, err);
	else if (!st)
		st = ws_doc_parse_json(path, ws_buf_view(&text), arena, out_doc, err);
	ws_buf_fini(&text);
	return st;
}
