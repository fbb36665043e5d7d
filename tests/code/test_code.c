/* The instructions, functions and lines of a code object that the compiler made just now. */
#include "code/code.h"

#include "tests/unit/unit.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *object; /* path */

static struct code_code *load(const char *uri)
{
	struct code_code *code = NULL;
	struct ws_err err;

	if (code_load(uri, NULL, 0, &code, &err)) {
		print_error("%s\n", err.text);
		fail();
	}
	return code;
}

static struct code_code *load_object(void)
{
	char uri[4096];

	snprintf(uri, sizeof(uri), "file://%s", object);
	return load(uri);
}

static void instructions_read_as_written(void **state)
{
	struct code_code *code = load_object();
	struct code_function f;
	struct code_insn insn;
	uint64_t at;
	unsigned n_multiplies = 0, n_ends = 0;

	assert_string_equal(code_target(code), "gfx90a");
	for (at = 0; at < 1 << 16 && !code_function(code, at, &f); at += 4)
		;
	assert_string_equal(f.name, "scale");
	assert_int_equal(f.offset, at);
	assert_false(code_at(code, at - 4, &insn));
	for (; at < f.offset + f.n_bytes; at += insn.n_bytes) {
		assert_true(code_at(code, at, &insn));
		if (strncmp(insn.text, "v_mul_f32", 9) == 0) {
			n_multiplies++;
			assert_int_equal(insn.line, 6);
			assert_string_equal(strrchr(insn.file, '/'), "/kernel.cl");
		}
		n_ends += strcmp(insn.text, "s_endpgm") == 0;
	}
	assert_int_equal(n_multiplies, 1);
	assert_int_equal(n_ends, 1);
	code_unload(code);
}

static void offsets_between_functions_are_in_none(void **state)
{
	struct code_code *code = load_object();
	struct code_function first, second;
	uint64_t at;

	for (at = 0; !code_function(code, at, &first); at += 4)
		;
	assert_false(code_function(code, first.offset + first.n_bytes, &second));
	for (at = first.offset + first.n_bytes; !code_function(code, at, &second); at += 4)
		assert_in_range(at, 0, 1 << 20);
	assert_string_equal(second.name, "twice");
	code_unload(code);
}

/* The first instruction of @function that begins with @mnemonic. */
static void find_insn(struct code_code *code, const char *function, const char *mnemonic,
		      struct code_insn *out_insn)
{
	struct code_function f;

	for (uint64_t at = 0; at < 1 << 16; at += 4)
		if (code_function(code, at, &f) && strcmp(f.name, function) == 0 &&
		    code_at(code, at, out_insn) &&
		    strncmp(out_insn->text, mnemonic, strlen(mnemonic)) == 0)
			return;
	fail_msg("no %s in %s", mnemonic, function);
}

static void inlined_calls_are_known_from_the_inside_out(void **state)
{
	struct code_code *code = load_object();
	struct code_insn insn;

	find_insn(code, "nested", "v_mul_lo_u32", &insn);
	assert_int_equal(insn.line, 16);
	assert_int_equal(insn.n_callers, 2);
	assert_int_equal(insn.callers[0].line, 21);
	assert_int_equal(insn.callers[1].line, 28);
	assert_string_equal(strrchr(insn.callers[1].file, '/'), "/kernel.cl");
	find_insn(code, "nested", "v_xor_b32", &insn);
	assert_int_equal(insn.line, 21);
	assert_int_equal(insn.n_callers, 1);
	assert_int_equal(insn.callers[0].line, 28);
	find_insn(code, "nested", "global_store_dword", &insn);
	assert_int_equal(insn.line, 28);
	assert_int_equal(insn.n_callers, 0);
	find_insn(code, "scale", "v_mul_f32", &insn);
	assert_int_equal(insn.n_callers, 0);
	code_unload(code);
}

static void code_of_no_line_belongs_to_the_line_before(void **state)
{
	struct code_code *code = load_object();
	struct code_insn insn;

	find_insn(code, "unassigned", "s_or_b32", &insn);
	assert_int_equal(insn.line, 33);
	code_unload(code);
}

static void a_part_of_a_file_is_found_by_its_uri(void **state)
{
	char path[] = "/tmp/wavescope code XXXXXX", uri[4096], byte[4096];
	FILE *from = fopen(object, "rb"), *to = fdopen(mkstemp(path), "wb");
	size_t n, size = 0;
	struct code_code *code;
	char *blank;

	assert_non_null(from);
	assert_non_null(to);
	fwrite("padding", 1, 7, to);
	while ((n = fread(byte, 1, sizeof(byte), from))) {
		fwrite(byte, 1, n, to);
		size += n;
	}
	fclose(from);
	fclose(to);
	blank = strchr(path, ' ');
	snprintf(uri, sizeof(uri), "file://%.*s%%20%s#offset=7&size=%zu", (int)(blank - path), path,
		 blank + 1, size);
	blank = strchr(strstr(uri, "%20") + 3, ' ');
	memmove(blank + 3, blank + 1, strlen(blank + 1) + 1);
	memcpy(blank, "%20", 3);
	code = load(uri);
	assert_string_equal(code_target(code), "gfx90a");
	code_unload(code);
	unlink(path);
}

/* What ROCm runs on MI300 and MI350 alike has a machine number of its own. */
static void targets_are_told_by_their_machine_number(void **state)
{
	static const struct {
		uint8_t mach;
		const char *name;
	} numbers[] = { { 0x30, "gfx908" },
			{ 0x4c, "gfx942" },
			{ 0x4f, "gfx950" },
			{ 0x5f, "gfx9-4-generic" } };
	FILE *from = fopen(object, "rb");
	static char elf[1 << 16];
	size_t n_bytes;

	assert_non_null(from);
	n_bytes = fread(elf, 1, sizeof(elf), from);
	fclose(from);
	assert_in_range(n_bytes, sizeof(Elf64_Ehdr), sizeof(elf) - 1);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct code_code *code = NULL;
		struct ws_err err;

		elf[offsetof(Elf64_Ehdr, e_flags)] = (char)numbers[i].mach;
		/* the version of a generic target, which is the runtime's business */
		elf[offsetof(Elf64_Ehdr, e_flags) + 3] = 1;
		assert_int_equal(code_load("memory", elf, n_bytes, &code, &err), WS_OK);
		assert_string_equal(code_target(code), numbers[i].name);
		code_unload(code);
	}
}

static void what_is_no_code_object_is_refused(void **state)
{
	static const char *const uris[] = { "memory://1#offset=0x10&size=4", "file:///dev/null",
					    "file:///nowhere/at/all", "file://", "" };
	struct code_code *code = NULL;
	struct ws_err err;

	for (size_t i = 0; i < sizeof(uris) / sizeof(*uris); i++) {
		err.text[0] = 0;
		assert_int_not_equal(code_load(uris[i], NULL, 0, &code, &err), WS_OK);
		assert_true(err.text[0]);
	}
	assert_int_equal(code_load("memory", "\177ELF", 4, &code, &err), WS_E_FORMAT);
	assert_null(code);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_read_as_written),
		cmocka_unit_test(offsets_between_functions_are_in_none),
		cmocka_unit_test(inlined_calls_are_known_from_the_inside_out),
		cmocka_unit_test(code_of_no_line_belongs_to_the_line_before),
		cmocka_unit_test(a_part_of_a_file_is_found_by_its_uri),
		cmocka_unit_test(targets_are_told_by_their_machine_number),
		cmocka_unit_test(what_is_no_code_object_is_refused),
	};

	if (argc != 2)
		return 1;
	object = argv[1];
	return RUN(tests);
}
