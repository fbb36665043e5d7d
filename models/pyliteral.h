/*
 * pyliteral: a literal of Python as a tree of values: what ast.literal_eval() takes.
 *
 * Dicts with text keys, lists, tuples (read as lists), texts ('x', "x", triple quotes, escapes, r
 * and u in front, neighbours joined), numbers, True, False, None; comments, and a comma after the
 * last member. Sets, bytes, complex numbers and expressions are refused.
 *
 * Memory   everything lives in the arena that was given.
 * Failure  WS_E_FORMAT; the text has @name and the line.
 */
#ifndef WS_MODELS_PYLITERAL_H
#define WS_MODELS_PYLITERAL_H

#include "base/doc.h"

enum ws_status mdl_pyliteral_parse(const char *name, struct ws_str text, struct ws_arena *arena,
				   struct ws_doc **out_doc, struct ws_err *err);

#endif
