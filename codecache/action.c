#include "codecache/action.h"

#include "codecache/reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUTS_MAX_BYTES (512ull << 20) /* more are not read a second time */
#define HEADERS_MAX 64
#define OPTIONS_MAX 256
#define ISA_MAX 512

/* ---- objects in an entry: kind, length of the name, length of the bytes, name, 0, bytes ---- */

void cc_object_write(const struct cc_object *object, struct ws_buf *out)
{
	uint64_t n_bytes = object->bytes.n;
	uint32_t head[2] = { object->kind, (uint32_t)object->name.n };

	ws_buf_add_n(out, head, sizeof(head));
	ws_buf_add_n(out, &n_bytes, sizeof(n_bytes));
	ws_buf_add_n(out, object->name.at, object->name.n);
	ws_buf_add_c(out, '\0', 1);
	ws_buf_add_n(out, object->bytes.at, object->bytes.n);
}

bool cc_object_read(struct ws_str *rest, struct cc_object *out)
{
	uint32_t head[2];
	uint64_t n_bytes;
	const char *at = rest->at + sizeof(head) + sizeof(n_bytes);
	size_t left = rest->n;

	if (left < sizeof(head) + sizeof(n_bytes))
		return false;
	memcpy(head, rest->at, sizeof(head));
	memcpy(&n_bytes, rest->at + sizeof(head), sizeof(n_bytes));
	left -= sizeof(head) + sizeof(n_bytes);
	if (head[0] == 0 || head[0] >= CC_COMGR_KIND_END || left < 1 || head[1] > left - 1 ||
	    n_bytes > left - 1 - head[1] || at[head[1]] != '\0')
		return false;
	*out = (struct cc_object){ .kind = head[0],
				   .name = { at, head[1] },
				   .bytes = { at + head[1] + 1, n_bytes } };
	*rest = (struct ws_str){ out->bytes.at + n_bytes, left - 1 - head[1] - n_bytes };
	return true;
}

/* ---- the library's objects ---- */

/* One text, with the terminator; freed by the caller; NULL: failed. */
static char *data_name(const struct cc_comgr *comgr, struct cc_handle data)
{
	size_t n = 0;
	char *name;

	if (comgr->get_data_name(data, &n, NULL) || !n)
		return NULL;
	name = calloc(1, n + 1);
	if (name && comgr->get_data_name(data, &n, name)) {
		free(name);
		name = NULL;
	}
	return name;
}

