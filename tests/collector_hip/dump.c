/*
 * dump: a capture as lines of text, for tests. One line per call, marker, stream and host
 * function, in the order of the lanes; arguments as name=value. No clock, no trace model:
 * what is in the file and nothing else.
 *
 *	call hipMalloc kind=21 id=.. corr=1 ancestor=0 stream=0 ret=0 tid=.. ptr=0x.. size=4096
 */
#include "capture/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_OPS 8192
#define N_STRINGS (1u << 20)

static const struct cap_rec_operation *ops[N_OPS];
static char *strings[N_STRINGS];

static const char *string(uint32_t id)
{
	return id < N_STRINGS && strings[id] ? strings[id] : "";
}

static void *copy(const struct cap_rec *rec)
{
	void *to = malloc(cap_rec_bytes(rec));

	memcpy(to, rec, cap_rec_bytes(rec));
	return to;
}

/* Prints one argument; the slots it took. */
static uint32_t print_arg(const struct cap_op_arg *arg, const uint64_t *s, uint32_t n_left)
{
	printf(" %s=", string(arg->name_str));
	if (!n_left) {
		printf("?");
		return 0;
	}
	switch (arg->kind) {
	case CAP_ARG_U32:
	case CAP_ARG_U64:
	case CAP_ARG_BOOL:
		printf("%" PRIu64, s[0]);
		return 1;
	case CAP_ARG_I32:
	case CAP_ARG_I64:
	case CAP_ARG_ENUM:
		printf("%" PRId64, (int64_t)s[0]);
		return 1;
	case CAP_ARG_F32: {
		float f;

		memcpy(&f, s, sizeof(f));
		printf("%g", (double)f);
		return 1;
	}
	case CAP_ARG_PTR:
		printf("0x%" PRIx64, s[0]);
		return 1;
	case CAP_ARG_STREAM:
		printf("stream:%" PRIu64, s[0]);
		return 2;
	case CAP_ARG_DIM3:
		printf("{%u,%u,%u}", (uint32_t)s[0], (uint32_t)(s[0] >> 32), (uint32_t)s[1]);
		return 2;
	case CAP_ARG_STR:
		if (s[0] == CAP_ARG_STR_NULL) {
			printf("(null)");
			return 1;
		}
		printf("\"%.*s\"", (int)s[0], (const char *)(s + 1));
		return 1 + (uint32_t)(s[0] + 7) / 8;
	default:
		printf("?kind%u", arg->kind);
		return 1;
	}
}

static void print_call(const struct cap_rec *rec, uint32_t tid)
{
	const struct cap_rec_call *call = (const void *)rec;
	const struct cap_rec_call_args *args = (const void *)rec;
	const struct cap_rec_operation *op = rec->what < N_OPS ? ops[rec->what] : NULL;
	uint32_t n_left, used;
	const uint64_t *slots;

	if (!op) {
		printf("call ?op%u\n", rec->what);
		return;
	}
	printf("call %s kind=%u id=%u corr=%" PRIu64 " ancestor=%" PRIu64 " tid=%u %s",
	       string(op->name_str), op->kind, op->id, call->corr_id, call->ancestor_id, tid,
	       call->end_ticks >= rec->time ? "ordered" : "BACKWARDS");
	if (cap_rec_type(rec) == CAP_REC_CALL_ARGS) {
		const struct cap_op_arg *arg = (const void *)(op + 1);

		printf(" stream=%u ret=%" PRIu64, args->stream, args->retval);
		slots = (const void *)(args + 1);
		n_left = args->n_arg_bytes / 8;
		for (uint32_t i = 0; i < op->n_args; i++) {
			used = print_arg(&arg[i], slots, n_left);
			slots += used;
			n_left -= used > n_left ? n_left : used;
		}
		if (n_left)
			printf(" LEFT=%u", n_left);
	}
	printf("\n");
}

static void print_marker(const struct cap_rec *rec, uint32_t tid)
{
	const struct cap_rec_marker *m = (const void *)rec;
	struct cap_tail tail = cap_rec_tail(rec);

	printf("marker %u corr=%" PRIu64 " ancestor=%" PRIu64 " tid=%u %s", rec->what, m->corr_id,
	       m->ancestor_id, tid, m->end_ticks >= rec->time ? "ordered" : "BACKWARDS");
	if (m->message)
		printf(" \"%s\"\n", string(m->message));
	else
		printf(" \"%.*s\"\n", (int)tail.n_bytes, (const char *)tail.at);
}

