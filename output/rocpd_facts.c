/* The rows of a database that are not events: host, process, agents, names. */
#include "base/utf8.h"
#include "base/vec.h"
#include "output/rocpd_priv.h"

#include <inttypes.h>
#include <stdlib.h>

void output_rocpd_text_n(struct output_rocpd_row *row, const char *text, size_t n)
{
	struct ws_buf made;

	if (!text || ws_utf8_ok(text, n)) {
		sqlite3_bind_text(row->statement, ++row->at, text, (int)n, SQLITE_STATIC);
		return;
	}
	/* SQLite takes any bytes; those who read the database with Python stop at them. */
	ws_buf_init(&made, 3 * n);
	ws_buf_add_utf8(&made, text, n);
	sqlite3_bind_text(row->statement, ++row->at, made.at, (int)made.n, SQLITE_TRANSIENT);
	ws_buf_fini(&made);
}

/* ---- strings ---- */

static int64_t insert_string(struct output_rocpd_db *db, struct ws_str text)
{
	int64_t id = (int64_t)db->strings.n + 1;
	struct output_rocpd_row row = output_rocpd_row(db, OUTPUT_ROCPD_STRING);

	output_rocpd_int(&row, id);
	output_rocpd_text_n(&row, text.at, text.n);
	if (ws_map_put(&db->strings, text, (void *)(intptr_t)id, db->err))
		return -1;
	return output_rocpd_step(db, &row) ? -1 : id;
}

int64_t output_rocpd_string(struct output_rocpd_db *db, const char *text, bool stable)
{
	size_t slot = ((uintptr_t)text >> 3 ^ (uintptr_t)text >> 15) % OUTPUT_ROCPD_CACHE;
	struct ws_map_entry *entry;
	struct ws_str key;
	int64_t id;

	if (stable && db->cache[slot].text == text)
		return db->cache[slot].id;
	key = ws_str_from(text);
	entry = ws_map_find(&db->strings, key);
	if (entry) {
		id = (intptr_t)entry->value;
	} else {
		key.at = ws_arena_strndup(&db->arena, text, key.n);
		if (!key.at) {
			ws_fail(db->err, WS_E_NOMEM, "no memory for names");
			return -1;
		}
		id = insert_string(db, key);
	}
	if (stable && id > 0) {
		db->cache[slot].text = text;
		db->cache[slot].id = id;
	}
	return id;
}

struct collected {
	WS_VEC(const char *) list;
	struct ws_err *err;
	enum ws_status st;
};

