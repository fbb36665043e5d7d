#include "launch/placeholder.h"

#include "base/file.h"
#include "base/log.h"
#include "base/util.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS_MAX 32

/* A word of the command line, as part of a file name. */
static void add_word(const char *word, struct ws_buf *out)
{
	word += strspn(word, "./_"); /* a leading '/' would become '_', and go, too */
	for (; *word; word++)
		ws_buf_add_c(out, *word == '/' ? '_' : *word, 1);
}

static void add_words(const struct launch_place *p, size_t first, struct ws_buf *out)
{
	for (size_t i = first; i < p->n_argv; i++) {
		if (i > first)
			ws_buf_add_c(out, '_', 1);
		add_word(p->argv[i], out);
	}
}

static const char *program(const struct launch_place *p)
{
	const char *slash = p->n_argv ? strrchr(p->argv[0], '/') : NULL;

	return slash ? slash + 1 : p->n_argv ? p->argv[0] : "";
}

static void put_argv(const struct launch_place *p, struct ws_buf *out)
{
	add_words(p, 0, out);
}

static void put_args(const struct launch_place *p, struct ws_buf *out)
{
	add_words(p, 1, out);
}

static void put_argt(const struct launch_place *p, struct ws_buf *out)
{
	ws_buf_add(out, program(p));
	add_words(p, 1, out);
}

static void put_tag(const struct launch_place *p, struct ws_buf *out)
{
	ws_buf_add(out, program(p));
}

static void put_hostname(const struct launch_place *p, struct ws_buf *out)
{
	ws_buf_add(out, p->hostname);
}

static void put_cwd(const struct launch_place *p, struct ws_buf *out)
{
	ws_buf_add(out, p->cwd);
}

#define PUT_NUMBER(name, value)                                                                    \
	static void put_##name(const struct launch_place *p, struct ws_buf *out)                   \
	{                                                                                          \
		ws_buf_printf(out, "%llu", (unsigned long long)(value));                           \
	}
PUT_NUMBER(pid, p->pid)
PUT_NUMBER(ppid, p->ppid)
PUT_NUMBER(pgid, p->pgid)
PUT_NUMBER(psid, p->psid)
PUT_NUMBER(psize, p->n_siblings)
PUT_NUMBER(job, p->rank.job)
PUT_NUMBER(rank, p->rank.rank)
PUT_NUMBER(size, p->rank.size)
PUT_NUMBER(nid, p->rank.known ? p->rank.rank : p->pid)

static void put_time(const struct launch_place *p, const char *variable, const char *format,
		     struct ws_buf *out)
{
	const char *chosen = p->env.get(p->env.ctx, variable);
	char text[256];
	struct tm tm;

	localtime_r(&p->launched, &tm);
	if (strftime(text, sizeof(text), chosen && *chosen ? chosen : format, &tm))
		ws_buf_add(out, text);
}

static void put_launch_date(const struct launch_place *p, struct ws_buf *out)
{
	put_time(p, "ROCPROF_DATE_FORMAT", "%F", out);
}

static void put_launch_time(const struct launch_place *p, struct ws_buf *out)
{
	put_time(p, "ROCPROF_TIME_FORMAT", "%F_%H.%M", out);
}

/* clang-format off */
static const struct {
	const char *key;
	char letter; /* %h: the short form */
	void (*put)(const struct launch_place *p, struct ws_buf *out);
} keys[] = {
	{ "argv", 0, put_argv },         { "argt", 0, put_argt }, { "args", 0, put_args },
	{ "tag", 0, put_tag },           { "hostname", 'h', put_hostname },
	{ "pid", 'p', put_pid },         { "ppid", 0, put_ppid }, { "pgid", 0, put_pgid },
	{ "psid", 0, put_psid },         { "psize", 0, put_psize },
	{ "job", 'j', put_job },         { "rank", 'r', put_rank }, { "size", 's', put_size },
	{ "nid", 0, put_nid },           { "cwd", 0, put_cwd },
	{ "launch_date", 0, put_launch_date }, { "launch_time", 0, put_launch_time },
};

