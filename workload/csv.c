#include "workload/csv.h"
#include "workload/names.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define COLUMNS_MAX (1u << 16)
#define GIVE_BACK_BYTES (8u << 20) /* how much of the file is consumed between two madvise() */

/* Spellings of older collectors (spec: pass CSV columns), all to the newest. */
/* clang-format off */
static const char *const renames[][2] = {
	{ "KernelName",  WL_COL_KERNEL },
	{ "Index",       WL_COL_DISPATCH },
	{ "grd",         WL_COL_GRID },
	{ "GRD",         WL_COL_GRID },
	{ "gpu-id",      WL_COL_GPU },
	{ "wgr",         WL_COL_WORKGROUP },
	{ "WGR",         WL_COL_WORKGROUP },
	{ "lds",         WL_COL_LDS },
	{ "LDS",         WL_COL_LDS },
	{ "scr",         WL_COL_SCRATCH },
	{ "SCR",         WL_COL_SCRATCH },
	{ "sgpr",        WL_COL_SGPR },
	{ "arch_vgpr",   WL_COL_ARCH_VGPR },
	{ "accum_vgpr",  WL_COL_ACCUM_VGPR },
	{ "ACCUM_VGPR",  WL_COL_ACCUM_VGPR },
	{ "BeginNs",     WL_COL_START },
	{ "EndNs",       WL_COL_END },
};
/* clang-format on */

void wl_dict_init(struct wl_dict *dict, struct ws_arena *arena)
{
	*dict = (struct wl_dict){ .arena = arena };
	ws_map_init(&dict->index, WS_MAP_STR, (1u << 31) - 1);
}

void wl_dict_fini(struct wl_dict *dict)
{
	ws_map_fini(&dict->index);
	free(dict->texts);
	dict->texts = NULL;
}

size_t wl_dict_add(struct wl_dict *dict, struct ws_str text)
{
	struct ws_map_entry *known = ws_map_find(&dict->index, text);
	char *copy;

	if (known)
		return (size_t)(uintptr_t)known->value;
	if (dict->n == dict->cap) {
		size_t cap = dict->cap ? dict->cap * 2 : 64;
		const char **grown = realloc(dict->texts, cap * sizeof(*grown));

		if (!grown)
			return SIZE_MAX;
		dict->texts = grown;
		dict->cap = cap;
	}
	copy = ws_arena_strndup(dict->arena, text.at, text.n);
	if (!copy || ws_map_put(&dict->index, (struct ws_str){ copy, text.n },
				(void *)(uintptr_t)dict->n, NULL))
		return SIZE_MAX;
	dict->texts[dict->n] = copy;
	return dict->n++;
}

