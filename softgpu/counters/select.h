/*
 * select: from names to places, with the limits of the blocks.
 */
#ifndef WS_SOFTGPU_COUNTERS_SELECT_H
#define WS_SOFTGPU_COUNTERS_SELECT_H

#include <stdbool.h>

#include "softgpu/timing/model.h"

enum ws_form_of { WS_EACH, WS_SUM_OF, WS_ONE_OF, WS_ACCUMULATED };

struct ws_selected {
	char *name;                   /* as it was asked for */
	const struct ws_counter_info *counter;
	enum ws_form_of form;
	uint32_t instance;
};

struct ws_selection {
	struct ws_selected *items;
	size_t n;
};

/* NULL: there is no such counter on this target. */
const struct ws_counter_info *ws_counter_find(const struct ws_hw *hw, const char *name, size_t length);

/* 0, EINVAL, E2BIG or ENOMEM, and a sentence. */
int ws_selection_make(struct ws_selection *s, const struct ws_hw *hw, const char *const *names, size_t n,
		      char *error, size_t error_bytes);
void ws_selection_free(struct ws_selection *s);

uint32_t ws_selected_n_values(const struct ws_selected *item, const struct ws_hw *hw);
void ws_selected_values(const struct ws_selected *item, const struct ws_model_result *r, uint64_t *out);

#endif
