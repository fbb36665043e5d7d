/*
 * config: a flat YAML file of settings, keys in alphabetical order.
 *
 * profiling_config.yaml is one: every option of a profile run, as AMD's tool writes it. A
 * value is a text, a number, true or false, null, a list of texts, or texts that all have
 * one value. Texts are quoted
 * where YAML would take them for something else.
 */
#ifndef WS_WORKLOAD_CONFIG_H
#define WS_WORKLOAD_CONFIG_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wl_config {
	struct ws_arena arena;
	struct ws_map entries; /* key to the text after it, as written */
	enum ws_status failed; /* the first failure; writing reports it */
};

void wl_config_init(struct wl_config *config);
void wl_config_fini(struct wl_config *config);

/* A key that is there already gets the new value. */
void wl_config_text(struct wl_config *config, const char *key, const char *text); /* NULL: null */
void wl_config_bool(struct wl_config *config, const char *key, bool on);
void wl_config_int(struct wl_config *config, const char *key, int64_t number);
void wl_config_real(struct wl_config *config, const char *key, double number);
void wl_config_list(struct wl_config *config, const char *key, const char *const *texts, size_t n);
/* Each of @texts, of which none is twice, is a key with @value. */
void wl_config_set(struct wl_config *config, const char *key, const char *const *texts, size_t n,
		   const char *value);

/* dir/name, whole or not at all. */
enum ws_status wl_config_write(const struct wl_config *config, const char *dir, const char *name,
			       struct ws_err *err);

#endif
