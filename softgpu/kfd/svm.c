/* Shared virtual memory: attributes of the program's own pages. GPUs have ids here, and nodes
 * in the device. */
#include "softgpu/device/svm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/kfd/kfd_priv.h"

_Static_assert((int)SG_SVM_PREFERRED == KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, "numbered alike");
_Static_assert((int)SG_SVM_NO_ACCESS == KFD_IOCTL_SVM_ATTR_NO_ACCESS, "numbered alike");
_Static_assert((int)SG_SVM_GRANULARITY == KFD_IOCTL_SVM_ATTR_GRANULARITY, "numbered alike");
_Static_assert(SG_SVM_HOST_ACCESS == KFD_IOCTL_SVM_FLAG_HOST_ACCESS, "numbered alike");
_Static_assert(SG_SVM_COHERENT == KFD_IOCTL_SVM_FLAG_COHERENT, "numbered alike");
_Static_assert(SG_SVM_NOWHERE == KFD_IOCTL_SVM_LOCATION_UNDEFINED, "numbered alike");
_Static_assert(sizeof(struct sg_svm_attr) == sizeof(struct kfd_ioctl_svm_attribute),
	       "laid out alike");

static bool names_gpu(uint32_t what, uint32_t value)
{
	if (what == SG_SVM_PREFERRED || what == SG_SVM_PREFETCH)
		return value != KFD_IOCTL_SVM_LOCATION_SYSMEM && value != SG_SVM_NOWHERE;
	return what >= SG_SVM_ACCESS && what <= SG_SVM_NO_ACCESS;
}

/* From ids to nodes, or back. False: no such GPU. */
static bool translate(const struct sg_kfd *kfd, struct sg_svm_attr *attrs, uint32_t n,
		      bool to_nodes)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!names_gpu(attrs[i].what, attrs[i].value))
			continue;
		attrs[i].value = to_nodes ? sg_kfd_node_of(kfd, attrs[i].value)
					  : sg_kfd_gpu_id(&kfd->machine.topology, attrs[i].value);
		if (!attrs[i].value)
			return false;
	}
	return true;
}

static int set(struct sg_kfd *kfd, const struct kfd_ioctl_svm_args *args)
{
	/* A copy: the caller gets its attributes back as they were. */
	size_t n_bytes = args->nattr * sizeof(struct sg_svm_attr);
	struct sg_svm_attr *attrs = malloc(n_bytes + 1);
	int error = ENOMEM;

	if (attrs) {
		memcpy(attrs, args->attrs, n_bytes);
		error = translate(kfd, attrs, args->nattr, true)
				? sg_kfd_errno_of_vm[sg_svm_set(kfd->machine.vm, args->start_addr,
								args->size, attrs, args->nattr)]
				: EINVAL;
	}
	free(attrs);
	return error;
}

static int get(struct sg_kfd *kfd, struct kfd_ioctl_svm_args *args)
{
	struct sg_svm_attr *attrs = (struct sg_svm_attr *)args->attrs;
	enum sg_vm_status status;

	/* The value of a location is the answer, not a question. */
	for (uint32_t i = 0; i < args->nattr; i++)
		if (attrs[i].what == SG_SVM_PREFERRED || attrs[i].what == SG_SVM_PREFETCH)
			attrs[i].value = KFD_IOCTL_SVM_LOCATION_SYSMEM;
	if (!translate(kfd, attrs, args->nattr, true))
		return EINVAL;
	status = sg_svm_get(kfd->machine.vm, args->start_addr, args->size, attrs, args->nattr);
	if (!status)
		translate(kfd, attrs, args->nattr, false);
	return sg_kfd_errno_of_vm[status];
}

int sg_kfd_svm(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_svm_args *args = args_;

	if (size < sizeof(*args) ||
	    args->nattr > (size - sizeof(*args)) / sizeof(struct sg_svm_attr) ||
	    !args->start_addr || !args->size || args->start_addr % SG_KFD_PAGE ||
	    args->size % SG_KFD_PAGE)
		return EINVAL;
	switch (args->op) {
	case KFD_IOCTL_SVM_OP_SET_ATTR:
		return set(kfd, args);
	case KFD_IOCTL_SVM_OP_GET_ATTR:
		return get(kfd, args);
	default:
		return EINVAL;
	}
}
