/*
 * rust_v0: names of Rust in its second scheme (RFC 2603), "_RNvCs1234_7mycrate3foo".
 *
 * A recursive descent over the grammar of the RFC that writes as it reads. A back reference reads
 * an earlier part of the name again, so depth and length are limited: a name of a hundred
 * bytes may stand for a text of any length. Hashes of crates are left out.
 */
#include "code/host_priv.h"

#include "base/str.h"
#include "base/util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 200u
#define NAME_MAX_BYTES 16384u

struct rust {
	const char *begin, *at; /* terminated; nothing reads past the end */
	struct ws_buf *out;
	unsigned depth;
	unsigned n_lifetimes; /* that are bound around here */
	unsigned silent;      /* > 0: read, write nothing */
	bool failed;
};

struct rust_identifier {
	struct ws_str text;
	uint64_t disambiguator;
	bool punycode;
};

/* clang-format off */
static const struct {
	char code;
	const char *name;
} basic_types[] = {
	{ 'a', "i8" },   { 'b', "bool" }, { 'c', "char" }, { 'd', "f64" },  { 'e', "str" },
	{ 'f', "f32" },  { 'h', "u8" },   { 'i', "isize" }, { 'j', "usize" }, { 'l', "i32" },
	{ 'm', "u32" },  { 'n', "i128" }, { 'o', "u128" }, { 's', "i16" },  { 't', "u16" },
	{ 'u', "()" },   { 'v', "..." },  { 'x', "i64" },  { 'y', "u64" },  { 'z', "!" },
	{ 'p', "_" },
};
/* clang-format on */

static void read_path(struct rust *r, bool in_value);
static void read_type(struct rust *r);
static void read_const(struct rust *r);

/* ---- characters ---- */

static bool take(struct rust *r, char c)
{
	if (r->failed || *r->at != c)
		return false;
	r->at++;
	return true;
}

static void expect(struct rust *r, char c)
{
	if (!take(r, c))
		r->failed = true;
}

static void put_n(struct rust *r, const char *text, size_t n)
{
	if (!r->silent && !r->failed)
		ws_buf_add_n(r->out, text, n);
	r->failed |= ws_buf_status(r->out, NULL) != WS_OK;
}

static void put(struct rust *r, const char *text)
{
	put_n(r, text, strlen(text));
}

static void put_number(struct rust *r, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	put(r, text);
}

static uint64_t read_decimal(struct rust *r)
{
	uint64_t value = 0;

	if (r->failed || !isdigit((unsigned char)*r->at)) {
		r->failed = true;
		return 0;
	}
	if (take(r, '0'))
		return 0;
	while (isdigit((unsigned char)*r->at) && value < 1u << 24)
		value = value * 10 + (uint64_t)(*r->at++ - '0');
	return value;
}

/* "_" is 0, "0_" is 1, and so on in base 62. */
static uint64_t read_base_62(struct rust *r)
{
	uint64_t value = 0;

	if (take(r, '_'))
		return 0;
	while (!r->failed && isalnum((unsigned char)*r->at)) {
		char c = *r->at++;
		unsigned digit = isdigit((unsigned char)c)   ? (unsigned)(c - '0')
				 : islower((unsigned char)c) ? (unsigned)(c - 'a') + 10
							     : (unsigned)(c - 'A') + 36;

		if (value > UINT64_MAX / 62 - 1)
			r->failed = true;
		else
			value = value * 62 + digit;
	}
	expect(r, '_');
	return value + 1;
}

/* The number after @tag, plus one; 0: the tag is not there. */
static uint64_t read_optional(struct rust *r, char tag)
{
	return take(r, tag) ? read_base_62(r) + 1 : 0;
}

/* ---- identifiers ---- */

static struct rust_identifier read_undisambiguated(struct rust *r)
{
	struct rust_identifier id = { .punycode = take(r, 'u') };
	uint64_t n = read_decimal(r);

	take(r, '_');
	if (n > strlen(r->at))
		r->failed = true;
	if (r->failed)
		return (struct rust_identifier){ .text = WS_STR("") };
	id.text = (struct ws_str){ r->at, n };
	r->at += n;
	return id;
}

static struct rust_identifier read_identifier(struct rust *r)
{
	uint64_t disambiguator = read_optional(r, 's');
	struct rust_identifier id = read_undisambiguated(r);

	id.disambiguator = disambiguator;
	return id;
}

static void put_identifier(struct rust *r, const struct rust_identifier *id)
{
	if (id->punycode)
		put(r, "punycode{");
	put_n(r, id->text.at, id->text.n);
	if (id->punycode)
		put(r, "}");
}

/* ---- what may stand for an earlier part ---- */

static void read_back(struct rust *r, const char *tag, void (*read)(struct rust *r))
{
	uint64_t target = read_base_62(r);
	const char *after = r->at;

	if (r->failed || target >= (uint64_t)(tag - r->begin)) {
		r->failed = true;
		return;
	}
	if (r->silent)
		return; /* it was read where it is */
	r->at = r->begin + target;
	read(r);
	r->at = after;
}

