/*
 * catalogue: which counters there are on one GPU.
 *
 * Three kinds, as AMD's tools have them: hardware counters (a block and an event), derived ones (an
 * expression, see expr.h) and constants (properties of the agent, usable in expressions). The
 * built-in ones come from data/counters/, one definition per counter for all architectures; a person
 * adds more with a definition file (-E). A catalogue is for one architecture and one agent's
 * geometry, because the number of instances of a block differs between products of an architecture.
 *
 *	cnt_catalogue_create(&agent, &cat, err);
 *	def = cnt_catalogue_find(cat, "TCC_HIT");
 *
 * Names that users type may also have a form: NAME_sum, NAME[n], NAME_ACCUM. cnt_catalogue_find()
 * knows only what is defined; plan.h understands the forms.
 *
 * Memory   everything a catalogue gives out lives as long as the catalogue.
 * Threads  any number of readers while no definitions are added.
 */
#ifndef WS_COUNTERS_CATALOGUE_H
#define WS_COUNTERS_CATALOGUE_H

#include "base/error.h"
#include "base/str.h"
#include "gpu/agent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are AMD's: they are written into records and files. */
enum cnt_dim {
	CNT_DIM_NONE,
	CNT_DIM_XCC,
	CNT_DIM_AID,
	CNT_DIM_SHADER_ENGINE,
	CNT_DIM_AGENT,
	CNT_DIM_SHADER_ARRAY,
	CNT_DIM_WGP,
	CNT_DIM_INSTANCE,
	CNT_DIM_COUNT
};

const char *cnt_dim_name(enum cnt_dim dim);    /* "DIMENSION_XCC" */
enum cnt_dim cnt_dim_find(struct ws_str name); /* CNT_DIM_NONE: no such */

#define CNT_SHAPE_MAX 4

/* How many instances, in which dimensions; the last dimension runs fastest. */
struct cnt_shape {
	unsigned n_dims; /* 0: a scalar */
	struct {
		enum cnt_dim dim;
		uint32_t n;
	} at[CNT_SHAPE_MAX];
};

size_t cnt_shape_size(const struct cnt_shape *shape); /* instances: 1 for a scalar */
bool cnt_shape_same(const struct cnt_shape *a, const struct cnt_shape *b);
/* The place of instance @i in each dimension of @shape, in its order. */
void cnt_shape_index(const struct cnt_shape *shape, size_t i, uint32_t out_index[CNT_SHAPE_MAX]);

enum cnt_counter_kind { CNT_COUNTER_HARDWARE, CNT_COUNTER_DERIVED, CNT_COUNTER_CONSTANT };

/* On the software GPU. A derived counter is as good as the worst it is made from. */
enum cnt_fidelity_class {
	CNT_FIDELITY_EXACT,       /* follows from the instruction stream */
	CNT_FIDELITY_MODELLED,    /* follows from models of caches, addresses or time */
	CNT_FIDELITY_UNSUPPORTED, /* no value; `fidelity_text` says why */
	CNT_FIDELITY_NO_SOFTGPU,  /* there is no software GPU of this architecture */
};

const char *cnt_fidelity_word(enum cnt_fidelity_class fidelity); /* "exact" */

struct cnt_counter_block {
	const char *name;       /* "TCC" */
	unsigned limit;         /* counters at once, on every instance */
	struct cnt_shape shape; /* of one of its counters */
};

struct cnt_counter_def {
	const char *name;
	const char *text; /* description */
	enum cnt_counter_kind kind;
	uint32_t id;                           /* from 1; unique in the catalogue */
	const struct cnt_counter_block *block; /* hardware only, else NULL */
	uint32_t event;                        /* hardware only */
	bool is_level;                         /* number in flight: has NAME_ACCUM */
	const char *expression;                /* derived only, else NULL */
	double constant;                       /* constants only */
	enum cnt_fidelity_class fidelity;
	const char *fidelity_text; /* hardware: rule or reason on the software GPU; else "" */
	struct cnt_shape shape;    /* of its values; derived: what the expression gives */
	const char *from;          /* "FILE:LINE" of a user's definition; NULL: built in */
	/* A user's name for a built-in hardware event: what is read is this one. */
	const struct cnt_counter_def *same_as;
};

struct cnt_catalogue;

/*
 * The counters of @agent: its properties are constants, and decide how many instances of a block
 * there are. On the software GPU counters without a value are not available. An architecture is
 * spelled as a runtime does: "gfx90a", "gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx90a".
 * WS_E_NOTFOUND: it is not known; the text lists those that are.
 */
enum ws_status cnt_catalogue_create(const struct gpu_agent *agent, struct cnt_catalogue **out_cat,
				    struct ws_err *err);
/* Those of a typical product of @arch. */
enum ws_status cnt_catalogue_create_typical(const char *arch, struct cnt_catalogue **out_cat,
					    struct ws_err *err);
void cnt_catalogue_destroy(struct cnt_catalogue *cat); /* NULL is fine */

/*
 * Definitions of a user, in AMD's YAML layout, added to those that are there; one of a name that
 * exists replaces it for whoever looks it up. All or none. The text of a failure begins with
 * FILE:LINE.
 */
enum ws_status cnt_catalogue_add_file(struct cnt_catalogue *cat, const char *path,
				      struct ws_err *err);
enum ws_status cnt_catalogue_add_text(struct cnt_catalogue *cat, const char *name,
				      struct ws_str text, struct ws_err *err);

const char *cnt_catalogue_arch(const struct cnt_catalogue *cat); /* "gfx90a" */
bool cnt_catalogue_is_soft(const struct cnt_catalogue *cat);

size_t cnt_catalogue_n(const struct cnt_catalogue *cat);
const struct cnt_counter_def *cnt_catalogue_at(const struct cnt_catalogue *cat,
					       size_t i); /* by id */
const struct cnt_counter_def *cnt_catalogue_find(const struct cnt_catalogue *cat, const char *name);
const struct cnt_counter_def *cnt_catalogue_find_n(const struct cnt_catalogue *cat,
						   struct ws_str name);

/* The existing name most like one that does not exist, or NULL. */
const char *cnt_catalogue_nearest(const struct cnt_catalogue *cat, const char *name);
/* "gfx940, gfx942": other architectures that have a counter of this name, or NULL when none has. */
const char *cnt_catalogue_elsewhere(const struct cnt_catalogue *cat, const char *name);

size_t cnt_catalogue_n_blocks(const struct cnt_catalogue *cat);
const struct cnt_counter_block *cnt_catalogue_block(const struct cnt_catalogue *cat, size_t i);

/* The architectures there are catalogues of, NULL after the last. */
const char *cnt_catalogue_arch_name(size_t i);

/*
 * A word of --pmc or pmc-check with its devices: "NAME", "NAME:device=1", "NAME:device=0,device=2".
 * *@out_devices has a bit per GPU number, and is 0 when the word names none: all GPUs.
 */
enum ws_status cnt_counter_word(const char *word, struct ws_str *out_name, uint64_t *out_devices,
				struct ws_err *err);

#endif