static void collect(struct collected *all, const char *text)
{
	if (text && !all->st)
		all->st = ws_vec_push(&all->list, text, all->err);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_process(struct collected *all, const struct trc_process *process)
{
	for (size_t i = 0; i < process->agents.n; i++) {
		collect(all, process->agents.at[i]->name);
		collect(all, process->agents.at[i]->vendor_name);
		collect(all, process->agents.at[i]->product_name);
		collect(all, process->agents.at[i]->model_name);
	}
	for (size_t i = 0; i < process->operations.n; i++)
		collect(all, process->operations.at[i].name);
	for (size_t i = 0; i < process->kernels.n; i++) {
		collect(all, process->kernels.at[i].symbol);
		collect(all, process->kernels.at[i].formatted);
		collect(all, process->kernels.at[i].demangled);
		collect(all, process->kernels.at[i].truncated);
	}
	for (size_t i = 0; i < process->code_objects.n; i++)
		collect(all, process->code_objects.at[i].uri);
	for (size_t i = 0; i < process->counters.n; i++) {
		const struct trc_counter *counter = &process->counters.at[i];

		collect(all, counter->name);
		for (uint32_t d = 0; counter->info && d < counter->info->n_dims; d++)
			collect(all, trc_process_string(process, counter->dims[d].name_str));
	}
}

enum ws_status output_rocpd_strings(struct output_rocpd_db *db)
{
	struct collected all = { .err = db->err };
	enum ws_status st;

	ws_vec_init(&all.list, 1u << 28);
	collect(&all, "");
	for (int kind = 0; kind < CAP_KIND_COUNT; kind++) {
		const char *name;

		collect(&all, trc_kind_name(kind));
		for (uint32_t id = 0; (name = trc_kind_op_name(kind, id)); id++)
			collect(&all, name);
	}
	for (size_t i = 0; i < db->run->n_processes; i++)
		collect_process(&all, db->run->processes[i]);
	ws_vec_sort(&all.list, by_text);
	st = all.st;
	for (size_t i = 0; !st && i < all.list.n; i++)
		if (output_rocpd_string(db, all.list.at[i], false) < 0)
			st = output_rocpd_fail(db);
	ws_vec_fini(&all.list);
	db->empty_id = output_rocpd_string(db, "", false);
	for (int kind = 0; !st && kind < CAP_KIND_COUNT; kind++)
		db->kind_ids[kind] = output_rocpd_string(db, trc_kind_name(kind), false);
	return st;
}

/* ---- rows made at first use ---- */

static struct output_rocpd_row owned_row(struct output_rocpd_db *db,
					 enum output_rocpd_statement which, int64_t id)
{
	struct output_rocpd_row row = output_rocpd_row(db, which);

	output_rocpd_int(&row, id);
	output_rocpd_int(&row, db->nid);
	if (which != OUTPUT_ROCPD_THREAD)
		output_rocpd_int(&row, db->pid);
	return row;
}

int64_t output_rocpd_thread(struct output_rocpd_db *db, const struct trc_thread *thread)
{
	int64_t *at = &db->thread_rows[thread->index], id = thread->tid;
	struct output_rocpd_row row;

	if (*at)
		return *at;
	/* ids of threads are unique on a host at a time; not over hosts, nor for ever */
	if (ws_map_find_u64(&db->threads, (uint64_t)id) || !id)
		id += db->base + ((int64_t)1 << 32);
	if (ws_map_put_u64(&db->threads, (uint64_t)id, db, db->err))
		return -1;
	row = owned_row(db, OUTPUT_ROCPD_THREAD, id);
	output_rocpd_int(&row, db->process->ppid);
	output_rocpd_int(&row, db->pid);
	output_rocpd_int(&row, thread->tid);
	output_rocpd_text(&row, *thread->name ? thread->name : NULL);
	*at = id;
	return output_rocpd_step(db, &row) ? -1 : id;
}

static int64_t named_row(struct output_rocpd_db *db, enum output_rocpd_statement which, bool *seen,
			 uint32_t id, const char *word, uint64_t *n, const char *given)
{
	struct output_rocpd_row row;
	char name[48];

	if (*seen)
		return db->base + id;
	*seen = true;
	if (id)
		snprintf(name, sizeof(name), "%s %llu", word, (unsigned long long)(*n)++);
	else
		snprintf(name, sizeof(name), "Default %s", word);
	row = owned_row(db, which, db->base + id);
	output_rocpd_text(&row, id && *given ? given : name);
	return output_rocpd_step(db, &row) ? -1 : db->base + id;
}

int64_t output_rocpd_queue(struct output_rocpd_db *db, uint32_t id)
{
	id = id < db->process->queues.n ? id : 0;
	return named_row(db, OUTPUT_ROCPD_QUEUE, &db->queue_seen[id], id, "Queue", &db->n_queues,
			 "");
}

int64_t output_rocpd_stream(struct output_rocpd_db *db, uint32_t id)
{
	id = id < db->process->streams.n ? id : 0;
	return named_row(db, OUTPUT_ROCPD_STREAM, &db->stream_seen[id], id, "Stream",
			 &db->n_streams, db->process->streams.at[id].name);
}

/* An extdata text that is valid until the next. */
static void bind_json(struct output_rocpd_db *db, struct output_rocpd_row *row)
{
	output_rocpd_text_n(row, db->json.buf, db->json.n);
}

static struct output_jsonw begin_json(struct output_rocpd_db *db)
{
	db->json.n = 0;
	return (struct output_jsonw){ &db->json, false };
}

static enum ws_status put_code_object(struct output_rocpd_db *db,
				      const struct trc_code_object *object)
{
	static const struct cap_rec_code_object none;
	const struct cap_rec_code_object *info = object->info ? object->info : &none;
	struct output_rocpd_row row =
		owned_row(db, OUTPUT_ROCPD_CODE_OBJECT, db->base + object->id);
	struct output_jsonw w = begin_json(db);

	if (object->agent)
		output_rocpd_int(&row, db->base + object->agent->info->node_id);
	else
		output_rocpd_null(&row);
	output_rocpd_text(&row, object->uri);
	output_rocpd_int(&row, (int64_t)info->load_base);
	output_rocpd_int(&row, (int64_t)info->load_size);
	output_rocpd_int(&row, info->load_delta);
	output_json_code_object(&w, object);
	bind_json(db, &row);
	return output_rocpd_step(db, &row);
}

static enum ws_status put_kernel(struct output_rocpd_db *db, const struct trc_kernel *kernel)
{
	static const struct cap_rec_kernel none;
	const struct cap_rec_kernel *info = kernel->info ? kernel->info : &none;
	uint32_t object = kernel->code_object ? kernel->code_object->id : 0;
	struct output_rocpd_row row = owned_row(db, OUTPUT_ROCPD_KERNEL, db->base + kernel->id);
	struct output_jsonw w = begin_json(db);

	output_rocpd_int(&row, db->base + object);
	output_rocpd_text(&row, kernel->symbol);
	output_rocpd_text(&row, kernel->formatted);
	output_rocpd_int(&row, (int64_t)info->kernel_object);
	output_rocpd_int(&row, info->kernarg_bytes);
	output_rocpd_int(&row, info->kernarg_alignment);
	output_rocpd_int(&row, info->group_bytes);
	output_rocpd_int(&row, info->private_bytes);
	output_rocpd_int(&row, info->sgpr_count);
	output_rocpd_int(&row, info->arch_vgpr_count);
	output_rocpd_int(&row, info->accum_vgpr_count);
	output_json_kernel(&w, kernel);
	bind_json(db, &row);
	return output_rocpd_step(db, &row);
}

/* Known kernels are all there; the placeholder comes when something points to it. */
int64_t output_rocpd_kernel(struct output_rocpd_db *db, const struct trc_kernel *kernel)
{
	if (!kernel->id && !db->kernel_seen[0]) {
		static const struct trc_code_object nowhere = { .uri = "" };

		db->kernel_seen[0] = true;
		if (!db->kernel_seen[1] && put_code_object(db, &nowhere))
			return -1;
		db->kernel_seen[1] = true;
		if (put_kernel(db, kernel))
			return -1;
	}
	return db->base + kernel->id;
}

static enum ws_status put_agent(struct output_rocpd_db *db, const struct trc_agent *agent)
{
	const struct cap_rec_agent *info = agent->info;
	struct output_rocpd_row row = owned_row(db, OUTPUT_ROCPD_AGENT, db->base + info->node_id);
	struct output_jsonw w = begin_json(db);

	if (info->type == CAP_AGENT_CPU || info->type == CAP_AGENT_GPU)
		output_rocpd_text(&row, output_agent_type_text(agent));
	else
		output_rocpd_null(&row);
	output_rocpd_int(&row, info->node_id);
	output_rocpd_int(&row, info->logical_node_id);
	output_rocpd_int(&row, info->logical_node_type_id);
	output_rocpd_int(&row, info->device_id);
	output_rocpd_text(&row, agent->name);
	output_rocpd_text(&row, agent->model_name);
	output_rocpd_text(&row, agent->vendor_name);
	output_rocpd_text(&row, agent->product_name);
	output_rocpd_text(&row, *agent->given_name ? agent->given_name : agent->product_name);
	output_json_agent(&w, NULL, agent);
	bind_json(db, &row);
	/* two agents of one node are damage: what refers to the node finds the first */
	for (size_t i = 0; db->process->agents.at[i] != agent; i++) {
		if (db->process->agents.at[i]->info->node_id == info->node_id) {
			sqlite3_reset(row.statement);
			return WS_OK;
		}
	}
	return output_rocpd_step(db, &row);
}

int64_t output_rocpd_agent(struct output_rocpd_db *db, const struct trc_agent *agent)
{
	int64_t id = db->base + INT32_MAX;
	struct output_rocpd_row row;

	if (agent)
		return db->base + agent->info->node_id;
	if (db->unknown_agent)
		return id;
	db->unknown_agent = true;
	row = owned_row(db, OUTPUT_ROCPD_AGENT, id);
	for (int i = 0; i < 5; i++)
		output_rocpd_null(&row);
	for (int i = 0; i < 5; i++)
		output_rocpd_text(&row, "unknown");
	output_rocpd_text(&row, "{}");
	return output_rocpd_step(db, &row) ? -1 : id;
}

static enum ws_status put_counter(struct output_rocpd_db *db, const struct trc_counter *counter)
{
	struct output_rocpd_row row = owned_row(db, OUTPUT_ROCPD_PMC, db->base + counter->id);
	struct output_jsonw w = begin_json(db);

	if (counter->agent)
		output_rocpd_int(&row, db->base + counter->agent->info->node_id);
	else
		output_rocpd_null(&row);
	output_rocpd_text(&row, "GPU");
	output_rocpd_text(&row, counter->name);
	output_rocpd_text(&row, counter->name);
	output_rocpd_text(&row, counter->description);
	output_rocpd_text(&row, counter->fidelity); /* AMD's tool leaves it empty */
	output_rocpd_text(&row, "rocm");
	output_rocpd_text(&row, "ABS");
	output_rocpd_text(&row, counter->block);
	output_rocpd_text(&row, counter->expression);
	output_rocpd_int(&row, (counter->info->flags & CAP_COUNTER_IS_CONSTANT) != 0);
	output_rocpd_int(&row, (counter->info->flags & CAP_COUNTER_IS_DERIVED) != 0);
	if (counter->agent) {
		output_json_agent(&w, NULL, counter->agent);
		bind_json(db, &row);
	} else {
		output_rocpd_text(&row, "{}");
	}
	return output_rocpd_step(db, &row);
}

/* ---- host and process ---- */

static enum ws_status put_node(struct output_rocpd_db *db)
{
	static const enum cap_fact facts[] = {
		CAP_FACT_SYSTEM_NAME, CAP_FACT_HOSTNAME,      CAP_FACT_RELEASE,
		CAP_FACT_VERSION,     CAP_FACT_HARDWARE_NAME, CAP_FACT_DOMAIN_NAME,
	};
	const struct trc_process *process = db->process;
	const char *machine = process->facts[CAP_FACT_MACHINE_ID];
	uint64_t hash = output_node_hash(process);
	struct output_rocpd_row row;
	enum ws_status st;

	db->nid = (int64_t)(hash % UINT32_MAX);
	if (ws_map_find_u64(&db->nodes, hash))
		return WS_OK;
	st = ws_map_put_u64(&db->nodes, hash, db, db->err);
	if (st)
		return st;
	row = output_rocpd_row(db, OUTPUT_ROCPD_NODE);
	output_rocpd_int(&row, db->nid);
	output_rocpd_int(&row, (int64_t)hash);
	output_rocpd_text(&row, machine ? machine : "");
	for (size_t i = 0; i < WS_ARRAY_LEN(facts); i++)
		output_rocpd_text(&row, process->facts[facts[i]]);
	return output_rocpd_step(db, &row);
}

static void put_environment(struct output_jsonw *w, const struct trc_process *process)
{
	output_json_open(w, NULL, '{');
	for (size_t i = 0; i < process->n_env; i++) {
		const char *equals = strchr(process->env[i], '=');

		if (!equals)
			continue;
		if (w->more)
			output_sink_lit(w->sink, ",");
		output_json_text(w->sink, process->env[i], (size_t)(equals - process->env[i]));
		output_sink_lit(w->sink, ":");
		output_json_text(w->sink, equals + 1, strlen(equals + 1));
		w->more = true;
	}
	output_json_close(w, '}');
}

static enum ws_status put_process(struct output_rocpd_db *db)
{
	const struct trc_process *process = db->process;
	struct output_rocpd_row row = output_rocpd_row(db, OUTPUT_ROCPD_PROCESS);
	struct output_jsonw w = begin_json(db);
	struct output_sink command;
	size_t n_environment;
	enum ws_status st = output_sink_open_memory(&command, db->err);

	if (st)
		return st;
	for (size_t i = 0; i < process->n_argv; i++) {
		if (i)
			output_sink_lit(&command, " ");
		output_sink_str(&command, process->argv[i]);
	}
	output_rocpd_int(&row, db->pid);
	output_rocpd_int(&row, db->nid);
	output_rocpd_int(&row, process->ppid);
	output_rocpd_int(&row, process->pid);
	output_rocpd_int(&row, (int64_t)process->init_ns);
	output_rocpd_int(&row, (int64_t)process->fini_ns);
	output_rocpd_int(&row, (int64_t)process->init_ns);
	output_rocpd_int(&row, (int64_t)process->fini_ns);
	output_rocpd_text_n(&row, command.buf, command.n);
	put_environment(&w, process);
	n_environment = db->json.n;
	w.more = false;
	output_json_config(&w, NULL, db->run->cfg);
	output_rocpd_text_n(&row, db->json.buf, n_environment);
	output_rocpd_text_n(&row, db->json.buf + n_environment, db->json.n - n_environment);
	st = output_rocpd_step(db, &row);
	output_sink_abandon(&command);
	return st;
}

/*
 * Whose clock the times are of, so that databases can be joined: the process's own, or if it was
 * placed on another one, that one, which is the clock of a process that was not.
 */
static void put_clock(struct output_jsonw *w, const struct output_rocpd_db *db)
{
	const struct trc_process *of = db->process;
	uint64_t id[2];
	char text[40];

	for (size_t i = 0; (of->clock.shift_ns || of->clock.drift != 0) && i < db->run->n_processes;
	     i++)
		of = db->run->processes[i];
	memcpy(id, of->boot_id, sizeof(id));
	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
	output_json_str(w, "boot_id", text);
	output_json_i64(w, "realtime_offset_ns", of->realtime_offset_ns);
}

/* Readers look metadata up by tag, so a tag of ours does no harm. */
static enum ws_status put_ledger(struct output_rocpd_db *db)
{
	struct output_rocpd_row row = output_rocpd_row(db, OUTPUT_ROCPD_METADATA);
	struct output_jsonw w = begin_json(db);

	output_json_open(&w, NULL, '{');
	output_json_u64(&w, "pid", db->process->pid);
	put_clock(&w, db);
	output_json_ledger(&w, db->process);
	output_json_close(&w, '}');
	output_rocpd_text(&row, "wavescope_ledger");
	bind_json(db, &row);
	return output_rocpd_step(db, &row);
}

static enum ws_status put_lists(struct output_rocpd_db *db)
{
	const struct trc_process *process = db->process;
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < process->agents.n; i++)
		st = put_agent(db, process->agents.at[i]);
	for (size_t i = 0; !st && i < process->code_objects.n; i++)
		if (process->code_objects.at[i].info)
			st = put_code_object(db, &process->code_objects.at[i]);
	for (size_t i = 0; !st && i < process->kernels.n; i++) {
		const struct trc_kernel *kernel = &process->kernels.at[i];

		if (!kernel->info)
			continue;
		if (!(kernel->code_object && kernel->code_object->id) && !db->kernel_seen[1]) {
			static const struct trc_code_object nowhere = { .uri = "" };

			db->kernel_seen[1] = true;
			st = put_code_object(db, &nowhere);
		}
		if (!st)
			st = put_kernel(db, kernel);
	}
	for (size_t i = 0; !st && i < process->counters.n; i++)
		if (process->counters.at[i].info)
			st = put_counter(db, &process->counters.at[i]);
	return st;
}

