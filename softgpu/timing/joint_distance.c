/*
 * joint_distance: whether the accesses of waves in step are the same, moved, and how far.
 *
 * What is the same is in the traces: the form of the record, the mask of lanes, and the stride or the list of distances. Then the
 * lines are the same, too, if the distance is whole chunks of SG_CHUNK bytes, and all are in the device's memory, where a line's number
 * follows from its address.
 */
#include "softgpu/timing/model_priv.h"

static bool chunks_of(uint64_t bytes, int32_t *by)
{
	*by = (int32_t)((int64_t)bytes / SG_CHUNK);
	return *by * (int64_t)SG_CHUNK == (int64_t)bytes;
}

/* ---- lanes in order ---- */

struct row {
	uint64_t base;
	int32_t stride;
	uint64_t first; /* from the base to the first address, relative to the device's memory */
	uint64_t extent;
};

static inline bool row_distance(const struct row *home, const struct sg_trace_records *records,
				int32_t *by)
{
	struct sg_in_order next;

	return sg_next_in_order(records, &next) && next.stride == home->stride &&
	       next.base + home->first < home->extent && chunks_of(next.base - home->base, by);
}

static bool row_distances(const struct sg_model *m, const struct sg_model_wave *w, int32_t *by,
			  size_t *ends)
{
	const struct sg_follower *f = w->followers;
	int64_t to_first = (int64_t)m->in_order.stride * __builtin_ctzll(w->exec);
	const struct row row = { m->in_order.base, m->in_order.stride,
				 (uint64_t)to_first - m->d->origin, m->d->extent };

	for (uint32_t k = 0, n = w->n_followers; k < n; k++) {
		if (!row_distance(&row, &f[k].records, &by[k]))
			return false;
		ends[k] = f[k].records.at + SG_TRACE_SHORT_BYTES;
	}
	return true;
}

/* ---- others ---- */

struct pattern {
	uint64_t base, mask;
	uint8_t head; /* of the record */
	const uint8_t *distances;
	size_t size;
	uint64_t lowest, highest; /* lines */
	uint64_t n_lines;         /* of the device's memory */
};

/* Of the home. False: its lines would not move along. */
static bool find_pattern(const struct sg_model *m, const struct sg_model_wave *w,
			 const struct sg_trace_records *records, struct pattern *out)
{
	enum sg_trace_form form;
	size_t end;

	*out = (struct pattern){ .lowest = m->accesses.n ? SG_NEVER : 0,
				 .n_lines = m->d->extent >> 6 };
	out->distances =
		sg_trace_peek(records, w->exec, &out->mask, &out->base, &form, &out->size, &end);
	if (!out->distances || sg_trace_space(records) != SG_SPACE_GLOBAL)
		return false;
	out->head = records->bytes[records->at];
	for (uint32_t k = 0; k < m->accesses.n; k++) {
		uint64_t line = m->accesses.at[k].line;

		out->lowest = line < out->lowest ? line : out->lowest;
		out->highest = line > out->highest ? line : out->highest;
	}
	/* one page or two, both with lines: sg_joint_begin_look_ups() */
	return out->highest < out->n_lines &&
	       out->highest - out->lowest < 1u << (m->hw->page_shift - 6);
}

static bool pattern_distance(const struct pattern *home, uint64_t exec,
			     const struct sg_trace_records *records, int32_t *by, size_t *end)
{
	enum sg_trace_form form;
	const uint8_t *distances;
	uint64_t mask, base;
	size_t size;

	if (records->at >= records->size || records->bytes[records->at] != home->head)
		return false;
	distances = sg_trace_peek(records, exec, &mask, &base, &form, &size, end);
	return distances && mask == home->mask && size == home->size &&
	       !memcmp(distances, home->distances, size) && chunks_of(base - home->base, by) &&
	       sg_joint_line(home->lowest, *by) < home->n_lines &&
	       sg_joint_line(home->highest, *by) < home->n_lines;
}

bool sg_joint_distances(const struct sg_model *m, const struct sg_model_wave *w,
			const struct sg_trace_records *home, int32_t *by, size_t *ends)
{
	struct pattern pattern;

	if (m->in_order.is_known)
		return row_distances(m, w, by, ends);
	if (!find_pattern(m, w, home, &pattern))
		return false;
	for (uint32_t k = 0; k < w->n_followers; k++)
		if (!pattern_distance(&pattern, w->exec, &w->followers[k].records, &by[k],
				      &ends[k]))
			return false;
	return true;
}
