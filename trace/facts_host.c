/* facts_host: the facts of the CPU side: samplers, metrics, regions. */
#include "base/map.h"
#include "trace/facts_priv.h"

enum ws_status trc_facts_samplers(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;

	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++)
		p->samplers[i] = (struct trc_sampler){ .event = "", .count_names = "" };
	each_rec(rec, f, SAMPLER, cap_rec_sampler)
	{
		if (rec->h.what >= CAP_SAMPLER_COUNT) {
			p->damage.n_records++;
			continue;
		}
		p->samplers[rec->h.what] = (struct trc_sampler){
			.used = true,
			.period = rec->period,
			.event = trc_facts_str(f, rec->event_str),
			.count_names = trc_facts_str(f, rec->count_names_str),
		};
	}
	return WS_OK;
}

enum ws_status trc_facts_metrics(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->metrics, METRIC);

	if (st)
		return st;
	for (size_t i = 0; i < p->metrics.n; i++)
		p->metrics.at[i] =
			(struct trc_metric){ .name = "", .unit = "", .counter = "", .device = -1 };
	each_rec(rec, f, METRIC, cap_rec_metric)
	{
		if (!rec->h.what || rec->h.what >= p->metrics.n)
			continue;
		if (rec->category >= CAP_METRIC_CATEGORY_COUNT) {
			p->damage.n_records++;
			continue;
		}
		p->metrics.at[rec->h.what] = (struct trc_metric){
			.id = rec->h.what,
			.category = rec->category,
			.name = trc_facts_str(f, rec->name_str),
			.unit = trc_facts_str(f, rec->unit_str),
			.counter = rec->category == CAP_METRIC_DEVICE_COUNTER
					   ? trc_facts_str(f, rec->name_str)
					   : "",
			.device = rec->device,
			.instance = rec->instance,
			.simulated = rec->flags & CAP_METRIC_SIMULATED,
		};
	}
	return WS_OK;
}

enum ws_status trc_facts_regions(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->regions, REGION);

	if (st)
		return st;
	for (size_t i = 0; i < p->regions.n; i++)
		p->regions.at[i] = (struct trc_region){ .name = "", .file = "" };
	each_rec(rec, f, REGION, cap_rec_region)
	{
		if (!rec->h.what || rec->h.what >= p->regions.n)
			continue;
		if (rec->category >= CAP_REGION_CATEGORY_COUNT) {
			p->damage.n_records++;
			continue;
		}
		p->regions.at[rec->h.what] = (struct trc_region){
			.id = rec->h.what,
			.category = rec->category,
			.name = trc_facts_str(f, rec->name_str),
			.file = trc_facts_str(f, rec->file_str),
			.line = rec->line,
			.address = rec->address,
		};
	}
	return WS_OK;
}

enum ws_status trc_facts_usage(struct trc_facts *f)
{
	struct trc_capture *c = f->capture;
	struct ws_map threads; /* by tid: its last record, which is the one that counts */
	enum ws_status st = WS_OK;

	ws_map_init(&threads, WS_MAP_U64, c->named_threads.n + 1);
	for (size_t i = 0; i < c->named_threads.n && !st && f->by_type[CAP_REC_USAGE].n; i++)
		st = ws_map_put_u64(&threads, c->named_threads.at[i].tid, &c->named_threads.at[i],
				    f->err);
	each_rec(rec, f, USAGE, cap_rec_usage)
	{
		struct trc_thread *thread = ws_map_get_u64(&threads, rec->h.what);

		if (!rec->h.what)
			c->pub.usage = rec;
		else if (thread)
			thread->usage = rec;
	}
	ws_map_fini(&threads);
	return st;
}
