/*
 * python: the frames of Python code, read in the handler from the interpreter's memory.
 *
 * The interpreter is not asked for anything but the state of the calling thread, which it
 * keeps as thread-specific data. It may be interrupted while it changes what is read here, so
 * every object is checked for its type, and all memory is read fault-tolerantly.
 *
 * A code object is written when it is first met. It is known by its address and by the
 * addresses of its parts: an address is used again when a code object is freed.
 */
#include "collector/sample/python_layout.h"
#include "collector/sample/sample_priv.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CODES (1u << 16) /* entries of the table */
#define STATES_MAX 4096u /* threads of an interpreter that are searched */
#define NAME_BYTES 1024u
#define TABLE_MAX 65536u /* longer line tables are left out */

struct col_python_work {
	struct frame {
		uint64_t code;
		uint32_t at; /* CAP_FRAME_PYTHON_AT */
		bool entry;
	} frames[COL_SAMPLE_DEPTH_MAX];
	uint8_t codes[COL_SAMPLE_READS][COL_PYTHON_CODE_BYTES];
};

static struct {
	uint32_t ready; /* acquire/release; 1: an interpreter, 2: one that is not known */
	struct col_python_layout layout;
	struct col_python_runtime runtime;
	uintptr_t runtime_at;           /* _PyRuntime, from 3.13 on */
	void *(*state_of_thread)(void); /* before */
	uintptr_t code_type, text_type, bytes_type;
	struct col_id_entry *table;
	uint32_t next_id;
} python = { .next_id = 1 };

/* ---- finding the interpreter ---- */

static int find_library(struct dl_phdr_info *info, size_t n_bytes, void *arg)
{
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	if (!name || strncmp(name, "/libpython3.", 12) != 0)
		return 0;
	strncpy(arg, info->dlpi_name, PATH_MAX - 1);
	return 1;
}

