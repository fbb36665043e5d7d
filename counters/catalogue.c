#include "counters/counters_priv.h"

#include "base/map.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (64u << 20)
#define MAX_COUNTERS 65536u /* AMD's ids have 16 bits */

struct cnt_catalogue {
	struct ws_arena arena;
	const struct cnt_arch_row *arch;
	unsigned arch_index;
	bool soft;
	struct cnt_counter_block *blocks; /* one per row of the table */
	struct cnt_counter_def **defs;
	size_t n, cap;
	struct ws_map by_name; /* to a def; the latest of a name */
};

const char *cnt_fidelity_word(enum cnt_fidelity_class fidelity)
{
	static const char *const words[] = {
		[CNT_FIDELITY_EXACT] = "exact",
		[CNT_FIDELITY_MODELLED] = "modelled",
		[CNT_FIDELITY_UNSUPPORTED] = "unsupported",
		[CNT_FIDELITY_NO_SOFTGPU] = "no software GPU",
	};

	return words[fidelity];
}

const char *cnt_catalogue_arch_name(size_t i)
{
	return i < CNT_N_ARCHS ? cnt_arch_rows[i].name : NULL;
}

/* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" is gfx90a. */
static const struct cnt_arch_row *find_arch(const char *name)
{
	const char *dashes = strstr(name, "--");
	struct ws_str part, rest = ws_str_from(dashes ? dashes + 2 : name);

	ws_str_next(&rest, ':', &part);
	for (size_t i = 0; i < CNT_N_ARCHS; i++)
		if (ws_str_is(part, cnt_arch_rows[i].name))
			return &cnt_arch_rows[i];
	return NULL;
}

static uint64_t target_version(const char *gfx)
{
	unsigned long digits = strtoul(gfx + 3, NULL, 16);

	return (digits >> 8) * 10000 + ((digits >> 4) & 15) * 100 + (digits & 15);
}

static void describe_typical(const struct cnt_arch_row *arch, struct gpu_agent *out_agent)
{
	*out_agent = (struct gpu_agent){
		.is_gpu = true,
		.simd_count = arch->n_cus * 4,
		.simd_per_cu = 4,
		.max_waves_per_simd = arch->max_waves,
		.lds_size_in_kb = strcmp(arch->name, "gfx950") == 0 ? 160 : 64,
		.wave_front_size = 64,
		.array_count = arch->n_xccs * arch->n_ses,
		.simd_arrays_per_engine = 1,
		.cu_per_simd_array = arch->n_cus_per_se,
		.max_slots_scratch_cu = 32,
		.gfx_target_version = target_version(arch->name),
		.vendor_id = 0x1002,
		.max_engine_clk_ccompute = arch->freq_mhz,
		.num_xcc = arch->n_xccs,
	};
}

static void add_dim(struct cnt_shape *shape, enum cnt_dim dim, uint64_t n)
{
	shape->at[shape->n_dims].dim = dim;
	shape->at[shape->n_dims++].n = (uint32_t)n;
}

/* A die of its own is a dimension only where there are several, as AMD's library has it. */
static void make_block(struct cnt_counter_block *block, const struct cnt_block_row *row,
		       const struct cnt_arch_row *arch, const struct gpu_agent *agent)
{
	uint64_t n_xccs = agent->num_xcc ? agent->num_xcc : 1;
	uint64_t arrays = agent->simd_arrays_per_engine ? agent->simd_arrays_per_engine : 1;
	uint64_t n_ses = agent->array_count / arrays / n_xccs;
	uint64_t n_engines = n_xccs * (n_ses ? n_ses : arch->n_ses);
	uint64_t n_cus = agent->simd_per_cu ? agent->simd_count / agent->simd_per_cu : 0;

	/* Not cu_per_simd_array: that counts places, also those that no product uses. */
	n_cus = (n_cus + n_engines - 1) / n_engines;
	*block = (struct cnt_counter_block){ .name = row->name, .limit = row->limit };
	if (n_xccs > 1)
		add_dim(&block->shape, CNT_DIM_XCC, n_xccs);
	if (row->per_se)
		add_dim(&block->shape, CNT_DIM_SHADER_ENGINE, n_ses ? n_ses : arch->n_ses);
	add_dim(&block->shape, CNT_DIM_INSTANCE,
		row->instances == 'u'   ? (n_cus ? n_cus : arch->n_cus_per_se)
		: row->instances == 'c' ? arch->n_channels
					: row->n_instances);
}

static char *spelled(struct cnt_catalogue *cat, const char *name)
{
	const char *first = cnt_spelling_rows[0].prefix;

	for (size_t i = 0; i < cnt_n_spelling_rows; i++)
		if (cnt_spelling_rows[i].archs & 1u << cat->arch_index)
			return ws_arena_printf(&cat->arena, "%s%s", cnt_spelling_rows[i].prefix,
					       name + strlen(first));
	return ws_arena_strdup(&cat->arena, name);
}

