#include "codecache/reach.h"

#include "base/util.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

/* ---- options ---- */

enum rule {
	WHOLE,       /* exactly this */
	BEGINS,      /* this, and anything behind it */
	NO_COMMA,    /* the same, but "-Wl,..." hands options on */
	AN_OPTION,   /* the next word is an option of this table */
	LLVM_OPTION, /* the next word is an option of LLVM */
	A_WORD,      /* the next word names no file */
	A_HEADER,    /* the next word names a header */
};

/* clang-format off */
static const struct {
	const char *text;
	enum rule rule;
} rules[] = {
	/* first: longer ones that begin like others */
	{ "-include",                 A_HEADER },
	{ "-Xclang",                  AN_OPTION },
	{ "-mllvm",                   LLVM_OPTION },
	{ "-x",                       A_WORD },
	{ "-D",                       BEGINS },
	{ "-U",                       BEGINS },
	{ "-O",                       BEGINS },
	{ "-W",                       NO_COMMA },
	{ "-w",                       WHOLE },
	{ "-c",                       WHOLE },
	{ "-std=",                    BEGINS },
	{ "-cl-",                     BEGINS },
	{ "-fno-",                    BEGINS },
	{ "-fgpu-",                   BEGINS },
	{ "-ffp-contract=",           BEGINS },
	{ "-ffast-math",              WHOLE },
	{ "-ffinite-math-only",       WHOLE },
	{ "-fapprox-func",            WHOLE },
	{ "-fassociative-math",       WHOLE },
	{ "-freciprocal-math",        WHOLE },
	{ "-funsafe-math-optimizations", WHOLE },
	{ "-fcuda-",                  BEGINS },
	{ "-fhip-",                   BEGINS },
	{ "-fdenormal-fp-math",       BEGINS },
	{ "-funroll-loops",           WHOLE },
	{ "-fvisibility=",            BEGINS },
	{ "-mcumode",                 WHOLE },
	{ "-mno-cumode",              WHOLE },
	{ "-mwavefrontsize64",        WHOLE },
	{ "-mno-wavefrontsize64",     WHOLE },
	{ "-mcode-object-version=",   BEGINS },
	{ "-mcpu=",                   BEGINS },
	{ "-munsafe-fp-atomics",      WHOLE },
	{ "-nogpuinc",                WHOLE },
	{ "-nogpulib",                WHOLE },
	{ "--hip-version=",           BEGINS },
	{ "--offload-arch=",          BEGINS },
	{ "--gpu-max-threads-per-block=", BEGINS },
	/* of the actions that add and link the device libraries */
	{ "wavefrontsize64",          WHOLE },
	{ "code_object_v",            BEGINS },
	{ "correctly_rounded_sqrt",   WHOLE },
	{ "daz_opt",                  WHOLE },
	{ "finite_only",              WHOLE },
	{ "unsafe_math",              WHOLE },
};
/* clang-format on */

static bool begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_header(const struct cc_reach *reach, struct ws_str name)
{
	for (size_t i = 0; i < reach->n_headers; i++)
		if (ws_str_is(name, reach->headers[i]))
			return true;
	return false;
}

/* Whether a word is harmless; *@next gets what it says about the word behind it. */
static bool is_harmless(const char *word, enum rule *next)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(rules); i++) {
		const char *text = rules[i].text;

		switch (rules[i].rule) {
		case WHOLE:
			if (strcmp(word, text) == 0)
				return true;
			break;
		case BEGINS:
			if (begins(word, text))
				return true;
			break;
		case NO_COMMA:
			if (begins(word, text))
				return !strchr(word, ',');
			break;
		default:
			if (strcmp(word, text) == 0) {
				*next = rules[i].rule;
				return true;
			}
		}
	}
	return false;
}

/* The word behind one that asks for it. */
static bool is_harmless_operand(const struct cc_reach *reach, enum rule rule, const char *word)
{
	enum rule next = WHOLE;

	switch (rule) {
	case AN_OPTION:
		return is_harmless(word, &next) && next == WHOLE;
	case LLVM_OPTION:
		return begins(word, "-amdgpu-");
	case A_HEADER:
		/* The compiler looks in the current folder first. */
		return is_header(reach, ws_str_from(word)) && access(word, F_OK) != 0;
	default:
		return true;
	}
}