static void read_path_in_type(struct rust *r)
{
	read_path(r, false);
}

static void read_path_in_value(struct rust *r)
{
	read_path(r, true);
}

/* ---- paths ---- */

static void put_lifetime(struct rust *r, uint64_t index)
{
	char name[2] = { 0 };

	if (!index) {
		put(r, "'_");
		return;
	}
	put(r, "'");
	if (index > r->n_lifetimes)
		r->failed = true;
	else if (r->n_lifetimes - index < 26) {
		name[0] = (char)('a' + (r->n_lifetimes - index));
		put(r, name);
	} else {
		put(r, "_");
		put_number(r, r->n_lifetimes - index);
	}
}

static void read_generic_arg(struct rust *r)
{
	if (take(r, 'L'))
		put_lifetime(r, read_base_62(r));
	else if (take(r, 'K'))
		read_const(r);
	else
		read_type(r);
}

static void read_list(struct rust *r, void (*read)(struct rust *r))
{
	for (unsigned i = 0; !r->failed && !take(r, 'E'); i++) {
		if (i)
			put(r, ", ");
		read(r);
	}
}

/* The place of an impl block says nothing to people. */
static void skip_impl_path(struct rust *r)
{
	r->silent++;
	read_optional(r, 's');
	read_path(r, false);
	r->silent--;
}

static void read_nested(struct rust *r, bool in_value)
{
	char space = *r->at;
	struct rust_identifier id;

	if (!isalpha((unsigned char)space)) {
		r->failed = true;
		return;
	}
	r->at++;
	read_path(r, in_value);
	id = read_identifier(r);
	if (islower((unsigned char)space)) {
		if (id.text.n) {
			put(r, "::");
			put_identifier(r, &id);
		}
		return;
	}
	put(r, "::{");
	if (space == 'C')
		put(r, "closure");
	else if (space == 'S')
		put(r, "shim");
	else
		put_n(r, &space, 1);
	if (id.text.n) {
		put(r, ":");
		put_identifier(r, &id);
	}
	put(r, "#");
	put_number(r, id.disambiguator);
	put(r, "}");
}

static void read_path(struct rust *r, bool in_value)
{
	const char *tag = r->at;
	struct rust_identifier id;

	if (r->failed || ++r->depth > DEPTH_MAX) {
		r->failed = true;
		return;
	}
	switch (*r->at) {
	case 'C':
		r->at++;
		id = read_identifier(r);
		put_identifier(r, &id);
		break;
	case 'N':
		r->at++;
		read_nested(r, in_value);
		break;
	case 'M':
		r->at++;
		skip_impl_path(r);
		put(r, "<");
		read_type(r);
		put(r, ">");
		break;
	case 'X':
	case 'Y':
		if (*r->at++ == 'X')
			skip_impl_path(r);
		put(r, "<");
		read_type(r);
		put(r, " as ");
		read_path(r, false);
		put(r, ">");
		break;
	case 'I':
		r->at++;
		read_path(r, in_value);
		put(r, in_value ? "::<" : "<");
		read_list(r, read_generic_arg);
		put(r, ">");
		break;
	case 'B':
		r->at++;
		read_back(r, tag, in_value ? read_path_in_value : read_path_in_type);
		break;
	default:
		r->failed = true;
	}
	r->depth--;
}

/* ---- types ---- */

/* for<'a, 'b>; returns how many, which the caller unbinds. */
static unsigned read_binder(struct rust *r)
{
	uint64_t n = read_optional(r, 'G');

	if (!n)
		return 0;
	if (n > DEPTH_MAX) {
		r->failed = true;
		return 0;
	}
	put(r, "for<");
	for (uint64_t i = 0; i < n; i++) {
		if (i)
			put(r, ", ");
		r->n_lifetimes++;
		put_lifetime(r, 1);
	}
	put(r, "> ");
	return (unsigned)n;
}

static void read_function(struct rust *r)
{
	unsigned bound = read_binder(r);
	struct rust_identifier abi;

	if (take(r, 'U'))
		put(r, "unsafe ");
	if (take(r, 'K')) {
		put(r, "extern \"");
		if (take(r, 'C')) {
			put(r, "C");
		} else {
			abi = read_undisambiguated(r);
			for (size_t i = 0; i < abi.text.n; i++)
				put_n(r, abi.text.at[i] == '_' ? "-" : &abi.text.at[i], 1);
		}
		put(r, "\" ");
	}
	put(r, "fn(");
	read_list(r, read_type);
	put(r, ")");
	if (!take(r, 'u')) {
		put(r, " -> ");
		read_type(r);
	}
	r->n_lifetimes -= bound;
}

