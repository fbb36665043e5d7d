/*
 * doc_edit: trees of values that are built or changed, and written as JSON.
 *
 *	struct ws_doc *map = ws_doc_map(arena);
 *	bool ok = ws_doc_put_text(map, "name", "dummy", arena);
 *
 *	ok &= ws_doc_put(map, "tags", tags, arena);
 *	if (!ok)
 *		return ws_fail(err, WS_E_NOMEM, "out of memory");
 *
 * What is put into a map or a list is copied, but its members are not: they are shared with the
 * original. Change a shared tree after ws_doc_copy() only.
 *
 * Memory   all from the arena that is given; keys and texts are copied.
 * Failure  false or NULL when the arena is full. A NULL map, list or value gives false, so that
 *          calls can be nested and checked once.
 */
#ifndef WS_BASE_DOC_EDIT_H
#define WS_BASE_DOC_EDIT_H

#include "base/doc.h"

struct ws_doc *ws_doc_map(struct ws_arena *arena);  /* empty */
struct ws_doc *ws_doc_list(struct ws_arena *arena); /* empty */
struct ws_doc *ws_doc_text(const char *text, struct ws_arena *arena);
struct ws_doc *ws_doc_int(int64_t number, struct ws_arena *arena);
struct ws_doc *ws_doc_real(double real, struct ws_arena *arena);
struct ws_doc *ws_doc_bool(bool on, struct ws_arena *arena);
struct ws_doc *ws_doc_copy(const struct ws_doc *doc, struct ws_arena *arena); /* nothing shared */

/* Set the member @key of a map; one that is there is replaced in its place. */
bool ws_doc_put(struct ws_doc *map, const char *key, const struct ws_doc *value,
		struct ws_arena *arena);
bool ws_doc_put_text(struct ws_doc *map, const char *key, const char *text,
		     struct ws_arena *arena); /* a NULL text is null */
bool ws_doc_put_int(struct ws_doc *map, const char *key, int64_t number, struct ws_arena *arena);
bool ws_doc_put_bool(struct ws_doc *map, const char *key, bool on, struct ws_arena *arena);
bool ws_doc_remove(struct ws_doc *map, const char *key); /* false: it was not there */
bool ws_doc_add(struct ws_doc *list, const struct ws_doc *value, struct ws_arena *arena);

/* Members of @over replace those of @under of the same name, whole. A new map. */
struct ws_doc *ws_doc_overlay(const struct ws_doc *under, const struct ws_doc *over,
			      struct ws_arena *arena);
/* The same, but where both members are maps they are merged in turn. */
struct ws_doc *ws_doc_merge(const struct ws_doc *under, const struct ws_doc *over,
			    struct ws_arena *arena);

/* ---- reading with a default: for a missing member, and for one of another kind ---- */

const char *ws_doc_get_text(const struct ws_doc *map, const char *key, const char *fallback);
int64_t ws_doc_get_int(const struct ws_doc *map, const char *key, int64_t fallback);
double ws_doc_get_real(const struct ws_doc *map, const char *key, double fallback);
bool ws_doc_get_bool(const struct ws_doc *map, const char *key, bool fallback);
/* The text of any scalar as it was written: "8" for 8 and for "8". */
const char *ws_doc_get_scalar(const struct ws_doc *map, const char *key, const char *fallback);

/* ---- JSON ---- */

/*
 * Appends @doc to @out, @indent columns per level; 0: on one line. Bytes that are not UTF-8
 * become U+FFFD and numbers that JSON has no word for become null, because readers refuse the
 * whole file otherwise. A NULL @doc is null.
 */
void ws_doc_to_json(const struct ws_doc *doc, unsigned indent, struct ws_buf *out);
/* The file is replaced whole, and ends with a line end. */
enum ws_status ws_doc_write_json(const char *path, const struct ws_doc *doc, struct ws_err *err);

#endif