enum ws_status output_rocpd_begin_process(struct output_rocpd_db *db,
					  const struct trc_process *process, size_t number)
{
	enum ws_status st;

	db->process = process;
	db->base = (int64_t)number << 40;
	db->pid = process->pid;
	if (ws_map_find_u64(&db->threads, (uint64_t)process->pid | 1ull << 63))
		db->pid += db->base;
	db->n_queues = db->n_streams = 0;
	db->unknown_agent = false;
	ws_map_init(&db->tracks, WS_MAP_U64, 1u << 24);
	ws_arena_init(&db->process_arena, (size_t)1 << 30);
	db->thread_rows = ws_arena_array(&db->process_arena, process->threads.n + 2,
					 sizeof(*db->thread_rows));
	db->queue_seen = ws_arena_array(&db->process_arena, process->queues.n + 1, sizeof(bool));
	db->stream_seen = ws_arena_array(&db->process_arena, process->streams.n + 1, sizeof(bool));
	/* two flags: the placeholder kernel, and the code object it is in */
	db->kernel_seen = ws_arena_array(&db->process_arena, 2, sizeof(bool));
	if (!db->thread_rows || !db->queue_seen || !db->stream_seen || !db->kernel_seen)
		return ws_fail(db->err, WS_E_NOMEM, "no memory to write a database");
	st = ws_map_put_u64(&db->threads, (uint64_t)process->pid | 1ull << 63, db, db->err);
	if (!st)
		st = put_node(db);
	if (!st)
		st = put_process(db);
	if (!st && (output_rocpd_queue(db, 0) < 0 || output_rocpd_stream(db, 0) < 0))
		st = output_rocpd_fail(db);
	if (!st)
		st = put_ledger(db);
	return st ? st : put_lists(db);
}

void output_rocpd_end_process(struct output_rocpd_db *db)
{
	ws_map_fini(&db->tracks);
	ws_arena_fini(&db->process_arena);
}
