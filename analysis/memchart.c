#include "analysis/memchart.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
#define ANA_MEMCHART_ROW(id, name) name,
	ANA_MEMCHART_TABLE(ANA_MEMCHART_ROW)
#undef ANA_MEMCHART_ROW
};

void ana_memchart_init(struct ana_memchart *chart, const char *normal_unit)
{
	for (size_t i = 0; i < ANA_MC_COUNT; i++)
		chart->value[i] = NAN;
	chart->normal_unit = normal_unit;
}

bool ana_memchart_set(struct ana_memchart *chart, const char *name, double value)
{
	for (size_t i = 0; i < ANA_MC_COUNT; i++) {
		if (!strcmp(names[i], name)) {
			chart->value[i] = value;
			return true;
		}
	}
	return false;
}

const char *ana_memchart_name(enum ana_memchart_id id)
{
	return names[id];
}
