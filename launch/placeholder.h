/*
 * placeholder: %pid%, {hostname}, %env{USER}% and the like in names of files.
 *
 * Keys, each as %key% and {key}: argv argt args tag arg<N> hostname pid ppid pgid psid
 * psize job rank size nid cwd launch_date launch_time; also %h %p %j %r %s, and
 * %env{NAME}% %ENV{NAME}% $env{NAME} $ENV{NAME} %q{NAME}. What is not a placeholder
 * stays. Values may hold placeholders; it ends when nothing changes.
 */
#ifndef WS_LAUNCH_PLACEHOLDER_H
#define WS_LAUNCH_PLACEHOLDER_H

#include "base/error.h"
#include "base/str.h"
#include "launch/rank.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* One process, as its files are named. */
struct launch_place {
	const char *const *argv;
	size_t n_argv;
	const char *hostname;
	const char *cwd;
	uint64_t pid, ppid, pgid, psid;
	uint64_t n_siblings;
	time_t launched;
	struct launch_lookup env;
	struct launch_rank rank;
};

/*
 * What is the same for all processes of a run, from this process: host, folder, group,
 * session, and parent and siblings, in which the front end stands for the program it
 * runs. pid and argv are left to fill in.
 */
void launch_place_init(struct launch_place *place, char hostname_room[256],
		       char cwd_room[PATH_MAX]);

#define LAUNCH_PLACE_TEXT_MAX 4095u /* an expansion that grows past this is refused */
enum ws_status launch_place_expand(const struct launch_place *place, const char *text,
				   struct ws_buf *out, struct ws_err *err);

/*
 * The first thing in @text that looks like a placeholder and is none ("%pdi%"), and the key that
 * may have been meant, or NULL. False: there is none.
 */
bool launch_place_typo(const char *text, struct ws_str *out_word, const char **out_near);

/* Warns of one in the value of @option, which may be NULL: a file is about to have that name. */
void launch_place_warn(const char *option, const char *text);

/* The part of a path before the folder in which the first placeholder stands; "" for none. */
size_t launch_place_fixed_part(const char *path);

#endif
