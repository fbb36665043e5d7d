/*
 * server: a site for browsers on this machine, by HTTP.
 *
 *	st = srv_server_open(&site, 0, &server, err);
 *	printf("%s\n", srv_server_url(server));
 *	st = srv_server_wait(server, err);      until SIGINT, SIGTERM or SIGHUP
 *	srv_server_close(server);
 *
 * It listens on 127.0.0.1 only. Other users of the machine, and pages of other sites in the same browser, get nothing:
 *
 *	- every address begins with a random token, which only the one who started the server has seen;
 *	- the Host header must name this machine as itself, so that no name server can lead a foreign page here;
 *	- only GET and HEAD are answered, and never with a header that lets other origins read;
 *	- pages have a content security policy: no code but ours runs, and it can reach nothing but this server.
 *
 * Memory   SRV_CONNECTIONS_MAX connections with SRV_HEADER_BYTES for what they send; SRV_THREADS answers at a time.
 * Threads  open and close by one thread. The site is called from SRV_THREADS others.
 * Signals  those that end it are blocked from open to close.
 * Failure  WS_E_EXISTS: the port is in use. WS_E_UNSUPPORTED: libmicrohttpd is not installed.
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
enum ws_status srv_server_open(const struct srv_site *site, uint16_t port,
			       struct srv_server **out_server, struct ws_err *err);
void srv_server_close(struct srv_server *server); /* NULL is fine */

/* "http://127.0.0.1:8050/0f3c.../" */
const char *srv_server_url(const struct srv_server *server);
uint16_t srv_server_port(const struct srv_server *server);
enum ws_status srv_server_wait(struct srv_server *server, struct ws_err *err);

/* Prints the address and how to reach it from elsewhere, waits, closes. */
enum ws_status srv_serve(const struct srv_site *site, uint16_t port, struct ws_err *err);

#endif
