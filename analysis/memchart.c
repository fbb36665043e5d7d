#include "analysis/memchart.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
#define WS_MEMCHART_ROW(id, name) name,
	WS_MEMCHART_TABLE(WS_MEMCHART_ROW)
#undef WS_MEMCHART_ROW
};

void ws_memchart_init(struct ws_memchart *chart, const char *normal_unit)
{
	for (size_t i = 0; i < WS_MC_COUNT; i++)
		chart->value[i] = NAN;
	chart->normal_unit = normal_unit;
}

bool ws_memchart_set(struct ws_memchart *chart, const char *name, double value)
{
	for (size_t i = 0; i < WS_MC_COUNT; i++) {
		if (!strcmp(names[i], name)) {
			chart->value[i] = value;
			return true;
		}
	}
	return false;
}

const char *ws_memchart_name(enum ws_memchart_id id)
{
	return names[id];
}
