/* rocprof-compute analyze --gui: the profile page from a server, with filters. */
#include "cmd/compute/analyze.h"
#include "serve/profile.h"
#include "serve/server.h"

#define GUI_PORT 8050u /* AMD's */

static enum ws_status find_port(const struct an_args *args, uint16_t *out_port, struct ws_err *err)
{
	/* Its last word: the number, or NULL where there is none. */
	const char *text = args->gui.n ? args->gui.at[args->gui.n - 1] : NULL;
	uint64_t port = args->random_port ? 0 : GUI_PORT;

	if (text && (!ws_str_u64(ws_str_from(text), &port) || port > UINT16_MAX))
		return ws_fail(err, WS_E_USAGE,
			       "--gui '%s': a port is a number up to 65535; 0 is any that is free",
			       text);
	*out_port = (uint16_t)port;
	return WS_OK;
}

enum ws_status an_check_gui(const struct an_args *args, struct ws_err *err)
{
	uint16_t port;

	if (args->random_port && !args->gui.n)
		return ws_fail(err, WS_E_USAGE, "--gui flag is required to enable --random-port");
	if (args->gui.n && args->tui)
		return ws_fail(err, WS_E_USAGE, "--gui and --tui exclude each other");
	if (args->gui.n && (args->format != AN_STDOUT || args->output))
		return ws_fail(err, WS_E_USAGE,
			       "--gui writes no files: leave out -o and --output-format");
	return find_port(args, &port, err);
}

enum ws_status an_gui(struct an *an, const struct ana_eval_how *how, struct ws_err *err)
{
	struct srv_profile *profile = NULL;
	struct srv_server *server = NULL;
	uint16_t port;
	enum ws_status st = find_port(an->args, &port, err);

	if (!st)
		st = srv_server_open(port, &server, err);
	if (!st)
		st = srv_profile_create(&an->rpt, how, &profile, err);
	if (!st)
		st = srv_server_run(server, &(struct srv_site){ srv_profile_answer, profile }, err);
	srv_server_close(server);
	srv_profile_destroy(profile);
	return st;
}
