/*
 * functions: the table of instrumented functions. It only grows.
 */
#include "collector/instrument/instrument_priv.h"

#define GROUPS_MAX 4096u

struct col_instrumented *col_instrumented_at;

/* Functions of one module: they have neighbouring numbers and are sorted by address. */
struct group {
	uint32_t first, end;
};

static struct {
	uint32_t n;           /* the last number */
	uint32_t n_published; /* likewise, as of the last group */
	uint32_t n_groups;    /* release */
	struct group groups[GROUPS_MAX];
} table;

bool col_instrumented_start(void)
{
	if (!col_instrumented_at)
		col_instrumented_at =
			col_pages((COL_PLAN_FUNCTIONS_MAX + 1) * sizeof(*col_instrumented_at));
	return col_instrumented_at;
}

uint32_t col_instrumented_add(const struct col_instrumented *function)
{
	if (table.n == COL_PLAN_FUNCTIONS_MAX)
		return 0;
	col_instrumented_at[++table.n] = *function;
	return table.n;
}

void col_instrumented_publish(void)
{
	if (table.n == table.n_published || table.n_groups == GROUPS_MAX)
		return;
	table.groups[table.n_groups] = (struct group){ table.n_published + 1, table.n + 1 };
	table.n_published = table.n;
	__atomic_store_n(&table.n_groups, table.n_groups + 1, __ATOMIC_RELEASE);
}

static uint32_t find_in(struct group group, uint64_t address)
{
	const struct col_instrumented *at = col_instrumented_at;
	uint32_t low = group.first, high = group.end;

	while (high - low > 1) { /* the last one that begins at or before the address */
		uint32_t mid = low + (high - low) / 2;

		if (at[mid].start <= address)
			low = mid;
		else
			high = mid;
	}
	return at[low].start <= address && address < at[low].end && !at[low].resume ? low : 0;
}

uint32_t col_instrumented_of(uint64_t address)
{
	/* The newest first: an unloaded library's functions may have had the same addresses. */
	for (uint32_t i = __atomic_load_n(&table.n_groups, __ATOMIC_ACQUIRE); i-- > 0;) {
		uint32_t number = find_in(table.groups[i], address);

		if (number)
			return number;
	}
	return 0;
}