static enum ws_status add(struct cnt_catalogue *cat, const struct cnt_counter_def *def,
			  struct ws_err *err)
{
	struct cnt_counter_def *copy = ws_arena_new(&cat->arena, struct cnt_counter_def);

	if (cat->n == MAX_COUNTERS)
		return ws_fail(err, WS_E_LIMIT, "more than %u counters", MAX_COUNTERS);
	if (cat->n == cat->cap) {
		size_t cap = cat->cap ? cat->cap * 2 : 1024;
		void *more = realloc(cat->defs, cap * sizeof(*cat->defs));

		if (!more)
			return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
		cat->defs = more;
		cat->cap = cap;
	}
	if (!copy)
		return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
	*copy = *def;
	copy->id = (uint32_t)cat->n + 1;
	if (!copy->fidelity_text)
		copy->fidelity_text = "";
	if (ws_map_put(&cat->by_name, ws_str_from(copy->name), copy, err))
		return err ? err->status : WS_E_NOMEM;
	cat->defs[cat->n++] = copy;
	return WS_OK;
}

enum ws_status cnt_catalogue_add_copy_(struct cnt_catalogue *cat, const struct cnt_counter_def *def,
				       struct ws_err *err)
{
	struct cnt_counter_def copy = *def;

	copy.name = ws_arena_strdup(&cat->arena, def->name);
	copy.text = ws_arena_strdup(&cat->arena, def->text);
	if (def->expression)
		copy.expression = ws_arena_strdup(&cat->arena, def->expression);
	if (!copy.name || !copy.text || (def->expression && !copy.expression))
		return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
	return add(cat, &copy, err);
}

const char *cnt_catalogue_place_(struct cnt_catalogue *cat, const char *file, unsigned line)
{
	return ws_arena_printf(&cat->arena, "%s:%u", file, line);
}

void cnt_catalogue_cut_(struct cnt_catalogue *cat, size_t n)
{
	for (size_t i = n; i < cat->n; i++)
		ws_map_remove(&cat->by_name, ws_str_from(cat->defs[i]->name));
	cat->n = n;
	/* What one of them had replaced is back. */
	for (size_t i = 0; i < n; i++)
		if (!ws_map_get(&cat->by_name, cat->defs[i]->name))
			ws_map_put(&cat->by_name, ws_str_from(cat->defs[i]->name), cat->defs[i],
				   NULL);
}

enum ws_status cnt_catalogue_settle_(struct cnt_catalogue *cat, size_t first, struct ws_err *err)
{
	for (size_t i = first; i < cat->n; i++) {
		struct cnt_counter_def *def = cat->defs[i];
		const struct cnt_expr_need *needs;
		struct cnt_expr *expr;
		enum ws_status st;
		size_t n;

		if (def->kind != CNT_COUNTER_DERIVED)
			continue;
		st = cnt_expr_compile(cat, def->expression, &expr, err);
		if (st)
			return def->from ? ws_fail_in(err, st, "%s: counter '%s'", def->from,
						      def->name)
					 : ws_fail_in(err, st, "counter '%s'", def->name);
		def->shape = *cnt_expr_shape(expr);
		def->fidelity = CNT_FIDELITY_EXACT;
		needs = cnt_expr_needs(expr, &n);
		for (size_t k = 0; k < n; k++) {
			if (needs[k].counter->fidelity <= def->fidelity)
				continue;
			def->fidelity = needs[k].counter->fidelity;
			if (def->fidelity == CNT_FIDELITY_UNSUPPORTED)
				def->fidelity_text =
					ws_arena_printf(&cat->arena, "%s: %s",
							needs[k].counter->name,
							needs[k].counter->fidelity_text);
		}
		cnt_expr_destroy(expr);
		if (!def->fidelity_text)
			return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
	}
	return WS_OK;
}

static enum ws_status add_constants(struct cnt_catalogue *cat, const struct gpu_agent *agent,
				    struct ws_err *err)
{
	for (size_t i = 0; i < GPU_AGENT_N_PROPERTIES; i++) {
		const char *name = gpu_agent_properties[i].name;
		struct cnt_counter_def def = {
			.name = name,
			.text = ws_arena_printf(&cat->arena,
						"Constant value %s from agent properties", name),
			.kind = CNT_COUNTER_CONSTANT,
			.constant = (double)gpu_agent_property(agent, i),
		};

		if (!def.text || add(cat, &def, err))
			return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
	}
	return WS_OK;
}

