/*
 * env: the environment of a program that is about to be started.
 *
 * It is a copy of our environment. Ours is not changed, so that our own libraries
 * are not affected.
 */
#ifndef WS_BASE_ENV_H
#define WS_BASE_ENV_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

struct ws_env {
	struct ws_arena arena; /* holds the array and the strings that were set */
	char **at;             /* NULL at the end: what execve() wants */
	size_t n, cap;
};

enum ws_status ws_env_init(struct ws_env *env, char *const *from, struct ws_err *err);
void ws_env_fini(struct ws_env *env);
const char *ws_env_get(const struct ws_env *env, const char *name); /* NULL: not set */
enum ws_status ws_env_set(struct ws_env *env, const char *name, const char *value,
			  struct ws_err *err);
void ws_env_unset(struct ws_env *env, const char *name);

/*
 * Put @item in front of a list such as LD_LIBRARY_PATH, keeping what is there.
 * An @item that is already in front is not repeated.
 */
enum ws_status ws_env_prepend(struct ws_env *env, const char *name, const char *item, char sep,
			      struct ws_err *err);

/* Take @item out of such a list, wherever it is. A list without any other item is unset. */
enum ws_status ws_env_remove(struct ws_env *env, const char *name, const char *item, char sep,
			     struct ws_err *err);

#endif
