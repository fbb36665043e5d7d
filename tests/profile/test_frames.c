/* Call stacks as functions: lookup, inlined functions, and Python frames in their places. */
#include "tests/profile/host_rig.h"
#include "tests/profile/restorer.h"

#include "profile/frames.h"
#include "profile/frames_priv.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>

#define ABSENT_PYTHON 0x10000000u /* the module of this name is not on disk */
#define ABSENT_INTERNAL 0x20000000u
#define VDSO 0x30000000u
#define REBUILT 0x40000000u
#define NOWHERE 0x50000000u /* no module */

static const char *library; /* python_like.c */
static void *handle;

/* ---- a capture whose modules are those of this process ---- */

static uint64_t at(const char *symbol)
{
	void *found = dlsym(handle, symbol);

	if (!found)
		fail_msg("%s: %s", symbol, dlerror());
	return (uintptr_t)found;
}

static void put_own_module(struct cap_lane *lane, uint32_t id, const void *inside)
{
	struct cap_rec_module module = { .h.what = id, .generation = 1 };
	const void *build_id;
	Dl_info info;
	ssize_t n;
	Elf *elf;
	int fd;

	assert_true(dladdr(inside, &info));
	fd = open(info.dli_fname, O_RDONLY);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	n = dwelf_elf_gnu_build_id(elf, &build_id);
	if (n > 0) {
		module.n_build_id = (uint32_t)n;
		memcpy(module.build_id, build_id, (size_t)n);
	}
	elf_end(elf);
	close(fd);
	module.start = module.bias = (uintptr_t)info.dli_fbase;
	module.end = module.start + (1 << 22);
	rig_module(lane, module, info.dli_fname);
}

static void put_modules(struct cap_lane *lane)
{
	static const struct {
		uint64_t start;
		const char *path;
	} absent[] = {
		{ ABSENT_PYTHON, "/nowhere/libpython3.11.so.1.0" },
		{ ABSENT_INTERNAL, "/nowhere/libwavescope-collector.so" },
		{ VDSO, "[vdso]" },
	};
	struct cap_rec_module rebuilt = { .h.what = 3,
					  .start = REBUILT,
					  .end = REBUILT + 0x10000,
					  .bias = REBUILT,
					  .generation = 1,
					  .n_build_id = 4 };

	put_own_module(lane, 1, dlsym(handle, "list_sort"));
	put_own_module(lane, 2, (const void *)puts);
	if (restorer_of_handlers()) /* in another module if a sanitizer has replaced puts() */
		put_own_module(lane, 7, restorer_of_handlers());
	rig_module(lane, rebuilt, library);
	for (uint32_t i = 0; i < WS_ARRAY_LEN(absent); i++)
		rig_module(lane,
			   (struct cap_rec_module){ .h.what = 4 + i,
						    .start = absent[i].start,
						    .end = absent[i].start + 0x10000,
						    .bias = absent[i].start,
						    .generation = 1 },
			   absent[i].path);
}

/* Code objects 1 to 9: "f1" in "a.py", from line 10 on, one line per two bytes of code. */
static void put_codes(struct cap_lane *lane, uint32_t version)
{
	static const uint8_t old[] = { 2, 1, 2, 1, 2, 1 };
	static const uint8_t new[] = { 0x80 | 10 << 3, 0, 0, 0x80 | 11 << 3, 0, 0 };
	char name[8];

	for (uint32_t i = 1; i < 10; i++) {
		struct cap_rec_python_code code = { .h.what = i,
						    .first_line = i * 10,
						    .version = version };

		snprintf(name, sizeof(name), "f%u", i);
		if (version < 0x030b)
			rig_python(lane, code, name, "a.py", old, sizeof(old));
		else
			rig_python(lane, code, name, "a.py", new, sizeof(new));
	}
}

#define PY(code) (CAP_FRAME_PYTHON | (uint64_t)(code) << 32 | 2)
#define ENTRY(code) (PY(code) | CAP_FRAME_ENTRY)

