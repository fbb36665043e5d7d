#include "serve/server.h"

#include "base/log.h"
#include "base/util.h"
#include "serve/library.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define TOKEN_BYTES 16u
#define TOKEN_CHARS (2 * TOKEN_BYTES)
#define READ_BYTES (64u << 10) /* of a long answer at a time */
#define BODY_BYTES_MAX ((size_t)2 << 30)

struct srv_server {
	const struct srv_library *http;
	struct srv_site site;
	struct MHD_Daemon *daemon;
	int socket_fd; /* -1 once the daemon has it */
	uint16_t port;
	char token[TOKEN_CHARS + 1];
};

/* ---- random words ---- */

static enum ws_status random_word(char to[TOKEN_CHARS + 1], struct ws_err *err)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return ws_fail(err, WS_E_IO, "no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(to + 2 * i, 3, "%02x", bytes[i]);
	return WS_OK;
}

/* In a time that does not tell how much of it was right. */
static bool is_token(const struct srv_server *server, const char *text)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < TOKEN_CHARS; i++) {
		if (!text[i])
			return false;
		differs |= (unsigned char)(text[i] ^ server->token[i]);
	}
	return !differs && (!text[TOKEN_CHARS] || text[TOKEN_CHARS] == '/');
}

/* ---- answers ---- */

