/* Functions, lines and inlined functions of the files that host.sh made. */
#include "code/host.h"
#include "code/host_priv.h"

#include "tests/profile/restorer.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OFFSETS 0x5000u /* the samples are smaller */

static const char *dir;

/* ---- opening ---- */

struct build_id {
	uint8_t at[64];
	size_t n;
};

static struct build_id build_id_of(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct build_id id = { .n = 0 };
	const void *found;
	ssize_t n;
	Elf *elf;

	elf_version(EV_CURRENT);
	assert_true(fd >= 0);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	n = dwelf_elf_gnu_build_id(elf, &found);
	if (n > 0) {
		id.n = (size_t)n;
		memcpy(id.at, found, id.n);
	}
	elf_end(elf);
	close(fd);
	return id;
}

static const char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static struct code_host *open_path(const char *path)
{
	struct build_id id = build_id_of(path);
	struct code_host *host = NULL;
	struct ws_err err = { 0 };

	if (code_host_open(path, id.at, id.n, &host, &err))
		fail_msg("%s", err.text);
	return host;
}

static struct code_host *open_sample(const char *name)
{
	return open_path(path_of(name));
}

/* ---- looking at every offset ---- */

/* Where the function is that the executable has under this name; 0: nowhere. */
static uint64_t find(struct code_host *host, const char *name, uint64_t base)
{
	struct code_host_frame frames[CODE_HOST_FRAMES_MAX];

	for (uint64_t at = base; at < base + OFFSETS; at++) {
		size_t n = code_host_at(host, at, frames, CODE_HOST_FRAMES_MAX);

		if (frames[n - 1].name && strcmp(frames[n - 1].name, name) == 0)
			return at;
	}
	return 0;
}

static void is_frame(const struct code_host_frame *frame, const char *name, uint32_t line,
		     bool inlined)
{
	assert_string_equal(frame->name, name);
	assert_int_equal(frame->line, line);
	assert_int_equal(frame->inlined, inlined);
	if (line)
		assert_string_equal(strrchr(frame->file, '/'), "/host_sample.c");
	else
		assert_null(frame->file);
}

/* Functions, lines and inlined functions are all there. */
static void has_everything(struct code_host *host, uint64_t base)
{
	struct code_host_frame frames[CODE_HOST_FRAMES_MAX];
	uint64_t outer = find(host, "outer", base), hidden = find(host, "hidden", base);
	bool seen = false;
	size_t n;

	assert_int_not_equal(outer, 0);
	assert_int_not_equal(hidden, 0);
	for (uint64_t at = outer; at < outer + 64; at++) {
		n = code_host_at(host, at, frames, CODE_HOST_FRAMES_MAX);
		if (n < 3)
			continue;
		assert_int_equal(n, 3);
		is_frame(&frames[0], "innermost", 8, true);
		is_frame(&frames[1], "middle", 13, true);
		is_frame(&frames[2], "outer", 18, false);
		seen = true;
	}
	assert_true(seen);
	/* as many as there is space for */
	assert_int_equal(code_host_at(host, hidden, frames, 1), 1);
	assert_string_equal(frames[0].name, "hidden");
	assert_true(frames[0].line == 22 || frames[0].line == 23);
}

/* Functions that others may call, and nothing else. */
static void has_exported_names_only(struct code_host *host)
{
	struct code_host_frame frames[2];

	for (uint64_t at = 0; at < OFFSETS; at++) {
		assert_int_equal(code_host_at(host, at, frames, 2), 1);
		assert_int_equal(frames[0].line, 0);
		assert_null(frames[0].file);
	}
	assert_int_equal(find(host, "hidden", 0), 0);
	assert_int_equal(find(host, "outer", 0), 0);
}

static void every_form_of_debug_information_is_read(void **state)
{
	static const struct {
		const char *name;
		uint64_t base;
	} samples[] = {
		{ "whole", 0 },        { "compressed", 0 },   { "split", 0 },
		{ "fixed", 0x400000 }, { "moved", 0x200000 }, { "no_aranges", 0 },
		{ "nameless", 0 },     { "lazy", 0 },         { "beside/sample", 0 },
		{ "below/sample", 0 }, { "crc/sample", 0 },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(samples); i++) {
		struct code_host *host = open_sample(samples[i].name);

		print_message("%s\n", samples[i].name);
		has_everything(host, samples[i].base);
		code_host_close(host);
	}
}

static void stripped_files_have_exported_names_only(void **state)
{
	static const char *const samples[] = { "none/sample", "stale/sample", "stale_crc/sample" };

	for (size_t i = 0; i < WS_ARRAY_LEN(samples); i++) {
		struct code_host *host = open_sample(samples[i]);

		print_message("%s\n", samples[i]);
		has_exported_names_only(host);
		code_host_close(host);
	}
}