/* One stack of frames that end with 0; its frames by name, outermost first: "a;b;c". */
static const char *folded(uint32_t version, uint32_t flags, struct prof_frames_opts opts,
			  const uint64_t *frames)
{
	static char text[4096];
	struct cap_rec_stack stack = { .h.what = 1, .flags = flags, .generation = 1 };
	struct cap_writer *w = rig_start();
	struct cap_lane *lane = cap_lane_get(w, 100);
	const struct prof_frame *found;
	struct prof_frames *names = NULL;
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	size_t n, used = 0;

	while (frames[stack.n_frames])
		stack.n_native += !(frames[stack.n_frames++] & CAP_FRAME_PYTHON);
	put_modules(lane);
	put_codes(lane, version);
	rig_stack(lane, stack, frames);
	cap_lane_put(lane);
	trace = rig_trace(w);
	if (prof_frames_open(trc_process_at(trace, 0), &opts, &names, &err))
		fail_msg("%s", err.text);
	n = prof_frames_of(names, 1, &found);
	text[0] = 0;
	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ";" : "",
					 found[i].name);
	prof_frames_close(names);
	trc_close(trace);
	return text;
}

#define FOLDED(version, flags, ...)                                                                \
	folded((version), (flags), (struct prof_frames_opts){ 0 },                                 \
	       (const uint64_t[]){ __VA_ARGS__, 0 })

/* ---- addresses ---- */

static void return_addresses_belong_to_the_call_before_them(void **state)
{
	/* the first address is where the program was; the second is where a call returns to */
	assert_string_equal(FOLDED(0x030b, 0, at("after_it"), at("after_it")),
			    "ends_with_call;after_it");
}

static void what_a_signal_interrupted_is_exact(void **state)
{
	void *restorer = restorer_of_handlers();
	const char *text;

	if (!restorer)
		unit_skip("the kernel chooses where handlers return to");
	text = FOLDED(0x030b, CAP_STACK_SIGNAL, at("list_sort"), (uintptr_t)restorer,
		      at("after_it"), at("after_it"));
	assert_int_equal(strncmp(text, "ends_with_call;after_it;", 24), 0);
	assert_true(strcmp(text + 24, "__restore_rt;list_sort") == 0 ||
		    strcmp(text + 24, "<signal handler called>;list_sort") == 0);
	/* without the flag nobody looks for handlers */
	text = FOLDED(0x030b, 0, at("list_sort"), (uintptr_t)restorer, at("after_it"));
	assert_int_equal(strncmp(text, "ends_with_call;", 15), 0);
}

/* Runs first: a file that was reported is not reported again. */
static void a_changed_file_is_reported_once(void **state)
{
	char text[4096] = "";
	FILE *log = tmpfile();
	int saved = dup(STDERR_FILENO);

	assert_non_null(log);
	dup2(fileno(log), STDERR_FILENO);
	FOLDED(0x030b, 0, REBUILT + 0x1100);
	FOLDED(0x030b, 0, REBUILT + 0x1200);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(log);
	assert_non_null(fgets(text, sizeof(text), log));
	assert_non_null(strstr(text, "libpython_like.so' has changed since it was profiled: "
				     "its functions are shown as offsets\n"));
	assert_null(fgets(text, sizeof(text), log));
	fclose(log);
}

static void addresses_without_a_name_are_shown(void **state)
{
	assert_string_equal(FOLDED(0x030b, 0, VDSO + 0x123, NOWHERE + 1, REBUILT + 0x1100,
				   ABSENT_PYTHON + 0x10),
			    "libpython3.11.so.1.0+0x10;libpython_like.so+0x1100;0x50000001;[vdso]");
}

static void inlined_functions_are_frames_on_request(void **state)
{
	struct prof_frames_opts with = { .inlines = true };
	uint64_t frames[2] = { at("with_inlined"), 0 };
	const char *text = "";

	assert_string_equal(folded(0x030b, 0, (struct prof_frames_opts){ 0 }, frames),
			    "with_inlined");
	for (int i = 0; i < 16 && !strchr(text, ';'); i++, frames[0]++)
		text = folded(0x030b, 0, with, frames);
	assert_string_equal(text, "with_inlined;inlined_part");
}

