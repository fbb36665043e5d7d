/*
 * model: the specifications of GPU models.
 *
 * One row per product. A number that differs between boards or partitions, or
 * that is not published, is 0: unknown.
 * A board whose dies are separate agents (MI250X) has one row, which describes
 * one die, and the number of dies.
 */
#ifndef WS_GPU_MODEL_H
#define WS_GPU_MODEL_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_model {
	const char *name;   /* what people type: "mi210" */
	const char *model;  /* as AMD's tools print it: "MI210", "MI300X_A1" */
	const char *series; /* "MI200" */
	const char *arch;   /* "gfx90a" */
	bool soft;          /* the software GPU implements it */
	unsigned n_agents;  /* of one board */
	unsigned n_cus;     /* compute units per agent, all XCDs together */
	unsigned n_ses;     /* shader engines per agent */
	unsigned n_xcds;    /* dies per agent, undivided (SPX) */
	unsigned n_simds;   /* per CU */
	unsigned max_waves; /* per SIMD */
	unsigned freq_mhz;  /* highest engine clock */
	unsigned mem_gib;
	unsigned mem_freq_mhz;
	unsigned mem_width_bits;
	unsigned l2_kib;      /* per XCD */
	unsigned n_l2_banks;  /* per XCD */
	unsigned n_lds_banks; /* per CU */
	unsigned lds_kib;     /* per CU */
	unsigned n_pipes;
	unsigned chip_id;    /* PCI device id; 0: none published */
	unsigned chip_id_vf; /* as seen in a virtual machine */
	unsigned idle_watts; /* of one board */
	unsigned max_watts;
	unsigned max_nps; /* memory partitions that it can be divided into; 0: it cannot */
};

const struct gpu_model *gpu_models(size_t *out_n);
const struct gpu_model *gpu_model_find(const char *name);    /* any case; NULL: no such */
const struct gpu_model *gpu_model_by_chip(unsigned chip_id); /* physical or virtual */

/*
 * What rocprof-compute calls the GPU, in paths and in sysinfo: families where its first
 * generations know only those ("MI200"), else the model ("MI300X_A1"). @model may be NULL:
 * then by architecture alone, and an unknown architecture is its own name.
 */
const char *gpu_target_name(const char *arch, const struct gpu_model *model);

/* Dies that one agent has in a compute partition mode ("SPX", any case; others: undivided). */
unsigned gpu_n_xcds(const struct gpu_model *model, const char *partition);
/* The mode in which an agent has so many dies: "CPX". "SPX": undivided, also where there is no other mode. */
const char *gpu_partition(const struct gpu_model *model, unsigned n_xcds);

/* "mi100, mi210, mi250x": for messages. */
const char *gpu_soft_names(void);

#define GPU_SOFT_MAX 16 /* software GPUs in one list */

/* An element of a list of software GPUs: "mi210", "mi300x:cpx", "mi300x:cpx/nps4". */
struct gpu_soft {
	const struct gpu_model *model;
	unsigned n_agents, n_xcds; /* of the board; dies of each agent */
	unsigned nps;              /* memory partitions of the board: 1 is undivided */
};

/* The error names the word that is wrong and what would be right. */
enum ws_status gpu_soft_read(struct ws_str word, struct gpu_soft *out_soft, struct ws_err *err);

/*
 * A comma-separated list of software GPUs as a person types it, appended to @out
 * in the spelling of the table.
 */
enum ws_status gpu_soft_list(const char *list, struct ws_buf *out, struct ws_err *err);

#endif