/* The program itself, or a library that it has loaded for itself alone; NULL: none. */
static void *open_interpreter(void)
{
	char path[PATH_MAX] = "";

	if (dlsym(RTLD_DEFAULT, "Py_GetVersion"))
		return dlopen(NULL, RTLD_LAZY);
	return dl_iterate_phdr(find_library, path) ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static uint16_t version_of(void *library)
{
	const unsigned long *number = dlsym(library, "Py_Version");
	const char *(*text)(void);
	long major, minor;
	char *end;

	if (number)
		return (uint16_t)(*number >> 16);
	*(void **)&text = dlsym(library, "Py_GetVersion");
	if (!text)
		return 0;
	major = strtol(text(), &end, 10);
	minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	return (uint16_t)(major << 8 | minor);
}

static bool learn(void *library)
{
	uint16_t version = version_of(library);
	const struct col_python_layout *layout = col_python_layout(version);

	if (!layout)
		return false;
	python.layout = *layout;
	python.code_type = (uintptr_t)dlsym(library, "PyCode_Type");
	python.text_type = (uintptr_t)dlsym(library, "PyUnicode_Type");
	python.bytes_type = (uintptr_t)dlsym(library, "PyBytes_Type");
	*(void **)&python.state_of_thread = dlsym(library, "PyGILState_GetThisThreadState");
	if (version >= 0x030d) {
		/* Its state is in a thread-local variable, which may not be allocated yet. */
		python.runtime_at = (uintptr_t)dlsym(library, "_PyRuntime");
		if (!python.runtime_at || !col_python_published((const void *)python.runtime_at,
								&python.layout, &python.runtime))
			return false;
	} else if (!python.state_of_thread) {
		return false;
	}
	if (!python.table)
		python.table = col_pages(CODES * sizeof(*python.table));
	return python.table && python.code_type && python.text_type && python.bytes_type;
}

static void prepare_one(struct col_sampled *thread, void *arg)
{
	if (thread)
		col_python_prepare(thread);
}

void col_python_search(void)
{
	void *library;

	if (__atomic_load_n(&python.ready, __ATOMIC_RELAXED))
		return;
	library = open_interpreter();
	if (!library)
		return;
	if (learn(library)) {
		__atomic_store_n(&python.ready, 1, __ATOMIC_RELEASE);
		col_sampled_each(prepare_one, NULL);
	} else {
		__atomic_store_n(&python.ready, 2, __ATOMIC_RELEASE);
		col_note("call-stack sampling: this version of Python is not supported: the "
			 "interpreter's own frames are recorded, but no Python functions");
	}
	dlclose(library);
}

void col_python_prepare(struct col_sampled *thread)
{
	struct col_sample_work *work = thread->work;

	if (__atomic_load_n(&python.ready, __ATOMIC_RELAXED) == 1 && work && !work->python)
		__atomic_store_n(&work->python, col_pages(sizeof(*work->python)), __ATOMIC_RELEASE);
}

/* Everything is to be written again, to another capture. */
void col_python_forked(void)
{
	if (python.table)
		madvise(python.table, CODES * sizeof(*python.table), MADV_DONTNEED);
	python.next_id = 1;
}

/* ---- reading ---- */

static uint64_t read_word(struct col_sample_work *work, uintptr_t at)
{
	uint64_t word;

	return at && col_sample_read(work, at, &word, sizeof(word)) ? word : 0;
}

static uint64_t word_at(const uint8_t *bytes, uint16_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* The thread's state among those of all interpreters. */
static uintptr_t search_state(struct col_sampled *thread)
{
	const struct col_python_layout *l = &python.layout;
	uintptr_t interpreter =
		read_word(thread->work, python.runtime_at + python.runtime.first_interpreter);
	uint32_t n = 0;

	while (interpreter && n < STATES_MAX) {
		uintptr_t state =
			read_word(thread->work, interpreter + python.runtime.first_thread);

		for (; state && n < STATES_MAX; n++) {
			if (read_word(thread->work, state + l->state_native_id) == thread->tid)
				return state;
			state = read_word(thread->work, state + l->state_next);
		}
		interpreter =
			read_word(thread->work, interpreter + python.runtime.next_interpreter);
		n++;
	}
	return 0;
}

static uintptr_t find_state(struct col_sampled *thread)
{
	uint16_t id_at = python.layout.state_native_id;

	if (!python.runtime_at)
		return (uintptr_t)python.state_of_thread();
	if (!thread->python_state ||
	    read_word(thread->work, thread->python_state + id_at) != thread->tid)
		thread->python_state = search_state(thread);
	return thread->python_state;
}

/* Text as UTF-8; returns its length, 0 when it is none. Cut at @room. */
static uint32_t read_text(struct col_sample_work *work, uintptr_t at, char *to, uint32_t room)
{
	const struct col_python_layout *l = &python.layout;
	uint8_t head[COL_PYTHON_HEAD_BYTES], data[256];
	uint64_t length;
	uint32_t state, kind, n = 0;

	if (!at || !col_sample_read(work, at, head, sizeof(head)) ||
	    word_at(head, l->object_type) != python.text_type)
		return 0;
	length = word_at(head, l->text_length);
	memcpy(&state, head + l->text_state, sizeof(state));
	kind = state >> 2 & 7; /* bytes per character */
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return 0;
	at += state >> 6 & 1 ? l->text_ascii : l->text_other;
	for (uint64_t i = 0; i < length; i++) {
		uint32_t in = (uint32_t)(i % (sizeof(data) / kind)), c = 0;

		if (in == 0) {
			uint64_t left = (length - i) * kind;

			if (!col_sample_read(work, at + i * kind, data,
					     (uint32_t)WS_MIN(left, sizeof(data))))
				return 0;
		}
		memcpy(&c, data + in * kind, kind);
		if (n + 4 > room)
			break;
		if (c < 0x80) {
			to[n++] = (char)c;
		} else if (c < 0x800) {
			to[n++] = (char)(0xc0 | c >> 6);
			to[n++] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			to[n++] = (char)(0xe0 | c >> 12);
			to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
			to[n++] = (char)(0x80 | (c & 0x3f));
		} else {
			to[n++] = (char)(0xf0 | (c >> 18 & 7));
			to[n++] = (char)(0x80 | (c >> 12 & 0x3f));
			to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
			to[n++] = (char)(0x80 | (c & 0x3f));
		}
	}
	return n;
}

/* Length of a bytes object; 0: it is none, or too long. out_at: its first byte. */
static uint32_t bytes_length(struct col_sample_work *work, uintptr_t at, uintptr_t *out_at)
{
	const struct col_python_layout *l = &python.layout;
	uint8_t head[COL_PYTHON_HEAD_BYTES];
	uint64_t n;

	if (!at || !col_sample_read(work, at, head, sizeof(head)) ||
	    word_at(head, l->object_type) != python.bytes_type)
		return 0;
	n = word_at(head, l->bytes_length);
	*out_at = at + l->bytes_start;
	return n <= TABLE_MAX ? (uint32_t)n : 0;
}

/* ---- code ---- */

static bool write_code(struct col_sample_work *work, const uint8_t *code, uint32_t id,
		       struct cap_lane *lane)
{
	const struct col_python_layout *l = &python.layout;
	uint16_t name_at = l->code_qualified != COL_PYTHON_NONE ? l->code_qualified : l->code_name;
	char *name = (char *)work->text, *file = name + NAME_BYTES;
	uint32_t n_name = read_text(work, word_at(code, name_at), name, NAME_BYTES);
	uint32_t n_file = read_text(work, word_at(code, l->code_file), file,
				    (uint32_t)sizeof(work->text) - NAME_BYTES);
	uintptr_t table_at = 0;
	uint32_t n_table = bytes_length(work, word_at(code, l->code_table), &table_at);
	uint32_t n_bytes = CAP_REC_ROUND((uint32_t)sizeof(struct cap_rec_python_code) + n_name +
					 n_file + n_table);
	struct cap_rec_python_code *rec;
	char *tail;

	rec = n_name ? cap_lane_reserve(&lane, n_bytes) : NULL;
	if (!rec)
		return false;
	tail = (char *)(rec + 1);
	memcpy(tail, name, n_name);
	memcpy(tail + n_name, file, n_file);
	tail += n_name + n_file;
	for (uint32_t i = 0; i < n_table; i += COL_SAMPLE_WINDOW) {
		if (col_sample_read(work, table_at + i, tail + i,
				    WS_MIN(n_table - i, COL_SAMPLE_WINDOW)))
			continue;
		cap_lane_cancel(lane, n_bytes);
		return false;
	}
	rec->h.what = id;
	rec->h.time = 0;
	memcpy(&rec->first_line, code + l->code_first_line, sizeof(rec->first_line));
	rec->version = l->version;
	rec->n_name = n_name;
	rec->n_file = n_file;
	rec->n_bytes = n_name + n_file + n_table;
	rec->zero = 0;
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_PYTHON_CODE, n_bytes));
	return true;
}

