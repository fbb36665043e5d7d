/*
 * The built-in tables, as gen_counters.py makes them, and what only the files of this room share.
 */
#ifndef WS_COUNTERS_COUNTERS_PRIV_H
#define WS_COUNTERS_COUNTERS_PRIV_H

#include "base/arena.h"
#include "counters/catalogue.h"
#include "counters/expr.h"

#define WS_N_ARCHS 6

struct ws_arch_row {
	const char *name;
	unsigned n_xccs, n_ses, n_cus_per_se, n_cus, n_channels, max_waves, freq_mhz;
};

struct ws_block_row {
	const char *name;
	unsigned limit;
	bool per_se;
	unsigned n_instances;
	char instances; /* 'u' compute units of an engine, 'c' channels of a die, 0: n_instances */
};

struct ws_hardware_row {
	const char *name, *text;
	uint8_t block;
	int16_t event[WS_N_ARCHS]; /* -1: not on this architecture */
	bool is_level;
	enum ws_fidelity_class fidelity;
	uint8_t soft_archs; /* bit per architecture whose software GPU has it */
	const char *fidelity_text;
	bool spelled; /* its name begins with the first spelling */
};

struct ws_derived_row {
	const char *name, *text;
	const char *expr[WS_N_ARCHS]; /* NULL: not on this architecture */
	bool spelled;
};

/* Prefixes that mean the same; the bits say on which architectures one is listed. */
struct ws_spelling_row {
	const char *prefix;
	uint8_t archs;
};

extern const struct ws_arch_row ws_arch_rows[WS_N_ARCHS];
extern const struct ws_block_row ws_block_rows[];
extern const size_t ws_n_block_rows;
extern const struct ws_hardware_row ws_hardware_rows[];
extern const size_t ws_n_hardware_rows;
extern const struct ws_derived_row ws_derived_rows[];
extern const size_t ws_n_derived_rows;
extern const struct ws_spelling_row ws_spelling_rows[];
extern const size_t ws_n_spelling_rows;

/* definitions.c fills a def and hands it over; name, text and expression are copied. */
enum ws_status ws_catalogue_add_copy_(struct ws_catalogue *cat, const struct ws_counter_def *def,
				      struct ws_err *err);
/* "FILE:LINE", living as long as the catalogue; NULL: no memory. */
const char *ws_catalogue_place_(struct ws_catalogue *cat, const char *file, unsigned line);
const struct ws_counter_block *ws_catalogue_find_block_(const struct ws_catalogue *cat,
							const char *name);
/* Takes the definitions from the @n-th on away again. */
void ws_catalogue_cut_(struct ws_catalogue *cat, size_t n);
/* Compiles the derived ones from the @first-th on, and notes what comes out. */
enum ws_status ws_catalogue_settle_(struct ws_catalogue *cat, size_t first, struct ws_err *err);

/* A scalar is one value, in whatever dimensions. */
bool ws_shape_is_scalar_(const struct ws_shape *shape);
struct ws_shape ws_shape_scalar_(void); /* DIMENSION_INSTANCE[0:0], as AMD prints it */

#endif