const char *cc_reach_options(const struct cc_reach *reach, const char *const *options,
			     size_t n_options)
{
	enum rule operand = WHOLE;
	bool no_headers = false;

	for (size_t i = 0; i < n_options; i++) {
		bool harmless;

		if (operand != WHOLE) {
			harmless = is_harmless_operand(reach, operand, options[i]);
			operand = WHOLE;
		} else {
			harmless = is_harmless(options[i], &operand);
		}
		if (!harmless || cc_reach_text(reach, ws_str_from(options[i])))
			return options[i];
		no_headers |= strcmp(options[i], "-nogpuinc") == 0;
	}
	/* Else the compiler includes headers of its installation, without being told to. */
	if (reach->has_source && !reach->has_precompiled && !no_headers)
		return "the compiler's own headers";
	return operand == WHOLE ? NULL : options[n_options - 1];
}

/* ---- source text ---- */

/* What looks at files, or at the clock, wherever it stands. */
static const char *const words[] = {
	"__has_include", "__has_embed", "__DATE__", "__TIME__",
	"__TIMESTAMP__", ".incbin",     ".include",
};

/* Directives that read a file. */
static const char *const directives[] = { "include", "include_next", "import", "embed" };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "name" or <name> at @text; empty: something else, a macro for example. */
static struct ws_str header_name(struct ws_str text)
{
	char close = text.n && *text.at == '"' ? '"' : text.n && *text.at == '<' ? '>' : '\n';
	size_t n = 1;

	while (n < text.n && text.at[n] != close && text.at[n] != '\n')
		n++;
	if (close == '\n' || n >= text.n || text.at[n] != close)
		return WS_STR("");
	return (struct ws_str){ text.at + 1, n - 1 };
}

/* @text is what follows a '#'. */
static const char *directive_reach(const struct cc_reach *reach, struct ws_str text)
{
	size_t n = 0;

	while (text.n && is_blank(*text.at))
		text.at++, text.n--;
	/* Comments and continued lines may stand between; nobody writes that. */
	if (text.n && (*text.at == '/' || *text.at == '\\'))
		return "a directive that is not understood";
	while (n < text.n && is_name(text.at[n]))
		n++;
	for (size_t i = 0; i < WS_ARRAY_LEN(directives); i++) {
		struct ws_str rest = { text.at + n, text.n - n };

		if (!ws_str_is((struct ws_str){ text.at, n }, directives[i]))
			continue;
		while (rest.n && is_blank(*rest.at))
			rest.at++, rest.n--;
		if (i == 0 && is_header(reach, header_name(rest)))
			return NULL;
		return "#include";
	}
	return NULL;
}

const char *cc_reach_text(const struct cc_reach *reach, struct ws_str text)
{
	const char *end = text.at + text.n;

	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++)
		if (text.n && memmem(text.at, text.n, words[i], strlen(words[i])))
			return words[i];
	/* A name continued on the next line could be any of them. */
	for (const char *at = text.at;
	     text.n && (at = memmem(at, (size_t)(end - at), "\\\n", 2)) != NULL; at += 2)
		if (at > text.at && is_name(at[-1]) && at + 2 < end && is_name(at[2]))
			return "a name continued on the next line";
	for (const char *at = text.at; at < end; at++) {
		const char *why = NULL;
		size_t left = (size_t)(end - at);

		if (*at == '#')
			why = directive_reach(reach, (struct ws_str){ at + 1, left - 1 });
		else if (left > 2 && memcmp(at, "%:", 2) == 0)
			why = directive_reach(reach, (struct ws_str){ at + 2, left - 2 });
		else if (left > 3 && memcmp(at, "\?\?=", 3) == 0)
			why = directive_reach(reach, (struct ws_str){ at + 3, left - 3 });
		if (why)
			return why;
	}
	return NULL;
}