/* What every answer says; @policy differs. */
static const struct {
	const char *name, *value;
} common_headers[] = {
	{ "Cache-Control", "no-store" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Referrer-Policy", "no-referrer" }, /* the address has the token */
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
};

#define POLICY_PAGE                                                                                \
	"default-src 'none'; script-src 'nonce-%s'; style-src 'unsafe-inline'; "                   \
	"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "                 \
	"frame-ancestors 'none'"
#define POLICY_NONE "default-src 'none'; frame-ancestors 'none'"

static enum MHD_Result send_response(const struct srv_server *server,
				     struct MHD_Connection *connection, unsigned code,
				     struct MHD_Response *response, const char *type,
				     const char *policy)
{
	const struct srv_library *http = server->http;
	enum MHD_Result sent;

	if (!response)
		return MHD_NO; /* no memory: the connection is closed */
	for (size_t i = 0; i < WS_ARRAY_LEN(common_headers); i++)
		http->add_response_header(response, common_headers[i].name,
					  common_headers[i].value);
	http->add_response_header(response, "Content-Type", type);
	http->add_response_header(response, "Content-Security-Policy", policy);
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		http->add_response_header(response, "Allow", "GET, HEAD");
	sent = http->queue_response(connection, code, response);
	http->destroy_response(response);
	return sent;
}

static enum MHD_Result send_text(const struct srv_server *server, struct MHD_Connection *connection,
				 unsigned code, const char *text)
{
	return send_response(server, connection, code,
			     server->http->create_response_from_buffer(
				     strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY),
			     "text/plain; charset=utf-8", POLICY_NONE);
}

/* To where relative addresses of the page are right. */
static enum MHD_Result send_to_page(const struct srv_server *server,
				    struct MHD_Connection *connection)
{
	struct MHD_Response *response =
		server->http->create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
	char place[TOKEN_CHARS + 3];

	snprintf(place, sizeof(place), "/%s/", server->token);
	if (response)
		server->http->add_response_header(response, "Location", place);
	return send_response(server, connection, MHD_HTTP_MOVED_PERMANENTLY, response,
			     "text/plain; charset=utf-8", POLICY_NONE);
}

/* Answers that are read piece by piece: @ctx is a copy of one. */
static ssize_t read_piece(void *ctx, uint64_t at, char *to, size_t room)
{
	struct srv_answer *answer = ctx;
	ssize_t n = answer->read(answer->ctx, at, to, room);

	return n < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : n;
}

static void free_answer(void *ctx)
{
	struct srv_answer *answer = ctx;

	if (answer->release)
		answer->release(answer->ctx);
	free(answer);
}

/* Takes what the answer owns; NULL: no memory. */
static struct MHD_Response *make_response(const struct srv_server *server,
					  struct srv_answer *answer)
{
	struct MHD_Response *response;
	struct srv_answer *kept;

	if (!answer->read) {
		response = server->http->create_response_from_buffer(
			answer->body.n, answer->body.at,
			answer->body.cap ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
		if (response)
			ws_buf_init(&answer->body, BODY_BYTES_MAX);
		return response;
	}
	kept = malloc(sizeof(*kept));
	if (!kept) {
		if (answer->release)
			answer->release(answer->ctx);
		return NULL;
	}
	*kept = *answer;
	response = server->http->create_response_from_callback(answer->n_bytes, READ_BYTES,
							       read_piece, kept, free_answer);
	if (!response)
		free_answer(kept);
	return response;
}

static unsigned code_of(enum ws_status st)
{
	switch (st) {
	case WS_E_NOTFOUND:
		return MHD_HTTP_NOT_FOUND;
	case WS_E_USAGE:
		return MHD_HTTP_BAD_REQUEST;
	case WS_E_NOMEM:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	default:
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
}

/* ---- requests ---- */

/* Value number `left` of `key`. */
struct value_search {
	const char *key, *found;
	size_t left;
};

static enum MHD_Result match_value(void *ctx, enum MHD_ValueKind kind, const char *key,
				   const char *value)
{
	struct value_search *search = ctx;

	(void)kind;
	if (strcmp(key, search->key) != 0 || search->left--)
		return MHD_YES;
	search->found = value ? value : "";
	return MHD_NO;
}

struct asking {
	const struct srv_server *server;
	struct MHD_Connection *connection;
};

static const char *find_value(void *ctx, const char *key, size_t i)
{
	const struct asking *asking = ctx;
	struct value_search search = { .key = key, .left = i };

	asking->server->http->get_connection_values(asking->connection, MHD_GET_ARGUMENT_KIND,
						    match_value, &search);
	return search.found;
}

static enum MHD_Result ask_site(const struct srv_server *server, struct MHD_Connection *connection,
				const char *path)
{
	struct asking asking = { server, connection };
	char nonce[TOKEN_CHARS + 1], policy[sizeof(POLICY_PAGE) + TOKEN_CHARS];
	struct srv_request request = {
		.path = path, .nonce = nonce, .value = find_value, .ctx = &asking
	};
	struct srv_answer answer = { .type = SRV_TYPE_HTML };
	enum MHD_Result sent;
	struct ws_err err = { 0 };
	enum ws_status st = random_word(nonce, &err);

	ws_buf_init(&answer.body, BODY_BYTES_MAX);
	if (!st)
		st = server->site.answer(server->site.of, &request, &answer, &err);
	if (!st)
		st = ws_buf_status(&answer.body, &err);
	if (st) {
		if (code_of(st) == MHD_HTTP_INTERNAL_SERVER_ERROR)
			ws_log_warn("%s", err.text);
		sent = send_text(server, connection, code_of(st), err.text);
	} else {
		snprintf(policy, sizeof(policy), POLICY_PAGE, nonce);
		sent = send_response(server, connection, MHD_HTTP_OK,
				     make_response(server, &answer), answer.type,
				     strcmp(answer.type, SRV_TYPE_HTML) == 0 ? policy
									     : POLICY_NONE);
	}
	ws_buf_fini(&answer.body);
	return sent;
}

/* Names of this machine for itself; the port may be that of a tunnel. */
static bool is_own_host(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) == 0 &&
		    (!host[n] || (host[n] == ':' &&
				  strspn(host + n + 1, "0123456789") == strlen(host + n + 1))))
			return true;
	}
	return false;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **of_request)
{
	static const int seen;
	const struct srv_server *server = ctx;
	const char *host;

	(void)version;
	(void)upload;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_text(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "this server only shows: GET and HEAD\n");
	/* The first call is about the header, and answers come at the next one. */
	if (*of_request != &seen) {
		*of_request = (void *)(uintptr_t)&seen;
		return MHD_YES;
	}
	if (*n_upload) /* a GET with a body: it is read and forgotten */ {
		*n_upload = 0;
		return MHD_YES;
	}
	host = server->http->lookup_connection_value(connection, MHD_HEADER_KIND,
						     MHD_HTTP_HEADER_HOST);
	if (!host || !is_own_host(host))
		return send_text(server, connection, MHD_HTTP_FORBIDDEN,
				 "the address must begin with http://127.0.0.1 or "
				 "http://localhost\n");
	if (*url != '/' || !is_token(server, url + 1))
		return send_text(server, connection, MHD_HTTP_FORBIDDEN,
				 "the address is not complete: open the one that the command "
				 "printed\n");
	if (!url[1 + TOKEN_CHARS])
		return send_to_page(server, connection);
	return ask_site(server, connection, url + 1 + TOKEN_CHARS + 1);
}