static enum ws_status add_hardware(struct cnt_catalogue *cat, struct ws_err *err)
{
	const unsigned here = 1u << cat->arch_index;
	unsigned with_softgpu = 0;

	for (size_t i = 0; i < cnt_n_hardware_rows; i++)
		with_softgpu |= cnt_hardware_rows[i].soft_archs;
	for (size_t i = 0; i < cnt_n_hardware_rows; i++) {
		const struct cnt_hardware_row *row = &cnt_hardware_rows[i];
		struct cnt_counter_def def = {
			.name = row->name,
			.text = row->text,
			.kind = CNT_COUNTER_HARDWARE,
			.block = &cat->blocks[row->block],
			.event = (uint32_t)row->event[cat->arch_index],
			.is_level = row->is_level,
			.fidelity = row->fidelity,
			.fidelity_text = row->fidelity_text,
			.shape = cat->blocks[row->block].shape,
		};

		if (row->event[cat->arch_index] < 0)
			continue;
		if (row->spelled)
			def.name = spelled(cat, row->name);
		if (!def.name)
			return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
		if (!(with_softgpu & here)) {
			def.fidelity = CNT_FIDELITY_NO_SOFTGPU;
			def.fidelity_text = "no software GPU has this architecture";
		} else if (!(row->soft_archs & here)) {
			def.fidelity = CNT_FIDELITY_UNSUPPORTED;
			def.fidelity_text = "not modelled";
		} else if (row->soft_unsupported & here) {
			def.fidelity = CNT_FIDELITY_UNSUPPORTED;
			def.fidelity_text = row->unsupported_text;
		}
		if (add(cat, &def, err))
			return WS_E_NOMEM;
	}
	return WS_OK;
}

static enum ws_status add_derived(struct cnt_catalogue *cat, struct ws_err *err)
{
	size_t first = cat->n;

	for (size_t i = 0; i < cnt_n_derived_rows; i++) {
		const struct cnt_derived_row *row = &cnt_derived_rows[i];
		struct cnt_counter_def def = {
			.name = row->name,
			.text = row->text,
			.kind = CNT_COUNTER_DERIVED,
			.expression = row->expr[cat->arch_index],
		};

		if (!def.expression)
			continue;
		if (row->spelled)
			def.name = spelled(cat, row->name);
		if (!def.name || add(cat, &def, err))
			return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
	}
	return cnt_catalogue_settle_(cat, first, err);
}

static enum ws_status no_arch(const char *name, struct ws_err *err)
{
	char known[128] = "";
	size_t n = 0;

	for (size_t i = 0; i < CNT_N_ARCHS; i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i ? ", " : "",
				      cnt_arch_rows[i].name);
	return ws_fail(err, WS_E_NOTFOUND, "no counters for architecture '%s': supported are %s",
		       name, known);
}

static enum ws_status create(const struct cnt_arch_row *row, const struct gpu_agent *agent,
			     struct cnt_catalogue **out_cat, struct ws_err *err)
{
	struct cnt_catalogue *cat = calloc(1, sizeof(*cat));
	enum ws_status st;

	if (!cat)
		return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
	ws_arena_init(&cat->arena, MAX_BYTES);
	ws_map_init(&cat->by_name, WS_MAP_STR, MAX_COUNTERS);
	cat->arch = row;
	cat->arch_index = (unsigned)(row - cnt_arch_rows);
	cat->soft = agent->soft;
	cat->blocks = ws_arena_array(&cat->arena, cnt_n_block_rows, sizeof(*cat->blocks));
	if (!cat->blocks) {
		cnt_catalogue_destroy(cat);
		return ws_fail(err, WS_E_NOMEM, "out of memory for counters");
	}
	for (size_t i = 0; i < cnt_n_block_rows; i++)
		make_block(&cat->blocks[i], &cnt_block_rows[i], row, agent);
	st = add_constants(cat, agent, err);
	if (!st)
		st = add_hardware(cat, err);
	if (!st)
		st = add_derived(cat, err);
	if (st) {
		cnt_catalogue_destroy(cat);
		return st;
	}
	*out_cat = cat;
	return WS_OK;
}

enum ws_status cnt_catalogue_create(const struct gpu_agent *agent, struct cnt_catalogue **out_cat,
				    struct ws_err *err)
{
	const struct cnt_arch_row *row = find_arch(agent->arch);

	return row ? create(row, agent, out_cat, err) : no_arch(agent->arch, err);
}

enum ws_status cnt_catalogue_create_typical(const char *arch, struct cnt_catalogue **out_cat,
					    struct ws_err *err)
{
	const struct cnt_arch_row *row = find_arch(arch);
	struct gpu_agent typical;

