#include "collector/interpose/ops.h"

#include <string.h>

void col_enum_names_state(struct cap_writer *writer, const struct col_enum_name *names,
			  size_t n_names)
{
	for (size_t i = 0; i < n_names; i++) {
		struct cap_rec_enum_name rec = { .value = names[i].value };

		rec.h.tag = CAP_REC_FIXED_TAG(ENUM_NAME, struct cap_rec_enum_name);
		rec.h.what = cap_writer_intern(writer, names[i].type, strlen(names[i].type));
		rec.name_str = cap_writer_intern(writer, names[i].text, strlen(names[i].text));
		cap_writer_meta(writer, &rec.h);
	}
}

void col_runtime_state(struct cap_writer *writer, enum cap_runtime runtime, uint32_t version)
{
	struct cap_rec_runtime rec = { .version = version };

	rec.h.tag = CAP_REC_FIXED_TAG(RUNTIME, struct cap_rec_runtime);
	rec.h.what = runtime;
	rec.h.time = cap_ticks();
	cap_writer_meta(writer, &rec.h);
}
