#include "collector/hsa/pcs.h"

#include "collector/count/samples_record.h"
#include "collector/hsa/pcs_abi.h"
#include "collector/hsa/queue_priv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES (4u << 20) /* 65536 samples: as many until ROCr calls us by itself */
#define LATENCY_US 0u           /* a hint; ROCr ignores it */
#define NAP_NS 2000000u         /* of the helper thread */
#define FLUSH_EVERY_NS 100000000u
#define START_NS 5000000000ull /* a kernel waits so long for its GPU's session */

enum session_state { UNUSED, WANTED, TRIED };

struct session {
	uint32_t agent;
	uint32_t state;                 /* enum session_state; atomic */
	uint64_t handle;                /* 0: there is none */
	struct col_pcs_sample *samples; /* BUFFER_BYTES */
	/* the code object of the last kernel: most samples are of the same one as before */
	uint32_t code_kernel;
	bool has_code;
	struct cap_rec_code_object code;
};

static struct {
	struct col_pcs_functions api;
	struct col_lock spawning;
	struct session sessions[COL_AGENT_IDS];
	bool has_helper;
	uint32_t n_asked, n_done; /* requests to the helper; atomic */
	bool stops;               /* ... to stop, too */
} pcs;

bool col_pcs_find(const char **out_why)
{
	void *library = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
	struct col_pcs_functions *api = &pcs.api;
	uint16_t minor = 0;

	*out_why = "this runtime (ROCr) has no PC sampling that works: ROCm 7.0 and later have it";
	if (!library || !col_hsa.hsa_system_get_info ||
	    col_hsa.hsa_system_get_info((hsa_system_info_t)COL_PCS_INFO_MINOR, &minor) !=
		    HSA_STATUS_SUCCESS ||
	    minor < COL_PCS_LEAST_MINOR)
		return false;
#define FIND(field, name) *(void **)&api->field = dlsym(library, "hsa_ven_amd_pcs_" name)
	FIND(iterate, "iterate_configuration");
	FIND(create, "create");
	FIND(start, "start");
	FIND(stop, "stop");
	FIND(flush, "flush");
	FIND(destroy, "destroy");
#undef FIND
	dlclose(library); /* the program has it open */
	return api->iterate && api->create && api->start && api->stop && api->flush &&
	       api->destroy && col_hsa.hsa_amd_queue_get_info;
}

/* ---- samples ---- */

static const struct cap_rec_code_object *code_of(struct session *s, uint32_t kernel)
{
	if (!s->has_code || s->code_kernel != kernel) {
		s->has_code = col_code_of_kernel(kernel, &s->code);
		s->code_kernel = kernel;
	}
	return s->has_code ? &s->code : NULL;
}

/* Kernels of the runtime and those that were not selected are sampled, too, and not recorded. */
static void record(struct session *s, const struct col_pcs_sample *from, uint64_t *n_dropped,
		   uint64_t *n_invalid)
{
	struct col_sample sample = { .pc = from->pc,
				     .exec = from->exec,
				     .time_ns = from->time_ns,
				     .wave = from->wave_and_xcc & 0x3f,
				     .hw_id = from->hw_id,
				     .xcc_id = from->wave_and_xcc >> 8,
				     .snapshot = from->snapshot,
				     .snapshot1 = from->snapshot1 };
	struct cap_rec_dispatch dispatch;

	if (!col_pcs_get(s->agent, from, &dispatch))
		return;
	memcpy(sample.workgroup, from->workgroup, sizeof(sample.workgroup));
	if (!col_sample_is_valid(&sample))
		(*n_invalid)++;
	else if (!col_sample_write(&sample, &dispatch, code_of(s, dispatch.h.what)))
		(*n_dropped)++;
}

/* On a thread of ROCr's, or on the helper that flushes; one at a time for a session. */
static void on_ready(void *data, size_t n_bytes, size_t n_lost, col_pcs_copy *copy,
		     void *runtime_data)
{
	struct session *s = data;
	struct cap_writer *writer = col_capture_now();
	uint64_t n_dropped = n_lost, n_invalid = 0;

	if (n_bytes > BUFFER_BYTES ||
	    copy(runtime_data, n_bytes, s->samples) != HSA_STATUS_SUCCESS) {
		n_dropped += n_bytes / sizeof(*s->samples);
		n_bytes = 0;
	}
	for (size_t i = 0; writer && i < n_bytes / sizeof(*s->samples); i++)
		record(s, &s->samples[i], &n_dropped, &n_invalid);
	if (writer && n_dropped)
		cap_writer_count(writer, col_samples_domain(), CAP_LEDGER_DROPPED, n_dropped);
	if (writer && n_invalid)
		cap_writer_count(writer, col_samples_domain(), CAP_LEDGER_FAILED, n_invalid);
}

