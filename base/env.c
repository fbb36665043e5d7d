#include "base/env.h"

#include "base/str.h"

#include <string.h>

/* execve() itself refuses far less than this. */
#define ENV_MAX_BYTES ((size_t)64 << 20)

static enum ws_status reserve(struct ws_env *env, size_t cap, struct ws_err *err)
{
	char **at;

	if (cap <= env->cap)
		return WS_OK;
	at = ws_arena_array(&env->arena, cap + 1, sizeof(*at));
	if (!at)
		return ws_fail(err, WS_E_NOMEM, "out of memory for the environment");
	if (env->n)
		memcpy(at, env->at, env->n * sizeof(*at));
	env->at = at;
	env->cap = cap;
	return WS_OK;
}

enum ws_status ws_env_init(struct ws_env *env, char *const *from, struct ws_err *err)
{
	size_t n = 0;
	enum ws_status st;

	*env = (struct ws_env){ .at = NULL };
	ws_arena_init(&env->arena, ENV_MAX_BYTES);
	while (from[n])
		n++;
	st = reserve(env, n + 16, err);
	if (st)
		return st;
	for (size_t i = 0; i < n; i++) {
		env->at[i] = ws_arena_strdup(&env->arena, from[i]);
		if (!env->at[i])
			return ws_fail(err, WS_E_NOMEM, "out of memory for the environment");
		env->n++;
	}
	return WS_OK;
}

void ws_env_fini(struct ws_env *env)
{
	if (!env)
		return;
	ws_arena_fini(&env->arena);
	*env = (struct ws_env){ .at = NULL };
}

static char **find(const struct ws_env *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->at[i], name, n) == 0 && env->at[i][n] == '=')
			return &env->at[i];
	return NULL;
}

const char *ws_env_get(const struct ws_env *env, const char *name)
{
	char **at = find(env, name);

	return at ? *at + strlen(name) + 1 : NULL;
}

enum ws_status ws_env_set(struct ws_env *env, const char *name, const char *value,
			  struct ws_err *err)
{
	char *pair = ws_arena_printf(&env->arena, "%s=%s", name, value);
	char **at = find(env, name);
	enum ws_status st;

	if (!pair)
		return ws_fail(err, WS_E_NOMEM, "out of memory for the environment");
	if (at) {
		*at = pair;
		return WS_OK;
	}
	if (env->n == env->cap) {
		st = reserve(env, env->cap * 2 + 16, err);
		if (st)
			return st;
	}
	env->at[env->n++] = pair;
	env->at[env->n] = NULL;
	return WS_OK;
}

void ws_env_unset(struct ws_env *env, const char *name)
{
	char **at;

	while ((at = find(env, name))) {
		memmove(at, at + 1, (size_t)(env->at + env->n - at) * sizeof(*at));
		env->n--;
	}
}

enum ws_status ws_env_prepend(struct ws_env *env, const char *name, const char *item, char sep,
			      struct ws_err *err)
{
	const char *old = ws_env_get(env, name);
	struct ws_str rest = ws_str_from(old), first;
	char *value;

	if (!old || !*old)
		return ws_env_set(env, name, item, err);
	if (ws_str_next(&rest, sep, &first) && ws_str_is(first, item))
		return WS_OK;
	value = ws_arena_printf(&env->arena, "%s%c%s", item, sep, old);
	if (!value)
		return ws_fail(err, WS_E_NOMEM, "out of memory for the environment");
	return ws_env_set(env, name, value, err);
}

enum ws_status ws_env_remove(struct ws_env *env, const char *name, const char *item, char sep,
			     struct ws_err *err)
{
	const char *old = ws_env_get(env, name);
	struct ws_str rest = ws_str_from(old), part;
	size_t n_left = 0;
	char *value, *end;

	if (!old)
		return WS_OK;
	value = end = ws_arena_strdup(&env->arena, old); /* what is left is never longer */
	if (!value)
		return ws_fail(err, WS_E_NOMEM, "out of memory for the environment");
	while (ws_str_next(&rest, sep, &part)) {
		if (ws_str_is(part, item))
			continue;
		if (n_left++)
			*end++ = sep;
		memcpy(end, part.at, part.n);
		end += part.n;
	}
	*end = '\0';
	if (n_left)
		return strcmp(value, old) == 0 ? WS_OK : ws_env_set(env, name, value, err);
	ws_env_unset(env, name);
	return WS_OK;
}