/* Where it begins is known all the same: it is in the table for exceptions. */
static void functions_without_a_name_are_told_apart(void **state)
{
	struct code_host *whole = open_sample("whole"), *bare = open_sample("none/sample");
	uint64_t outer = find(whole, "outer", 0), hidden = find(whole, "hidden", 0);
	struct code_host_frame frame;

	for (uint64_t at = 0; at < 4; at++) {
		code_host_at(bare, outer + at, &frame, 1);
		assert_null(frame.name);
		assert_int_equal(frame.start, outer);
		code_host_at(bare, hidden + at, &frame, 1);
		assert_int_equal(frame.start, hidden);
	}
	code_host_at(bare, 0, &frame, 1);
	assert_int_equal(frame.start, 0);
	code_host_at(bare, UINT64_MAX, &frame, 1);
	assert_int_equal(frame.start, 0);
	code_host_at(whole, outer, &frame, 1);
	assert_int_equal(frame.start, 0);
	code_host_close(whole);
	code_host_close(bare);
}

static void compressed_symbols_are_read(void **state)
{
	struct code_host_frame frame;
	struct code_host *host;
	uint64_t at;

	if (!getenv("HAVE_MINI")[0])
		unit_skip("xz is not installed");
	host = open_sample("mini");
	at = find(host, "hidden", 0);
	assert_int_not_equal(at, 0);
	assert_int_equal(code_host_at(host, at, &frame, 1), 1);
	is_frame(&frame, "hidden", 0, false);
	code_host_close(host);
}

/* ---- names ---- */

static void names_are_those_that_people_know(void **state)
{
	struct code_host *host = open_sample("whole");
	uint64_t unsized = find(host, "unsized", 0), sized = find(host, "sized", 0);
	struct code_host_frame frame;

	assert_int_not_equal(find(host, "sample_read", 0), 0);
	assert_int_equal(find(host, "__sample_read", 0), 0);
	assert_int_not_equal(find(host, "app::scale(int)", 0), 0);
	assert_int_equal(find(host, "sized_label", 0), 0);
	assert_int_equal(sized, unsized + 3);
	code_host_at(host, unsized + 2, &frame, 1);
	assert_string_equal(frame.name, "unsized");
	code_host_at(host, sized + 1, &frame, 1);
	assert_string_equal(frame.name, "sized");
	/* outside of everything */
	code_host_at(host, 0, &frame, 1);
	assert_null(frame.name);
	code_host_at(host, UINT64_MAX, &frame, 1);
	assert_null(frame.name);
	code_host_close(host);
}

static void stubs_have_the_name_of_what_they_call(void **state)
{
	static const char *const samples[] = { "whole", "lazy", "plain" };

	for (size_t i = 0; i < WS_ARRAY_LEN(samples); i++) {
		struct code_host *host = open_sample(samples[i]);

		print_message("%s\n", samples[i]);
		assert_int_not_equal(find(host, "puts@plt", 0), 0);
		code_host_close(host);
	}
}

static void names_of_cpp_and_rust_are_demangled(void **state)
{
	static const struct {
		const char *mangled, *name;
	} rows[] = {
		{ "main", "main" },
		{ "f", "f" },
		{ "_ZN3app5scaleEi", "app::scale(int)" },
		{ "_ZN3app5scaleEi.cold", "app::scale(int) [clone .cold]" },
		{ "_ZN3app5scaleEi.llvm.123456", "app::scale(int)" },
		{ "plain.part.0", "plain.part.0" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.99",
		  "core::fmt::Formatter::pad" },
		{ "_ZN36_$LT$T$u20$as$u20$core..any..Any$GT$3get17h0123456789abcdefE",
		  "<T as core::any::Any>::get" },
		{ "_ZN4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
		  "main::{{closure}}" },
		{ "_ZN3app17hash_of_all_partsE", "app::hash_of_all_parts" },
		/* Rust's second scheme, as rustc 1.95 writes it */
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_RNvXNtNtCs6O6TnIPaRGP_6object4read8read_refRShNtB2_7ReadRef5bytes",
		  "<&[u8] as object::read::read_ref::ReadRef>::bytes" },
		{ "_RNCINvMs0_NtNtCsjrHSEGnQ3l9_3std4sync4onceNtB8_4Once9call_onceNCNvNtBc_2rt7"
		  "cleanup0E0Bc_",
		  "<std::sync::once::Once>::call_once::<std::rt::cleanup::{closure#0}>::"
		  "{closure#0}" },
		{ "_RINvC1a1bDG_INtC1a2FnTRL0_hEEp6OutputhEL_E",
		  "a::b::<dyn for<'a> a::Fn<(&'a u8,), Output = u8>>" },
		{ "_RINvC1a1bFUKCmEuKj10_AhKj4_E", "_RINvC1a1bFUKCmEuKj10_AhKj4_E" },
		{ "_RINvC1a1bFUKCmEuKj10_Ahj4_E",
		  "a::b::<unsafe extern \"C\" fn(u32), 16, [u8; 4]>" },
		{ "_RNvMs3_NtCs1_5alloc7raw_vecINtB5_6RawVecPaE8grow_oneCs1_3std.llvm.77",
		  "<alloc::raw_vec::RawVec<*const i8>>::grow_one" },
		/* references to themselves, numbers too large, endless nesting: as they are */
		{ "_RNvB_3foo", "_RNvB_3foo" },
		{ "_RIC1aTB_B_EE", "_RIC1aTB_B_EE" },
		{ "_RNvC1au99x", "_RNvC1au99x" },
		{ "_RNvC99999999999999999999a", "_RNvC99999999999999999999a" },
		{ "_Z", "_Z" },
		{ "", "" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		char *name = code_host_demangle(rows[i].mangled);

		assert_non_null(name);
		assert_string_equal(name, rows[i].name);
		free(name);
	}
}

