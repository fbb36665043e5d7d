/*
 * The CPU side in an OTF2 archive: regions are on the location of their thread, samples on one
 * of their own with a region per frame, and all values over time on one of the process.
 */
#include "output/otf2_priv.h"

#include "output/host_samples.h"
#include "profile/frames.h"

#include <inttypes.h>

/* Keys of locations that no thread, queue or agent has. */
#define SAMPLES_KEY (1ull << 63)
#define METRICS_KEY (1ull << 62)

struct host_thread {
	struct output_samples samples[CAP_SAMPLER_COUNT];
};

struct output_otf2_host {
	struct prof_frames *frames;
	struct host_thread *threads;           /* by index */
	OTF2_RegionRef *regions;               /* by id; undefined: not there yet */
	uint32_t *metrics;                     /* by id: index + 1 in the archive's list */
	struct output_otf2_location *measured; /* of metrics */
};

enum ws_status output_otf2_begin_host(struct output_otf2 *o)
{
	const struct trc_process *process = o->process;
	struct output_otf2_host *host = ws_arena_new(&o->arena, struct output_otf2_host);
	bool has_data = false;

	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++)
		has_data |= 1u << d & OUTPUT_OTF2_HOST_DOMAINS && process->ledger[d].written;
	o->host = NULL;
	if (!has_data)
		return WS_OK;
	if (host) {
		host->threads =
			ws_arena_array(&o->arena, process->threads.n + 1, sizeof(*host->threads));
		host->regions =
			ws_arena_array(&o->arena, process->regions.n + 1, sizeof(*host->regions));
		host->metrics =
			ws_arena_array(&o->arena, process->metrics.n + 1, sizeof(*host->metrics));
	}
	if (!host || !host->threads || !host->regions || !host->metrics)
		return ws_fail(o->err, WS_E_NOMEM, "no memory for the OTF2 archive");
	for (size_t i = 0; i <= process->regions.n; i++)
		host->regions[i] = OTF2_UNDEFINED_REGION;
	o->host = host;
	return prof_frames_open(process, &(struct prof_frames_opts){ 0 }, &host->frames, o->err);
}

void output_otf2_end_host(struct output_otf2 *o)
{
	struct output_otf2_host *host = o->host;

	if (!host)
		return;
	for (size_t i = 0; i <= o->process->threads.n; i++)
		for (unsigned k = 0; k < CAP_SAMPLER_COUNT; k++)
			output_samples_fini(&host->threads[i].samples[k]);
	prof_frames_close(host->frames);
	o->host = NULL;
}

/* ---- regions ---- */

static OTF2_RegionRef region_ref(struct output_otf2 *o, const struct trc_region *region)
{
	static const struct {
		enum cap_region_category category;
		OTF2_Paradigm paradigm;
	} paradigms[] = {
		{ CAP_REGION_MPI, OTF2_PARADIGM_MPI },
		{ CAP_REGION_OMPT, OTF2_PARADIGM_OPENMP },
		{ CAP_REGION_PTHREAD, OTF2_PARADIGM_PTHREAD },
		{ CAP_REGION_KOKKOS, OTF2_PARADIGM_KOKKOS },
		{ CAP_REGION_HOST, OTF2_PARADIGM_COMPILER },
	};
	OTF2_RegionRef *ref = &o->host->regions[region->id];
	OTF2_Paradigm paradigm = OTF2_PARADIGM_USER;

	for (size_t i = 0; i < WS_ARRAY_LEN(paradigms); i++)
		if (paradigms[i].category == region->category)
			paradigm = paradigms[i].paradigm;
	if (*ref == OTF2_UNDEFINED_REGION)
		*ref = output_otf2_region(
			o,
			*region->name ? region->name
				      : prof_frames_at(o->host->frames, region->address)->name,
			false, OTF2_REGION_ROLE_FUNCTION, paradigm);
	return *ref;
}

static enum ws_status leave(struct output_otf2 *o, struct output_otf2_location *location,
			    OTF2_RegionRef region, uint64_t at_ns)
{
	size_t i = location->n_open;
	enum ws_status st = WS_OK;

	while (i && location->open[i - 1].region != region)
		i--;
	while (i && location->n_open >= i && !st)
		st = output_otf2_leave(o, location, at_ns);
	return st;
}

static enum ws_status put_region(struct output_otf2 *o, const struct trc_event *ev)
{
	struct output_otf2_location *location;
	OTF2_RegionRef region;
	enum ws_status st;
	uint64_t end_ns;

	o->run->result->n_written[OUTPUT_OTF2][CAP_DOMAIN_REGIONS]++;
	if (ev->region.annotation)
		return WS_OK; /* the format has no place for them after the beginning */
	location = output_otf2_locate(o, ev);
	region = region_ref(o, ev->region.region);
	if (!location)
		return o->err->status;
	st = output_otf2_leave_until(o, location, ev->start_ns);
	if (st)
		return st;
	if (!ev->region.enters)
		return leave(o, location, region, ev->start_ns);
	/* It is left when its end is read, at the latest with the call that it is in. */
	end_ns =
		location->n_open ? location->open[location->n_open - 1].end_ns : OUTPUT_OTF2_NO_END;
	return output_otf2_enter(o, location, ev->start_ns, end_ns, region,
				 trc_region_category_name(ev->region.region->category));
}

/* ---- samples ---- */

