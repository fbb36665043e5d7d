#include "cmd/madengine/madengine.h"

#include "models/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum ws_status mad_find_root(char out_root[PATH_MAX], struct ws_err *err)
{
	const char *dir = getenv("MODEL_DIR");
	enum ws_status st;

	if (dir && *dir) {
		if (!mdl_models_exist(dir))
			return ws_fail(err, WS_E_NOTFOUND,
				       "MODEL_DIR is '%s', which has neither models.json nor "
				       "scripts/<dir>/models.json",
				       dir);
		if (!realpath(dir, out_root))
			return ws_fail_errno(err, errno, "%s", dir);
		return WS_OK;
	}
	if (mdl_models_exist(".")) {
		strcpy(out_root, ".");
		return WS_OK;
	}
	st = mdl_place_find(MDL_PLACE_MODELS, out_root, err);
	if (st)
		return ws_fail(err, WS_E_NOTFOUND,
			       "there are no models here: models.json or scripts/<dir>/models.json "
			       "defines them, or MODEL_DIR names their folder");
	fprintf(stderr, "madengine: no models.json here: using the sample models of %s\n",
		out_root);
	return WS_OK;
}

enum ws_status mad_tags(const struct ws_strv *typed, struct ws_arena *arena,
			struct ws_strv *out_tags, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < typed->n && !st; i++) {
		struct ws_str rest = ws_str_from(typed->at[i]), part;

		while (!st && ws_str_next(&rest, ',', &part)) {
			struct ws_str word = ws_str_trim(part);
			char *tag = ws_arena_strndup(arena, word.at, word.n);

			if (!tag)
				return ws_fail(err, WS_E_NOMEM, "out of memory");
			if (*tag)
				st = ws_vec_push(out_tags, tag, err);
		}
	}
	return st;
}

enum ws_status mad_select(const char *root, const struct ws_strv *typed, struct ws_arena *arena,
			  struct mdl_models *out_chosen, struct ws_err *err)
{
	struct ws_strv tags = { .max_n = 4096 };
	struct mdl_models models;
	enum ws_status st = mdl_models_read(root, arena, &models, err);

	if (!st)
		st = mad_tags(typed, arena, &tags, err);
	if (!st && !tags.n)
		*out_chosen = models;
	else if (!st)
		st = mdl_models_select(&models, tags.at, tags.n, arena, out_chosen, err);
	ws_vec_fini(&tags);
	return st;
}
