/*
 * doc: a YAML or JSON file as a tree of values.
 *
 * Both formats give the same tree. YAML's plain words are resolved as YAML 1.1
 * says (yes, off, 0x10, 1_000, ~); quoted ones are text. Aliases are followed; a file
 * that refers to itself, or unfolds to more than the arena may hold, is refused.
 *
 *	ws_doc_read("jobs.yaml", &arena, &doc, err);
 *	jobs = ws_doc_get(doc, "jobs");
 *	for (i = 0; i < jobs->n; i++) ...
 *
 * Memory   everything lives in the arena that was given.
 * Failure  the text names the file and the line: "jobs.yaml:3: ...".
 */
#ifndef WS_BASE_DOC_H
#define WS_BASE_DOC_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_DOC_DEPTH_MAX 64u
#define WS_DOC_BYTES_MAX (16u << 20) /* of the file */

enum ws_doc_kind {
	WS_DOC_NULL,
	WS_DOC_BOOL,
	WS_DOC_INT,
	WS_DOC_REAL,
	WS_DOC_TEXT,
	WS_DOC_LIST,
	WS_DOC_MAP,
};

struct ws_doc {
	enum ws_doc_kind kind;
	unsigned line;      /* where it begins; 0: unknown (JSON has none) */
	const char *key;    /* in a map; NULL in a list and at the root */
	const char *text;   /* scalars: as written; "" for null */
	bool on;            /* BOOL */
	int64_t number;     /* INT */
	double real;        /* REAL, and INT too */
	struct ws_doc **at; /* LIST, MAP: members in order */
	size_t n;
};

/* By the file's extension: .yaml and .yml, or .json. Anything else is WS_E_FORMAT. */
enum ws_status ws_doc_read(const char *path, struct ws_arena *arena, struct ws_doc **out_doc,
			   struct ws_err *err);

/* @name is for messages. */
enum ws_status ws_doc_parse_yaml(const char *name, struct ws_str text, struct ws_arena *arena,
				 struct ws_doc **out_doc, struct ws_err *err);
enum ws_status ws_doc_parse_json(const char *name, struct ws_str text, struct ws_arena *arena,
				 struct ws_doc **out_doc, struct ws_err *err);

/* The member of a map, or NULL; of keys that come twice the last counts. NULL is fine. */
const struct ws_doc *ws_doc_get(const struct ws_doc *map, const char *key);
const char *ws_doc_kind_name(enum ws_doc_kind kind); /* "a list" */

#endif