/* ---- life ---- */

static enum ws_status port_failed(uint16_t port, struct ws_err *err)
{
	if (errno == EADDRINUSE)
		return ws_fail(err, WS_E_EXISTS,
			       "port %u is in use: choose another one, or 0 for any that is free",
			       port);
	return ws_fail(err, WS_E_IO, "cannot use port %u: %s: choose another one", port,
		       strerror(errno));
}

static enum ws_status bind_port(struct srv_server *server, uint16_t port, struct ws_err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);
	int yes = 1;

	server->socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->socket_fd < 0)
		return ws_fail(err, WS_E_IO, "cannot create a socket: %s", strerror(errno));
	/* A port that an ended server used can be used at once. */
	setsockopt(server->socket_fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(server->socket_fd, (struct sockaddr *)&address, sizeof(address))) {
		return port_failed(port, err);
	}
	if (getsockname(server->socket_fd, (struct sockaddr *)&address, &n))
		return ws_fail(err, WS_E_IO, "cannot use a socket: %s", strerror(errno));
	server->port = ntohs(address.sin_port);
	return WS_OK;
}

static enum ws_status start(struct srv_server *server, struct ws_err *err)
{
	/* A port that two have bound belongs to the one who listens first. */
	if (listen(server->socket_fd, (int)SRV_CONNECTIONS_MAX))
		return port_failed(server->port, err);
	server->daemon = server->http->start_daemon(
		MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, server->port, NULL, NULL,
		on_request, server, MHD_OPTION_LISTEN_SOCKET, server->socket_fd,
		MHD_OPTION_THREAD_POOL_SIZE, SRV_THREADS, MHD_OPTION_CONNECTION_LIMIT,
		SRV_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, SRV_IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SRV_HEADER_BYTES, MHD_OPTION_END);
	if (!server->daemon)
		return ws_fail(err, WS_E_IO, "libmicrohttpd does not start a server: %s",
			       strerror(errno));
	server->socket_fd = -1;
	return WS_OK;
}

enum ws_status srv_server_open(uint16_t port, struct srv_server **out_server, struct ws_err *err)
{
	struct srv_server *server = calloc(1, sizeof(*server));
	enum ws_status st;

	if (!server)
		return ws_fail(err, WS_E_NOMEM, "no memory for a server");
	server->socket_fd = -1;
	st = srv_library_open(&server->http, err);
	if (!st)
		st = random_word(server->token, err);
	if (!st)
		st = bind_port(server, port, err);
	if (st) {
		srv_server_close(server);
		return st;
	}
	*out_server = server;
	return WS_OK;
}

void srv_server_close(struct srv_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		server->http->stop_daemon(server->daemon);
	if (server->socket_fd >= 0)
		close(server->socket_fd);
	free(server);
}

static void print_address(const struct srv_server *server)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) || !*host)
		snprintf(host, sizeof(host), "HOST");
	ws_print(
		stdout,
		"http://127.0.0.1:%u/%s/\n"
		"Open this address in a browser. If the browser runs elsewhere, type there first:\n"
		"  ssh -N -L %u:127.0.0.1:%u %s\n"
		"Ctrl-C stops the server.\n",
		server->port, server->token, server->port, server->port, host);
	fflush(stdout);
}

enum ws_status srv_server_run(struct srv_server *server, const struct srv_site *site,
			      struct ws_err *err)
{
	sigset_t ending, before;
	enum ws_status st;
	int got;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	server->site = *site;
	/* The threads of the server inherit the mask, so that a signal is waited for here. */
	pthread_sigmask(SIG_BLOCK, &ending, &before);
	st = start(server, err);
	if (!st) {
		print_address(server);
		do
			got = sigwaitinfo(&ending, NULL);
		while (got < 0 && errno == EINTR);
		server->http->stop_daemon(server->daemon);
		server->daemon = NULL;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return st;
}
