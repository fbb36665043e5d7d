/*
 * folder: a profile folder as a whole: what is in it, who uses it, removing and moving it.
 */
#ifndef WS_WORKLOAD_FOLDER_H
#define WS_WORKLOAD_FOLDER_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

struct wl_folder_content {
	bool there, any;
	bool counted;      /* something that was measured by running a program */
	char foreign[256]; /* the first name that no profile leaves; "": none */
};

/* A folder that does not exist is WS_OK, and not `there`. */
enum ws_status wl_folder_look(const char *dir, struct wl_folder_content *out, struct ws_err *err);

/* Whether it is one: it has sysinfo.csv. */
bool wl_folder_is_profile(const char *dir);

/* One profile at a time: held until the process ends, or another folder is locked. */
enum ws_status wl_folder_lock(const char *dir, struct ws_err *err);

/* Removes the files of a profile; others stay. */
enum ws_status wl_folder_clear(const char *dir, struct ws_err *err);

/* Renames the locked folder to DIR.1, DIR.2, ..., and makes and locks an empty one. */
enum ws_status wl_folder_move_aside(const char *dir, bool keep_peaks, char out_aside[PATH_MAX],
				    struct ws_err *err);

#endif