static char *data_bytes(const struct cc_comgr *comgr, struct cc_handle data, size_t *out_n)
{
	char *bytes;

	if (comgr->get_data(data, out_n, NULL) || *out_n > INPUTS_MAX_BYTES)
		return NULL;
	bytes = malloc(*out_n + 1);
	if (bytes && *out_n && comgr->get_data(data, out_n, bytes)) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

typedef bool visit_fn(void *arg, uint32_t kind, struct cc_handle data);

/* False: one of them was refused, or cannot be read. */
static bool for_each(const struct cc_comgr *comgr, struct cc_handle set, visit_fn *visit, void *arg)
{
	for (int kind = 1; kind < CC_COMGR_KIND_END; kind++) {
		size_t n = 0;

		if (comgr->action_data_count(set, kind, &n))
			continue; /* a kind that this version does not have */
		for (size_t i = 0; i < n; i++) {
			struct cc_handle data;
			bool good;

			if (comgr->action_data_get_data(set, kind, i, &data))
				return false;
			good = visit(arg, (uint32_t)kind, data);
			comgr->release_data(data);
			if (!good)
				return false;
		}
	}
	return true;
}

/* ---- the key ---- */

struct request {
	const struct cc_cache *cache;
	struct cc_digest digest;
	struct cc_reach reach;
	char *headers[HEADERS_MAX];
	char *options[OPTIONS_MAX];
	char isa[ISA_MAX];
	size_t n_options;
	uint64_t n_bytes;
	const char *why; /* it cannot be kept */
};

static void note_header(struct request *r, char *name)
{
	if (r->reach.n_headers < HEADERS_MAX)
		r->headers[r->reach.n_headers++] = name;
	else
		free(name); /* then it is not found, and the result not kept */
}

static bool visit_names(void *arg, uint32_t kind, struct cc_handle data)
{
	struct request *r = arg;
	char *name = NULL;

	r->reach.has_source |= kind == CC_COMGR_SOURCE;
	r->reach.has_precompiled |= kind == CC_COMGR_PRECOMPILED_HEADER;
	if (kind != CC_COMGR_INCLUDE)
		return true;
	name = data_name(&r->cache->comgr, data);
	if (name)
		note_header(r, name);
	return name != NULL;
}

static bool visit_input(void *arg, uint32_t kind, struct cc_handle data)
{
	struct request *r = arg;
	char *name = data_name(&r->cache->comgr, data);
	size_t n = 0;
	char *bytes = name ? data_bytes(&r->cache->comgr, data, &n) : NULL;

	if (!bytes)
		r->why = "an input cannot be read";
	else if ((r->n_bytes += n) > INPUTS_MAX_BYTES)
		r->why = "its inputs are too large";
	else if (kind == CC_COMGR_SOURCE || kind == CC_COMGR_INCLUDE)
		r->why = cc_reach_text(&r->reach, (struct ws_str){ bytes, n });
	if (!r->why) {
		cc_digest_u64(&r->digest, kind);
		cc_digest_text(&r->digest, name);
		cc_digest_field(&r->digest, bytes, n);
	}
	free(name);
	free(bytes);
	return !r->why;
}

static bool read_options(struct request *r, struct cc_handle info)
{
	const struct cc_comgr *comgr = &r->cache->comgr;
	size_t count = 0;

	if (comgr->action_info_get_option_list_count(info, &count) || count > OPTIONS_MAX)
		return false;
	cc_digest_u64(&r->digest, count);
	for (; r->n_options < count; r->n_options++) {
		size_t n = 0;
		char *option = NULL;

		if (!comgr->action_info_get_option_list_item(info, r->n_options, &n, NULL))
			option = calloc(1, n + 1);
		if (!option)
			return false;
		r->options[r->n_options] = option;
		if (comgr->action_info_get_option_list_item(info, r->n_options, &n, option))
			option[0] = '\0'; /* an option that is refused */
		cc_digest_text(&r->digest, option);
	}
	return true;
}

static bool read_settings(struct request *r, struct cc_handle info)
{
	const struct cc_comgr *comgr = &r->cache->comgr;
	bool logging = false;
	int language = 0;
	size_t n = 0;

	if (comgr->action_info_get_isa_name(info, &n, NULL) || n > sizeof(r->isa) ||
	    comgr->action_info_get_isa_name(info, &n, r->isa) ||
	    comgr->action_info_get_language(info, &language) ||
	    comgr->action_info_get_logging(info, &logging))
		return false;
	r->isa[sizeof(r->isa) - 1] = '\0';
	cc_digest_text(&r->digest, r->isa);
	cc_digest_u64(&r->digest, (uint64_t)language);
	cc_digest_u64(&r->digest, logging);
	return read_options(r, info);
}

/* What the compiler takes from the environment. */
static const char *const variables[] = { "CCC_OVERRIDE_OPTIONS",
					 "COMPILER_PATH",
					 "HIP_DEVICE_LIB_PATH",
					 "HIP_PATH",
					 "LLVM_PATH",
					 "ROCM_PATH" };

static const char *read_environment(struct request *r)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		cc_digest_text(&r->digest, getenv(variables[i]));
	/* The library's own: files to keep, logs to print, times to take. */
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, "AMD_COMGR_", strlen("AMD_COMGR_")) == 0)
			return *e;
	return NULL;
}

