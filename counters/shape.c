#include "counters/counters_priv.h"

#include <string.h>

static const char *const names[] = {
	[CNT_DIM_NONE] = "DIMENSION_NONE",   [CNT_DIM_XCC] = "DIMENSION_XCC",
	[CNT_DIM_AID] = "DIMENSION_AID",     [CNT_DIM_SHADER_ENGINE] = "DIMENSION_SHADER_ENGINE",
	[CNT_DIM_AGENT] = "DIMENSION_AGENT", [CNT_DIM_SHADER_ARRAY] = "DIMENSION_SHADER_ARRAY",
	[CNT_DIM_WGP] = "DIMENSION_WGP",     [CNT_DIM_INSTANCE] = "DIMENSION_INSTANCE",
};

const char *cnt_dim_name(enum cnt_dim dim)
{
	return dim < CNT_DIM_COUNT ? names[dim] : names[CNT_DIM_NONE];
}

enum cnt_dim cnt_dim_find(struct ws_str name)
{
	static const char prefix[] = "DIMENSION_";

	for (enum cnt_dim dim = CNT_DIM_XCC; dim < CNT_DIM_COUNT; dim++)
		if (ws_str_is(name, names[dim]) || ws_str_is(name, names[dim] + sizeof(prefix) - 1))
			return dim;
	return CNT_DIM_NONE;
}

size_t cnt_shape_size(const struct cnt_shape *shape)
{
	size_t n = 1;

	for (unsigned i = 0; i < shape->n_dims; i++)
		n *= shape->at[i].n;
	return n;
}

bool cnt_shape_same(const struct cnt_shape *a, const struct cnt_shape *b)
{
	if (a->n_dims != b->n_dims)
		return false;
	for (unsigned i = 0; i < a->n_dims; i++)
		if (a->at[i].dim != b->at[i].dim || a->at[i].n != b->at[i].n)
			return false;
	return true;
}

void cnt_shape_index(const struct cnt_shape *shape, size_t i, uint32_t out_index[CNT_SHAPE_MAX])
{
	for (unsigned d = shape->n_dims; d-- > 0;) {
		out_index[d] = (uint32_t)(i % shape->at[d].n);
		i /= shape->at[d].n;
	}
}

bool cnt_shape_is_scalar_(const struct cnt_shape *shape)
{
	return cnt_shape_size(shape) == 1;
}

struct cnt_shape cnt_shape_scalar_(void)
{
	return (struct cnt_shape){ .n_dims = 1, .at = { { CNT_DIM_INSTANCE, 1 } } };
}