static void frames_of_wavescope_are_marked_or_dropped(void **state)
{
	struct prof_frames_opts drop = { .drop_internal = true };
	uint64_t frames[] = { at("list_sort"), ABSENT_INTERNAL + 0x20, at("Py_RunMain") + 4, 0 };

	assert_string_equal(folded(0x030b, 0, (struct prof_frames_opts){ 0 }, frames),
			    "Py_RunMain;libwavescope-collector.so+0x20;list_sort");
	assert_string_equal(folded(0x030b, 0, drop, frames), "Py_RunMain;list_sort");
}

/* ---- Python ---- */

#define EVAL (at("_PyEval_EvalFrameDefault") + 4)
#define CALL (at("_PyFunction_Vectorcall") + 4)
#define MAIN (at("Py_RunMain") + 4)

/* Calls between Python functions stay in one native frame; f4 and f2 were called from C. */
static void from_3_11_on_a_native_frame_executes_many_python_frames(void **state)
{
	for (uint32_t version = 0x030b; version <= 0x030d; version++)
		assert_string_equal(FOLDED(version, 0, at("after_it"),
					   at("cfunction_vectorcall_FASTCALL") + 4, EVAL, CALL,
					   at("list_sort") + 4, EVAL, CALL, MAIN, PY(1), ENTRY(2),
					   PY(3), ENTRY(4)),
				    "Py_RunMain;f4;f3;list_sort;f2;f1;after_it");
}

static void to_3_10_each_python_frame_has_its_native_frame(void **state)
{
	for (uint32_t version = 0x0309; version <= 0x030a; version++)
		assert_string_equal(FOLDED(version, 0, at("after_it"), EVAL, CALL, EVAL, CALL,
					   at("list_sort") + 4, EVAL, MAIN, ENTRY(1), ENTRY(2),
					   ENTRY(3)),
				    "Py_RunMain;f3;list_sort;f2;f1;after_it");
}

static void pieces_of_the_main_loop_count_as_it(void **state)
{
	assert_string_equal(FOLDED(0x030b, 0, at("_PyEval_EvalFrameDefault.cold") + 2,
				   at("PyObject_Vectorcall.part.0") + 4, EVAL, MAIN, ENTRY(1),
				   ENTRY(2)),
			    "Py_RunMain;f2;f1");
}

/* The innermost one has not entered its frame yet. */
static void a_native_frame_too_many_is_the_innermost(void **state)
{
	assert_string_equal(FOLDED(0x030b, 0, EVAL, CALL, EVAL, MAIN, PY(1), ENTRY(2)),
			    "Py_RunMain;f2;f1;_PyEval_EvalFrameDefault");
	/* unless the other end is missing, of either kind of frames */
	assert_string_equal(FOLDED(0x030b, CAP_STACK_CUT, EVAL, at("list_sort") + 4, EVAL, PY(1),
				   PY(2)),
			    "_PyEval_EvalFrameDefault;list_sort;f2;f1");
	assert_string_equal(FOLDED(0x030b, 0, EVAL, at("list_sort") + 4, EVAL, MAIN, PY(1), PY(2)),
			    "Py_RunMain;_PyEval_EvalFrameDefault;list_sort;f2;f1");
}

static void no_python_frame_is_lost(void **state)
{
	/* native frames were cut off, or could not be unwound */
	assert_string_equal(FOLDED(0x030b, CAP_STACK_CUT, at("after_it"), EVAL, CALL, ENTRY(1),
				   PY(2), ENTRY(3)),
			    "f3;f2;f1;after_it");
	assert_string_equal(FOLDED(0x0309, CAP_STACK_BROKEN, (uintptr_t)puts, NOWHERE + 1, ENTRY(1),
				   ENTRY(2)),
			    "f2;f1;0x50000001;puts");
	/* all native frames are there: main() stays the outermost */
	assert_string_equal(FOLDED(0x0309, 0, at("after_it"), EVAL, MAIN, ENTRY(1), ENTRY(2)),
			    "Py_RunMain;f2;f1;after_it");
	/* no native frame at all */
	assert_string_equal(FOLDED(0x0309, CAP_STACK_BROKEN, PY(1), ENTRY(2)), "f2;f1");
}