/* NULL, or why there is no key. Options are freed by the caller, because it may be one of them. */
static const char *make_key(struct request *r, int kind, struct cc_handle info,
			    struct cc_handle input, uint8_t key[CC_DIGEST_BYTES])
{
	const char *why;

	cc_digest_init(&r->digest);
	cc_digest_field(&r->digest, r->cache->compiler, sizeof(r->cache->compiler));
	cc_digest_u64(&r->digest, (uint64_t)kind);
	why = read_environment(r);
	if (why)
		return why;
	if (!read_settings(r, info) || !for_each(&r->cache->comgr, input, visit_names, r))
		return "its settings cannot be read";
	r->reach.headers = (const char *const *)r->headers;
	why = cc_reach_options(&r->reach, (const char *const *)r->options, r->n_options);
	if (why)
		return why;
	if (!for_each(&r->cache->comgr, input, visit_input, r))
		return r->why ? r->why : "an input cannot be read";
	cc_digest_end(&r->digest, key);
	return NULL;
}

/* ---- results ---- */

static bool add_object(const struct cc_comgr *comgr, const struct cc_object *object,
		       struct cc_handle set)
{
	struct cc_handle data;
	bool good;

	if (comgr->create_data((int)object->kind, &data))
		return false;
	good = !comgr->set_data(data, object->bytes.n, object->bytes.at) &&
	       !comgr->set_data_name(data, object->name.at) && !comgr->data_set_add(set, data);
	comgr->release_data(data); /* the set has its own reference */
	return good;
}

/* Kind by kind: "all of them" is documented, and refused by version 2.4. */
static bool make_empty(const struct cc_comgr *comgr, struct cc_handle set)
{
	for (int kind = 1; kind < CC_COMGR_KIND_END; kind++) {
		size_t n = 0;

		if (!comgr->action_data_count(set, kind, &n) && n &&
		    comgr->data_set_remove(set, kind))
			return false;
	}
	return true;
}

/*
 * An object without bytes cannot be made: set_data() refuses none, and one that never had any is not the
 * same. But an action that has nothing to do leaves its empty log, and nothing else, in 0.4 ms.
 */
static bool make_empty_log(const struct cc_comgr *comgr, const char *isa, struct cc_handle result)
{
	struct cc_handle info, input;
	bool good = false;

	if (comgr->create_action_info(&info))
		return false;
	if (!comgr->create_data_set(&input)) {
		good = !comgr->action_info_set_isa_name(info, isa) &&
		       !comgr->action_info_set_language(info, CC_COMGR_OPENCL) &&
		       !comgr->action_info_set_option_list(info, NULL, 0) &&
		       !comgr->action_info_set_logging(info, true) &&
		       !comgr->do_action(CC_COMGR_PREPROCESS, info, input, result);
		comgr->destroy_data_set(input);
	}
	comgr->destroy_action_info(info);
	return good;
}

static bool is_empty_log(const struct cc_object *object)
{
	return object->kind == CC_COMGR_LOG && !object->bytes.n;
}

struct check {
	const struct cc_comgr *comgr;
	struct ws_str name; /* of the log */
	size_t n;           /* objects */
};

static bool visit_log(void *arg, uint32_t kind, struct cc_handle data)
{
	struct check *check = arg;
	char *name = data_name(check->comgr, data);
	size_t n = 1;
	bool good = kind == CC_COMGR_LOG && name && ws_str_is(check->name, name) &&
		    !check->comgr->get_data(data, &n, NULL) && !n;

	check->n++;
	free(name);
	return good;
}

/* The result as it is before anything is added to it: empty, or with an empty log. */
static bool begin_result(const struct cc_comgr *comgr, const char *isa, struct ws_str entry,
			 struct cc_handle result)
{
	struct check check = { .comgr = comgr };
	struct cc_object object;

