/* What the files of the workload loader share: workload.c, layout.c, join.c, pivot.c,
 * multiplex.c, nodes.c, shorten.c. */
#ifndef WS_WORKLOAD_WORKLOAD_PRIV_H
#define WS_WORKLOAD_WORKLOAD_PRIV_H

#include "trace/dispatch_match.h"
#include "workload/csv.h"
#include "workload/workload.h"

struct wl_workload_priv {
	struct wl_dict kernels;  /* Kernel_Name of every file */
	struct wl_dict counters; /* Counter_Name, Node: other texts */
	struct wl_csv **csvs;    /* whose columns are in use */
	size_t n_csvs, cap_csvs;
	struct {
		double *at;
		size_t n;
	} * owned; /* columns made here */
	size_t n_owned, cap_owned;
};

/* Read a CSV that lives as long as the workload. */
enum ws_status wl_load_csv(struct wl_workload *load, const char *dir, const char *name,
			   struct wl_csv **out_csv, struct ws_err *err);
/* A zeroed column that lives as long as the workload. */
double *wl_load_column(struct wl_workload *load, size_t n);
/* An empty frame with room for @n_columns. */
struct wl_frame *wl_load_frame(struct wl_workload *load, const char *name, size_t n_rows,
			       size_t n_columns, struct ws_err *err);
enum ws_status wl_load_add_column(
	struct wl_frame *frame, struct wl_column column,
	struct ws_err *err); /* a name that is there already is left out */
enum ws_status wl_load_frame_from(struct wl_workload *load, const char *name,
				  const struct wl_csv *csv, struct wl_frame **out_frame,
				  struct ws_err *err);

/* Files of @dir that begin and end so, sorted with numbers as numbers; from the arena. */
enum ws_status wl_load_glob(struct wl_workload *load, const char *dir, const char *begin,
			    const char *end, const char ***out_names, size_t *out_n,
			    struct ws_err *err);

/* Passes in several files to one frame, and the level passes aligned with it. */
enum ws_status wl_load_join(struct wl_workload *load, const char *dir, const char *const *names,
			    size_t n_names, enum trc_alike alike, struct ws_err *err);
/* One row per counter to one row per dispatch. */
enum ws_status wl_load_pivot(struct wl_workload *load, struct wl_csv *const *csvs, size_t n_csvs,
			     enum trc_alike alike, struct ws_err *err);
/* Iteration multiplexing: fill what other dispatches of the kernel counted. */
enum ws_status wl_load_fill(struct wl_workload *load, struct ws_err *err);
/* Kernel names as --kernel-verbose wants them. */
enum ws_status wl_load_shorten(struct wl_workload *load, int level, struct ws_err *err);

/* Several sub-directories of @dir as one workload. */
enum ws_status wl_load_nodes(struct wl_workload *load, const char *dir, const char *const *names,
			     size_t n, const struct wl_workload_how *how, struct ws_err *err);

/* frames[0] and its kernel numbers are there: fill in the rest of the workload. */
enum ws_status wl_load_finish(struct wl_workload *load, struct ws_err *err);
enum ws_status wl_load_layout(struct wl_workload *load, const char *dir,
			      const struct wl_workload_how *how, struct ws_err *err);

#endif