/* The id of the code object at @at, of which @code is a copy; 0: it is none. */
static uint32_t code_id(struct col_sample_work *work, uint64_t at, const uint8_t *code,
			struct cap_lane *lane)
{
	const struct col_python_layout *l = &python.layout;
	const uint16_t parts[] = { l->code_file, l->code_name, l->code_table };
	struct col_id_entry *entry;
	uint64_t hash, id, none = 0;
	uint32_t line;

	if (word_at(code, l->object_type) != python.code_type)
		return 0;
	memcpy(&line, code + l->code_first_line, sizeof(line));
	hash = col_id_hash(at, line);
	for (size_t i = 0; i < WS_ARRAY_LEN(parts); i++)
		hash = col_id_hash(hash, word_at(code, parts[i]));
	entry = col_id_entry(python.table, CODES, hash);
	if (!entry)
		return 0;
	id = __atomic_load_n(&entry->id, __ATOMIC_ACQUIRE);
	if (id)
		return (uint32_t)id;
	id = __atomic_fetch_add(&python.next_id, 1, __ATOMIC_RELAXED);
	if (id >= CAP_FRAME_PYTHON_CODE(UINT64_MAX) || !write_code(work, code, (uint32_t)id, lane))
		return 0;
	__atomic_compare_exchange_n(&entry->id, &none, id, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	return (uint32_t)id;
}

/* ---- frames ---- */

/* To 3.10. */
static uint32_t walk_objects(struct col_sample_work *work, uintptr_t at, uint32_t depth)
{
	const struct col_python_layout *l = &python.layout;
	struct frame *frames = work->python->frames;
	uint8_t head[128];
	uint32_t n = 0;
	int32_t position;

	while (at && n < depth && col_sample_read(work, at, head, sizeof(head))) {
		memcpy(&position, head + l->frame_at, sizeof(position));
		frames[n++] = (struct frame){
			.code = word_at(head, l->frame_code),
			.at = position < 0 ? UINT32_MAX : (uint32_t)position * l->unit,
			.entry = true,
		};
		at = word_at(head, l->frame_previous);
	}
	return n;
}

/* From 3.11 on; on a stack of their own, callers below. */
static uint32_t walk_frames(struct col_sample_work *work, uintptr_t at, uint32_t depth)
{
	const struct col_python_layout *l = &python.layout;
	struct frame *frames = work->python->frames;
	uint8_t head[COL_PYTHON_FRAME_BYTES];
	uint32_t n = 0;

	while (at && n < depth && col_sample_read_down(work, at, head, sizeof(head))) {
		bool shim = l->kind == COL_PYTHON_SHIMS && head[l->frame_mark] == COL_PYTHON_SHIM;
		uint64_t code = word_at(head, l->frame_code);
		uint64_t offset = word_at(head, l->frame_at) - code - l->code_start;

		at = word_at(head, l->frame_previous);
		if (shim) {
			if (n)
				frames[n - 1].entry = true;
			continue;
		}
		frames[n++] = (struct frame){
			.code = code,
			.at = offset < INT32_MAX ? (uint32_t)offset : UINT32_MAX,
			.entry = l->kind == COL_PYTHON_MARKED && head[l->frame_mark],
		};
	}
	return n;
}

/* Frames in their recorded form, as far as their code is known. */
static uint32_t record(struct col_sample_work *work, uint32_t n, uint64_t *to,
		       struct cap_lane *lane)
{
	const struct frame *frames = work->python->frames;
	uint64_t at[COL_SAMPLE_READS];

