#include "collector/regions.h"

#include "collector/collector_priv.h"

#include <errno.h>
#include <string.h>

#define SLOTS (2 * COL_REGIONS_MAX)
#define TEXT_PAGES (256u << 10)   /* names are kept in pieces of this size */
#define NAME_MAX_BYTES (4u << 10) /* longer names are cut */

__thread struct col_region_state col_region_self_ __attribute__((tls_model("initial-exec")));

struct row {
	uint64_t hash;
	const char *name, *file; /* NULL: none */
	uint64_t address;
	uint32_t category, line;
};

static struct {
	struct col_lock lock; /* of adding rows, and of writing them */
	struct row *rows;     /* COL_REGIONS_MAX; the first is not used */
	uint32_t *slots;      /* row numbers by hash; 0: free */
	uint32_t n_rows;      /* the number of the last one */
	char *text, *text_end;
	struct cap_writer *writer; /* what knows the rows; NULL: no capture is open */
} regions;

/* ---- the table ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	/* FNV-1a; 0 ends a text, so that "a", "bc" and "ab", "c" differ */
	for (; text && *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	return hash * 0x100000001b3u;
}

static uint64_t hash_row(const struct row *row)
{
	uint64_t hash = 0xcbf29ce484222325u ^ row->category ^ (uint64_t)row->line << 32;

	hash = hash_text(hash_text(hash ^ row->address, row->name), row->file);
	return hash ^ hash >> 29;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strncmp(a, b, NAME_MAX_BYTES - 1) == 0);
}

static bool same(const struct row *a, const struct row *b)
{
	return a->hash == b->hash && a->category == b->category && a->line == b->line &&
	       a->address == b->address && same_text(a->name, b->name) &&
	       same_text(a->file, b->file);
}

/* The number of @row; 0: not there, and *out_slot is where it goes. */
static uint32_t find(const struct row *row, uint32_t **out_slot)
{
	uint32_t *slots = __atomic_load_n(&regions.slots, __ATOMIC_ACQUIRE);

	*out_slot = NULL;
	/* Never more than half full, so there is a free one. */
	for (uint64_t i = row->hash; slots; i++) {
		uint32_t id = __atomic_load_n(&slots[i % SLOTS], __ATOMIC_ACQUIRE);

		*out_slot = &slots[i % SLOTS];
		if (!id || same(&regions.rows[id], row))
			return id;
	}
	return 0;
}

static const char *keep(const char *text)
{
	size_t n = text ? strnlen(text, NAME_MAX_BYTES - 1) : 0;
	char *to;

	if (!n)
		return NULL;
	if ((size_t)(regions.text_end - regions.text) < n + 1) {
		regions.text = col_pages(TEXT_PAGES);
		regions.text_end = regions.text ? regions.text + TEXT_PAGES : NULL;
		if (!regions.text)
			return NULL;
	}
	to = regions.text;
	regions.text += n + 1;
	memcpy(to, text, n); /* what follows is 0 already */
	return to;
}

static void write_row(uint32_t id)
{
	const struct row *row = &regions.rows[id];
	struct cap_rec_region rec = {
		.h = { CAP_REC_FIXED_TAG(REGION, struct cap_rec_region), id, 0 },
		.category = row->category,
		.address = row->address,
		.line = row->line,
	};

	if (row->name)
		rec.name_str = cap_writer_intern(regions.writer, row->name, strlen(row->name));
	if (row->file)
		rec.file_str = cap_writer_intern(regions.writer, row->file, strlen(row->file));
	cap_writer_meta(regions.writer, &rec.h);
}

static bool make_tables(void)
{
	uint32_t *slots;

	if (regions.slots)
		return true;
	if (!regions.rows)
		regions.rows = col_pages(COL_REGIONS_MAX * sizeof(*regions.rows));
	slots = regions.rows ? col_pages(SLOTS * sizeof(*slots)) : NULL;
	__atomic_store_n(&regions.slots, slots, __ATOMIC_RELEASE);
	return slots;
}

static uint32_t intern(struct row *row)
{
	int saved_errno = errno;
	uint32_t *slot, id;

	row->hash = hash_row(row);
	id = find(row, &slot);
	if (id)
		return id;
	col_lock(&regions.lock);
	if (make_tables() && !(id = find(row, &slot)) && regions.n_rows + 1 < COL_REGIONS_MAX) {
		struct row kept = *row;

		kept.name = keep(row->name);
		kept.file = keep(row->file);
		if (kept.name || row->address) {
			/* A fork in here leaves the child a row that nobody finds: no harm. */
			id = regions.n_rows + 1;
			regions.rows[id] = kept;
			__atomic_store_n(&regions.n_rows, id, __ATOMIC_RELEASE);
			if (regions.writer)
				write_row(id);
			__atomic_store_n(slot, id, __ATOMIC_RELEASE);
		}
	}
	col_unlock(&regions.lock);
	errno = saved_errno;
	return id;
}

