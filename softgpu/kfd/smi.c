/*
 * SMI events: a descriptor of lines about one GPU, for monitors.
 *
 * The program writes the mask of events that it wants, polls, and reads. The descriptor is one end
 * of a pair of sockets; the mask is fetched from the other end when there is something to report. Of the driver's
 * events only memory faults can happen: queues are not evicted, pages do not migrate, and a GPU is not reset.
 * Each process has its own machine, so it gets the events of itself.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "softgpu/kfd/kfd_priv.h"

#define EVENT_MASK(event) (1ull << ((event)-1))
#define COMMAND_CHARS 15 /* of a program's name, as the kernel has it */

/* Locked. */
static void drop(struct sg_kfd *kfd, struct sg_kfd_smi *client)
{
	sg_kfd_close(kfd, client->fd);
	*client = kfd->smi[--kfd->n_smi];
}

/* Locked. False: the program has closed its end. */
static bool fetch_mask(struct sg_kfd_smi *client)
{
	uint64_t masks[8];
	ssize_t n;

	while ((n = recv(client->fd, masks, sizeof(masks), MSG_DONTWAIT)) > 0)
		if (n >= (ssize_t)sizeof(client->mask))
			client->mask = masks[(size_t)n / sizeof(client->mask) - 1];
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void report(struct sg_kfd *kfd, uint32_t node, uint32_t event, const char *line)
{
	pthread_mutex_lock(&kfd->smi_lock);
	for (uint32_t i = kfd->n_smi; i-- > 0;) {
		struct sg_kfd_smi *client = &kfd->smi[i];

		if (!fetch_mask(client))
			drop(kfd, client);
		else if (client->node == node && client->mask & EVENT_MASK(event))
			/* What does not fit is lost, as with the driver. */
			send(client->fd, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	pthread_mutex_unlock(&kfd->smi_lock);
}

void sg_kfd_report_fault(struct sg_kfd *kfd, uint32_t node)
{
	char line[64];

	snprintf(line, sizeof(line), "%x %x:%.*s\n", KFD_SMI_EVENT_VMFAULT, getpid(), COMMAND_CHARS,
		 program_invocation_short_name);
	report(kfd, node, KFD_SMI_EVENT_VMFAULT, line);
}

int sg_kfd_smi_events(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_smi_events_args *args = args_;
	uint32_t node = sg_kfd_node_of(kfd, args->gpuid);
	int error = 0, pair[2];

	if (!node)
		return EINVAL;
	/* Without an event a read fails with EAGAIN. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
		return errno;
	pthread_mutex_lock(&kfd->smi_lock);
	for (uint32_t i = kfd->n_smi; i-- > 0;)
		if (!fetch_mask(&kfd->smi[i]))
			drop(kfd, &kfd->smi[i]);
	if (kfd->n_smi == SG_KFD_MAX_SMI) {
		error = ENOMEM;
	} else {
		kfd->smi[kfd->n_smi++] = (struct sg_kfd_smi){ .fd = pair[1], .node = node };
		sg_kfd_keep(kfd, pair[1]);
	}
	pthread_mutex_unlock(&kfd->smi_lock);
	if (error) {
		close(pair[0]);
		close(pair[1]);
		return error;
	}
	args->anon_fd = (uint32_t)pair[0];
	return 0;
}