	for (uint32_t i = 0; i < n; i += COL_SAMPLE_READS) {
		uint32_t n_here = WS_MIN(n - i, COL_SAMPLE_READS), n_read;

		for (uint32_t k = 0; k < n_here; k++)
			at[k] = frames[i + k].code;
		n_read =
			col_sample_read_all(at, n_here, work->python->codes, COL_PYTHON_CODE_BYTES);
		for (uint32_t k = 0; k < n_here; k++) {
			uint32_t id =
				k < n_read ? code_id(work, at[k], work->python->codes[k], lane) : 0;

			if (!id)
				return i + k;
			to[i + k] = CAP_FRAME_PYTHON | (uint64_t)id << 32 | frames[i + k].at |
				    (frames[i + k].entry ? CAP_FRAME_ENTRY : 0);
		}
	}
	return n;
}

uint32_t col_python_frames(struct col_sampled *thread, uint32_t n_native, uint32_t depth,
			   struct cap_lane *lane, uint32_t *flags)
{
	const struct col_python_layout *l = &python.layout;
	struct col_sample_work *work = thread->work;
	uintptr_t state, frame;
	uint32_t n, n_recorded;

	/* A thread that was found may have no thread-local variables of its own. */
	if (__atomic_load_n(&python.ready, __ATOMIC_ACQUIRE) != 1 || !thread->thread ||
	    !__atomic_load_n(&work->python, __ATOMIC_ACQUIRE))
		return 0;
	state = find_state(thread);
	if (!state)
		return 0;
	if (l->state_holder != COL_PYTHON_NONE)
		frame = read_word(work, read_word(work, state + l->state_holder) + l->holder_frame);
	else
		frame = read_word(work, state + l->state_frame);
	n = l->kind == COL_PYTHON_OBJECTS ? walk_objects(work, frame, depth)
					  : walk_frames(work, frame, depth);
	n_recorded = record(work, n, work->frames + n_native, lane);
	if (n == depth || n_recorded < n)
		*flags |= CAP_STACK_CUT;
	return n_recorded;
}