static void an_interpreter_without_symbols_is_known_by_its_file(void **state)
{
	assert_string_equal(
		FOLDED(0x030b, 0, (uintptr_t)puts, ABSENT_PYTHON + 1, ABSENT_PYTHON + 2,
		       NOWHERE + 1, PY(1), ENTRY(2), ENTRY(3)),
		"0x50000001;libpython3.11.so.1.0+0x2;libpython3.11.so.1.0+0x1;f3;f2;f1;puts");
}

static void stacks_without_python_are_left_alone(void **state)
{
	assert_string_equal(FOLDED(0x030b, 0, at("list_sort"), EVAL, CALL, MAIN),
			    "Py_RunMain;_PyFunction_Vectorcall;_PyEval_EvalFrameDefault;list_sort");
}

static void unknown_code_is_said_to_be_unknown(void **state)
{
	assert_string_equal(FOLDED(0x030b, 0, EVAL, MAIN, PY(1), ENTRY(77)),
			    "Py_RunMain;<unknown>;f1");
}

static void names_of_plumbing_are_recognized(void **state)
{
	static const char *const plumbing[] = {
		"PyCFunction_Call",          "wrapper_call",  "run_mod", "_PyEval_Vector",
		"PyObject_Call.constprop.0", "type_call.cold"
	};
	static const char *const others[] = {
		"",  "PyObject_CallX",          "PyObject_Cal", "list_sort", "zzz",
		"A", "_PyEval_EvalFrameDefault"
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(plumbing); i++)
		assert_true(prof_is_plumbing(plumbing[i]));
	for (size_t i = 0; i < WS_ARRAY_LEN(others); i++)
		assert_false(prof_is_plumbing(others[i]));
	assert_true(prof_is_eval("_PyEval_EvalFrameDefault.cold"));
	assert_false(prof_is_eval("_PyEval_EvalFrame"));
	assert_false(prof_is_eval("_PyEval_EvalFrameDefault@plt"));
	assert_true(prof_is_interpreter("/usr/bin/python3.11"));
	assert_true(prof_is_interpreter("/opt/lib/libpython3.13t.so.1.0"));
	assert_false(prof_is_interpreter("/opt/python/lib/libtorch_python.so"));
}

/* ---- everything about a frame ---- */

static void frames_have_places_modules_and_offsets(void **state)
{
	const uint64_t frames[] = { at("with_inlined") + 4, EVAL, PY(1), ENTRY(2) };
	struct prof_frames_opts opts = { .inlines = false };
	struct cap_writer *w = rig_start();
	struct cap_lane *lane = cap_lane_get(w, 100);
	const struct prof_frame *found, *again, *one;
	struct prof_frames *names = NULL;
	struct trc_trace *trace;
	struct ws_err err = { 0 };

	put_modules(lane);
	put_codes(lane, 0x030b);
	rig_stack(lane,
		  (struct cap_rec_stack){
			  .h.what = 7, .n_frames = 4, .n_native = 2, .generation = 1 },
		  frames);
	cap_lane_put(lane);
	trace = rig_trace(w);
	assert_int_equal(prof_frames_open(trc_process_at(trace, 0), &opts, &names, &err), WS_OK);
	assert_int_equal(prof_frames_of(names, 7, &found), 3);

	assert_string_equal(found[0].name, "f2");
	assert_string_equal(found[0].file, "a.py");
	assert_string_equal(found[0].module, "");
	assert_int_equal(found[0].line, 21);
	assert_int_equal(found[0].address, 0);
	assert_true(found[0].python);
	assert_false(found[0].inlined || found[0].internal);

	assert_string_equal(found[2].name, "with_inlined");
	assert_string_equal(strrchr(found[2].file, '/'), "/python_like.c");
	assert_true(found[2].line >= 30 && found[2].line <= 33);
	assert_string_equal(strrchr(found[2].module, '/'), strrchr(library, '/'));
	assert_int_equal(found[2].address, at("with_inlined") + 4);
	assert_false(found[2].python || found[2].inlined || found[2].internal);

	/* asked again: the same memory */
	assert_int_equal(prof_frames_of(names, 7, &again), 3);
	assert_ptr_equal(again, found);
	assert_int_equal(prof_frames_of(names, 8, &again), 0);
	assert_int_equal(prof_frames_of(names, 0, &again), 0);

	one = prof_frames_at(names, at("list_sort"));
	assert_string_equal(one->name, "list_sort");
	assert_int_equal(one->address - one->offset,
			 at("with_inlined") + 4 - found[2].offset); /* the bias */
	one = prof_frames_at(names, NOWHERE + 9);
	assert_string_equal(one->name, "0x50000009");
	assert_string_equal(one->module, "");
	prof_frames_close(names);
	prof_frames_close(NULL);
	trc_close(trace);
}

