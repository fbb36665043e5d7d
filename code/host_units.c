/*
 * host_units: source lines and inlined functions, one compilation unit at a time.
 *
 * A library with all its debug information may have millions of lines and a program touches few
 * of its units. So only the address ranges of the units are read first; .debug_aranges is
 * not used, because clang does not write it.
 */
#include "code/host_priv.h"

#include "base/vec.h"

#include <dwarf.h>
#include <stdlib.h>

#define UNITS_MAX (1u << 22)

struct unit {
	Dwarf_Die die;
	struct code_inlined *inlined;
	bool read;
};

struct unit_range {
	uint64_t low, high;
	uint64_t reach; /* the largest end of this and those before it */
	uint32_t unit;
};

struct code_host_units {
	WS_VEC(struct unit) units;
	WS_VEC(struct unit_range) ranges; /* by address */
};

static bool add_ranges(struct code_host_units *units, Dwarf_Die *die, uint32_t unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		struct unit_range range = { .low = low, .high = high, .unit = unit };

		/* The linker moves the ranges of functions that it left out to 0 or 1. */
		if (low <= 1 || low >= high)
			continue;
		if (ws_vec_push(&units->ranges, range, NULL))
			return false;
	}
	return true;
}

static int by_low(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

struct code_host_units *code_host_units_create(Dwarf *dwarf)
{
	struct code_host_units *units = calloc(1, sizeof(*units));
	struct unit unit = { .read = false };
	Dwarf_CU *cu = NULL;
	bool ok = units != NULL;
	uint64_t reach = 0;
	uint8_t type;

	if (!units)
		return NULL;
	ws_vec_init(&units->units, UNITS_MAX);
	ws_vec_init(&units->ranges, UNITS_MAX);
	while (ok && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit.die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			ok = !ws_vec_push(&units->units, unit, NULL) &&
			     add_ranges(units, &unit.die, (uint32_t)units->units.n - 1);
	if (!ok || !units->ranges.n) {
		code_host_units_destroy(units);
		return NULL;
	}
	ws_vec_sort(&units->ranges, by_low);
	ws_vec_each(range, &units->ranges)
		range->reach = reach = WS_MAX(reach, range->high);
	return units;
}

void code_host_units_destroy(struct code_host_units *units)
{
	if (!units)
		return;
	ws_vec_each(unit, &units->units)
		code_inlined_destroy(unit->inlined);
	ws_vec_fini(&units->units);
	ws_vec_fini(&units->ranges);
	free(units);
}

static struct unit *unit_at(struct code_host_units *units, uint64_t address)
{
	size_t low = 0, high = units->ranges.n;

	while (low < high) { /* the first range behind address */
		size_t mid = low + (high - low) / 2;

		if (units->ranges.at[mid].low <= address)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; i-- > 0 && units->ranges.at[i].reach > address;)
		if (units->ranges.at[i].high > address)
			return &units->units.at[units->ranges.at[i].unit];
	return NULL;
}

/* A row with line 0 (code that the compiler cannot assign to a line) continues the row before it. */
static struct code_place place_at(Dwarf_Die *unit, uint64_t address)
{
	struct code_place place = { NULL, 0 };
	size_t low = 0, high;
	Dwarf_Lines *lines;
	Dwarf_Addr at;

	if (dwarf_getsrclines(unit, &lines, &high) != 0)
		return place;
	while (low < high) { /* the first row behind address */
		size_t mid = low + (high - low) / 2;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, mid), &at) == 0 && at <= address)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0) {
		Dwarf_Line *line = dwarf_onesrcline(lines, low);
		bool end = true;
		int number = 0;

		dwarf_lineendsequence(line, &end);
		if (end)
			break;
		dwarf_lineno(line, &number);
		if (number <= 0)
			continue;
		place.file = dwarf_linesrc(line, NULL, NULL);
		place.line = place.file ? (uint32_t)number : 0;
		break;
	}
	return place;
}

/* Of a unit in two parts, functions are in a file of their own (-gsplit-dwarf). */
static struct code_inlined *inlined_of(struct unit *unit)
{
	Dwarf_Die split = unit->die;
	uint8_t type;

	if (unit->read)
		return unit->inlined;
	unit->read = true;
	if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton || !split.cu)
		split = unit->die;
	unit->inlined = code_inlined_create_of(&split);
	return unit->inlined;
}

size_t code_host_units_at(struct code_host_units *units, uint64_t address,
			  struct code_place *out_place, struct code_inlined_call *out_calls,
			  size_t max)
{
	struct unit *unit = units ? unit_at(units, address) : NULL;

	*out_place = (struct code_place){ NULL, 0 };
	if (!unit)
		return 0;
	*out_place = place_at(&unit->die, address);
	return code_inlined_calls(inlined_of(unit), address, out_calls, max);
}
