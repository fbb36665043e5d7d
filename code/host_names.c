/*
 * host_names: names as people write them.
 *
 * C++ names are for libstdc++'s demangler, as everywhere in wavescope. Rust has two schemes. The
 * first looks like C++ and that demangler reads it, but the last part is a hash and the
 * parts have escapes of their own, which are replaced here. The second is rust_v0.c's.
 */
#include "code/host_priv.h"

#include "base/str.h"
#include "trace/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HASH_DIGITS 16u

static const struct {
	const char *escape;
	char plain;
} rust_escapes[] = {
	{ "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' },
	{ "$GT$", '>' }, { "$LP$", '(' }, { "$RP$", ')' }, { "$C$", ',' },
};

/* "...::h0123456789abcdef": where the hash begins; NULL: it is no name of Rust. */
static char *rust_hash(char *name)
{
	size_t n = strlen(name);
	char *hash = n > HASH_DIGITS + 3 ? name + n - HASH_DIGITS - 3 : NULL;

	if (!hash || memcmp(hash, "::h", 3) != 0)
		return NULL;
	for (unsigned i = 0; i < HASH_DIGITS; i++)
		if (!isdigit((unsigned char)hash[3 + i]) &&
		    !(hash[3 + i] >= 'a' && hash[3 + i] <= 'f'))
			return NULL;
	return hash;
}

/* One character for the escape at *@from; false: there is none. */
static bool unescape(const char **from, char *to)
{
	char *end;
	unsigned long code;

	for (size_t i = 0; i < WS_ARRAY_LEN(rust_escapes); i++) {
		size_t n = strlen(rust_escapes[i].escape);

		if (strncmp(*from, rust_escapes[i].escape, n) == 0) {
			*from += n;
			*to = rust_escapes[i].plain;
			return true;
		}
	}
	if (strncmp(*from, "$u", 2) != 0 || !isxdigit((unsigned char)(*from)[2]))
		return false;
	code = strtoul(*from + 2, &end, 16);
	if (*end != '$' || code < ' ' || code > '~')
		return false;
	*from = end + 1;
	*to = (char)code;
	return true;
}

/* In place: a name never grows. */
static void decode_rust(char *name)
{
	char *hash = rust_hash(name), *to = name;
	const char *from = name;

	if (!hash)
		return;
	*hash = 0;
	while (*from) {
		/* a part that begins with an escape has an underscore in front of it */
		if (*from == '_' && from[1] == '$' && (from == name || from[-1] == ':'))
			from++;
		if (unescape(&from, to)) {
			to++;
		} else if (from[0] == '.' && from[1] == '.') {
			*to++ = ':';
			*to++ = ':';
			from += 2;
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
}

char *code_host_demangle(const char *mangled)
{
	/* LLVM makes local names unique by a number when it optimizes several files together. */
	const char *unique = strstr(mangled, ".llvm.");
	char *cut = unique ? strndup(mangled, (size_t)(unique - mangled)) : NULL;
	char *name = code_rust_v0_demangle(mangled);

	if (!name)
		name = trc_demangle(cut ? cut : mangled);
	free(cut);
	if (name && strncmp(mangled, "_ZN", 3) == 0)
		decode_rust(name);
	return name;
}
