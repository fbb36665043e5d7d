/*
 * convert: makes captures, writes them in the formats asked for, and prints what the
 * trace model says is in them, as one JSON object per line, for check.py to compare.
 *
 *	convert DIR FORMAT[,FORMAT...] [OPTION...]
 */
#include "output/output.h"
#include "tests/output/synth.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void put_hex(const char *text)
{
	for (; *text; text++)
		printf("%02x", (unsigned char)*text);
}

static void dump_event(const struct trc_event *ev)
{
	printf("{\"domain\":\"%s\",\"kind\":%d,\"op\":%u,\"pid\":%u,\"tid\":%u,\"start\":%llu,"
	       "\"end\":%llu,\"corr\":%llu,\"ancestor\":%llu,\"external\":%llu,\"name\":\"",
	       trc_domain_name(ev->domain), (int)ev->kind, ev->op_id, ev->process->pid,
	       ev->thread->tid, (unsigned long long)ev->start_ns, (unsigned long long)ev->end_ns,
	       (unsigned long long)ev->corr_id, (unsigned long long)ev->ancestor_id,
	       (unsigned long long)ev->external_id);
	put_hex(ev->name);
	printf("\"");
	if (ev->kind == CAP_KIND_KERNEL_DISPATCH) {
		const struct cap_rec_dispatch *d = ev->dispatch.info;

		printf(",\"dispatch\":%llu,\"kernel\":%u,\"queue\":%u,\"stream\":%u,\"agent\":%u,"
		       "\"grid\":[%u,%u,%u],\"workgroup\":[%u,%u,%u],\"lds\":%u,\"scratch\":%u,"
		       "\"formatted\":\"%s\",\"renamed\":%s,\"values\":[",
		       (unsigned long long)d->dispatch_id, ev->dispatch.kernel->id,
		       ev->dispatch.queue->id, ev->stream->id, ev->dispatch.agent->info->node_id,
		       d->grid[0], d->grid[1], d->grid[2], d->workgroup[0], d->workgroup[1],
		       d->workgroup[2], d->group_bytes, d->private_bytes,
		       ev->dispatch.kernel->formatted, ev->dispatch.renamed ? "true" : "false");
		for (uint32_t i = 0; i < d->n_values; i++)
			printf("%s[%u,%.17g]", i ? "," : "", ev->dispatch.values[i].counter,
			       ev->dispatch.values[i].value);
		printf("]");
	}
	if (ev->domain == CAP_DOMAIN_MEMORY_COPY)
		printf(",\"bytes\":%llu,\"dst\":%u,\"src\":%u,\"stream\":%u",
		       (unsigned long long)ev->copy.info->n_bytes, ev->copy.dst->info->node_id,
		       ev->copy.src->info->node_id, ev->stream->id);
	if (ev->domain == CAP_DOMAIN_MEMORY_ALLOCATION)
		printf(",\"bytes\":%llu,\"address\":%llu",
		       (unsigned long long)ev->alloc.info->n_bytes,
		       (unsigned long long)ev->alloc.info->address);
	if (ev->domain == CAP_DOMAIN_SCRATCH_MEMORY)
		printf(",\"bytes\":%llu,\"flags\":%u",
		       (unsigned long long)ev->scratch.info->n_bytes, ev->scratch.info->flags);
	if (ev->domain == CAP_DOMAIN_HIP_API || ev->domain == CAP_DOMAIN_ROCDECODE_API) {
		struct trc_arg_walk walk = { 0 };
		struct trc_arg arg;
		char value[2048];
		const char *sep = "";

		printf(",\"args\":[");
		while (trc_event_arg(ev, &walk, &arg)) {
			trc_arg_print(ev->process, &arg, value, sizeof(value));
			printf("%s[\"%s\",\"%s\",\"", sep, arg.type, arg.name);
			put_hex(value);
			printf("\"]");
			sep = ",";
		}
		printf("],\"retval\":%llu", (unsigned long long)ev->call.retval);
	}
	printf("}\n");
}

static bool decode(void *ctx, const struct trc_process *process, uint64_t code_object,
		   uint64_t offset, const char **out_instruction, const char **out_comment)
{
	static char text[64];

	snprintf(text, sizeof(text), "v_add_f32 \"%llx\"", (unsigned long long)offset);
	*out_instruction = text;
	*out_comment = "file.cpp:12";
	return offset != 0x1004; /* one that cannot be read */
}

static int die(const char *what, const struct ws_err *err)
{
	fprintf(stderr, "convert: %s: %s\n", what, err->text);
	return 1;
}

