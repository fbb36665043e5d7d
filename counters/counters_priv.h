/*
 * The built-in tables that gen_counters.py generates, and what only the files of this module share.
 */
#ifndef WS_COUNTERS_COUNTERS_PRIV_H
#define WS_COUNTERS_COUNTERS_PRIV_H

#include "base/arena.h"
#include "counters/catalogue.h"
#include "counters/expr.h"

#define CNT_N_ARCHS 6

struct cnt_arch_row {
	const char *name;
	unsigned n_xccs, n_ses, n_cus_per_se, n_cus, n_channels, max_waves, freq_mhz;
};

struct cnt_block_row {
	const char *name;
	unsigned limit;
	bool per_se;
	unsigned n_instances;
	char instances; /* 'u' compute units of an engine, 'c' channels of a die, 0: n_instances */
};

struct cnt_hardware_row {
	const char *name, *text;
	uint8_t block;
	int16_t event[CNT_N_ARCHS]; /* -1: not on this architecture */
	bool is_level;
	enum cnt_fidelity_class fidelity;
	uint8_t soft_archs; /* bit per architecture whose software GPU has it */
	const char *fidelity_text;
	uint8_t soft_unsupported; /* bit per architecture of soft_archs that does not support it */
	const char *unsupported_text;
	bool spelled; /* its name begins with the first spelling */
};

struct cnt_derived_row {
	const char *name, *text;
	const char *expr[CNT_N_ARCHS]; /* NULL: not on this architecture */
	bool spelled;
};

/* Prefixes that mean the same; the bits say on which architectures one is listed. */
struct cnt_spelling_row {
	const char *prefix;
	uint8_t archs;
};

extern const struct cnt_arch_row cnt_arch_rows[CNT_N_ARCHS];
extern const struct cnt_block_row cnt_block_rows[];
extern const size_t cnt_n_block_rows;
extern const struct cnt_hardware_row cnt_hardware_rows[];
extern const size_t cnt_n_hardware_rows;
extern const struct cnt_derived_row cnt_derived_rows[];
extern const size_t cnt_n_derived_rows;
extern const struct cnt_spelling_row cnt_spelling_rows[];
extern const size_t cnt_n_spelling_rows;

/* definitions.c fills a def and hands it over; name, text and expression are copied. */
enum ws_status cnt_catalogue_add_copy_(struct cnt_catalogue *cat, const struct cnt_counter_def *def,
				       struct ws_err *err);
/* "FILE:LINE", living as long as the catalogue; NULL: no memory. */
const char *cnt_catalogue_place_(struct cnt_catalogue *cat, const char *file, unsigned line);
const struct cnt_counter_block *cnt_catalogue_find_block_(const struct cnt_catalogue *cat,
							  const char *name);
/* Takes the definitions from the @n-th on away again. */
void cnt_catalogue_cut_(struct cnt_catalogue *cat, size_t n);
/* Compiles the derived ones from the @first-th on, and notes what comes out. */
enum ws_status cnt_catalogue_settle_(struct cnt_catalogue *cat, size_t first, struct ws_err *err);

/* A scalar is one value, in whatever dimensions. */
bool cnt_shape_is_scalar_(const struct cnt_shape *shape);
struct cnt_shape cnt_shape_scalar_(void); /* DIMENSION_INSTANCE[0:0], as AMD prints it */

#endif