double *wl_doubles(size_t n)
{
	void *at = mmap(NULL, WS_MAX(n, (size_t)1) * sizeof(double), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void wl_doubles_free(double *at, size_t n)
{
	if (at)
		munmap(at, WS_MAX(n, (size_t)1) * sizeof(double));
}

/* A cell: @at to @end, and where the next begins. Quotes are taken off by the caller. */
struct cell {
	const char *at, *end;
	bool quoted; /* at and end are inside the quotes, which may hold doubled ones */
};

/* Read a cell at *@pos; leaves *@pos on its separator (',' or '\n') or at @end. */
static struct cell next_cell(const char **pos, const char *end)
{
	const char *p = *pos;
	struct cell cell = { .at = p };

	if (p < end && *p == '"') {
		cell.at = ++p;
		cell.quoted = true;
		while (p < end) {
			p = memchr(p, '"', (size_t)(end - p));
			if (!p) {
				cell.end = *pos = end; /* never closed: the file was cut off */
				return cell;
			}
			if (p + 1 < end && p[1] == '"') {
				p += 2;
				continue;
			}
			break;
		}
		cell.end = p < end ? p : end;
		while (p < end && *p != ',' && *p != '\n')
			p++;
		*pos = p;
		return cell;
	}
	while (p < end && *p != ',' && *p != '\n')
		p++;
	cell.end = p;
	if (cell.end > cell.at && cell.end[-1] == '\r')
		cell.end--;
	*pos = p;
	return cell;
}

/* The text of a cell with doubled quotes undone; from @arena when it had any. */
static struct ws_str cell_text(const struct cell *cell, struct ws_arena *arena)
{
	struct ws_str text = { cell->at, (size_t)(cell->end - cell->at) };
	char *copy, *to;

	if (!cell->quoted || !memchr(text.at, '"', text.n))
		return text;
	copy = to = ws_arena_alloc(arena, text.n + 1);
	if (!copy)
		return text;
	for (const char *p = cell->at; p < cell->end; p++) {
		*to++ = *p;
		if (*p == '"' && p + 1 < cell->end && p[1] == '"')
			p++;
	}
	return (struct ws_str){ copy, (size_t)(to - copy) };
}

static bool means_none(struct ws_str text)
{
	static const char *const words[] = { "",    "NA",  "N/A",  "nan",  "NaN",
					     "NAN", "n/a", "NULL", "null", "None" };

	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++)
		if (ws_str_is(text, words[i]))
			return true;
	return false;
}

static const double powers_of_ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
					1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

enum number { NUMBER_INT, NUMBER_REAL, NUMBER_EMPTY, NUMBER_TEXT };

static enum number slow_number(struct ws_str text, double *out)
{
	char copy[64], *stop;
	double value;

	text = ws_str_trim(text);
	*out = NAN;
	if (means_none(text))
		return NUMBER_EMPTY;
	if (text.n >= sizeof(copy))
		return NUMBER_TEXT;
	memcpy(copy, text.at, text.n);
	copy[text.n] = '\0';
	if (strncmp(copy, "0x", 2) == 0) /* a handle: strtod() would take it for a number */
		return NUMBER_TEXT;
	value = strtod(copy, &stop);
	if (*stop)
		return NUMBER_TEXT;
	*out = value;
	return isnan(value) ? NUMBER_EMPTY : NUMBER_REAL;
}

/*
 * Nearly every cell is a short whole number, some have a fraction; both are read here in
 * place. A mantissa below 2^53 over an exact power of ten is rounded once, hence right.
 */
static inline enum number read_number(const char **pos, const char *end, double *out)
{
	const char *p = *pos, *first = p;
	uint64_t whole = 0;
	struct cell cell;

	while (p < end && (unsigned)(*p - '0') < 10 && p - first < 18)
		whole = whole * 10 + (unsigned)(*p++ - '0');
	if (p > first && (p == end || *p == ',' || *p == '\n' || *p == '\r')) {
		if (p < end && *p == '\r')
			p++;
		if (p == end || *p == ',' || *p == '\n') {
			*pos = p;
			*out = (double)whole;
			return NUMBER_INT;
		}
	} else if (p > first && p < end && *p == '.') {
		const char *point = p++;

		while (p < end && (unsigned)(*p - '0') < 10 && p - first < 18)
			whole = whole * 10 + (unsigned)(*p++ - '0');
		if ((p == end || *p == ',' || *p == '\n') && whole < (1ull << 53) && p > point) {
			*pos = p;
			*out = (double)whole / powers_of_ten[p - point - 1];
			return NUMBER_REAL;
		}
	}
	cell = next_cell(pos, end);
	return slow_number((struct ws_str){ cell.at, (size_t)(cell.end - cell.at) }, out);
}

static size_t count_lines(const char *at, const char *end)
{
	size_t n = 0;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
		n++;
		at++;
	}
	return n;
}

static const char *newest_name(struct ws_str name, struct ws_arena *arena)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(renames); i++)
		if (ws_str_is(name, renames[i][0]))
			return renames[i][1];
	return ws_arena_strndup(arena, name.at, name.n);
}