	while (cc_object_read(&entry, &object)) {
		if (!is_empty_log(&object))
			continue;
		check.name = object.name;
		return make_empty_log(comgr, isa, result) &&
		       for_each(comgr, result, visit_log, &check) && check.n == 1;
	}
	return make_empty(comgr, result);
}

static bool replay(const struct cc_comgr *comgr, const char *isa, const struct ws_buf *entry,
		   struct cc_handle result)
{
	struct ws_str rest = ws_buf_view(entry);
	struct cc_object object;

	if (!rest.n || !begin_result(comgr, isa, rest, result))
		return false;
	while (cc_object_read(&rest, &object))
		if (!is_empty_log(&object) && !add_object(comgr, &object, result))
			return false;
	return rest.n == 0;
}

struct results {
	const struct cc_comgr *comgr;
	struct cc_handle input;
	struct cc_handle data; /* is this one an input? */
	struct ws_buf entry;
};

static bool visit_other(void *arg, uint32_t kind, struct cc_handle data)
{
	return data.handle != ((struct results *)arg)->data.handle;
}

static bool visit_result(void *arg, uint32_t kind, struct cc_handle data)
{
	struct results *results = arg;
	size_t n = 0;
	char *name, *bytes;
	bool good;

	results->data = data;
	if (!for_each(results->comgr, results->input, visit_other, results))
		return false; /* an action that adds to its inputs is quick: copying is all it does */
	name = data_name(results->comgr, data);
	bytes = name ? data_bytes(results->comgr, data, &n) : NULL;
	good = bytes != NULL;
	if (good)
		cc_object_write(&(struct cc_object){ .kind = kind,
						     .name = { name, strlen(name) },
						     .bytes = { bytes, n } },
				&results->entry);
	free(name);
	free(bytes);
	return good && !ws_buf_status(&results->entry, NULL);
}

static bool keep(const struct cc_cache *cache, const uint8_t key[CC_DIGEST_BYTES],
		 struct cc_handle input, struct cc_handle result)
{
	struct results results = { .comgr = &cache->comgr, .input = input };
	bool good;

	ws_buf_init(&results.entry, CC_STORE_ENTRY_MAX);
	good = for_each(&cache->comgr, result, visit_result, &results);
	if (good)
		cc_store_put(&cache->store, key, results.entry.at, results.entry.n);
	ws_buf_fini(&results.entry);
	return good;
}

static void say(const struct cc_cache *cache, int kind, const char *what, const char *detail)
{
	char text[300];

	if (!cache->log)
		return;
	snprintf(text, sizeof(text), "code cache: action %d: %s%.200s", kind, what, detail);
	cache->log(text);
}

int cc_action_run(struct cc_cache *cache, int kind, struct cc_handle info, struct cc_handle input,
		  struct cc_handle result)
{
	struct request request = { .cache = cache };
	uint8_t key[CC_DIGEST_BYTES];
	const char *why = make_key(&request, kind, info, input, key);
	struct ws_buf entry;
	bool found = false;
	int status = 0;

	if (why) {
		say(cache, kind, "not kept, it depends on ", why);
		/* A file that the assembler reads: the actions that follow do not show it. */
		if (why[0] == '.')
			atomic_store(&cache->off, true);
	} else {
		ws_buf_init(&entry, CC_STORE_ENTRY_MAX);
		found = cc_store_get(&cache->store, key, &entry) &&
			replay(&cache->comgr, request.isa, &entry, result);
		ws_buf_fini(&entry);
	}
	for (size_t i = 0; i < request.reach.n_headers; i++)
		free(request.headers[i]);
	for (size_t i = 0; i < request.n_options; i++)
		free(request.options[i]);
	if (found) {
		say(cache, kind, "found", "");
		return 0;
	}
	status = cache->comgr.do_action(kind, info, input, result);
	if (!why && !status)
		say(cache, kind, keep(cache, key, input, result) ? "kept" : "not worth keeping",
		    "");
	return status;
}
