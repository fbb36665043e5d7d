/*
 * yaml: a tree of values as YAML, as people write it.
 *
 * Block style, texts of several lines as literal blocks, texts in quotes where a reader could
 * take them for something else.
 */
#ifndef WS_MODELS_YAML_H
#define WS_MODELS_YAML_H

#include "base/doc.h"
#include "base/str.h"

/* Appends "---" and the document. */
void mdl_yaml_add(const struct ws_doc *doc, struct ws_buf *out);

#endif
