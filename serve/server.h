/*
 * server: a site for browsers on this machine, by HTTP.
 *
 *	st = srv_server_open(0, &server, err);       the port is ours; nothing is answered yet
 *	...                                          the site is made, which may take minutes
 *	st = srv_server_run(server, &site, err);     prints the address, answers until a signal
 *	srv_server_close(server);
 *
 * It listens on 127.0.0.1 only. Other users of the machine, and pages of other sites in the same
 * browser, get nothing:
 *
 *	- every address begins with a random token, which only the user who started it has seen;
 *	- the Host header must be a name that this machine has for itself, so that no name
 *	  server can lead a foreign page here;
 *	- only GET and HEAD are answered, and never with a header that lets other origins read;
 *	- pages have a content security policy: no code but ours runs, and it can reach nothing
 *	  but this server.
 *
 * Memory   SRV_CONNECTIONS_MAX connections with SRV_HEADER_BYTES for what they send; SRV_THREADS
 *          answers at a time.
 * Threads  all by one thread. The site is called from SRV_THREADS others.
 * Signals  those that end it are blocked while it runs.
 * Failure  of open: WS_E_EXISTS: the port is in use. WS_E_UNSUPPORTED: libmicrohttpd is not
 *          installed.
 */
#ifndef WS_SERVE_SERVER_H
#define WS_SERVE_SERVER_H

#include "serve/site.h"

#define SRV_CONNECTIONS_MAX 64u
#define SRV_HEADER_BYTES (32u << 10)
#define SRV_THREADS 4u
#define SRV_IDLE_S 30u

struct srv_server;

/* @port 0: any that is free. */
enum ws_status srv_server_open(uint16_t port, struct srv_server **out_server, struct ws_err *err);
void srv_server_close(struct srv_server *server); /* NULL is fine */

/* Prints the address, and how to reach it from elsewhere. Until SIGINT, SIGTERM or SIGHUP. */
enum ws_status srv_server_run(struct srv_server *server, const struct srv_site *site,
			      struct ws_err *err);

#endif
