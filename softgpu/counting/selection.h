/*
 * selection: from counter names to places in the result, within the limits of the blocks.
 */
#ifndef WS_SOFTGPU_COUNTING_SELECTION_H
#define WS_SOFTGPU_COUNTING_SELECTION_H

#include <stdbool.h>

#include "softgpu/timing/model.h"

enum sg_selected_form { SG_EACH, SG_SUM_OF, SG_ONE_OF, SG_ACCUMULATED };

struct sg_selected {
	char *name; /* as requested */
	const struct sg_counter_info *counter;
	enum sg_selected_form form;
	uint32_t instance;
};

struct sg_selection {
	struct sg_selected *items;
	size_t n;
};

/* NULL: there is no such counter on this target. */
const struct sg_counter_info *sg_counter_find(const struct sg_hw *hw, const char *name,
					      size_t length);

/* 0, or EINVAL, E2BIG, ENOMEM with a message. */
int sg_selection_make(struct sg_selection *s, const struct sg_hw *hw, const char *const *names,
		      size_t n, char *error, size_t error_bytes);
void sg_selection_free(struct sg_selection *s);

uint32_t sg_selected_n_values(const struct sg_selected *item, const struct sg_hw *hw);
void sg_selected_values(const struct sg_selected *item, const struct sg_model_result *r,
			uint64_t *out);

#endif