/* ---- files that are not what was profiled ---- */

static void a_rebuilt_file_gives_no_names(void **state)
{
	struct build_id id = build_id_of(path_of("whole"));
	struct code_host *host = NULL;
	struct ws_err err = { 0 };

	assert_fails_with(code_host_open(path_of("other"), id.at, id.n, &host, &err), WS_E_STATE,
			  &err, "has changed since it was profiled");
	assert_fails_with(code_host_open(path_of("nameless"), id.at, id.n, &host, &err), WS_E_STATE,
			  &err, "has changed");
	assert_null(host);
	/* recorded without a build id: there is nothing to compare */
	assert_int_equal(code_host_open(path_of("whole"), NULL, 0, &host, &err), WS_OK);
	code_host_close(host);
}

static void what_is_no_module_is_refused(void **state)
{
	static const struct {
		const char *name;
		enum ws_status st;
	} rows[] = {
		{ "absent", WS_E_NOTFOUND }, { "fifo", WS_E_NOTFOUND },
		{ "", WS_E_NOTFOUND },       { "empty", WS_E_FORMAT },
		{ "cut", WS_E_FORMAT },      { "host_sample.c", WS_E_FORMAT },
	};
	static const char *const pseudo[] = { "[vdso]", "", "relative", "//anon" };
	struct code_host *host = NULL;
	struct ws_err err;

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		err.text[0] = 0;
		assert_int_equal(code_host_open(path_of(rows[i].name), NULL, 0, &host, &err),
				 rows[i].st);
		assert_true(err.text[0]);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(pseudo); i++)
		assert_int_equal(code_host_open(pseudo[i], NULL, 0, &host, &err), WS_E_NOTFOUND);
	assert_null(host);
	code_host_close(NULL);
}

/* ---- signals ---- */

static void return_addresses_of_handlers_are_known(void **state)
{
	void *returns_to = restorer_of_handlers();
	struct code_host *host;
	uint64_t offset;
	Dl_info info;

	if (!returns_to)
		unit_skip("the kernel chooses where handlers return to");
	assert_true(dladdr(returns_to, &info));
	host = open_path(info.dli_fname);
	offset = (uint64_t)((char *)returns_to - (char *)info.dli_fbase);
	assert_true(code_host_is_signal_return(host, offset));
	assert_true(dladdr(puts, &info));
	offset = (uint64_t)((char *)(void *)puts - (char *)info.dli_fbase);
	assert_false(code_host_is_signal_return(host, offset));
	assert_false(code_host_is_signal_return(host, 0));
	assert_false(code_host_is_signal_return(host, UINT64_MAX));
	code_host_close(host);
}

/* ---- the network ---- */

static void no_server_is_asked_for_debug_files(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(address);
	struct code_host *host;
	char url[64];

	assert_int_equal(bind(fd, (struct sockaddr *)&address, n), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &n), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_TIMEOUT", "1", 1);
	host = open_sample("none/sample");
	has_exported_names_only(host);
	code_host_close(host);
	assert_int_equal(accept(fd, NULL, NULL), -1); /* nobody called */
	unsetenv("DEBUGINFOD_URLS");
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_debug_information_is_read),
		cmocka_unit_test(stripped_files_have_exported_names_only),
		cmocka_unit_test(functions_without_a_name_are_told_apart),
		cmocka_unit_test(compressed_symbols_are_read),
		cmocka_unit_test(names_are_those_that_people_know),
		cmocka_unit_test(stubs_have_the_name_of_what_they_call),
		cmocka_unit_test(names_of_cpp_and_rust_are_demangled),
		cmocka_unit_test(a_rebuilt_file_gives_no_names),
		cmocka_unit_test(what_is_no_module_is_refused),
		cmocka_unit_test(return_addresses_of_handlers_are_known),
		cmocka_unit_test(no_server_is_asked_for_debug_files),
	};

	if (argc != 2)
		return 1;
	dir = argv[1];
	return RUN(tests);
}