/* A trait with types of its own: Iterator<Item = u8>. */
static void read_dyn_trait(struct rust *r)
{
	bool open = false;
	struct rust_identifier id;
	size_t before = r->out->n;

	read_path(r, false);
	/* the path may end with generic arguments: these go on in the same brackets */
	if (*r->at == 'p' && !r->silent && r->out->n > before && r->out->at[r->out->n - 1] == '>') {
		r->out->at[--r->out->n] = 0;
		open = true;
	}
	while (take(r, 'p')) {
		put(r, open ? ", " : "<");
		open = true;
		id = read_undisambiguated(r);
		put_identifier(r, &id);
		put(r, " = ");
		read_type(r);
	}
	if (open)
		put(r, ">");
}

static void read_dyn(struct rust *r)
{
	unsigned bound;
	uint64_t lifetime;

	put(r, "dyn ");
	bound = read_binder(r);
	for (unsigned i = 0; !r->failed && !take(r, 'E'); i++) {
		if (i)
			put(r, " + ");
		read_dyn_trait(r);
	}
	r->n_lifetimes -= bound;
	expect(r, 'L');
	lifetime = read_base_62(r);
	if (lifetime) {
		put(r, " + ");
		put_lifetime(r, lifetime);
	}
}

static void read_reference(struct rust *r, const char *after)
{
	uint64_t lifetime;

	put(r, "&");
	if (take(r, 'L')) {
		lifetime = read_base_62(r);
		if (lifetime) {
			put_lifetime(r, lifetime);
			put(r, " ");
		}
	}
	put(r, after);
	read_type(r);
}

static void read_tuple(struct rust *r)
{
	unsigned n = 0;

	put(r, "(");
	for (; !r->failed && !take(r, 'E'); n++) {
		if (n)
			put(r, ", ");
		read_type(r);
	}
	put(r, n == 1 ? ",)" : ")");
}

static const char *basic_type(char code)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(basic_types); i++)
		if (basic_types[i].code == code)
			return basic_types[i].name;
	return NULL;
}

static void read_type(struct rust *r)
{
	const char *tag = r->at, *basic = basic_type(*tag);

	if (r->failed || ++r->depth > DEPTH_MAX) {
		r->failed = true;
		return;
	}
	r->at += *tag != 0;
	switch (*tag) {
	case 'A':
	case 'S':
		put(r, "[");
		read_type(r);
		if (*tag == 'A') {
			put(r, "; ");
			read_const(r);
		}
		put(r, "]");
		break;
	case 'T':
		read_tuple(r);
		break;
	case 'R':
		read_reference(r, "");
		break;
	case 'Q':
		read_reference(r, "mut ");
		break;
	case 'P':
	case 'O':
		put(r, *tag == 'P' ? "*const " : "*mut ");
		read_type(r);
		break;
	case 'F':
		read_function(r);
		break;
	case 'D':
		read_dyn(r);
		break;
	case 'B':
		read_back(r, tag, read_type);
		break;
	default:
		if (basic) {
			put(r, basic);
		} else {
			r->at = tag;
			read_path(r, false);
		}
	}
	r->depth--;
}

/* Numbers of up to 64 bits are decimal, longer ones as they are. */
static void read_const_data(struct rust *r, char type)
{
	const char *digits, *end;

	if (take(r, 'n'))
		put(r, "-");
	digits = r->at;
	while (isxdigit((unsigned char)*r->at))
		r->at++;
	end = r->at;
	expect(r, '_');
	if (r->failed)
		return;
	if (type == 'b') {
		put(r, end - digits == 1 && *digits == '1' ? "true" : "false");
	} else if (end - digits <= 16) {
		put_number(r, strtoull(end == digits ? "0" : digits, NULL, 16));
	} else {
		put(r, "0x");
		put_n(r, digits, (size_t)(end - digits));
	}
}

static void read_const(struct rust *r)
{
	const char *tag = r->at;

	if (r->failed || ++r->depth > DEPTH_MAX) {
		r->failed = true;
		return;
	}
	if (take(r, 'B')) {
		read_back(r, tag, read_const);
	} else if (take(r, 'p')) {
		put(r, "_");
	} else if (*tag && strchr("abchijlmnostxy", *tag)) {
		r->at++;
		read_const_data(r, *tag);
	} else {
		r->failed = true; /* strings and structures: not written by stable compilers */
	}
	r->depth--;
}

/* ---- the interface ---- */

char *code_rust_v0_demangle(const char *mangled)
{
	struct ws_buf out;
	struct rust r = { .begin = mangled + 2, .at = mangled + 2, .out = &out };
	char *name = NULL;

	if (strncmp(mangled, "_R", 2) != 0 || !isupper((unsigned char)mangled[2]))
		return NULL;
	ws_buf_init(&out, NAME_MAX_BYTES);
	read_path(&r, true);
	if (!r.failed && isupper((unsigned char)*r.at)) { /* the crate that made a copy of it */
		r.silent++;
		read_path(&r, false);
		r.silent--;
	}
	if (!r.failed && (!*r.at || *r.at == '.' || *r.at == '$') && out.n)
		name = strdup(out.at);
	ws_buf_fini(&out);
	return name;
}
