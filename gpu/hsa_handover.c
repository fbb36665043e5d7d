/* Agents from the process that asked the runtime to the one that wants to know. */
#include "base/proc.h"
#include "base/str.h"
#include "base/util.h"
#include "gpu/hsa_agents.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC "wsagents"
#define HEAD_BYTES offsetof(struct gpu_hsa_agents, agents)
#define OUTPUT_MAX (1u << 20) /* of what the runtime prints, for messages */
#define ARGS_MAX 16

enum ws_status gpu_hsa_agents_send(int fd, const struct gpu_hsa_agents *agents, struct ws_err *err)
{
	const size_t n = HEAD_BYTES + agents->n_agents * sizeof(agents->agents[0]);
	struct gpu_hsa_agents *message = malloc(sizeof(*message));
	enum ws_status st = WS_OK;

	if (!message)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	*message = *agents;
	memcpy(message->magic, MAGIC, sizeof(message->magic));
	message->version = GPU_HSA_AGENTS_VERSION;
	message->n_bytes_head = HEAD_BYTES;
	message->n_bytes_agent = sizeof(agents->agents[0]);
	for (size_t done = 0; done < n && !st;) {
		ssize_t wrote = write(fd, (const char *)message + done, n - done);

		if (wrote < 0 && errno != EINTR)
			st = ws_fail_errno(err, errno, "cannot send the agents");
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	free(message);
	return st;
}

#define END_TEXT(text) ((text)[sizeof(text) - 1] = '\0')

static bool check_agent(struct gpu_hsa_agent *agent)
{
	if (agent->n_pools > GPU_HSA_POOLS_MAX || agent->n_isas > GPU_HSA_ISAS_MAX)
		return false;
	END_TEXT(agent->name);
	END_TEXT(agent->uuid);
	END_TEXT(agent->product);
	END_TEXT(agent->vendor);
	for (size_t i = 0; i < agent->n_isas; i++)
		END_TEXT(agent->isas[i].name);
	return true;
}

enum ws_status gpu_hsa_agents_receive(const void *bytes, size_t n,
				      struct gpu_hsa_agents *out_agents, struct ws_err *err)
{
	bool whole = n >= HEAD_BYTES;

	memset(out_agents, 0, sizeof(*out_agents));
	if (whole)
		memcpy(out_agents, bytes, HEAD_BYTES);
	whole = whole && memcmp(out_agents->magic, MAGIC, sizeof(out_agents->magic)) == 0 &&
		out_agents->version == GPU_HSA_AGENTS_VERSION &&
		out_agents->n_bytes_head == HEAD_BYTES &&
		out_agents->n_bytes_agent == sizeof(out_agents->agents[0]) &&
		out_agents->status < WS_STATUS_COUNT && out_agents->n_agents <= GPU_AGENTS_MAX &&
		n == HEAD_BYTES + out_agents->n_agents * sizeof(out_agents->agents[0]);
	if (whole)
		memcpy(out_agents->agents, (const char *)bytes + HEAD_BYTES, n - HEAD_BYTES);
	END_TEXT(out_agents->error);
	END_TEXT(out_agents->library);
	for (size_t i = 0; whole && i < out_agents->n_agents; i++)
		whole = check_agent(&out_agents->agents[i]);
	if (whole)
		return WS_OK;
	out_agents->n_agents = 0;
	return ws_fail(err, WS_E_FORMAT, "%zu bytes are not a description of agents", n);
}

static enum ws_status run_child(const struct gpu_hsa_ask *ask, int fd, struct ws_err *err)
{
	struct ws_proc_end end = { 0 };
	char *argv[ARGS_MAX + 3], number[16];
	struct ws_buf output;
	enum ws_status st;
	size_t n = 0;

	while (ask->argv[n] && n < ARGS_MAX) {
		argv[n] = ask->argv[n];
		n++;
	}
	snprintf(number, sizeof(number), "%d", fd);
	argv[n++] = GPU_HSA_CHILD_FD;
	argv[n++] = number;
	argv[n] = NULL;
	ws_buf_init(&output, OUTPUT_MAX);
	st = ask->timeout_ms ? ws_proc_read(ask->program, argv, ask->envp, WS_PROC_STDERR_JOIN,
					    ask->timeout_ms, &output, &end, err)
			     : ws_proc_run(ask->program, argv, ask->envp, &end, err);
	if (!st && end.signal)
		st = ws_fail(err, WS_E_STATE, "AMD's runtime was killed by signal %d (%s)%s%.*s",
			     end.signal, strsignal(end.signal), output.n ? ": " : "",
			     WS_STR_ARGS(ws_str_last_line(ws_buf_view(&output))));
	ws_buf_fini(&output);
	return st;
}

static enum ws_status receive_file(int fd, struct gpu_hsa_agents *out_agents, struct ws_err *err)
{
	const size_t room = sizeof(*out_agents) + 1; /* more than any message: too long shows */
	char *bytes = malloc(room);
	ssize_t n = bytes ? pread(fd, bytes, room, 0) : 0;
	enum ws_status st;

	if (!bytes)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (n < 0)
		st = ws_fail_errno(err, errno, "cannot read the agents");
	else if (!n)
		st = ws_fail(err, WS_E_STATE, "AMD's runtime ended the process that asked it");
	else
		st = gpu_hsa_agents_receive(bytes, (size_t)n, out_agents, err);
	free(bytes);
	return st;
}

enum ws_status gpu_hsa_agents_ask(const struct gpu_hsa_ask *ask, struct gpu_hsa_agents *out_agents,
				  struct ws_err *err)
{
	int fd = memfd_create("wavescope-agents", 0); /* the child inherits it */
	enum ws_status st;

	if (fd < 0)
		return ws_fail_errno(err, errno, "cannot make a file in memory");
	st = run_child(ask, fd, err);
	if (!st)
		st = receive_file(fd, out_agents, err);
	close(fd);
	if (!st && out_agents->status)
		st = ws_fail(err, (enum ws_status)out_agents->status, "%s", out_agents->error);
	return st;
}
