/*
 * svm: memory of the program that the device reaches at its own address ("shared virtual memory").
 *
 * A program, or its runtime for hipMallocManaged(), sets for a range of pages the preferred location, which
 * devices may access them, and how; other pages have the defaults. Pages that one device may access are
 * reachable for all. Pages are not moved: the location of the last prefetch is recorded for the models.
 *
 * With XNACK a device faults pages in, so everything that the program can access is reachable.
 *
 * The system does not report when the program unmaps its memory. An access then fails as it should. A range
 * that was mapped again is recognised by its pages, none of which has been touched.
 *
 * Threads  any; reading takes no lock.
 */
#ifndef WS_SOFTGPU_DEVICE_SVM_H
#define WS_SOFTGPU_DEVICE_SVM_H

#include "softgpu/device/vm.h"

#define SG_SVM_NOWHERE 0xffffffffu

/* in the thunk's order */
enum sg_svm_what {
	SG_SVM_PREFERRED, /* a node, 0 for the host, or SG_SVM_NOWHERE */
	SG_SVM_PREFETCH,
	SG_SVM_ACCESS, /* of a node */
	SG_SVM_IN_PLACE,
	SG_SVM_NO_ACCESS,
	SG_SVM_SET_FLAGS,
	SG_SVM_CLEAR_FLAGS,
	SG_SVM_GRANULARITY,
};

#define SG_SVM_HOST_ACCESS 1u
#define SG_SVM_COHERENT 2u

struct sg_svm_attr {
	uint32_t what, value;
};

/* All or nothing. Pages that are not mapped, or belong to another allocation, are refused. */
enum sg_vm_status sg_svm_set(struct sg_vm *vm, uint64_t start, uint64_t size,
			     const struct sg_svm_attr *attrs, uint32_t n);
/*
 * Fills in the values; where the pages differ, locations are SG_SVM_NOWHERE and flags those that all
 * have set or clear. The value of an access attribute says which node, and `what` becomes its access.
 */
enum sg_vm_status sg_svm_get(struct sg_vm *vm, uint64_t start, uint64_t size,
			     struct sg_svm_attr *attrs, uint32_t n);

/* The range around an address, as sg_vm_query() describes blocks; its node is the last prefetch's, its flags
 * are those above. */
enum sg_vm_status sg_svm_query(struct sg_vm *vm, uint64_t addr, struct sg_vm_info *out_info);

void sg_svm_set_xnack(struct sg_vm *vm, bool on);
bool sg_svm_xnack(const struct sg_vm *vm);

#endif
