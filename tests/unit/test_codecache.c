/*
 * codecache: which results are kept, and that a kept one is the same; with a compiler library made
 * here.
 */
#include "tests/unit/unit.h"

#include "codecache/action.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a library that behaves as AMD's ---- */

#define OBJECTS 64
enum { ADD = 1, COMPILE = 2, FAILING = 3 };

static struct data {
	int kind;
	int references;
	bool is_set;
	char name[40], bytes[200];
	size_t n;
} data[OBJECTS]; /* handles are indexes; 0 is none */
static struct set {
	uint64_t at[16];
	size_t n;
} sets[8];
static struct {
	const char *options[8];
	size_t n_options;
	bool logging;
	int language;
} info;
static size_t n_done; /* actions that were executed */

static int create_data(int kind, struct cc_handle *out)
{
	for (uint64_t i = 1; i < OBJECTS; i++)
		if (!data[i].references) {
			data[i] = (struct data){ .kind = kind, .references = 1 };
			out->handle = i;
			return 0;
		}
	return 3;
}

static int release_data(struct cc_handle d)
{
	assert_true(data[d.handle].references > 0);
	data[d.handle].references--;
	return 0;
}

static int set_data(struct cc_handle d, size_t n, const char *bytes)
{
	if (!n)
		return 2;
	assert_true(n <= sizeof(data[0].bytes));
	memcpy(data[d.handle].bytes, bytes, n);
	data[d.handle].n = n;
	data[d.handle].is_set = true;
	return 0;
}

static int get_data(struct cc_handle d, size_t *n, char *bytes)
{
	if (!data[d.handle].is_set)
		return 2;
	if (bytes)
		memcpy(bytes, data[d.handle].bytes, *n);
	else
		*n = data[d.handle].n;
	return 0;
}

static int set_data_name(struct cc_handle d, const char *name)
{
	strcpy(data[d.handle].name, name);
	return 0;
}

static int get_data_name(struct cc_handle d, size_t *n, char *name)
{
	if (name)
		memcpy(name, data[d.handle].name, *n);
	else
		*n = strlen(data[d.handle].name) + 1;
	return 0;
}

static int data_set_add(struct cc_handle s, struct cc_handle d)
{
	data[d.handle].references++;
	sets[s.handle].at[sets[s.handle].n++] = d.handle;
	return 0;
}

static int data_set_remove(struct cc_handle s, int kind)
{
	struct set *set = &sets[s.handle];
	size_t n = 0;

	if (!kind)
		return 2; /* as version 2.4 does */
	for (size_t i = 0; i < set->n; i++)
		if (data[set->at[i]].kind == kind)
			release_data((struct cc_handle){ set->at[i] });
		else
			set->at[n++] = set->at[i];
	set->n = n;
	return 0;
}

static int action_data_count(struct cc_handle s, int kind, size_t *n)
{
	if (kind > 16)
		return 2;
	*n = 0;
	for (size_t i = 0; i < sets[s.handle].n; i++)
		*n += data[sets[s.handle].at[i]].kind == kind;
	return 0;
}

static int action_data_get_data(struct cc_handle s, int kind, size_t index, struct cc_handle *out)
{
	for (size_t i = 0; i < sets[s.handle].n; i++)
		if (data[sets[s.handle].at[i]].kind == kind && !index--) {
			out->handle = sets[s.handle].at[i];
			data[out->handle].references++;
			return 0;
		}
	return 2;
}

static int create_data_set(struct cc_handle *out)
{
	out->handle = 7;
	return 0;
}

static void clear_set(struct cc_handle s)
{
	for (int kind = 1; kind <= 16; kind++)
		data_set_remove(s, kind);
}

static int destroy_data_set(struct cc_handle s)
{
	clear_set(s);
	return 0;
}

static struct cc_handle add(uint64_t set, int kind, const char *name, const char *bytes)
{
	struct cc_handle d = { 0 };

	create_data(kind, &d);
	set_data_name(d, name);
	set_data(d, strlen(bytes), bytes);
	data[d.handle].is_set = true; /* the library itself can make an empty one */
	data_set_add((struct cc_handle){ set }, d);
	release_data(d);
	return d;
}

