/* Rows with a time as events of a capture: calls, markers, dispatches, copies, memory. */
#include "rocpd/import_priv.h"

#include "base/util.h"
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- counter values ---- */

#define VALUES_MAX 1024u

/* The values of the dispatch of @event; how many. */
static uint32_t values_of(const struct rpd_import *im, int64_t event, struct cap_counter_value *to)
{
	size_t low = 0, high = im->values.n;
	uint32_t n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (im->values.at[middle].event < event)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < im->values.n && im->values.at[low].event == event && n < VALUES_MAX; low++)
		to[n++] = im->values.at[low].value;
	return n;
}

/* ---- calls ---- */

#define ARGS_MAX 64u

struct arguments {
	struct cap_op_arg about[ARGS_MAX];
	uint32_t n, n_bytes;
	char slots[ARGS_MAX * 256]; /* length, then text, in whole slots */
};

/* The arguments of event @id; the cursor goes forward only, as the calls do. */
static void take_args(struct rpd_import *im, int64_t id, struct arguments *out)
{
	out->n = out->n_bytes = 0;
	while (im->more_args && sqlite3_column_int64(im->args, 0) <= id) {
		const char *value = rpd_text(im->args, 3);
		uint64_t n = WS_MIN(strlen(value), (size_t)CAP_ARG_STR_MAX);
		uint32_t room = 8 + (uint32_t)CAP_REC_ROUND(n);

		if (sqlite3_column_int64(im->args, 0) == id && out->n < ARGS_MAX &&
		    out->n_bytes + room <= sizeof(out->slots)) {
			char *to = out->slots + out->n_bytes;

			memset(to, 0, room);
			memcpy(to, &n, 8);
			memcpy(to + 8, value, n);
			out->n_bytes += room;
			out->about[out->n++] = (struct cap_op_arg){
				.name_str = rpd_import_string(im, rpd_text(im->args, 1)),
				.type_str = rpd_import_string(im, rpd_text(im->args, 2)),
				.kind = CAP_ARG_STR,
			};
		}
		im->more_args = sqlite3_step(im->args) == SQLITE_ROW;
	}
}

/* The kind and domain of a category: "HIP_RUNTIME_API_EXT"; of AMD's system profiler, "rocm_hip_api". */
static void classify(const char *category, uint32_t *out_kind, uint32_t *out_domain)
{
	static const struct {
		const char *prefix;
		enum cap_domain domain;
	} domains[] = {
		{ "HIP", CAP_DOMAIN_HIP_API },         { "HSA", CAP_DOMAIN_HSA_API },
		{ "RCCL", CAP_DOMAIN_RCCL_API },       { "ROCDECODE", CAP_DOMAIN_ROCDECODE_API },
		{ "ROCJPEG", CAP_DOMAIN_ROCJPEG_API }, { "MARKER", CAP_DOMAIN_MARKER_API },
	};

	static const char tool[] = "rocm_";
	const char *name =
		strncmp(category, tool, sizeof(tool) - 1) ? category : category + sizeof(tool) - 1;

	*out_kind = CAP_KIND_NONE;
	*out_domain = CAP_DOMAIN_HSA_API;
	for (unsigned k = 0; k < CAP_KIND_COUNT; k++)
		if (strcmp(category, trc_kind_name((enum cap_kind)k)) == 0)
			*out_kind = k;
	for (size_t i = 0; i < WS_ARRAY_LEN(domains); i++)
		if (strncasecmp(name, domains[i].prefix, strlen(domains[i].prefix)) == 0)
			*out_domain = domains[i].domain;
}

/* The id of an operation, described in the capture the first time it is seen; 0: failed. */
static uint32_t operation(struct rpd_import *im, const char *category, const char *name,
			  const struct arguments *args)
{
	struct {
		struct cap_rec_operation rec;
		struct cap_op_arg about[ARGS_MAX];
	} fact = { .rec.n_args = args->n };
	struct cap_rec_operation *rec = &fact.rec;
	char key[512], *kept;
	void *known;

	snprintf(key, sizeof(key), "%s %s %u", category, name, args->n);
	known = ws_map_get(&im->operations, key);
	if (known)
		return (uint32_t)(uintptr_t)known;
	kept = ws_arena_strdup(&im->arena, key);
	if (!kept) {
		ws_fail(im->err, WS_E_NOMEM, "out of memory");
		return 0;
	}
	rec->h.what = ++im->n_operations;
	rec->id = im->n_operations - 1;
	rec->name_str = rpd_import_string(im, name);
	classify(category, &rec->kind, &rec->domain);
	memcpy(fact.about, args->about, args->n * sizeof(args->about[0]));
	rpd_import_meta(
		im, CAP_REC_TAG(CAP_REC_OPERATION, sizeof(*rec) + args->n * sizeof(fact.about[0])),
		&rec->h);
	if (ws_map_put(&im->operations, ws_str_from(kept), (void *)(uintptr_t)rec->h.what, im->err))
		return 0;
	return rec->h.what;
}

