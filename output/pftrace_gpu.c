/*
 * Kernels of one queue that overlap are made to touch, as rocprofv3 does. What a kernel's
 * times become depends on the next one, so GPU work is held back until nothing can change
 * it any more, and comes out by its new start.
 */
#include "output/pftrace_priv.h"

#include <stdlib.h>

static bool before(const struct output_pf_gpu_slice *a, const struct output_pf_gpu_slice *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->seq < b->seq;
}

static bool heap_push(struct output_pf *pf, struct output_pf_gpu_slice *slice)
{
	size_t at = pf->n_heap;

	if (pf->n_heap == pf->cap_heap) {
		size_t cap = pf->cap_heap ? pf->cap_heap * 2 : 256;
		struct output_pf_gpu_slice **more = realloc(pf->heap, cap * sizeof(*more));

		if (!more)
			return false;
		pf->heap = more;
		pf->cap_heap = cap;
	}
	pf->n_heap++;
	for (; at && before(slice, pf->heap[(at - 1) / 2]); at = (at - 1) / 2)
		pf->heap[at] = pf->heap[(at - 1) / 2];
	pf->heap[at] = slice;
	return true;
}

static struct output_pf_gpu_slice *heap_pop(struct output_pf *pf)
{
	struct output_pf_gpu_slice *top = pf->heap[0], *last = pf->heap[--pf->n_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < pf->n_heap) {
		if (child + 1 < pf->n_heap && before(pf->heap[child + 1], pf->heap[child]))
			child++;
		if (!before(pf->heap[child], last))
			break;
		pf->heap[at] = pf->heap[child];
		at = child;
	}
	pf->heap[at] = last;
	return top;
}

enum ws_status output_pf_release(struct output_pf *pf, uint64_t now_ns)
{
	enum ws_status st = WS_OK;

	while (!st && pf->n_heap && pf->heap[0]->start_ns <= now_ns &&
	       (pf->heap[0]->settled || pf->heap[0]->end_ns <= now_ns)) {
		struct output_pf_gpu_slice *slice = heap_pop(pf);

		if (slice->last && *slice->last == slice)
			*slice->last = NULL;
		st = output_pf_put_gpu(pf, slice);
		slice->next_free = pf->free;
		pf->free = slice;
	}
	return st;
}

static struct output_pf_gpu_slice *new_slice(struct output_pf *pf, const struct trc_event *ev)
{
	struct output_pf_gpu_slice *slice = pf->free;
	struct output_counter_sum *sums = NULL;
	size_t cap = 0, n = 0;

	if (slice) {
		pf->free = slice->next_free;
		sums = slice->sums;
		cap = slice->cap_sums;
	} else {
		slice = malloc(sizeof(*slice));
		if (!slice)
			return NULL;
	}
	if (output_event_is_dispatch(ev) && (n = ev->dispatch.info->n_values)) {
		if (n > cap) {
			free(sums);
			sums = malloc(n * sizeof(*sums));
			cap = sums ? n : 0;
		}
		n = output_counter_sums(ev, sums, cap);
	}
	*slice = (struct output_pf_gpu_slice){ .start_ns = ev->start_ns,
					       .end_ns = WS_MAX(ev->end_ns, ev->start_ns),
					       .seq = pf->seq++,
					       .settled = true,
					       .ev = *ev,
					       .sums = sums,
					       .n_sums = n,
					       .cap_sums = cap };
	if (output_event_is_dispatch(ev))
		slice->info.dispatch = *ev->dispatch.info;
	else
		slice->info.copy = *ev->copy.info;
	return slice;
}

enum ws_status output_pf_take_gpu(struct output_pf *pf, const struct trc_event *ev)
{
	struct output_pf_gpu_slice *slice = new_slice(pf, ev), *last;

	if (!slice)
		return output_pf_no_memory(&pf->file);
	if (output_event_is_dispatch(ev)) {
		slice->settled = false;
		slice->last = &pf->last[ev->dispatch.queue->id];
		last = *slice->last;
		*slice->last = slice;
		if (last && last->end_ns > slice->start_ns) {
			/* they meet in the middle of what they share */
			uint64_t shared_end;

			/* a third kernel may begin before where the first two were parted */
			slice->start_ns = WS_MAX(slice->start_ns, last->start_ns);
			slice->end_ns = WS_MAX(slice->end_ns, slice->start_ns);
			shared_end = WS_MIN(last->end_ns, slice->end_ns);
			slice->start_ns += (shared_end - slice->start_ns) / 2;
			last->end_ns = slice->start_ns;
		}
		if (last)
			last->settled = true;
	}
	if (!heap_push(pf, slice)) {
		if (slice->last)
			*slice->last = NULL;
		slice->next_free = pf->free;
		pf->free = slice;
		return output_pf_no_memory(&pf->file);
	}
	return output_pf_release(pf, ev->start_ns);
}