/* ---- starting, on the helper thread ---- */

struct search {
	uint32_t method;
	uint64_t interval;
	bool has_method, has_interval, any;
};

static hsa_status_t each_offer(const struct col_pcs_offer *offer, void *data)
{
	struct search *search = data;

	search->any = true;
	if (offer->method != search->method)
		return HSA_STATUS_SUCCESS;
	search->has_method = true;
	search->has_interval |=
		search->interval >= offer->min_interval && search->interval <= offer->max_interval;
	return HSA_STATUS_SUCCESS;
}

static const char *why_not(hsa_agent_t agent, struct search *search)
{
	hsa_status_t status = pcs.api.iterate(agent, each_offer, search);

	if (status != HSA_STATUS_SUCCESS || !search->any)
		return "the kernel driver has no PC sampling for it: install AMD's amdgpu-dkms of "
		       "ROCm 6.2 or later, Linux itself does not have it";
	if (!search->has_method)
		return search->method == COL_PCS_STOCHASTIC
			       ? "it has no stochastic sampling, which exists from MI300 on: use "
				 "--pc-sampling-method host_trap"
			       : "it has no sampling by host traps";
	return search->has_interval
		       ? NULL
		       : "the interval is not one that the driver offers: rocprofv3-avail info "
			 "--pc-sampling prints them";
}

static const char *create(struct session *s)
{
	bool stochastic = col_samples_domain() == CAP_DOMAIN_PC_SAMPLING_STOCHASTIC;
	hsa_agent_t agent = { col_agent_facts(s->agent)->handle };
	struct search search = { .method = stochastic ? COL_PCS_STOCHASTIC : COL_PCS_HOST_TRAP,
				 .interval = col_config()->pc_interval };
	const char *why = why_not(agent, &search);
	uint64_t handle;

	if (why)
		return why;
	s->samples = s->samples ? s->samples : col_pages(BUFFER_BYTES);
	if (!s->samples)
		return "no memory";
	if (pcs.api.create(agent, search.method, stochastic ? COL_PCS_CYCLES : COL_PCS_MICROSECONDS,
			   search.interval, LATENCY_US, BUFFER_BYTES, on_ready, s,
			   &handle) != HSA_STATUS_SUCCESS)
		return "the driver refuses: another process may be sampling it, with other "
		       "settings";
	if (pcs.api.start(handle) != HSA_STATUS_SUCCESS) {
		pcs.api.destroy(handle);
		return "the driver does not start it";
	}
	s->handle = handle;
	return NULL;
}

static void start(struct session *s)
{
	const char *why = create(s);
	char text[320];

	__atomic_store_n(&s->state, TRIED, __ATOMIC_RELEASE);
	if (!why)
		return;
	snprintf(text, sizeof(text), "PC sampling: agent %u is not sampled: %s", s->agent, why);
	col_note(text);
}

/* ---- the helper ---- */

static void serve(bool stops)
{
	for (uint32_t i = 0; i < COL_AGENT_IDS; i++) {
		struct session *s = &pcs.sessions[i];
		uint64_t handle = s->handle;

		if (!stops && __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == WANTED)
			start(s);
		if (!handle) /* there was nothing to flush before now */
			continue;
		if (stops)
			pcs.api.stop(handle);
		/* Twice: a flush swaps the two buffers of the GPU, but ROCr's thread still waits for
		 * the one that was in use, so that one has to be in use again. */
		pcs.api.flush(handle);
		pcs.api.flush(handle);
		if (stops) {
			s->handle = 0;
			pcs.api.destroy(handle);
		}
	}
}

