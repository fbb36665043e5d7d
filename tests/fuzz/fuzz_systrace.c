/*
 * Any bytes as a capture, written as rocprof-sys's Perfetto trace: the file consists of whole
 * packets, and every slice that begins on a track ends. Now and then also as a database, in which
 * no row refers to one that is not there. replay.c runs it as a test.
 */
#include "tests/fuzz/packed_capture.h"

#include "base/map.h"
#include "base/util.h"
#include "output/output.h"
#include "output/systrace.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- reading it back ---- */

struct bytes {
	const uint8_t *at, *end;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		CHECK(b->at < b->end);
		byte = *b->at++;
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (byte < 0x80)
			return value;
	}
	CHECK(!"a number has more than ten bytes");
	return 0;
}

struct field {
	unsigned number;
	uint64_t value;
	struct bytes inner;
};

static bool next(struct bytes *b, struct field *out)
{
	uint64_t tag, n = 8;

	if (b->at == b->end)
		return false;
	tag = varint(b);
	*out = (struct field){ .number = (unsigned)(tag >> 3) };
	if ((tag & 7) == 0) {
		out->value = varint(b);
		return true;
	}
	CHECK((tag & 7) == 1 || (tag & 7) == 2);
	if ((tag & 7) == 2)
		n = varint(b);
	CHECK(n <= (uint64_t)(b->end - b->at));
	out->inner = (struct bytes){ b->at, b->at + n };
	b->at += n;
	return true;
}

enum { PACKET = 1, TRACK_EVENT = 11, EVENT_TYPE = 9, EVENT_TRACK = 11, BEGIN = 1, END = 2 };

static void check_packet(struct bytes packet, struct ws_map *open, struct output_systrace_result *n)
{
	struct field field, inner;

	while (next(&packet, &field)) {
		uint64_t type = 0, track = 0;

		if (field.number != TRACK_EVENT)
			continue;
		while (next(&field.inner, &inner)) {
			type = inner.number == EVENT_TYPE ? inner.value : type;
			track = inner.number == EVENT_TRACK ? inner.value : track;
		}
		if (type == BEGIN || type == END) {
			uintptr_t depth = (uintptr_t)ws_map_get_u64(open, track);

			depth += type == BEGIN ? 1 : (uintptr_t)-1;
			CHECK(!ws_map_put_u64(open, track, (void *)depth, NULL));
			n->n_slices += type == BEGIN;
		}
		n->n_values += type == 4;
	}
}

static void check_file(const char *path, const struct output_systrace_result *result)
{
	struct output_systrace_result found = { 0 };
	struct ws_map open_slices;
	struct bytes all;
	struct field packet;
	struct stat st;
	int fd = open(path, O_RDONLY);
	void *map;

	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(map != MAP_FAILED);
	CHECK((uint64_t)st.st_size == result->n_bytes);
	ws_map_init(&open_slices, WS_MAP_U64, 1u << 20);
	all = (struct bytes){ map, (const uint8_t *)map + st.st_size };
	while (next(&all, &packet)) {
		CHECK(packet.number == PACKET);
		check_packet(packet.inner, &open_slices, &found);
	}
	ws_map_each(entry, &open_slices)
		CHECK(entry->value == NULL);
	CHECK(found.n_slices == result->n_slices && found.n_values == result->n_values);
	ws_map_fini(&open_slices);
	munmap(map, (size_t)st.st_size);
	close(fd);
}

/* ---- writing it ---- */

static void check_process(const struct trc_trace *trace, const struct trc_process *process,
			  uint8_t choice)
{
	static char dir[32], path[64];
	static const char *const disabled[] = { "host", "rocm_hip_api", "nonsense", NULL };
	struct output_systrace_opts opts = {
		.frames = choice & 1 ? (struct prof_frames *)dir : NULL,
		.annotations = choice & 2,
		.group_by_queue = choice & 4,
		.disable = choice & 8 ? disabled : NULL,
		.max_bytes = choice & 16 ? 8192 : 0,
		.fill = choice & 32 ? OUTPUT_SYSTRACE_RING : OUTPUT_SYSTRACE_DISCARD,
	};
	struct output_systrace_result result;
	struct ws_err err;

	if (!dir[0]) {
		strcpy(dir, "/tmp/ws-fuzz-XXXXXX");
		CHECK(mkdtemp(dir));
		snprintf(path, sizeof(path), "%s/a", dir);
	}
	CHECK(!output_systrace_write(trace, process, &opts, path, &result, &err));
	check_file(path, &result);
	CHECK((result.n_lost != 0) == (result.lost[0] != 0));
	unlink(path);
	rmdir(dir);
	dir[0] = '\0';
}

static void check_references(const char *path)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;

	CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
	CHECK(sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &stmt, NULL) == SQLITE_OK);
	CHECK(sqlite3_step(stmt) == SQLITE_DONE);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

static void check_database(const struct trc_trace *trace, const struct trc_process *process)
{
	char dir[] = "/tmp/ws-fuzz-XXXXXX", prefix[64];
	struct output_result result;
	struct output_config cfg;
	struct ws_err err = { 0 };

	CHECK(mkdtemp(dir));
	snprintf(prefix, sizeof(prefix), "%s/a", dir);
	output_config_init(&cfg);
	cfg.formats = OUTPUT_BIT(ROCPD);
	cfg.prefix = prefix;
	cfg.host_data = true;
	cfg.frames = (struct prof_frames *)dir;
	CHECK(!output_write(trace, &process, 1, &cfg, &result, &err));
	for (size_t i = 0; i < result.n_files; i++) {
		check_references(result.files[i].path);
		unlink(result.files[i].path);
	}
	output_result_fini(&result);
	rmdir(dir);
}

/* A database takes milliseconds: of one input in this many. */
#define DATABASE_EVERY 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static unsigned n_inputs;
	char path[64];
	const char *paths[] = { path };
	struct trc_trace *trace;
	struct ws_err err;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	CHECK(fd >= 0);
	unpack(fd, data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trc_open(paths, 1, NULL, &trace, &err) != WS_OK)
		return 0;
	/* each input in one way, and all that is on in another */
	check_process(trace, trc_process_at(trace, 0), size ? data[size / 2] : 0);
	check_process(trace, trc_process_at(trace, 0), 3);
	if (n_inputs++ % DATABASE_EVERY == 0)
		check_database(trace, trc_process_at(trace, 0));
	trc_close(trace);
	return 0;
}

/* ---- names of call stacks, instead of profile/frames.c ---- */

enum ws_status prof_frames_open(const struct trc_process *process,
				const struct prof_frames_opts *opts,
				struct prof_frames **out_frames, struct ws_err *err)
{
	*out_frames = (struct prof_frames *)(uintptr_t)process;
	return WS_OK;
}

void prof_frames_close(struct prof_frames *frames)
{
}

size_t prof_frames_of(struct prof_frames *frames, uint32_t stack,
		      const struct prof_frame **out_stack)
{
	static const struct prof_frame some[] = {
		{ .name = "main", .file = "", .module = "/bin/app", .offset = 16 },
		{ .name = "f", .file = "f.py", .module = "", .line = 3, .python = true },
	};

	*out_stack = some;
	return stack % 3;
}

const struct prof_frame *prof_frames_at(struct prof_frames *frames, uint64_t address)
{
	static const struct prof_frame some = { .name = "g", .file = "", .module = "" };

	return &some;
}
