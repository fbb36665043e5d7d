#include "counters/counters_priv.h"

#include <string.h>

static const char *const names[] = {
	[WS_DIM_NONE] = "DIMENSION_NONE",   [WS_DIM_XCC] = "DIMENSION_XCC",
	[WS_DIM_AID] = "DIMENSION_AID",     [WS_DIM_SHADER_ENGINE] = "DIMENSION_SHADER_ENGINE",
	[WS_DIM_AGENT] = "DIMENSION_AGENT", [WS_DIM_SHADER_ARRAY] = "DIMENSION_SHADER_ARRAY",
	[WS_DIM_WGP] = "DIMENSION_WGP",     [WS_DIM_INSTANCE] = "DIMENSION_INSTANCE",
};

const char *ws_dim_name(enum ws_dim dim)
{
	return dim < WS_DIM_COUNT ? names[dim] : names[WS_DIM_NONE];
}

enum ws_dim ws_dim_find(struct ws_str name)
{
	static const char prefix[] = "DIMENSION_";

	for (enum ws_dim dim = WS_DIM_XCC; dim < WS_DIM_COUNT; dim++)
		if (ws_str_is(name, names[dim]) || ws_str_is(name, names[dim] + sizeof(prefix) - 1))
			return dim;
	return WS_DIM_NONE;
}

size_t ws_shape_size(const struct ws_shape *shape)
{
	size_t n = 1;

	for (unsigned i = 0; i < shape->n_dims; i++)
		n *= shape->at[i].n;
	return n;
}

bool ws_shape_same(const struct ws_shape *a, const struct ws_shape *b)
{
	if (a->n_dims != b->n_dims)
		return false;
	for (unsigned i = 0; i < a->n_dims; i++)
		if (a->at[i].dim != b->at[i].dim || a->at[i].n != b->at[i].n)
			return false;
	return true;
}

void ws_shape_index(const struct ws_shape *shape, size_t i, uint32_t out_index[WS_SHAPE_MAX])
{
	for (unsigned d = shape->n_dims; d-- > 0;) {
		out_index[d] = (uint32_t)(i % shape->at[d].n);
		i /= shape->at[d].n;
	}
}

bool ws_shape_is_scalar_(const struct ws_shape *shape)
{
	return ws_shape_size(shape) == 1;
}

struct ws_shape ws_shape_scalar_(void)
{
	return (struct ws_shape){ .n_dims = 1, .at = { { WS_DIM_INSTANCE, 1 } } };
}
