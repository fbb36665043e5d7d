/* Queues: AQL for kernels, SDMA for copies. A queue's id is the address of its record. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/thunk/thunk_priv.h"

struct thunk_queue {
	struct sg_queue *queue;
	HSAuint32 node;
	uint32_t doorbell;
	/* SDMA queues: the cells live in device memory, this is the block */
	uint64_t pointers;
};

static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;

/* The lowest doorbell is never used: ROCr takes table index 0 for "none". */
static bool take_doorbell(struct thunk *thunk, struct thunk_queue *queue)
{
	struct thunk_queue **owners = thunk->doorbell_owner[queue->node - 1];
	bool found = false;

	pthread_mutex_lock(&queues_lock);
	for (uint32_t i = 1; i < SG_N_DOORBELLS && !found; i++) {
		if (!owners[i]) {
			owners[i] = queue;
			queue->doorbell = i;
			found = true;
		}
	}
	pthread_mutex_unlock(&queues_lock);
	return found;
}

/* Ids come from the program: only those that own a doorbell are queues. */
static struct thunk_queue *find_queue(struct thunk *thunk, HSA_QUEUEID id, bool take)
{
	struct thunk_queue *found = NULL;

	pthread_mutex_lock(&queues_lock);
	for (uint32_t g = 0; g < thunk->machine.topology.n_gpus && !found; g++) {
		for (uint32_t i = 1; i < SG_N_DOORBELLS && !found; i++) {
			if (!thunk->doorbell_owner[g][i] ||
			    (HSA_QUEUEID)thunk->doorbell_owner[g][i] != id)
				continue;
			found = thunk->doorbell_owner[g][i];
			if (take)
				thunk->doorbell_owner[g][i] = NULL;
		}
	}
	pthread_mutex_unlock(&queues_lock);
	return found;
}

static void discard(struct thunk *thunk, struct thunk_queue *queue)
{
	if (!queue)
		return;
	sg_device_destroy_queue(queue->queue);
	if (queue->pointers)
		sg_vm_free(thunk->machine.vm, queue->pointers);
	free(queue);
}

static _Atomic uint64_t *doorbell_cell(struct thunk *thunk, const struct thunk_queue *queue)
{
	return (_Atomic uint64_t *)thunk->machine.doorbells[queue->node - 1] + queue->doorbell;
}

static bool describe(struct thunk *thunk, struct thunk_queue *queue, HSA_QUEUE_TYPE type,
		     HsaQueueResource *resource, struct sg_queue_desc *desc)
{
	switch (type) {
	case HSA_QUEUE_COMPUTE_AQL:
		desc->type = SG_QUEUE_AQL;
		desc->write_ptr = (_Atomic uint64_t *)resource->Queue_write_ptr_aql;
		desc->read_ptr = (_Atomic uint64_t *)resource->Queue_read_ptr_aql;
		return true;
	case HSA_QUEUE_SDMA:
	case HSA_QUEUE_SDMA_XGMI:
		if (sg_vm_alloc(thunk->machine.vm, SG_VM_HOST, 0, 4096, 0, false, &queue->pointers))
			return false;
		desc->type = SG_QUEUE_SDMA;
		desc->write_ptr = (_Atomic uint64_t *)queue->pointers;
		desc->read_ptr = desc->write_ptr + 8; /* a cache line further on */
		return true;
	default:
		return false;
	}
}

EXPORT HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 NodeId, HSA_QUEUE_TYPE Type,
				       HSAuint32 QueuePercentage, HSA_QUEUE_PRIORITY Priority,
				       void *QueueAddress, HSAuint64 QueueSizeInBytes,
				       HsaEvent *Event, HsaQueueResource *QueueResource)
{
	struct sg_queue_desc desc = { .ring = QueueAddress, .size_bytes = QueueSizeInBytes };
	struct thunk_queue *queue;

	THUNK_OR_RETURN(thunk);
	if (!QueueResource || !QueueAddress || QueuePercentage > 100)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!thunk_is_gpu(thunk, NodeId))
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	if (Type != HSA_QUEUE_COMPUTE_AQL && Type != HSA_QUEUE_SDMA && Type != HSA_QUEUE_SDMA_XGMI)
		return HSAKMT_STATUS_NOT_SUPPORTED;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return HSAKMT_STATUS_NO_MEMORY;
	queue->node = NodeId;
	if (!describe(thunk, queue, Type, QueueResource, &desc) || !take_doorbell(thunk, queue)) {
		discard(thunk, queue);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	desc.doorbell = doorbell_cell(thunk, queue);
	atomic_store(desc.doorbell, 0);
	queue->queue = sg_device_register_queue(thunk_device(thunk, NodeId), &desc);
	if (!queue->queue) {
		find_queue(thunk, (HSA_QUEUEID)queue, true);
		discard(thunk, queue);
		return HSAKMT_STATUS_INVALID_PARAMETER;
	}
	if (!QueuePercentage)
		sg_cp_queue_set_active(queue->queue, false);
	QueueResource->QueueId = (HSA_QUEUEID)queue;
	QueueResource->QueueDoorBell = (HSAuint64)desc.doorbell;
	QueueResource->QueueWptrValue = (HSAuint64)desc.write_ptr;
	QueueResource->QueueRptrValue = (HSAuint64)desc.read_ptr;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID QueueId, HSAuint32 QueuePercentage,
				       HSA_QUEUE_PRIORITY Priority, void *QueueAddress,
				       HSAuint64 QueueSize, HsaEvent *Event)
{
	struct thunk_queue *queue;

	THUNK_OR_RELEASED(thunk);
	queue = find_queue(thunk, QueueId, false);
	if (!queue)
		return HSAKMT_STATUS_INVALID_HANDLE;
	/* All queues get their turns in rounds; priorities make no difference. */
	sg_cp_queue_set_active(queue->queue, QueuePercentage != 0);
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID QueueId)
{
	struct thunk_queue *queue;

	THUNK_OR_RELEASED(thunk);
	queue = find_queue(thunk, QueueId, true);
	if (!queue)
		return HSAKMT_STATUS_INVALID_HANDLE;
	discard(thunk, queue);
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID QueueId, HSAuint32 CUMaskCount,
					  HSAuint32 *QueueCUMask)
{
	THUNK_OR_RETURN(thunk);
	if (!CUMaskCount || !QueueCUMask || CUMaskCount % 32)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	/* Which compute unit runs a workgroup changes nothing that a program can compute. */
	return find_queue(thunk, QueueId, false) ? HSAKMT_STATUS_SUCCESS
						 : HSAKMT_STATUS_INVALID_HANDLE;
}

EXPORT HSAKMT_STATUS hsaKmtGetQueueInfo(HSA_QUEUEID QueueId, HsaQueueInfo *QueueInfo)
{
	THUNK_OR_RETURN(thunk);
	if (!QueueInfo)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!find_queue(thunk, QueueId, false))
		return HSAKMT_STATUS_INVALID_HANDLE;
	memset(QueueInfo, 0, sizeof(*QueueInfo));
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID QueueId, HSAuint32 nGWS, HSAuint32 *firstGWS)
{
	struct thunk_queue *queue;

	THUNK_OR_RETURN(thunk);
	queue = find_queue(thunk, QueueId, false);
	if (!queue)
		return HSAKMT_STATUS_INVALID_HANDLE;
	if (nGWS > 64)
		return HSAKMT_STATUS_OUT_OF_RESOURCES;
	sg_cp_queue_use_gws(queue->queue);
	if (firstGWS)
		*firstGWS = 0;
	return HSAKMT_STATUS_SUCCESS;
}
