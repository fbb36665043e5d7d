/*
 * inlined: which calls the compiler replaced by the function itself, by address.
 *
 * DWARF has a tree of inlined calls, each with address ranges. The ranges are nested, so
 * for every address there is one innermost call; its ancestors are the callers. The tree is
 * flattened into an array of addresses where the innermost call changes.
 */
#include "code/lines_priv.h"

#include "base/util.h"

#include <dwarf.h>
#include <stdlib.h>

#define DEPTH_MAX 256u        /* of DIEs; damaged files can be deep */
#define RANGES_MAX (1u << 22) /* likewise long */

/* An inlined call: where it was written, and the call around it. */
struct site {
	Dwarf_Die die;
	const char *file; /* libdw's; NULL: not known */
	uint32_t line;
	uint32_t outer; /* index; NONE: in the function itself */
};
#define NONE UINT32_MAX

struct range {
	uint64_t low, high;
	uint32_t site;
	uint32_t depth;
};

/* From here on, up to the next change, @site is the innermost call. */
struct change {
	uint64_t address;
	uint32_t site;
};

struct code_inlined {
	struct site *sites;
	size_t n_sites, cap_sites;
	struct range *ranges; /* while it is made */
	size_t n_ranges, cap_ranges;
	struct change *changes; /* by address */
	size_t n_changes, cap_changes;
};

static bool read_udata(Dwarf_Die *die, unsigned name, Dwarf_Word *out)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, out) == 0;
}

static uint32_t add_site(struct code_inlined *in, Dwarf_Die *unit, Dwarf_Die *die, uint32_t outer)
{
	struct site site = { .die = *die, .outer = outer };
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n_files;

	if (read_udata(die, DW_AT_call_file, &file) && read_udata(die, DW_AT_call_line, &line) &&
	    line && line <= UINT32_MAX && dwarf_getsrcfiles(unit, &files, &n_files) == 0 &&
	    file < n_files) {
		site.file = dwarf_filesrc(files, file, NULL, NULL);
		site.line = site.file ? (uint32_t)line : 0;
	}
	if (!code_grow(&in->sites, &in->cap_sites, in->n_sites, sizeof(*in->sites)))
		return NONE;
	in->sites[in->n_sites] = site;
	return (uint32_t)in->n_sites++;
}

static void add_ranges(struct code_inlined *in, Dwarf_Die *die, uint32_t site, uint32_t depth)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while (in->n_ranges < RANGES_MAX && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		if (low < high &&
		    code_grow(&in->ranges, &in->cap_ranges, in->n_ranges, sizeof(*in->ranges)))
			in->ranges[in->n_ranges++] = (struct range){ low, high, site, depth };
}

static void walk(struct code_inlined *in, Dwarf_Die *unit, Dwarf_Die *parent, uint32_t outer,
		 uint32_t depth)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		uint32_t site = outer;

		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			site = add_site(in, unit, &die, outer);
			if (site == NONE)
				site = outer;
			else
				add_ranges(in, &die, site, depth);
			break;
		case DW_TAG_subprogram:
			site = NONE; /* a function of its own, whatever it is declared inside */
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
			break;
		default:
			continue; /* types and variables hold no code */
		}
		walk(in, unit, &die, site, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int by_place(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static bool add_change(struct code_inlined *in, uint64_t address, uint32_t site)
{
	struct change *last = in->n_changes ? &in->changes[in->n_changes - 1] : NULL;

	if (last && last->address == address) {
		last->site = site;
		return true;
	}
	if (!code_grow(&in->changes, &in->cap_changes, in->n_changes, sizeof(*in->changes)))
		return false;
	in->changes[in->n_changes++] = (struct change){ address, site };
	return true;
}

static bool flatten(struct code_inlined *in)
{
	struct range open[DEPTH_MAX];
	size_t n_open = 0;
	bool ok = true;

	if (in->n_ranges)
		qsort(in->ranges, in->n_ranges, sizeof(*in->ranges), by_place);
	for (size_t i = 0; i <= in->n_ranges && ok; i++) {
		struct range range = { .low = UINT64_MAX };

		if (i < in->n_ranges)
			range = in->ranges[i];
		while (ok && n_open && open[n_open - 1].high <= range.low) {
			uint64_t end = open[--n_open].high;

			ok = add_change(in, end, n_open ? open[n_open - 1].site : NONE);
		}
		if (!ok || i == in->n_ranges || n_open == DEPTH_MAX)
			continue;
		/* Nested by DWARF's rules; what sticks out of a damaged file is cut. */
		if (n_open)
			range.high = WS_MIN(range.high, open[n_open - 1].high);
		open[n_open++] = range;
		ok = add_change(in, range.low, range.site);
	}
	return ok;
}

static void finish(struct code_inlined *in)
{
	if (!flatten(in))
		in->n_changes = 0;
	free(in->ranges);
	in->ranges = NULL;
}

struct code_inlined *code_inlined_create(Dwarf *dwarf)
{
	struct code_inlined *in = calloc(1, sizeof(*in));
	Dwarf_Off at = 0, next;
	size_t head_bytes;

	if (!in)
		return NULL;
	while (dwarf_nextcu(dwarf, at, &next, &head_bytes, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, at + head_bytes, &unit))
			walk(in, &unit, &unit, NONE, 0);
		at = next;
	}
	finish(in);
	return in;
}

struct code_inlined *code_inlined_create_of(Dwarf_Die *unit)
{
	struct code_inlined *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	walk(in, unit, unit, NONE, 0);
	finish(in);
	return in;
}

void code_inlined_destroy(struct code_inlined *in)
{
	if (!in)
		return;
	free(in->sites);
	free(in->ranges);
	free(in->changes);
	free(in);
}

/* The innermost inlined call around @offset, or NONE. */
static uint32_t site_at(const struct code_inlined *in, uint64_t offset)
{
	size_t low = 0, high = in ? in->n_changes : 0;

	while (low < high) { /* the first change behind offset */
		size_t mid = low + (high - low) / 2;

		if (in->changes[mid].address <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? in->changes[low - 1].site : NONE;
}

size_t code_inlined_at(const struct code_inlined *in, uint64_t offset,
		       struct code_place *out_callers, size_t max)
{
	size_t n = 0;

	for (uint32_t at = site_at(in, offset); at != NONE && n < max; at = in->sites[at].outer)
		if (in->sites[at].file)
			out_callers[n++] =
				(struct code_place){ in->sites[at].file, in->sites[at].line };
	return n;
}

/* The linkage name, which is complete; C has none. */
static const char *function_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

size_t code_inlined_calls(const struct code_inlined *in, uint64_t offset,
			  struct code_inlined_call *out_calls, size_t max)
{
	size_t n = 0;

	for (uint32_t at = site_at(in, offset); at != NONE && n < max; at = in->sites[at].outer)
		out_calls[n++] = (struct code_inlined_call){
			.function = function_of(&in->sites[at].die),
			.caller = { in->sites[at].file, in->sites[at].line },
		};
	return n;
}
