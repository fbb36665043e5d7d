/*
 * PC sampling: one session per GPU. The samples themselves are written by the runtime's trap handler, see
 * softgpu/cp/traps.h. The answers are those of AMD's own kernel packages; Linux itself has no such request.
 */
#include <errno.h>

#include "softgpu/kfd/kfd_priv.h"

/* What the generations offer, the first that is asked for: by the driver, and from gfx942 on by the hardware. */
static const struct offer {
	enum sg_isa_target from;
	struct sg_kfd_pcs_info info;
} offers[] = {
	{ SG_ISA_GFX90A,
	  { .method = SG_KFD_PCS_HOST_TRAP,
	    .type = SG_KFD_PCS_TIME_US,
	    .interval_min = 1,
	    .interval_max = UINT64_MAX } },
	{ SG_ISA_GFX942,
	  { .method = SG_KFD_PCS_STOCHASTIC,
	    .type = SG_KFD_PCS_CYCLES,
	    .interval_min = 256,
	    .interval_max = 1ull << 31,
	    .flags = SG_KFD_PCS_POWER_OF_2 } },
};
#define N_OFFERS (sizeof(offers) / sizeof(offers[0]))

static const struct sg_gpu_model *model_of(const struct sg_kfd *kfd, uint32_t node)
{
	return sg_machine_gpu(&kfd->machine, node)->model;
}

static int query(struct sg_kfd *kfd, uint32_t node, struct sg_kfd_pcs_args *args)
{
	uint32_t n = 0, room = args->num_sample_info;

	for (size_t i = 0; i < N_OFFERS; i++) {
		if (model_of(kfd, node)->target < offers[i].from)
			continue;
		if (n < room && !sg_kfd_write(args->sample_info_ptr + n * sizeof(offers[i].info),
					      &offers[i].info, sizeof(offers[i].info)))
			return EFAULT;
		n++;
	}
	args->num_sample_info = n;
	if (!n)
		return EOPNOTSUPP;
	return room && room < n ? ENOSPC : 0; /* without room the number is the question */
}

static bool is_offered(const struct offer *offer, enum sg_isa_target target,
		       const struct sg_kfd_pcs_info *asked)
{
	const struct sg_kfd_pcs_info *has = &offer->info;

	return target >= offer->from && has->method == asked->method && has->type == asked->type &&
	       asked->interval >= has->interval_min && asked->interval <= has->interval_max &&
	       !(has->flags & SG_KFD_PCS_POWER_OF_2 && asked->interval & (asked->interval - 1));
}

static int create(struct sg_kfd *kfd, uint32_t node, struct sg_kfd_pcs_args *args)
{
	struct sg_kfd_pcs *session = &kfd->pcs[node - 1];
	const struct sg_gpu_model *model = model_of(kfd, node);
	struct sg_kfd_pcs_info asked;
	bool offered = false;

	if (args->num_sample_info != 1)
		return EINVAL;
	if (!sg_kfd_read(args->sample_info_ptr, &asked, sizeof(asked)))
		return EFAULT;
	for (size_t i = 0; i < N_OFFERS; i++)
		offered |= is_offered(&offers[i], model->target, &asked);
	if (!offered)
		return EINVAL;
	if (session->trace_id)
		return EBUSY;
	session->trace_id = ++kfd->n_pcs;
	session->method =
		asked.method == SG_KFD_PCS_STOCHASTIC ? SG_TRAPS_STOCHASTIC : SG_TRAPS_BY_HOST;
	session->cycles = asked.interval;
	if (asked.type == SG_KFD_PCS_TIME_US)
		session->cycles = asked.interval < SG_KFD_PCS_MAX_US
					  ? asked.interval * model->engine_clock_mhz
					  : UINT64_MAX;
	args->trace_id = session->trace_id;
	return 0;
}

static int start(struct sg_kfd *kfd, uint32_t node, struct sg_kfd_pcs *session)
{
	if (session->is_started)
		return EALREADY;
	session->is_started = true;
	sg_device_trap_samples(sg_machine_device(&kfd->machine, node), session->method,
			       session->cycles);
	return 0;
}

static int stop(struct sg_kfd *kfd, uint32_t node, struct sg_kfd_pcs *session)
{
	if (!session->is_started)
		return EALREADY;
	session->is_started = false;
	sg_device_trap_samples(sg_machine_device(&kfd->machine, node), SG_TRAPS_OFF, 0);
	return 0;
}

static int destroy(struct sg_kfd *kfd, uint32_t node, struct sg_kfd_pcs *session)
{
	stop(kfd, node, session);
	*session = (struct sg_kfd_pcs){ 0 };
	return 0;
}

/* Locked. */
static int act(struct sg_kfd *kfd, uint32_t node, struct sg_kfd_pcs_args *args)
{
	static int (*const operations[])(struct sg_kfd *, uint32_t, struct sg_kfd_pcs *) = {
		[SG_KFD_PCS_DESTROY] = destroy,
		[SG_KFD_PCS_START] = start,
		[SG_KFD_PCS_STOP] = stop,
	};
	struct sg_kfd_pcs *session = &kfd->pcs[node - 1];

	switch (args->op) {
	case SG_KFD_PCS_QUERY:
		return query(kfd, node, args);
	case SG_KFD_PCS_CREATE:
		return create(kfd, node, args);
	case SG_KFD_PCS_DESTROY:
	case SG_KFD_PCS_START:
	case SG_KFD_PCS_STOP:
		return args->trace_id && args->trace_id == session->trace_id
			       ? operations[args->op](kfd, node, session)
			       : EINVAL;
	default:
		return EINVAL;
	}
}

int sg_kfd_pc_sample(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct sg_kfd_pcs_args *args = args_;
	uint32_t node = sg_kfd_node_of(kfd, args->gpu_id);
	int error;

	if (!node)
		return EINVAL;
	pthread_mutex_lock(&kfd->lock);
	error = act(kfd, node, args);
	pthread_mutex_unlock(&kfd->lock);
	return error;
}

/* The second handler, which the driver's own calls; it has its memory. Kernels' own traps end at the device itself,
 * which reports what the handler would. */
int sg_kfd_set_trap_handler(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_set_trap_handler_args *args = args_;
	uint32_t node = sg_kfd_node_of(kfd, args->gpu_id);

	if (!node)
		return EINVAL;
	sg_device_set_trap_handler(sg_machine_device(&kfd->machine, node), args->tba_addr,
				   args->tma_addr);
	return 0;
}