static int get_isa(struct cc_handle i, size_t *n, char *isa)
{
	*n = sizeof("gfx90a");
	if (isa)
		strcpy(isa, "gfx90a");
	return 0;
}

static int get_language(struct cc_handle i, int *language)
{
	*language = info.language;
	return 0;
}

static int get_logging(struct cc_handle i, bool *logging)
{
	*logging = info.logging;
	return 0;
}

static int get_count(struct cc_handle i, size_t *n)
{
	*n = info.n_options;
	return 0;
}

static int get_item(struct cc_handle i, size_t index, size_t *n, char *option)
{
	*n = strlen(info.options[index]) + 1;
	if (option)
		strcpy(option, info.options[index]);
	return 0;
}

static int create_info(struct cc_handle *out)
{
	out->handle = 99;
	return 0;
}

static int destroy_info(struct cc_handle i)
{
	return 0;
}

static int set_isa(struct cc_handle i, const char *isa)
{
	return strcmp(isa, "gfx90a") ? 2 : 0;
}

static int set_language(struct cc_handle i, int language)
{
	return 0;
}

static int set_logging(struct cc_handle i, bool logging)
{
	return 0;
}

static int set_options(struct cc_handle i, const char **options, size_t n)
{
	return 0;
}

/* The result is the inputs' text, backwards. */
static int do_action(int kind, struct cc_handle i, struct cc_handle input, struct cc_handle result)
{
	char bytes[200] = "";

	clear_set(result);
	n_done += kind != CC_COMGR_PREPROCESS;
	for (size_t n = 0; n < sets[input.handle].n; n++) {
		struct data *d = &data[sets[input.handle].at[n]];

		if (kind == ADD)
			data_set_add(result, (struct cc_handle){ sets[input.handle].at[n] });
		for (size_t c = d->n; c--;)
			strncat(bytes, &d->bytes[c], 1);
	}
	if (kind == COMPILE)
		add(result.handle, 6, "out.bc", bytes);
	if (i.handle == 99 || info.logging)
		add(result.handle, CC_COMGR_LOG, "comgr.log", strchr(bytes, '!') ? "warning" : "");
	return kind == FAILING;
}

static void get_version(size_t *major, size_t *minor)
{
	*major = 2;
	*minor = 4;
}

/* ---- tests ---- */

static char dir[] = "/tmp/ws-codecache-XXXXXX";
static struct cc_cache cache = {
	.comgr = { get_version,      do_action,    action_data_count, action_data_get_data,
		   get_isa,          get_language, get_logging,       get_count,
		   get_item,         set_isa,      set_language,      set_logging,
		   set_options,      create_info,  destroy_info,      create_data_set,
		   destroy_data_set, create_data,  release_data,      get_data,
		   get_data_name,    set_data,     set_data_name,     data_set_add,
		   data_set_remove },
};
static const struct cc_handle input = { 1 }, result = { 2 };

static void remove_entries(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -f %s/*", dir);
	assert_int_equal(system(command), 0);
}

/* The action with one source: executed, or answered from the store. */
static bool is_executed(int kind, const char *source, int status)
{
	size_t before = n_done;

	clear_set(input);
	clear_set(result);
	add(input.handle, CC_COMGR_SOURCE, "in.cl", source);
	add(input.handle, CC_COMGR_PRECOMPILED_HEADER, "pch", "p");
	add(result.handle, 9, "left over", "x");
	assert_int_equal(cc_action_run(&cache, kind, (struct cc_handle){ 5 }, input, result),
			 status);
	return n_done != before;
}

static void begin_actions(void)
{
	remove_entries();
	memset(&info, 0, sizeof(info));
	info.logging = true;
	info.options[0] = "-O3";
	info.n_options = 1;
	atomic_store(&cache.off, false);
	unsetenv("AMD_COMGR_SAVE_TEMPS");
}

static const struct data *only(int kind)
{
	size_t n = 0;
	struct cc_handle d = { 0 };

	assert_int_equal(action_data_count(result, kind, &n), 0);
	assert_int_equal(n, 1);
	action_data_get_data(result, kind, 0, &d);
	release_data(d);
	return &data[d.handle];
}

static void second_result_is_that_of_the_first(void **state)
{
	begin_actions();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(is_executed(COMPILE, "abc", 0), i == 0);
		assert_int_equal(sets[2].n, 2);
		assert_string_equal(only(6)->name, "out.bc");
		assert_int_equal(only(6)->n, 4);
		assert_memory_equal(only(6)->bytes, "cbap", 4);
		assert_string_equal(only(CC_COMGR_LOG)->name, "comgr.log");
		assert_int_equal(only(CC_COMGR_LOG)->n, 0);
		assert_true(only(CC_COMGR_LOG)->is_set);
	}
	for (int i = 0; i < 2; i++) { /* warnings are kept, too */
		assert_int_equal(is_executed(COMPILE, "w!", 0), i == 0);
		assert_memory_equal(only(CC_COMGR_LOG)->bytes, "warning", 7);
	}
	for (size_t i = 1; i < OBJECTS; i++) /* nothing leaks: only what is in the sets */
		assert_in_range(data[i].references, 0, 1);
}