uint32_t col_region_intern(enum cap_region_category category, const char *name, const char *file,
			   uint32_t line)
{
	struct row row = {
		.category = category,
		.name = name && *name ? name : "(unnamed)",
		.file = file && *file ? file : NULL,
		.line = line,
	};

	return intern(&row);
}

uint32_t col_region_intern_address(enum cap_region_category category, uint64_t address)
{
	struct row row = { .category = category, .address = address };

	return address ? intern(&row) : 0;
}

/* ---- records ---- */

bool col_region_wanted(void)
{
	return col_asked(COL_SERVICE_REGIONS) && col_capture();
}

void col_region_thread(bool on)
{
	col_region_self_.off = !on;
}

/* What the inline half cannot do: the first record of a thread, a full chunk, a handler. */
void col_region_write_(uint32_t id, uint32_t tag)
{
	struct col_thread *t = col_thread();
	struct cap_lane *lane = t ? col_thread_lane(t) : NULL;
	struct cap_rec *rec = lane && id ? cap_lane_reserve(&lane, sizeof(*rec)) : NULL;

	if (!rec) {
		col_call_lost_(t, CAP_DOMAIN_REGIONS);
		return;
	}
	rec->what = id;
	rec->time = cap_ticks();
	cap_lane_commit(lane, rec, tag);
}

void col_region_enter_call(uint32_t id)
{
	col_region_enter(id);
}

void col_region_leave_call(uint32_t id)
{
	col_region_leave(id);
}

static void annotate(const char *name, enum cap_arg_kind kind, uint64_t bits, const char *text)
{
	const struct col_region_state *s = &col_region_self_;
	uint32_t at = s->depth - 1, n_name, n_text, n_bytes;
	struct cap_rec_annotation *rec = NULL;
	struct cap_lane *lane;
	struct col_thread *t;

	if (!s->depth || (at < COL_REGION_DEPTH && !(s->recorded[at / 64] >> at % 64 & 1)) ||
	    (at >= COL_REGION_DEPTH && !col_on(COL_SERVICE_REGIONS)))
		return;
	t = col_thread();
	lane = t ? col_thread_lane(t) : NULL;
	n_name = name ? (uint32_t)strnlen(name, COL_REGION_TEXT_MAX) : 0;
	n_text = text ? (uint32_t)strnlen(text, COL_REGION_TEXT_MAX) : 0;
	n_bytes = (uint32_t)sizeof(*rec) + (n_name + n_text + 7) / 8 * 8;
	if (lane)
		rec = cap_lane_reserve(&lane, n_bytes);
	if (!rec) {
		col_call_lost_(t, CAP_DOMAIN_REGIONS);
		return;
	}
	rec->h.what = kind;
	rec->h.time = cap_ticks();
	rec->bits = bits;
	rec->n_name = n_name;
	rec->n_bytes = n_name + n_text;
	if (n_name)
		memcpy(rec + 1, name, n_name);
	if (n_text)
		memcpy((char *)(rec + 1) + n_name, text, n_text);
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_ANNOTATION, n_bytes));
}

void col_region_annotate(const char *name, enum cap_arg_kind kind, uint64_t bits)
{
	annotate(name, kind, bits, NULL);
}

void col_region_annotate_text(const char *name, const char *text)
{
	annotate(name, CAP_ARG_STR, 0, text);
}

void col_region_trace(bool on)
{
	int saved_errno = errno;

	if (col_region_wanted())
		col_control_region(on);
	errno = saved_errno;
}

/* ---- captures ---- */

static void state(struct cap_writer *writer)
{
	col_lock(&regions.lock);
	regions.writer = writer;
	for (uint32_t id = 1; id <= regions.n_rows; id++)
		write_row(id);
	col_unlock(&regions.lock);
}

/* Regions that the parent's capture has are not in the child's: their ends are left out. */
static void forked(void)
{
	regions.lock = (struct col_lock){ 0 };
	regions.writer = NULL;
	memset(col_region_self_.recorded, 0, sizeof(col_region_self_.recorded));
}

static void detach(void)
{
	col_lock(&regions.lock);
	regions.writer = NULL;
	col_unlock(&regions.lock);
}

extern const struct col_provider col_provider_regions;
const struct col_provider col_provider_regions = {
	.name = "regions",
	.state = state,
	.forked = forked,
	.detach = detach,
};