/* How an environment variable is spelled: what stands before and after NAME. */
static const struct {
	const char *before, *after;
} env_forms[] = {
	{ "%env{", "}%" }, { "%ENV{", "}%" }, { "$env{", "}" }, { "$ENV{", "}" }, { "%q{", "}" },
};
/* clang-format on */

/* The environment's values lose what would change the path. */
static void put_env(const struct launch_place *p, const char *name, struct ws_buf *out)
{
	const char *value = p->env.get(p->env.ctx, name);

	for (value = value ? value + strspn(value, "\t /") : ""; *value; value++)
		ws_buf_add_c(out, strchr("\t /", *value) ? '_' : *value, 1);
}

static const char *expand_env(const struct launch_place *p, const char *at, struct ws_buf *out)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(env_forms); i++) {
		size_t n = strlen(env_forms[i].before), n_name,
		       n_after = strlen(env_forms[i].after);
		char name[256];

		if (strncmp(at, env_forms[i].before, n) != 0)
			continue;
		n_name = strspn(at + n, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		if (!n_name || n_name >= sizeof(name) ||
		    strncmp(at + n + n_name, env_forms[i].after, n_after) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n_name, at + n);
		put_env(p, name, out);
		return at + n + n_name + n_after;
	}
	return NULL;
}

/* %arg3%: a word that is not there takes the separators after it along. */
static const char *expand_arg(const struct launch_place *p, struct ws_str key, const char *after,
			      struct ws_buf *out)
{
	uint64_t n;

	if (!ws_str_starts(key, "arg") || key.n < 4 || !isdigit((unsigned char)key.at[3]) ||
	    !ws_str_u64((struct ws_str){ key.at + 3, key.n - 3 }, &n))
		return NULL;
	if (n >= p->n_argv)
		return after + strspn(after, "-/_");
	add_word(p->argv[n], out);
	return after;
}

static const char *expand_key(const struct launch_place *p, const char *at, struct ws_buf *out)
{
	const char *end = strchr(at + 1, *at == '%' ? '%' : '}');
	struct ws_str key = { at + 1, end ? (size_t)(end - at - 1) : 0 };
	const char *after;

	if (end) {
		for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++)
			if (ws_str_is(key, keys[i].key)) {
				keys[i].put(p, out);
				return end + 1;
			}
		after = expand_arg(p, key, end + 1, out);
		if (after)
			return after;
	}
	if (*at == '{' && key.n != 1)
		return NULL;
	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++)
		if (keys[i].letter && at[1] == keys[i].letter) {
			keys[i].put(p, out);
			return *at == '%' ? at + 2 : end + 1;
		}
	return NULL;
}

/* Where the text goes on after a placeholder at @at, whose value was appended; NULL: none. */
static const char *expand_at(const struct launch_place *p, const char *at, struct ws_buf *out)
{
	const char *after = *at == '%' || *at == '$' ? expand_env(p, at, out) : NULL;

	if (!after && (*at == '%' || *at == '{'))
		after = expand_key(p, at, out);
	return after;
}

enum ws_status launch_place_expand(const struct launch_place *place, const char *text,
				   struct ws_buf *out, struct ws_err *err)
{
	struct ws_buf now, next;
	enum ws_status st;
	bool changed = true;

	if (strlen(text) > LAUNCH_PLACE_TEXT_MAX)
		return ws_fail(err, WS_E_LIMIT, "'%.20s...' is too long for a path", text);
	ws_buf_init(&now, LAUNCH_PLACE_TEXT_MAX);
	ws_buf_init(&next, LAUNCH_PLACE_TEXT_MAX);
	ws_buf_add(&now, text);
	for (unsigned round = 0; changed && round < ROUNDS_MAX; round++) {
		struct ws_buf swap;

		changed = false;
		ws_buf_clear(&next);
		for (const char *at = now.at; *at;) {
			const char *after = expand_at(place, at, &next);

			changed |= after != NULL;
			if (!after)
				ws_buf_add_c(&next, *at, 1);
			at = after ? after : at + 1;
		}
		swap = now;
		now = next;
		next = swap;
		if (now.failed)
			break;
	}
	if (now.failed == WS_E_LIMIT || changed)
		st = ws_fail(err, WS_E_LIMIT, "'%s': the placeholders expand without end", text);
	else
		st = ws_buf_status(&now, err);
	if (!st)
		ws_buf_add(out, now.at);
	ws_buf_fini(&now);
	ws_buf_fini(&next);
	return st ? st : ws_buf_status(out, err);
}