static void print_gpu(const struct cap_rec *rec)
{
	const struct cap_rec_dispatch *d = (const void *)rec;
	const struct cap_rec_copy *c = (const void *)rec;

	if (cap_rec_type(rec) == CAP_REC_DISPATCH)
		printf("dispatch %" PRIu64 " corr=%" PRIu64 " external=%" PRIu64
		       " stream=%u tid=%u grid=%u\n",
		       d->dispatch_id, d->corr_id, d->external_id, d->stream, d->tid, d->grid[0]);
	else
		printf("copy %u corr=%" PRIu64 " external=%" PRIu64
		       " stream=%u tid=%u bytes=%" PRIu64 "\n",
		       rec->what, c->corr_id, c->external_id, c->stream, c->tid, c->n_bytes);
}

static void take(const struct cap_rec *rec, uint32_t tid, bool meta)
{
	struct cap_tail tail = cap_rec_tail(rec);

	switch (cap_rec_type(rec)) {
	case CAP_REC_STRING:
		if (meta && rec->what < N_STRINGS)
			strings[rec->what] = strndup(tail.at, tail.n_bytes);
		break;
	case CAP_REC_OPERATION:
		if (meta && rec->what < N_OPS)
			ops[rec->what] = copy(rec);
		break;
	case CAP_REC_STREAM:
		if (!meta)
			printf("stream %u flags=%u priority=%d name=\"%s\"\n", rec->what,
			       ((const struct cap_rec_stream *)rec)->flags,
			       ((const struct cap_rec_stream *)rec)->priority,
			       string(((const struct cap_rec_stream *)rec)->name_str));
		break;
	case CAP_REC_HOST_FUNCTION:
		if (!meta)
			printf("host_function %u %s\n", rec->what,
			       string(((const struct cap_rec_host_function *)rec)
					      ->device_function_str));
		break;
	case CAP_REC_ENUM_NAME:
		if (!meta)
			printf("enum %s %" PRId64 "=%s\n", string(rec->what),
			       ((const struct cap_rec_enum_name *)rec)->value,
			       string(((const struct cap_rec_enum_name *)rec)->name_str));
		break;
	case CAP_REC_RUNTIME:
		if (!meta)
			printf("runtime %u version=%u\n", rec->what,
			       ((const struct cap_rec_runtime *)rec)->version);
		break;
	case CAP_REC_CALL:
	case CAP_REC_CALL_ARGS:
		if (!meta)
			print_call(rec, tid);
		break;
	case CAP_REC_MARKER:
		if (!meta)
			print_marker(rec, tid);
		break;
	case CAP_REC_DISPATCH:
	case CAP_REC_COPY:
		if (!meta)
			print_gpu(rec);
		break;
	case CAP_REC_EXTERNAL:
		if (!meta)
			printf("external %" PRIu64 " \"%s\"\n",
			       ((const struct cap_rec_external *)rec)->external_id,
			       string(rec->what));
		break;
	}
}

int main(int argc, char **argv)
{
	struct cap_view view = { 0 };
	struct cap_reader *reader;
	const struct cap_rec *rec;
	struct ws_err err = { 0 };

	if (argc != 2 || cap_reader_open(argv[1], &reader, &err)) {
		fprintf(stderr, "dump: %s\n", argc == 2 ? err.text : "one capture, please");
		return 1;
	}
	/* names first: a call may be in a chunk before them */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
			if (cap_reader_load(reader, i, &view, &err))
				continue;
			while ((rec = cap_view_next(&view)))
				take(rec, view.tid, pass == 0);
		}
	if (cap_damage_any(&view.damage) || cap_damage_any(cap_reader_damage(reader)))
		printf("DAMAGE\n");
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		const struct cap_ledger_line *l = &cap_reader_head(reader)->ledger[d];

		if (l->dropped || l->failed)
			printf("ledger %d dropped=%" PRIu64 " failed=%" PRIu64 "\n", d, l->dropped,
			       l->failed);
	}
	cap_view_fini(&view);
	cap_reader_close(reader);
	return 0;
}