static void opened(void *ctx, const char *path, const char *guid)
{
	fprintf(stderr, "Opened result file: %s", path);
	if (guid)
		fprintf(stderr, " (UUID=%s)", guid);
	fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
	static const struct output_decoder decoder = { .decode = decode };
	static const char *const groups[] = { "KERNEL_DISPATCH|MEMORY_COPY", "HIP_.*", "NOTHING" };
	struct ws_synth synth = { .pid = 4711, .n_threads = 2, .n_rounds = 40 };
	struct output_result result = { 0 };
	struct output_config cfg;
	struct trc_opts opts = { 0 };
	struct ws_err err = { 0 };
	struct trc_trace *trace;
	struct trc_events *events;
	const struct trc_event *ev;
	char paths[2][4096], prefix[4096];
	const char *captures[] = { paths[0], paths[1] };
	size_t n_captures = 1;
	bool dump = true, limit = false;
	enum ws_status st;

	if (argc < 3)
		return 2;
	output_config_init(&cfg);
	for (char *word = strtok(argv[2], ","); word; word = strtok(NULL, ",")) {
		enum output_format format;

		if (!output_by_word(word, &format))
			return 2;
		cfg.formats |= 1u << format;
	}
	for (int i = 3; i < argc; i++) {
		cfg.stats |= !strcmp(argv[i], "stats");
		cfg.kernel_rename |= !strcmp(argv[i], "rename");
		cfg.group_by_queue |= !strcmp(argv[i], "queues");
		cfg.summary |= !strcmp(argv[i], "summary");
		cfg.summary_per_domain |= !strcmp(argv[i], "domains");
		if (!strcmp(argv[i], "groups")) {
			cfg.summary_groups = groups;
			cfg.n_summary_groups = 3;
		}
		if (!strcmp(argv[i], "usec"))
			cfg.summary_unit = WS_TIME_USEC;
		if (!strcmp(argv[i], "absolute"))
			cfg.agent_index = TRC_AGENT_INDEX_ABSOLUTE;
		if (!strcmp(argv[i], "type-relative"))
			cfg.agent_index = TRC_AGENT_INDEX_TYPE;
		if (!strcmp(argv[i], "minimum"))
			cfg.minimum_bytes = 1ull << 40;
		if (!strcmp(argv[i], "decode"))
			cfg.decoder = &decoder;
		if (!strcmp(argv[i], "two"))
			n_captures = 2;
		if (!strcmp(argv[i], "empty"))
			synth.n_rounds = 0;
		limit |= !strcmp(argv[i], "limit");
		dump &= strcmp(argv[i], "quiet") != 0;
		opts.truncated_names |= !strcmp(argv[i], "truncate");
	}
	cfg.summary_file = "summary";
	cfg.opened = opened;
	snprintf(prefix, sizeof(prefix), "%s/host/4711", argv[1]);
	cfg.prefix = prefix;
	for (size_t i = 0; i < n_captures; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%zu.wscap", argv[1], i);
		synth.pid += (uint32_t)i * 100;
		synth.no_hip = i;
		st = ws_synth_write(paths[i], &synth, NULL, &err);
		if (st)
			return die("captures", &err);
	}
	if (limit) { /* files that cannot grow: to the writers, a full disk */
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 400000, 400000 });
	}
	if (trc_open(captures, n_captures, &opts, &trace, &err))
		return die("trace", &err);
	st = output_write(trace, NULL, 0, &cfg, &result, &err);
	for (size_t i = 0; i < result.n_files; i++)
		fprintf(stderr, "file %s %s %llu rows %llu bytes%s%s\n",
			result.files[i].format < OUTPUT_COUNT
				? output_ops(result.files[i].format)->word
				: "summary",
			result.files[i].path, (unsigned long long)result.files[i].n_rows,
			(unsigned long long)result.files[i].n_bytes,
			result.files[i].err.status ? ": " : "",
			result.files[i].err.status ? result.files[i].err.text : "");
	if (st)
		fprintf(stderr, "convert: %s\n", err.text);
	output_result_fini(&result);
	if (!dump)
		goto out;
	if (trc_events_open(trace, &(struct trc_event_query){ 0 }, &events, &err))
		return die("events", &err);
	while ((ev = trc_events_next(events)))
		dump_event(ev);
	if (trc_events_close(events, &err))
		return die("events", &err);
out:
	trc_close(trace);
	return st ? 3 : 0;
}