static void *help(void *arg)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t last_ns = col_now_ns();

	for (;;) {
		uint32_t asked = __atomic_load_n(&pcs.n_asked, __ATOMIC_ACQUIRE);
		bool is_asked = asked != __atomic_load_n(&pcs.n_done, __ATOMIC_RELAXED);
		bool stops = __atomic_load_n(&pcs.stops, __ATOMIC_ACQUIRE);

		if (is_asked || col_now_ns() - last_ns > FLUSH_EVERY_NS) {
			serve(stops);
			last_ns = col_now_ns();
			__atomic_store_n(&pcs.n_done, asked, __ATOMIC_RELEASE);
		}
		if (stops && is_asked)
			break;
		nanosleep(&nap, NULL);
	}
	__atomic_store_n(&pcs.has_helper, false, __ATOMIC_RELEASE);
	return NULL;
}

static void ask(bool stops, uint64_t deadline_ns)
{
	const struct timespec nap = { .tv_nsec = NAP_NS / 4 };
	uint32_t number;

	if (!__atomic_load_n(&pcs.has_helper, __ATOMIC_ACQUIRE))
		return;
	if (stops)
		__atomic_store_n(&pcs.stops, true, __ATOMIC_RELEASE);
	number = __atomic_add_fetch(&pcs.n_asked, 1, __ATOMIC_ACQ_REL);
	while ((int32_t)(__atomic_load_n(&pcs.n_done, __ATOMIC_ACQUIRE) - number) < 0 &&
	       col_now_ns() < deadline_ns)
		nanosleep(&nap, NULL);
}

void col_pcs_stop(uint64_t deadline_ns)
{
	ask(true, deadline_ns);
}

static bool has_helper(void)
{
	bool has;

	col_lock(&pcs.spawning);
	has = __atomic_load_n(&pcs.has_helper, __ATOMIC_ACQUIRE);
	if (!has) {
		__atomic_store_n(&pcs.stops, false, __ATOMIC_RELEASE);
		__atomic_store_n(&pcs.has_helper, true, __ATOMIC_RELEASE);
		has = col_spawn(help, NULL, "ws-pc-samples");
		__atomic_store_n(&pcs.has_helper, has, __ATOMIC_RELEASE);
	}
	col_unlock(&pcs.spawning);
	return has;
}

void col_pcs_first(uint32_t agent)
{
	struct session *s = agent && agent < COL_AGENT_IDS ? &pcs.sessions[agent] : NULL;
	uint32_t unused = UNUSED;

	if (!s)
		return;
	s->agent = agent;
	if (!__atomic_compare_exchange_n(&s->state, &unused, WANTED, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	if (has_helper())
		ask(false, col_now_ns() + START_NS);
	else
		col_note("PC sampling: no GPU is sampled: no thread for it");
}

/* ---- dispatches ---- */

/* On the thread that submits, just before the packet behind the marker is put into the queue. */
static void placed(const struct col_pcs_marker *marker, hsa_queue_t *queue, uint64_t packet)
{
	struct cap_rec_dispatch dispatch = { .h = { .what = (uint32_t)marker->data[3] },
					     .dispatch_id = marker->data[0],
					     .corr_id = marker->data[1],
					     .external_id = marker->data[2] };
	uint64_t doorbell;

	if (col_hsa.hsa_amd_queue_get_info(queue, COL_PCS_QUEUE_DOORBELL, &doorbell) ==
	    HSA_STATUS_SUCCESS)
		col_pcs_put((uint32_t)marker->data[4], doorbell >> 3 & 0x3ff, packet, queue->size,
			    marker->data[5] ? &dispatch : NULL);
}

void col_pcs_mark(const struct cap_rec_dispatch *dispatch, uint32_t agent, union col_packet *to)
{
	struct col_pcs_marker marker = {
		.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE,
		.format = COL_PCS_MARKER_FORMAT,
		.placed = placed,
		.data = { [4] = agent, [5] = dispatch != NULL },
	};

	if (dispatch) {
		marker.data[0] = dispatch->dispatch_id;
		marker.data[1] = dispatch->corr_id;
		marker.data[2] = dispatch->external_id;
		marker.data[3] = dispatch->h.what;
	}
	memcpy(to, &marker, sizeof(marker));
}

void col_pcs_forked(void)
{
	/* The child has neither the driver's sessions nor the thread. */
	memset(pcs.sessions, 0, sizeof(pcs.sessions));
	pcs.has_helper = false;
	pcs.spawning = (struct col_lock){ 0 };
	col_pcs_dispatches_forked();
}
