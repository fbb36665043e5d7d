/*
 * site: what a server of pages asks for, and what it gets.
 *
 * A site answers requests from what it holds in memory. It knows nothing of HTTP; the server
 * (server.h) knows nothing of profiles and traces. There are no files behind a site: a path is a
 * word that it knows, or is not found.
 *
 * Threads  answer() is called by several at once.
 */
#ifndef WS_SERVE_SITE_H
#define WS_SERVE_SITE_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct srv_request {
	const char *path;  /* "" is the page */
	const char *nonce; /* scripts of the answer run with it only */
	/* Value number @i of @key in the query, decoded; NULL: it has fewer. */
	const char *(*value)(void *ctx, const char *key, size_t i);
	void *ctx;
};

struct srv_answer {
	const char *type;   /* "text/html; charset=utf-8" */
	struct ws_buf body; /* or, if there is a read(): */
	uint64_t n_bytes;   /* in all */
	/* Up to @room bytes from number @at on; -1: failed. */
	ssize_t (*read)(void *ctx, uint64_t at, char *to, size_t room);
	void (*release)(void *ctx);
	void *ctx;
};

#define SRV_TYPE_HTML "text/html; charset=utf-8"
#define SRV_TYPE_JSON "application/json"
#define SRV_TYPE_BYTES "application/octet-stream"

struct srv_site {
	/*
	 * Fills @answer, whose body is an empty buffer. WS_E_NOTFOUND and WS_E_USAGE are mistakes
	 * of the sender, who gets the message.
	 */
	enum ws_status (*answer)(void *of, const struct srv_request *request,
				 struct srv_answer *answer, struct ws_err *err);
	void *of;
};

/* ---- request.c: values of a query ---- */

/* WS_E_USAGE: there is none, or it is no number, or more than @max. */
enum ws_status srv_request_number(const struct srv_request *request, const char *key, uint64_t max,
				  uint64_t *out_value, struct ws_err *err);

struct srv_range {
	uint64_t first, last;
};
/*
 * "3-7,9": ascending, without repetition, none more than @max. At most @room ranges with @max_n
 * numbers in all.
 */
enum ws_status srv_ranges_parse(const char *text, uint64_t max, uint64_t max_n,
				struct srv_range *ranges, size_t room, size_t *out_n,
				struct ws_err *err);

#endif
