/* html_priv: how the files of the profile page share their work. docs/formats/profile-page.md */
#ifndef WS_REPORT_HTML_PRIV_H
#define WS_REPORT_HTML_PRIV_H

#include "report/fidelity.h"
#include "report/report.h"

/* A table of metrics as the first run has it; rows of other runs and views are brought in line. */
struct rpt_html_table {
	const struct ana_table *table;
	struct rpt_grid grid;
	bool *is_text; /* per column */
};

/* A counter or variable that formulas are made of. */
struct rpt_html_input {
	const char *name;       /* a variable begins with '$' */
	const char *coll_level; /* the pass it is read from; NULL: any */
};

struct rpt_html {
	struct rpt_report *rpt;
	struct ws_buf *out;
	const struct rpt_page_live *live; /* NULL: a file */
	struct ws_arena scratch;          /* for one metric or kernel */
	struct rpt_html_table *tables;
	size_t n_tables;
	WS_VEC(struct rpt_html_input) inputs;
	const char **kernels; /* recorded names of those that have a view of their own */
	size_t n_kernels;
	struct rpt_fidelity_source *fidelity; /* per run */
};

/* html.c: number, quartiles and histogram of @n values, a member with a comma. Reorders @values. */
void rpt_html_spread(struct rpt_html *page, const char *key, double *values, size_t n);

/* html_tables.c */
enum ws_status rpt_html_find_tables(struct rpt_html *page, struct ws_err *err);
/* "tables" and "inputs": names, texts, explanations. */
enum ws_status rpt_html_put_tables(struct rpt_html *page, struct ws_err *err);
/* "values" and "inputs" of one view: the numbers of all tables for the rows of @run. */
enum ws_status rpt_html_put_values(struct rpt_html *page, struct rpt_run *run, struct ws_err *err);

/* html_views.c: "views": for each run, all its dispatches and then the kernels of the page. */
enum ws_status rpt_html_put_views(struct rpt_html *page, struct ws_err *err);

#endif