static void everything_counts(void **state)
{
	begin_actions();
	assert_true(is_executed(COMPILE, "abc", 0));
	assert_true(is_executed(COMPILE, "abd", 0));
	info.options[0] = "-O2";
	assert_true(is_executed(COMPILE, "abc", 0));
	info.options[0] = "-O3";
	info.language = 1;
	assert_true(is_executed(COMPILE, "abc", 0));
	info.language = 0;
	info.logging = false;
	assert_true(is_executed(COMPILE, "abc", 0));
	info.logging = true;
	cache.compiler[0] ^= 1;
	assert_true(is_executed(COMPILE, "abc", 0));
	cache.compiler[0] ^= 1;
	setenv("ROCM_PATH", "/elsewhere", 1);
	assert_true(is_executed(COMPILE, "abc", 0));
	unsetenv("ROCM_PATH");
	assert_false(is_executed(COMPILE, "abc", 0));
}

static void what_must_not_be_kept_is_executed_again(void **state)
{
	begin_actions();
	for (int i = 0; i < 2; i++) {
		assert_true(is_executed(FAILING, "abc", 1));
		assert_true(is_executed(ADD, "abc", 0)); /* contains its inputs themselves */
		assert_int_equal(sets[2].n, 3);
		assert_true(is_executed(COMPILE, "#include <x>", 0));
	}
	assert_true(is_executed(COMPILE, "abc", 0));
	setenv("AMD_COMGR_SAVE_TEMPS", "1", 1);
	assert_true(is_executed(COMPILE, "abc", 0));
	unsetenv("AMD_COMGR_SAVE_TEMPS");
	assert_false(is_executed(COMPILE, "abc", 0));
	assert_false(atomic_load(&cache.off));
	assert_true(is_executed(COMPILE, "asm(\".incbin\")", 0));
	assert_true(atomic_load(&cache.off));
}

static void compiler_is_known_by_its_file(void **state)
{
	uint8_t ours[CC_DIGEST_BYTES], libc[CC_DIGEST_BYTES], again[CC_DIGEST_BYTES];
	int nowhere;

	assert_true(cc_compiler_digest((void *)fopen, libc));
	assert_true(cc_compiler_digest((void *)fopen, again));
	assert_memory_equal(libc, again, sizeof(libc));
	assert_true(cc_compiler_digest((void *)strtol, ours));
	assert_memory_equal(libc, ours, sizeof(libc));
	assert_false(cc_compiler_digest(&nowhere, ours));
}

static int set_up(void **state)
{
	return !mkdtemp(dir) || cc_store_open(&cache.store, dir, NULL);
}

static int tear_down(void **state)
{
	remove_entries();
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(second_result_is_that_of_the_first),
		cmocka_unit_test(everything_counts),
		cmocka_unit_test(what_must_not_be_kept_is_executed_again),
		cmocka_unit_test(compiler_is_known_by_its_file),
	};

	return unit_verdict(cmocka_run_group_tests_name("codecache", tests, set_up, tear_down));
}
