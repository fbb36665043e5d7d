#include "collector/interpose/ops.h"

#include <string.h>

void ws_enum_names_state(struct ws_writer *writer, const struct ws_enum_name *names, size_t n_names)
{
	for (size_t i = 0; i < n_names; i++) {
		struct ws_rec_enum_name rec = { .value = names[i].value };

		rec.h.tag = WS_REC_FIXED_TAG(ENUM_NAME, struct ws_rec_enum_name);
		rec.h.what = ws_writer_intern(writer, names[i].type, strlen(names[i].type));
		rec.name_str = ws_writer_intern(writer, names[i].text, strlen(names[i].text));
		ws_writer_meta(writer, &rec.h);
	}
}

void ws_runtime_state(struct ws_writer *writer, enum ws_runtime runtime, uint32_t version)
{
	struct ws_rec_runtime rec = { .version = version };

	rec.h.tag = WS_REC_FIXED_TAG(RUNTIME, struct ws_rec_runtime);
	rec.h.what = runtime;
	rec.h.time = ws_ticks();
	ws_writer_meta(writer, &rec.h);
}