static const char *next_key(const void *list, size_t i)
{
	(void)list;
	return i < WS_ARRAY_LEN(keys) ? keys[i].key : NULL;
}

static bool is_key(struct ws_str word)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++)
		if (ws_str_is(word, keys[i].key))
			return true;
	return ws_str_starts(word, "arg") && word.n > 3 &&
	       strspn(word.at + 3, "0123456789") >= word.n - 3;
}

static bool is_letter(char c)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++)
		if (keys[i].letter && keys[i].letter == c)
			return true;
	return false;
}

/* The bracket of "%env{NAME}%". */
static bool is_of_env(const char *text, const char *bracket)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(env_forms); i++) {
		size_t n = strlen(env_forms[i].before);

		if ((size_t)(bracket - text) + 1 >= n &&
		    strncmp(bracket + 1 - n, env_forms[i].before, n) == 0)
			return true;
	}
	return false;
}

bool launch_place_typo(const char *text, struct ws_str *out_word, const char **out_near)
{
	static const char word_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789_";

	for (const char *at = text; (at = strpbrk(at, "%{"));) {
		struct ws_str word = { at + 1, strspn(at + 1, word_chars) };
		char name[64];

		if (word.n < 2 || word.n >= sizeof(name) || is_of_env(text, at) ||
		    word.at[word.n] != (*at == '%' ? '%' : '}')) {
			at++;
			continue;
		}
		if (is_key(word)) {
			at = word.at + word.n + 1;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", WS_STR_ARGS(word));
		*out_near = ws_str_nearest(name, next_key, NULL);
		/* "%h_%p" is two short ones, unless it is nearly a long one. */
		if (*at == '%' && is_letter(word.at[0]) && !*out_near) {
			at++;
			continue;
		}
		*out_word = (struct ws_str){ at, word.n + 2 };
		return true;
	}
	return false;
}

void launch_place_warn(const char *option, const char *text)
{
	const char *near;
	struct ws_str word;

	if (!text || !launch_place_typo(text, &word, &near))
		return;
	if (near)
		ws_log_warn(
			"%s '%s': unknown placeholder %.*s is not replaced: did you mean %%%s%%?",
			option, text, WS_STR_ARGS(word), near);
	else
		ws_log_warn("%s '%s': unknown placeholder %.*s is not replaced: --help lists them",
			    option, text, WS_STR_ARGS(word));
}

size_t launch_place_fixed_part(const char *path)
{
	size_t n = strcspn(path, "%{$");

	if (path[n])
		while (n && path[n - 1] != '/')
			n--;
	return n;
}

/* How many children a process has, from /proc. */
static uint64_t count_children(pid_t parent)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t n = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], line[512];
		const char *paren;
		int ppid;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		/* "pid (name) S ppid": the name may hold anything, so look from the end. */
		if (ws_file_line(path, line, sizeof(line)) && (paren = strrchr(line, ')')) &&
		    sscanf(paren + 1, " %*c %d", &ppid) == 1 && ppid == parent)
			n++;
	}
	if (proc)
		closedir(proc);
	return n;
}

void launch_place_init(struct launch_place *place, char hostname_room[256], char cwd_room[PATH_MAX])
{
	*place = (struct launch_place){
		.hostname = hostname_room,
		.cwd = cwd_room,
		.pid = (uint64_t)getpid(),
		.ppid = (uint64_t)getppid(),
		.pgid = (uint64_t)getpgrp(),
		.psid = (uint64_t)getsid(0),
		.n_siblings = count_children(getppid()),
		.launched = time(NULL),
		.env = launch_lookup_own(),
	};
	if (gethostname(hostname_room, 256) != 0)
		strcpy(hostname_room, "localhost");
	hostname_room[255] = '\0';
	if (!getcwd(cwd_room, PATH_MAX))
		strcpy(cwd_room, ".");
	launch_rank_find(place->env, &place->rank);
}
