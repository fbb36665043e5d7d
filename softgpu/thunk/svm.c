/* Shared virtual memory: attributes of the program's own pages, and XNACK, which makes all of them the GPU's. */
#include "softgpu/device/svm.h"

#include <stdlib.h>

#include "softgpu/thunk/thunk_priv.h"

/* The attributes are the thunk's, number by number. */
static_assert((int)SG_SVM_PREFERRED == HSA_SVM_ATTR_PREFERRED_LOC,
	      "hsakmttypes.h of another version");
static_assert((int)SG_SVM_NO_ACCESS == HSA_SVM_ATTR_NO_ACCESS, "hsakmttypes.h of another version");
static_assert((int)SG_SVM_GRANULARITY == HSA_SVM_ATTR_GRANULARITY,
	      "hsakmttypes.h of another version");
static_assert(SG_SVM_HOST_ACCESS == HSA_SVM_FLAG_HOST_ACCESS, "hsakmttypes.h of another version");
static_assert(SG_SVM_COHERENT == HSA_SVM_FLAG_COHERENT, "hsakmttypes.h of another version");
static_assert(sizeof(struct sg_svm_attr) == sizeof(HSA_SVM_ATTRIBUTE),
	      "hsakmttypes.h of another version");

static const HSAKMT_STATUS svm_statuses[] = {
	[SG_VM_OK] = HSAKMT_STATUS_SUCCESS,
	[SG_VM_NO_MEMORY] = HSAKMT_STATUS_NO_MEMORY,
	[SG_VM_BAD_ARGUMENT] = HSAKMT_STATUS_INVALID_PARAMETER,
	[SG_VM_NOT_FOUND] = HSAKMT_STATUS_ERROR, /* the driver's EFAULT */
};

EXPORT HSAKMT_STATUS hsaKmtSVMSetAttr(void *start_addr, HSAuint64 size, unsigned int nattr,
				      HSA_SVM_ATTRIBUTE *attrs)
{
	THUNK_OR_RETURN(thunk);
	return svm_statuses[sg_svm_set(thunk->machine.vm, (uint64_t)start_addr, size,
				       (const struct sg_svm_attr *)attrs, nattr)];
}

EXPORT HSAKMT_STATUS hsaKmtSVMGetAttr(void *start_addr, HSAuint64 size, unsigned int nattr,
				      HSA_SVM_ATTRIBUTE *attrs)
{
	THUNK_OR_RETURN(thunk);
	return svm_statuses[sg_svm_get(thunk->machine.vm, (uint64_t)start_addr, size,
				       (struct sg_svm_attr *)attrs, nattr)];
}

EXPORT HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enable)
{
	THUNK_OR_RETURN(thunk);
	if (!enable)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	*enable = sg_svm_xnack(thunk->machine.vm);
	return HSAKMT_STATUS_SUCCESS;
}

/* One mode for all GPUs of a process; of the generations here, gfx90a has it for a process to choose. */
EXPORT HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable)
{
	THUNK_OR_RETURN(thunk);
	for (uint32_t g = 0; enable && g < thunk->machine.topology.n_gpus; g++)
		if (thunk->machine.topology.gpus[g].model->gfx_stepping != 10)
			return HSAKMT_STATUS_NOT_SUPPORTED;
	sg_svm_set_xnack(thunk->machine.vm, enable != 0);
	return HSAKMT_STATUS_SUCCESS;
}