	if (!row)
		return no_arch(arch, err);
	describe_typical(row, &typical);
	return create(row, &typical, out_cat, err);
}

void cnt_catalogue_destroy(struct cnt_catalogue *cat)
{
	if (!cat)
		return;
	ws_map_fini(&cat->by_name);
	free(cat->defs);
	ws_arena_fini(&cat->arena);
	free(cat);
}

const char *cnt_catalogue_arch(const struct cnt_catalogue *cat)
{
	return cat->arch->name;
}

bool cnt_catalogue_is_soft(const struct cnt_catalogue *cat)
{
	return cat->soft;
}

size_t cnt_catalogue_n(const struct cnt_catalogue *cat)
{
	return cat->n;
}

const struct cnt_counter_def *cnt_catalogue_at(const struct cnt_catalogue *cat, size_t i)
{
	return i < cat->n ? cat->defs[i] : NULL;
}

static const struct cnt_counter_def *find_exact(const struct cnt_catalogue *cat, struct ws_str name)
{
	const struct ws_map_entry *entry = ws_map_find(&cat->by_name, name);

	return entry ? entry->value : NULL;
}

const struct cnt_counter_def *cnt_catalogue_find_n(const struct cnt_catalogue *cat,
						   struct ws_str name)
{
	const struct cnt_counter_def *def = find_exact(cat, name);
	char other[128];

	for (size_t i = 0; !def && i < cnt_n_spelling_rows; i++) {
		const char *prefix = cnt_spelling_rows[i].prefix;

		if (!ws_str_starts(name, prefix))
			continue;
		for (size_t k = 0; !def && k < cnt_n_spelling_rows; k++) {
			struct ws_str tail = { name.at + strlen(prefix), name.n - strlen(prefix) };
			int n = snprintf(other, sizeof(other), "%s%.*s",
					 cnt_spelling_rows[k].prefix, WS_STR_ARGS(tail));

			if (k != i && n > 0 && (size_t)n < sizeof(other))
				def = find_exact(cat, ws_str_from(other));
		}
	}
	return def;
}

const struct cnt_counter_def *cnt_catalogue_find(const struct cnt_catalogue *cat, const char *name)
{
	return cnt_catalogue_find_n(cat, ws_str_from(name));
}

static const char *next_name(const void *list, size_t i)
{
	const struct cnt_catalogue *cat = list;

	return i < cat->n ? cat->defs[i]->name : NULL;
}

const char *cnt_catalogue_nearest(const struct cnt_catalogue *cat, const char *name)
{
	return ws_str_nearest(name, next_name, cat);
}

/* Whether a built-in counter of this name, or of its other spelling, is on architecture @k. */
static bool is_on(struct ws_str name, unsigned k)
{
	const char *first = cnt_spelling_rows[0].prefix;
	char as_row[128];

	for (size_t i = 1; i < cnt_n_spelling_rows; i++) {
		const char *prefix = cnt_spelling_rows[i].prefix;
		int n = snprintf(as_row, sizeof(as_row), "%s%.*s", first,
				 (int)(name.n - strlen(prefix)), name.at + strlen(prefix));

		if (ws_str_starts(name, prefix) && n > 0 && (size_t)n < sizeof(as_row))
			name = ws_str_from(as_row);
	}
	for (size_t i = 0; i < cnt_n_hardware_rows; i++)
		if (ws_str_is(name, cnt_hardware_rows[i].name))
			return cnt_hardware_rows[i].event[k] >= 0;
	for (size_t i = 0; i < cnt_n_derived_rows; i++)
		if (ws_str_is(name, cnt_derived_rows[i].name))
			return cnt_derived_rows[i].expr[k] != NULL;
	return false;
}

const char *cnt_catalogue_elsewhere(const struct cnt_catalogue *cat, const char *name)
{
	static _Thread_local char list[128];
	size_t n = 0;

	for (unsigned k = 0; k < CNT_N_ARCHS; k++)
		if (k != cat->arch_index && is_on(ws_str_from(name), k))
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "",
					      cnt_arch_rows[k].name);
	return n ? list : NULL;
}

size_t cnt_catalogue_n_blocks(const struct cnt_catalogue *cat)
{
	return cnt_n_block_rows;
}

const struct cnt_counter_block *cnt_catalogue_block(const struct cnt_catalogue *cat, size_t i)
{
	return i < cnt_n_block_rows ? &cat->blocks[i] : NULL;
}

const struct cnt_counter_block *cnt_catalogue_find_block_(const struct cnt_catalogue *cat,
							  const char *name)
{
	for (size_t i = 0; i < cnt_n_block_rows; i++)
		if (strcmp(cat->blocks[i].name, name) == 0)
			return &cat->blocks[i];
	return NULL;
}
