#include "softgpu/counting/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TCC_EA0_ is the later spelling of TCC_EA_. */
static bool same_name(const char *counter, const char *name, size_t length)
{
	static const char old[] = "TCC_EA_", later[] = "TCC_EA0_";
	size_t n_old = sizeof(old) - 1, n_later = sizeof(later) - 1;

	if (strlen(counter) == length && !memcmp(counter, name, length))
		return true;
	return length > n_later && !memcmp(name, later, n_later) && !strncmp(counter, old, n_old) &&
	       strlen(counter) - n_old == length - n_later &&
	       !memcmp(counter + n_old, name + n_later, length - n_later);
}

const struct sg_counter_info *sg_counter_find(const struct sg_hw *hw, const char *name,
					      size_t length)
{
	for (size_t k = 0; k < sg_n_counters; k++)
		if (sg_counters[k].targets & hw->target &&
		    same_name(sg_counters[k].name, name, length))
			return &sg_counters[k];
	return NULL;
}

static bool ends(const char *name, size_t length, const char *with)
{
	size_t n = strlen(with);

	return length > n && !memcmp(name + length - n, with, n);
}

/* Splits the name into counter and form; item->counter stays NULL if there is no such counter. */
static void parse(struct sg_selected *item, const struct sg_hw *hw, const char *name,
		  const struct sg_selected *before)
{
	size_t length = strlen(name);
	const char *bracket = strchr(name, '[');
	char *end;

	item->form = SG_EACH;
	if (!strcmp(name, "SQ_ACCUM_PREV_HIRES")) {
		item->form = SG_ACCUMULATED;
		item->counter = before && before->form == SG_EACH &&
						before->counter->fidelity == SG_LEVEL_COUNTER
					? before->counter
					: NULL;
		return;
	}
	if (ends(name, length, "_ACCUM")) {
		item->form = SG_ACCUMULATED;
		item->counter = sg_counter_find(hw, name, length - 6);
		if (item->counter && item->counter->fidelity != SG_LEVEL_COUNTER)
			item->counter = NULL;
		return;
	}
	if (ends(name, length, "_sum")) {
		item->form = SG_SUM_OF;
		length -= 4;
	} else if (bracket) {
		unsigned long instance = strtoul(bracket + 1, &end, 10);

		item->form = SG_ONE_OF;
		length = (size_t)(bracket - name);
		item->counter = sg_counter_find(hw, name, length);
		item->instance = (uint32_t)instance;
		if (item->counter && (end == bracket + 1 || strcmp(end, "]") ||
				      instance >= sg_hw_instances(hw, item->counter->block)))
			item->counter = NULL;
		return;
	}
	item->counter = sg_counter_find(hw, name, length);
}

/* Instances and forms of one counter share its place in the block; an accumulation takes another. */
static bool counted_before(const struct sg_selection *s, size_t k)
{
	for (size_t j = 0; j < k; j++)
		if (s->items[j].counter == s->items[k].counter &&
		    (s->items[j].form == SG_ACCUMULATED) == (s->items[k].form == SG_ACCUMULATED))
			return true;
	return false;
}

static int check_limits(const struct sg_selection *s, char *error, size_t error_bytes)
{
	uint32_t used[SG_N_BLOCKS] = { 0 };

	for (size_t k = 0; k < s->n; k++) {
		const struct sg_block_info *block = &sg_blocks[s->items[k].counter->block];

		if (counted_before(s, k) || ++used[block - sg_blocks] <= block->limit)
			continue;
		snprintf(error, error_bytes, "counter '%s': block %s counts %u at once",
			 s->items[k].name, block->name, block->limit);
		return E2BIG;
	}
	return 0;
}

int sg_selection_make(struct sg_selection *s, const struct sg_hw *hw, const char *const *names,
		      size_t n, char *error, size_t error_bytes)
{
	int status = 0;

	*s = (struct sg_selection){ .items = calloc(n ? n : 1, sizeof(*s->items)) };
	if (!s->items) {
		snprintf(error, error_bytes, "out of memory");
		return ENOMEM;
	}
	for (; s->n < n && !status; s->n++) {
		struct sg_selected *item = &s->items[s->n];

		parse(item, hw, names[s->n], s->n ? item - 1 : NULL);
		item->name = strdup(names[s->n]);
		if (!item->counter) {
			snprintf(error, error_bytes, "counter '%s': not a counter of %s",
				 names[s->n], hw->name);
			status = EINVAL;
		} else if (!sg_counter_is_supported(item->counter, hw->target)) {
			snprintf(error, error_bytes,
				 "counter '%s': not supported by the software GPU: %s", names[s->n],
				 sg_counter_text(item->counter, hw->target));
			status = EINVAL;
		} else if (!item->name) {
			snprintf(error, error_bytes, "out of memory");
			status = ENOMEM;
		}
	}
	if (!status)
		status = check_limits(s, error, error_bytes);
	if (status)
		sg_selection_free(s);
	return status;
}

void sg_selection_free(struct sg_selection *s)
{
	for (size_t k = 0; k < s->n; k++)
		free(s->items[k].name);
	free(s->items);
	*s = (struct sg_selection){ 0 };
}

uint32_t sg_selected_n_values(const struct sg_selected *item, const struct sg_hw *hw)
{
	return item->form == SG_EACH ? sg_hw_instances(hw, item->counter->block) : 1;
}

void sg_selected_values(const struct sg_selected *item, const struct sg_model_result *r,
			uint64_t *out)
{
	const struct sg_counter_info *c = item->counter;
	uint32_t n = sg_blocks[c->block].n;

	switch (item->form) {
	case SG_SUM_OF:
		*out = sg_model_sum(r, c->block, c->place);
		break;
	case SG_ONE_OF:
		*out = r->values[c->block][(size_t)item->instance * n + c->place];
		break;
	case SG_ACCUMULATED:
		*out = sg_model_accumulated(r, c->place);
		break;
	default:
		for (uint32_t k = 0; k < r->n_instances[c->block]; k++)
			out[k] = r->values[c->block][(size_t)k * n + c->place];
	}
}
