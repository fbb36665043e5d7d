#include "softgpu/mem/coalesce.h"

/* up to four requests on their way to L1 */
struct group {
	uint32_t n_requests, first; /* first: access of this group in out->at */
};

static void add_line(struct sg_accesses *out, uint32_t first, uint64_t line, uint64_t bytes)
{
	for (uint32_t k = first; k < out->n; k++)
		if (out->at[k].line == line) {
			out->at[k].bytes |= bytes;
			return;
		}
	if (out->n == SG_MAX_ACCESSES)
		return;
	out->at[out->n++] = (struct sg_line_access){ line, bytes };
}

static uint64_t byte_mask(uint32_t from, uint32_t n)
{
	return (n >= 64 ? ~0ull : (1ull << n) - 1) << from;
}

/* One request: [addr, addr + size) in at most two lines. */
static void add_request(struct sg_accesses *out, struct group *g, uint64_t addr, uint32_t size)
{
	uint32_t at = addr & 63, in_first = size < 64 - at ? size : 64 - at;

	if (g->n_requests == 4) {
		g->n_requests = 0;
		g->first = out->n;
	}
	g->n_requests++;
	out->n_requests++;
	add_line(out, g->first, addr >> 6, byte_mask(at, in_first));
	if (in_first < size)
		add_line(out, g->first, (addr >> 6) + 1, byte_mask(0, size - in_first));
}

/* Four dwords in order, of one line: the usual case, also of tiles. */
static bool is_row(const uint64_t addr[4], uint64_t offset)
{
	return ((addr[0] + offset) & 63) <= 48 && addr[1] - addr[0] == 4 &&
	       addr[2] - addr[0] == 8 && addr[3] - addr[0] == 12;
}

/* Four lanes of one line with up to a dword each: one request. */
static bool share(const struct sg_trace_access *in, uint64_t offset, unsigned quad, uint32_t size,
		  uint64_t *line, uint64_t *bytes)
{
	uint64_t lanes = in->mask >> (4 * quad) & 0xf;

	if (lanes == 0xf && size == 4 && is_row(in->addr + 4ull * quad, offset)) {
		uint64_t at = in->addr[4 * quad] + offset;

		*line = at >> 6;
		*bytes = 0xffffull << (at & 63);
		return true;
	}
	*bytes = 0;
	*line = ~0ull;
	for (; lanes; lanes &= lanes - 1) {
		uint64_t a = in->addr[4 * quad + (unsigned)__builtin_ctzll(lanes)] + offset;

		if (*line == ~0ull)
			*line = a >> 6;
		if (a >> 6 != *line || (a & 63) + size > 64)
			return false;
		*bytes |= byte_mask(a & 63, size);
	}
	return true;
}

static void add_lanes(const struct sg_trace_access *in, uint64_t offset, uint32_t size,
		      struct sg_accesses *out)
{
	struct group g = { 0, out->n };

	for (unsigned quad = 0; quad < 16; quad++) {
		uint64_t lanes = in->mask >> (4 * quad) & 0xf, line, bytes;

		if (!lanes)
			continue;
		if (size <= 4 && share(in, offset, quad, size, &line, &bytes)) {
			out->shared |= (lanes & (lanes - 1)) != 0;
			if (g.n_requests == 4) {
				g.n_requests = 0;
				g.first = out->n;
			}
			g.n_requests++;
			out->n_requests++;
			add_line(out, g.first, line, bytes);
			continue;
		}
		for (; lanes; lanes &= lanes - 1)
			add_request(out, &g,
				    in->addr[4 * quad + (unsigned)__builtin_ctzll(lanes)] + offset,
				    size);
	}
}

/* All lanes in order, from the start of a line: what most instructions of most kernels do. */
static bool in_order(const struct sg_trace_access *in, uint32_t size, struct sg_accesses *out)
{
	if (!in->affine || in->mask != ~0ull || in->stride != (int32_t)size || in->base & 63 ||
	    in->space == SG_SPACE_SCRATCH || (size != 4 && size != 8 && size != 16))
		return false;
	out->n = size == 4 ? 4 : 16;
	out->n_requests = size == 4 ? 16 : 64;
	out->shared = size == 4;
	out->per_line = size == 8 ? 2 : 1;
	out->first = in->base >> 6;
	return true;
}

void sg_coalesce(struct sg_trace_access *in, uint32_t bytes_per_lane, struct sg_accesses *out)
{
	if (in_order(in, bytes_per_lane, out))
		return;
	sg_trace_expand(in);
	out->n = out->n_requests = 0;
	out->shared = false;
	out->per_line = 0;
	if (in->space != SG_SPACE_SCRATCH || bytes_per_lane <= 4) {
		add_lanes(in, 0, bytes_per_lane, out);
		return;
	}
	for (uint32_t dword = 0; dword < bytes_per_lane / 4; dword++)
		add_lanes(in, 256ull * dword, 4, out);
}

void sg_lines_keep(struct sg_lines_memo *memo, const struct sg_accesses *lines, uint64_t mask,
		   uint64_t digest, uint64_t from, uint64_t last)
{
	*memo = (struct sg_lines_memo){ .mask = mask,
					.digest = digest,
					.reach = last - from,
					.from = from % 64,
					.n = lines->n,
					.n_requests = lines->n_requests,
					.shared = lines->shared };
	for (uint32_t k = 0; k < lines->n; k++)
		memo->at[k] = (struct sg_line_access){ lines->at[k].line - from / 64,
						       lines->at[k].bytes };
}