static bool is_listed(const char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static enum ws_status read_header(const char **pos, const char *end, const struct wl_csv_how *how,
				  struct ws_arena *arena, struct wl_csv *csv, struct ws_err *err)
{
	const char *p = *pos;
	size_t n = 1;

	if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3; /* a spreadsheet was here */
	for (const char *q = p; q < end && *q != '\n'; q++)
		n += *q == ',';
	if (n > COLUMNS_MAX)
		return ws_fail(err, WS_E_LIMIT, "more than %u columns", COLUMNS_MAX);
	csv->columns = ws_arena_array(arena, n, sizeof(*csv->columns));
	if (!csv->columns)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (;;) {
		struct cell cell = next_cell(&p, end);
		struct wl_csv_column *col;

		if (csv->n_columns == n)
			return ws_fail(err, WS_E_FORMAT, "a line break inside the header");
		col = &csv->columns[csv->n_columns++];
		col->name = newest_name(ws_str_trim(cell_text(&cell, arena)), arena);
		if (!col->name)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		col->is_int = true;
		col->is_dict = how && is_listed(how->texts, col->name);
		if (p >= end || *p == '\n')
			break;
		p++;
	}
	*pos = p < end ? p + 1 : end;
	if (csv->n_columns == 1 && !csv->columns[0].name[0])
		return ws_fail(err, WS_E_FORMAT, "the file is empty");
	return WS_OK;
}

static enum ws_status dict_cell(struct wl_csv_column *col, size_t row, const char **pos,
				const char *end, const struct wl_csv_how *how,
				struct ws_arena *arena, struct ws_err *err)
{
	struct cell cell = next_cell(pos, end);
	struct ws_str text = cell_text(&cell, arena);
	size_t index = wl_dict_add(how->dict, text);

	if (index == SIZE_MAX)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	col->at[row] = (double)index;
	return WS_OK;
}

/* One row into slot csv->n_rows. *@out_cells: how many cells it had. */
static enum ws_status read_row(struct wl_csv *csv, const char **pos, const char *end,
			       const struct wl_csv_how *how, struct ws_arena *arena,
			       size_t *out_cells, bool *out_holed, struct ws_err *err)
{
	const char *p = *pos;
	size_t n = 0;

	*out_holed = false;
	for (;;) {
		if (n < csv->n_columns) {
			struct wl_csv_column *col = &csv->columns[n];

			if (col->is_dict) {
				enum ws_status st =
					dict_cell(col, csv->n_rows, &p, end, how, arena, err);

				if (st)
					return st;
			} else {
				double value;
				enum number kind = read_number(&p, end, &value);

				if (value != 0) /* NaN too; zero is what the page holds */
					col->at[csv->n_rows] = value;
				if (kind != NUMBER_INT) {
					col->is_int &= kind == NUMBER_EMPTY;
					col->is_text |= kind == NUMBER_TEXT;
					*out_holed |= kind == NUMBER_EMPTY;
				}
			}
		} else {
			next_cell(&p, end);
		}
		n++;
		if (p >= end || *p == '\n')
			break;
		p++;
	}
	*out_cells = n;
	*pos = p < end ? p + 1 : end;
	return WS_OK;
}

static void clear_row(struct wl_csv *csv)
{
	for (size_t c = 0; c < csv->n_columns; c++)
		if (csv->columns[c].at[csv->n_rows] != 0)
			csv->columns[c].at[csv->n_rows] = 0;
}

static enum ws_status give_room(struct wl_csv *csv, size_t n_rows_max, struct ws_err *err)
{
	/* A page more than needed between columns keeps their streams in different sets. */
	size_t stride = (n_rows_max * sizeof(double) / 4096 + 1) * 4096 + 64;
	char *at;

	csv->values_bytes = stride * csv->n_columns;
	at = mmap(NULL, csv->values_bytes, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		csv->values_bytes = 0;
		return ws_fail(err, WS_E_NOMEM, "out of memory for %zu rows of %zu columns",
			       n_rows_max, csv->n_columns);
	}
	csv->values = at;
	for (size_t c = 0; c < csv->n_columns; c++)
		csv->columns[c].at = (double *)(at + c * stride);
	return WS_OK;
}

static enum ws_status parse(const char *bytes, size_t n_bytes, bool mapped,
			    const struct wl_csv_how *how, struct ws_arena *arena,
			    struct wl_csv *csv, struct ws_err *err)
{
	const char *p = bytes, *end = bytes + n_bytes, *given_back = bytes;
	enum ws_status st = read_header(&p, end, how, arena, csv, err);
	size_t line = 1;

	csv->n_bytes = n_bytes;
	if (!st)
		st = give_room(csv, count_lines(p, end) + 1, err);
	while (!st && p < end) {
		size_t n_cells;
		bool holed;

		line++;
		if (*p == '\n' || (*p == '\r' && p + 1 < end && p[1] == '\n')) {
			p += *p == '\r' ? 2 : 1;
			continue;
		}
		st = read_row(csv, &p, end, how, arena, &n_cells, &holed, err);
		if (st)
			break;
		if (n_cells != csv->n_columns) {
			clear_row(csv);
			if (!csv->n_rows_bad++)
				csv->first_bad = line;
		} else {
			csv->n_rows++;
			csv->n_rows_holed += holed;
		}
		if (mapped && (size_t)(p - given_back) >= 2 * GIVE_BACK_BYTES) {
			size_t n = (size_t)(p - given_back) / GIVE_BACK_BYTES * GIVE_BACK_BYTES;

			madvise((void *)(uintptr_t)given_back, n, MADV_DONTNEED);
			given_back += n;
		}
	}
	if (st)
		wl_csv_fini(csv);
	return st;
}

enum ws_status wl_csv_parse(const char *bytes, size_t n_bytes, const struct wl_csv_how *how,
			    struct ws_arena *arena, struct wl_csv *out_csv, struct ws_err *err)
{
	*out_csv = (struct wl_csv){ 0 };
	return parse(bytes, n_bytes, false, how, arena, out_csv, err);
}

enum ws_status wl_csv_read(const char *path, const struct wl_csv_how *how, struct ws_arena *arena,
			   struct wl_csv *out_csv, struct ws_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum ws_status st;
	struct stat info;
	void *bytes;

	*out_csv = (struct wl_csv){ 0 };
	if (fd < 0 || fstat(fd, &info) != 0) {
		st = ws_fail_errno(err, errno, "cannot read '%s'", path);
		if (fd >= 0)
			close(fd);
		return st;
	}
	if (!S_ISREG(info.st_mode) || info.st_size == 0) {
		close(fd);
		return ws_fail(err, WS_E_FORMAT, "'%s' is %s: profile again", path,
			       S_ISREG(info.st_mode) ? "empty" : "not a file");
	}
	bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return ws_fail_errno(err, errno, "cannot map '%s'", path);
	madvise(bytes, (size_t)info.st_size, MADV_SEQUENTIAL);
	st = parse(bytes, (size_t)info.st_size, true, how, arena, out_csv, err);
	munmap(bytes, (size_t)info.st_size);
	return st ? ws_fail_in(err, st, "%s", path) : WS_OK;
}

void wl_csv_fini(struct wl_csv *csv)
{
	if (csv->values)
		munmap(csv->values, csv->values_bytes);
	csv->values = NULL;
}

const struct wl_csv_column *wl_csv_column(const struct wl_csv *csv, const char *name)
{
	for (size_t i = 0; i < csv->n_columns; i++)
		if (strcmp(csv->columns[i].name, name) == 0)
			return &csv->columns[i];
	return NULL;
}

bool wl_csv_record(const char **at, const char *end, struct ws_arena *arena,
		   const char ***out_cells, size_t *out_n)
{
	const char *p = *at;
	const char **cells;
	size_t n = 1;

	while (p < end && (*p == '\n' || *p == '\r'))
		p++;
	if (p >= end)
		return false;
	for (const char *q = p; q < end && *q != '\n'; q++)
		n += *q == ',';
	cells = ws_arena_array(arena, n, sizeof(*cells));
	if (!cells)
		return false;
	for (*out_n = 0;; p++) {
		struct cell cell = next_cell(&p, end);
		struct ws_str text = cell_text(&cell, arena);

		/* Quoted line ends can make more cells than commas on the first line. */
		if (*out_n < n)
			cells[(*out_n)++] = ws_arena_strndup(arena, text.at, text.n);
		if (p >= end || *p == '\n')
			break;
	}
	for (size_t i = 0; i < *out_n; i++)
		if (!cells[i])
			return false;
	*at = p < end ? p + 1 : end;
	*out_cells = cells;
	return true;
}
