/* The tracks of rocprofv3's Perfetto trace and their names. */
#include "output/pftrace_priv.h"

static void put_main_thread(struct output_pf *pf, uint64_t uuid, const struct trc_thread *thread)
{
	const struct trc_process *process = pf->file.process;
	const char *name = thread->name;

	/* A database has no names of threads, as AMD writes it: the program's is the next best. */
	if (pf->run->cfg->from_database && process->n_argv) {
		const char *slash = strrchr(process->argv[0], '/');

		name = slash ? slash + 1 : process->argv[0];
	}
	output_pf_put_thread(&pf->file, uuid, thread->tid, name);
}

#define TRACK_NAME_MAX 256

void output_pf_call_it(const struct output_pf *pf, char *name, size_t n_bytes, const char *given)
{
	size_t n = strlen(name);

	if (*given && !pf->run->cfg->from_database)
		snprintf(name + n, n_bytes - n, "%s%s", name[n - 1] == ' ' ? "" : " ", given);
}

/* A thread that has no name of its own has its parent's. */
static const char *own_name(const struct output_pf *pf, const struct trc_thread *thread)
{
	const struct trc_thread *main = pf->file.process->main_thread;

	return main && strcmp(main->name, thread->name) == 0 ? "" : thread->name;
}

struct output_pf_track *output_pf_thread_track(struct output_pf *pf,
					       const struct trc_thread *thread)
{
	struct output_pf_track **at = &pf->threads[thread->index];
	uint64_t uuid = thread->tid ^ pf->file.uuid;
	char name[TRACK_NAME_MAX];

	if (*at)
		return *at;
	snprintf(name, sizeof(name), pf->run->cfg->from_database ? "THREAD %u" : "THREAD %u (%u)",
		 thread->index, thread->tid);
	output_pf_call_it(pf, name, sizeof(name), own_name(pf, thread));
	*at = output_pf_track_new(&pf->file, uuid, name);
	if (*at && thread == pf->file.process->main_thread)
		put_main_thread(pf, uuid, thread);
	else if (*at)
		output_pf_put_descriptor(&pf->file, uuid, name);
	return *at;
}

struct output_pf_track *output_pf_stream_track(struct output_pf *pf, const struct trc_event *ev)
{
	uint32_t id = output_run_stream(pf->run, ev);
	struct output_pf_track **at = &pf->streams[id];
	char name[TRACK_NAME_MAX];

	if (!*at) {
		snprintf(name, sizeof(name),
			 pf->run->cfg->from_database ? "STREAM [%u]" : "STREAM [\" %u \"] ", id);
		output_pf_call_it(pf, name, sizeof(name), id ? ev->stream->name : "");
		*at = output_pf_track_new(&pf->file, 0, name);
	}
	return *at;
}

struct output_pf_track *output_pf_queue_track(struct output_pf *pf, const struct trc_event *ev)
{
	const struct trc_agent *agent = ev->dispatch.agent;
	const struct trc_queue *queue = ev->dispatch.queue;
	struct output_pf_track **at = &pf->queues[queue->id];
	uint32_t number;
	char name[TRACK_NAME_MAX];

	if (!*at) {
		const char *label = output_agent_label(agent, pf->run->cfg->agent_index, &number);

		snprintf(name, sizeof(name), "COMPUTE %s [%u] QUEUE [%u] %s", label, number,
			 queue->index_on_agent, output_agent_type_text(agent));
		output_pf_call_it(pf, name, sizeof(name), agent ? agent->given_name : "");
		*at = output_pf_track_new(&pf->file, 0, name);
	}
	return *at;
}

struct output_pf_track *output_pf_copy_track(struct output_pf *pf, const struct trc_event *ev)
{
	const struct trc_agent *agent = ev->copy.dst;
	uint64_t key = (uint64_t)(agent ? agent->info->h.what : 0) << 32 | ev->thread->index;
	struct output_pf_track *track = ws_map_get_u64(&pf->copies, key);
	char name[TRACK_NAME_MAX];

	if (track)
		return track;
	snprintf(name, sizeof(name), "COPY to AGENT [%u] THREAD [%u] (%s)",
		 agent ? agent->info->logical_node_id : 0, ev->thread->index,
		 output_agent_type_text(agent));
	output_pf_call_it(pf, name, sizeof(name), agent ? agent->given_name : "");
	track = output_pf_track_new(&pf->file, 0, name);
	return track && !ws_map_put_u64(&pf->copies, key, track, NULL) ? track : NULL;
}
