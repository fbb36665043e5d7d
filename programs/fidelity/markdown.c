/* The tables of docs/fidelity.md: what known kernels counted, and vcopy against its recordings. */
#include "programs/fidelity/compare.h"

#include <math.h>
#include <stdio.h>

static const struct fid_row *find(struct fid_rows *rows, unsigned chip, struct ws_str kernel,
				  struct ws_str counter, unsigned dispatch)
{
	ws_vec_each(row, rows)
		if (row->chip == chip && row->dispatch == dispatch &&
		    ws_str_eq(row->counter, counter) && ws_str_eq(row->kernel, kernel))
			return row;
	return NULL;
}

/* "lds conflicts" of "lds conflicts 12": one line for all of them. */
static struct ws_str family(struct ws_str kernel)
{
	size_t n = kernel.n;

	while (n && kernel.at[n - 1] >= '0' && kernel.at[n - 1] <= '9')
		n--;
	if (n && n < kernel.n && kernel.at[n - 1] == ' ')
		kernel.n = n - 1;
	return kernel;
}

static bool is_vcopy(const struct fid_row *row)
{
	return ws_str_is(row->kernel, "vcopy");
}

/* Is this the first row of its kernel, or of its kernel's counter? */
static bool is_first(struct fid_rows *rows, const struct fid_row *row, bool counter)
{
	for (const struct fid_row *other = rows->at; other < row; other++)
		if (ws_str_eq(family(other->kernel), family(row->kernel)) &&
		    (!counter || ws_str_eq(other->counter, row->counter)))
			return false;
	return true;
}

/* "4 of 4", and the largest distance of modelled ones: "4 of 4, 6 within 1.2 %". */
static void print_kernel(struct fid_rows *rows, unsigned chip, struct ws_str kernel)
{
	unsigned n_exact = 0, n_equal = 0, n_modelled = 0;
	double worst = 0;

	ws_vec_each(row, rows) {
		double error = fabs(fid_error(row));

		if (row->chip != chip || !row->has_expected ||
		    !ws_str_eq(family(row->kernel), kernel))
			continue;
		n_exact += row->exact;
		n_equal += row->exact && !error;
		n_modelled += !row->exact;
		if (!row->exact && error > worst)
			worst = error;
	}
	if (!n_exact && !n_modelled) {
		printf(" - | - |");
		return;
	}
	if (n_exact)
		printf(" %u of %u |", n_equal, n_exact);
	else
		printf(" - |");
	if (n_modelled)
		printf(" %u within %.1f %% |", n_modelled, 100 * worst);
	else
		printf(" - |");
}

static void print_cell(const struct fid_row *row)
{
	double error;

	if (!row) {
		printf(" - |");
		return;
	}
	if (row->reason.n) {
		printf(" not supported |");
		return;
	}
	if (!row->has_expected) {
		printf(" %.0f |", row->value);
		return;
	}
	error = fid_error(row);
	if (isinf(error))
		printf(" %.0f (recorded 0) |", row->value);
	else
		printf(" %.0f (%+.1f %%) |", row->value, 100 * error);
}

/* Was it recorded, on any of the chips? */
static bool has_expected(struct fid_rows *rows, const struct fid_row *one)
{
	ws_vec_each(row, rows)
		if (row->has_expected && ws_str_eq(row->counter, one->counter) &&
		    ws_str_eq(row->kernel, one->kernel))
			return true;
	return false;
}

static void print_head(const char *const *chips, unsigned n_chips, const char *first,
		       const char *const *columns, unsigned n_columns)
{
	printf("| %s |", first);
	for (unsigned c = 0; c < n_chips; c++)
		for (unsigned k = 0; chips[c] && k < n_columns; k++)
			printf(" %s%s%s |", k ? "" : chips[c], k ? "" : " ", columns[k]);
	printf("\n|---|");
	for (unsigned c = 0; c < n_chips; c++)
		for (unsigned k = 0; chips[c] && k < n_columns; k++)
			printf("---|");
	printf("\n");
}

void fid_markdown(struct fid_rows *rows, const char *const *chips, unsigned n_chips)
{
	static const char *const known[] = { "exact, equal", "modelled" };
	static const char *const dispatches[] = { "0", "1", "2" };

	print_head(chips, n_chips, "kernel", known, 2);
	ws_vec_each(row, rows) {
		if (is_vcopy(row) || !is_first(rows, row, false))
			continue;
		printf("| %.*s |", WS_STR_ARGS(family(row->kernel)));
		for (unsigned c = 0; c < n_chips; c++)
			if (chips[c])
				print_kernel(rows, c, family(row->kernel));
		printf("\n");
	}
	printf("\n");
	print_head(chips, n_chips, "counter", dispatches, FID_DISPATCHES);
	ws_vec_each(row, rows) {
		if (!is_vcopy(row) || row->exact || !is_first(rows, row, true) ||
		    !has_expected(rows, row))
			continue;
		printf("| %.*s |", WS_STR_ARGS(row->counter));
		for (unsigned c = 0; c < n_chips; c++)
			for (unsigned d = 0; chips[c] && d < FID_DISPATCHES; d++)
				print_cell(find(rows, c, row->kernel, row->counter, d));
		printf("\n");
	}
}