static void put_marker(struct rpd_import *im, sqlite3_stmt *stmt)
{
	static const struct {
		const char *name;
		enum cap_marker_op op;
	} ops[] = {
		{ "roctxMarkA", CAP_MARKER_MARK },
		{ "roctxThreadRangeA", CAP_MARKER_THREAD_RANGE },
		{ "roctxProcessRangeA", CAP_MARKER_PROCESS_RANGE },
		{ "roctxGetThreadId", CAP_MARKER_GET_THREAD_ID },
		{ "roctxProfilerPause", CAP_MARKER_PAUSE },
		{ "roctxProfilerResume", CAP_MARKER_RESUME },
	};
	struct cap_rec_marker rec = {
		.h = { .what = CAP_MARKER_MARK, .time = U64(4) },
		.end_ticks = U64(5),
		.corr_id = U64(6),
		.ancestor_id = U64(7),
		.message = rpd_import_string(im, rpd_text(stmt, 9)),
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(ops); i++)
		if (strcmp(rpd_text(stmt, 2), ops[i].name) == 0)
			rec.h.what = ops[i].op;
	rpd_import_event(im, U32(3), CAP_REC_MARKER, &rec.h, sizeof(rec), NULL, 0);
}

void rpd_take_region(struct rpd_import *im, sqlite3_stmt *stmt)
{
	static struct arguments args;
	struct cap_rec_call_args rec = {
		.call = { .h.time = U64(4),
			  .end_ticks = U64(5),
			  .corr_id = U64(6),
			  .ancestor_id = U64(7) },
		.external_id = U64(8),
	};

	take_args(im, sqlite3_column_int64(stmt, 0), &args);
	if (strncmp(rpd_text(stmt, 1), "MARKER", 6) == 0) {
		put_marker(im, stmt);
		return;
	}
	rec.n_arg_bytes = args.n_bytes;
	rec.call.h.what = operation(im, rpd_text(stmt, 1), rpd_text(stmt, 2), &args);
	rpd_import_event(im, U32(3), CAP_REC_CALL_ARGS, &rec.call.h, sizeof(rec), args.slots,
			 args.n_bytes);
}

/* ---- work on the GPU, and memory ---- */

void rpd_take_dispatch(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_dispatch rec = {
		.h = { .what = U32(1), .time = U64(2) },
		.end_ns = U64(3),
		.corr_id = U64(4),
		.external_id = U64(5),
		.dispatch_id = U64(6),
		.tid = U32(0),
		.agent = U32(7) + 1,
		.queue = U32(8),
		.stream = U32(9),
		.private_bytes = U32(10),
		.group_bytes = U32(11),
		.workgroup = { U32(12), U32(13), U32(14) },
		.grid = { U32(15), U32(16), U32(17) },
	};
	struct cap_rec_external name = { .h.what = rpd_import_string(im, rpd_text(stmt, 18)),
					 .external_id = rec.external_id };
	static struct cap_counter_value values[VALUES_MAX];

	if (name.h.what && rec.external_id)
		RPD_META(im, EXTERNAL, name);
	rec.n_values = values_of(im, sqlite3_column_int64(stmt, 19), values);
	rpd_import_event(im, rec.tid, CAP_REC_DISPATCH, &rec.h, sizeof(rec), values,
			 rec.n_values * sizeof(values[0]));
}

void rpd_take_copy(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_copy rec = {
		.h = { .time = U64(2) },
		.end_ns = U64(3),
		.corr_id = U64(4),
		.external_id = U64(5),
		.n_bytes = U64(6),
		.dst_address = U64(7),
		.src_address = U64(8),
		.dst_agent = U32(9) + 1,
		.src_agent = U32(10) + 1,
		.tid = U32(0),
		.stream = U32(11),
	};

	for (unsigned op = 1; op <= CAP_COPY_DEVICE_TO_DEVICE; op++) {
		const char *name = trc_kind_op_name(CAP_KIND_MEMORY_COPY, op);

		if (name && strcmp(rpd_text(stmt, 1), name) == 0)
			rec.h.what = op;
	}
	rpd_import_event(im, rec.tid, CAP_REC_COPY, &rec.h, sizeof(rec), NULL, 0);
}

void rpd_take_memory(struct rpd_import *im, sqlite3_stmt *stmt)
{
	bool freed = strcmp(rpd_text(stmt, 1), "FREE") == 0;
	bool virtual_one = strcmp(rpd_text(stmt, 2), "VIRTUAL") == 0;
	struct cap_rec_alloc alloc = {
		.h = { .what = (freed ? CAP_ALLOC_FREE : CAP_ALLOC_ALLOCATE) + virtual_one,
		       .time = U64(3) },
		.end_ticks = U64(4),
		.corr_id = U64(5),
		.ancestor_id = U64(6),
		.external_id = U64(7),
		.address = U64(8),
		.n_bytes = U64(9),
		.agent = sqlite3_column_type(stmt, 10) == SQLITE_NULL ? 0 : U32(10) + 1,
		.stream = U32(11),
	};
	struct cap_rec_scratch scratch = {
		.h = { .what = freed ? CAP_SCRATCH_FREE
			       : strcmp(rpd_text(stmt, 1), "RECLAIM") == 0
				       ? CAP_SCRATCH_ASYNC_RECLAIM
				       : CAP_SCRATCH_ALLOC,
		       .time = alloc.h.time },
		.end_ticks = alloc.end_ticks,
		.corr_id = alloc.corr_id,
		.n_bytes = alloc.n_bytes,
		.agent = alloc.agent,
		.queue = U32(12),
		.tid = U32(0),
		.flags = U32(13),
	};

	if (strcmp(rpd_text(stmt, 2), "SCRATCH") == 0)
		rpd_import_event(im, U32(0), CAP_REC_SCRATCH, &scratch.h, sizeof(scratch), NULL, 0);
	else
		rpd_import_event(im, U32(0), CAP_REC_ALLOC, &alloc.h, sizeof(alloc), NULL, 0);
}