static struct output_otf2_location *sampling_location(struct output_otf2 *o,
						      const struct trc_event *ev, uint64_t start_ns)
{
	uint32_t kind = ev->stack.info->sampler;
	uint64_t key = SAMPLES_KEY | (uint64_t)ev->thread->index << 8 | kind;
	struct output_otf2_location *location = ws_map_get_u64(&o->located, key);
	char name[OUTPUT_SAMPLE_NAME_MAX];

	if (location)
		return location;
	output_sample_track(o->process, ev->thread, kind, name);
	location = output_otf2_new_location(o, key, name, OTF2_LOCATION_TYPE_CPU_THREAD,
					    o->process_group);
	if (!location)
		return NULL;
	output_sample_outermost(o->process, kind, name);
	return output_otf2_enter(o, location, start_ns, OUTPUT_OTF2_NO_END,
				 output_otf2_region(o, name, false, OTF2_REGION_ROLE_ARTIFICIAL,
						    OTF2_PARADIGM_SAMPLING),
				 output_sample_category(kind))
		       ? NULL
		       : location;
}

static enum ws_status put_sample(struct output_otf2 *o, const struct trc_event *ev)
{
	const struct cap_rec_sample *info = ev->stack.info;
	struct host_thread *thread =
		&o->host->threads[WS_MIN(ev->thread->index, o->process->threads.n)];
	struct output_otf2_location *location;
	const struct prof_frame *stack = NULL;
	struct output_sample_step step;
	enum ws_status st;
	size_t n;

	if (info->sampler >= CAP_SAMPLER_COUNT)
		return WS_OK;
	o->run->result->n_written[OUTPUT_OTF2][CAP_DOMAIN_CALL_STACK_SAMPLING]++;
	n = prof_frames_of(o->host->frames, info->h.what, &stack);
	st = output_samples_next(&thread->samples[info->sampler], ev, &step, o->err);
	if (st)
		return st;
	location = sampling_location(o, ev, step.start_ns);
	if (!location)
		return o->err->status;
	for (size_t i = 0; i < n && !st; i++)
		st = output_otf2_enter(o, location, step.start_ns, step.end_ns,
				       output_otf2_region(o, stack[i].name, false,
							  OTF2_REGION_ROLE_FUNCTION,
							  OTF2_PARADIGM_SAMPLING),
				       output_sample_category(info->sampler));
	return st ? st : output_otf2_leave_until(o, location, step.end_ns);
}

/* ---- metrics ---- */

/* The number of a metric in the archive; 0: there is none, or a failure. */
static uint32_t metric_of(struct output_otf2 *o, uint32_t id)
{
	const struct trc_process *process = o->process;
	uint32_t *at = &o->host->metrics[id < process->metrics.n ? id : 0];
	const struct trc_metric *metric;
	struct output_otf2_metric added;

	if (!id || id >= process->metrics.n || !process->metrics.at[id].id)
		return 0;
	if (*at)
		return *at;
	metric = &process->metrics.at[id];
	added = (struct output_otf2_metric){
		.name = output_otf2_string(o, metric->name),
		.unit = output_otf2_string(o, *metric->unit ? metric->unit : "#"),
		.gpu = output_metric_on_gpu(metric),
	};
	if (!ws_vec_push(&o->metrics, added, o->err))
		*at = (uint32_t)o->metrics.n;
	return *at;
}

static enum ws_status put_metrics(struct output_otf2 *o, const struct trc_event *ev)
{
	static const OTF2_Type type = OTF2_TYPE_DOUBLE;
	struct output_otf2_host *host = o->host;
	enum ws_status st = WS_OK;

	o->run->result->n_written[OUTPUT_OTF2][CAP_DOMAIN_METRICS]++;
	if (!host->measured)
		host->measured =
			output_otf2_new_location(o, METRICS_KEY, "Metrics",
						 OTF2_LOCATION_TYPE_METRIC, o->process_group);
	if (!host->measured)
		return o->err->status;
	for (uint32_t i = 0; i < ev->metrics.n_values && !st; i++) {
		const struct cap_metric_value *value = &ev->metrics.values[i];
		uint32_t number = metric_of(o, value->metric);

		if (!number)
			continue;
		st = output_otf2_check(
			o, OTF2_EvtWriter_Metric(
				   host->measured->writer, NULL, ev->start_ns, number - 1, 1, &type,
				   &(OTF2_MetricValue){ .floating_point = value->value }));
		host->measured->n_events++;
		o->n_rows++;
	}
	return st;
}

/* A class per metric: their values are not read at the same times. */
enum ws_status output_otf2_define_metrics(struct output_otf2 *o, OTF2_GlobalDefWriter *w)
{
	enum ws_status st = WS_OK;

	for (uint32_t i = 0; i < o->metrics.n && !st; i++) {
		const struct output_otf2_metric *metric = &o->metrics.at[i];

		st = output_otf2_check(o, OTF2_GlobalDefWriter_WriteMetricMember(
						  w, i, metric->name, metric->name,
						  OTF2_METRIC_TYPE_OTHER,
						  OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
						  OTF2_BASE_DECIMAL, 0, metric->unit));
		if (!st)
			st = output_otf2_check(o, OTF2_GlobalDefWriter_WriteMetricClass(
							  w, i, 1, &i, OTF2_METRIC_ASYNCHRONOUS,
							  metric->gpu ? OTF2_RECORDER_KIND_GPU
								      : OTF2_RECORDER_KIND_CPU));
	}
	return st;
}

enum ws_status output_otf2_put_host(struct output_otf2 *o, const struct trc_event *ev)
{
	if (!o->host)
		return WS_OK; /* not even counted: the capture is damaged */
	switch (ev->domain) {
	case CAP_DOMAIN_REGIONS:
		return put_region(o, ev);
	case CAP_DOMAIN_CALL_STACK_SAMPLING:
		return put_sample(o, ev);
	default:
		return put_metrics(o, ev);
	}
}