static void without_memory_there_are_fewer_names_and_no_crash(void **state)
{
	const uint64_t frames[] = { at("with_inlined") + 4, EVAL, NOWHERE + 1, PY(1), ENTRY(2) };
	struct prof_frames_opts opts = { .inlines = true };
	struct cap_writer *w = rig_start();
	struct cap_lane *lane = cap_lane_get(w, 100);
	struct trc_trace *trace;
	unsigned n_whole = 0;

	put_modules(lane);
	put_codes(lane, 0x030b);
	rig_stack(lane,
		  (struct cap_rec_stack){
			  .h.what = 1, .n_frames = 5, .n_native = 3, .generation = 1 },
		  frames);
	cap_lane_put(lane);
	trace = rig_trace(w);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		const struct prof_frame *found;
		struct prof_frames *names = NULL;
		struct ws_err err = { 0 };

		if (prof_frames_open(trc_process_at(trace, 0), &opts, &names, &err)) {
			assert_null(names);
			continue;
		}
		for (size_t i = 0, n_found = prof_frames_of(names, 1, &found); i < n_found; i++)
			assert_non_null(found[i].name);
		assert_non_null(prof_frames_at(names, at("list_sort"))->name);
		/* one allocation fails, so there is memory the second time */
		n_whole += prof_frames_of(names, 1, &found) >= 4;
		prof_frames_close(names);
	}
	assert_true(n_whole);
	trc_close(trace);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_file_is_reported_once),
		cmocka_unit_test(return_addresses_belong_to_the_call_before_them),
		cmocka_unit_test(what_a_signal_interrupted_is_exact),
		cmocka_unit_test(addresses_without_a_name_are_shown),
		cmocka_unit_test(inlined_functions_are_frames_on_request),
		cmocka_unit_test(frames_of_wavescope_are_marked_or_dropped),
		cmocka_unit_test(from_3_11_on_a_native_frame_executes_many_python_frames),
		cmocka_unit_test(to_3_10_each_python_frame_has_its_native_frame),
		cmocka_unit_test(pieces_of_the_main_loop_count_as_it),
		cmocka_unit_test(a_native_frame_too_many_is_the_innermost),
		cmocka_unit_test(no_python_frame_is_lost),
		cmocka_unit_test(an_interpreter_without_symbols_is_known_by_its_file),
		cmocka_unit_test(stacks_without_python_are_left_alone),
		cmocka_unit_test(unknown_code_is_said_to_be_unknown),
		cmocka_unit_test(names_of_plumbing_are_recognized),
		cmocka_unit_test(frames_have_places_modules_and_offsets),
		cmocka_unit_test(without_memory_there_are_fewer_names_and_no_crash),
	};

	if (argc != 2)
		return 1;
	library = realpath(argv[1], NULL); /* modules have absolute paths */
	handle = library ? dlopen(library, RTLD_NOW) : NULL;
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	return RUN_WITH(tests, rig_make_dir, rig_drop_dir);
}
