/*
 * svm: memory of the program that the device reaches at its own address ("shared virtual memory").
 *
 * A program, or its runtime for hipMallocManaged(), says for a range of pages where it prefers them, which
 * devices may access them, and how; what nobody said anything about has the defaults. Pages of which one
 * device has access are reachable for all. Nothing moves: where pages were sent by a prefetch is known, and
 * the models go by it.
 *
 * With XNACK a device faults pages in, so everything that the program can access is reachable.
 *
 * The system does not say when the program unmaps its memory. An access then fails as it should; a range
 * that is new again is known by its pages, of which none was touched.
 *
 * Threads  any; reading takes no lock.
 */
#ifndef WS_SOFTGPU_DEVICE_SVM_H
#define WS_SOFTGPU_DEVICE_SVM_H

#include "softgpu/device/vm.h"

#define WS_SVM_NOWHERE 0xffffffffu

enum ws_svm_what {                   /* in the thunk's order */
		   WS_SVM_PREFERRED, /* a node, 0 for the host, or WS_SVM_NOWHERE */
		   WS_SVM_PREFETCH,
		   WS_SVM_ACCESS, /* of a node */
		   WS_SVM_IN_PLACE,
		   WS_SVM_NO_ACCESS,
		   WS_SVM_SET_FLAGS,
		   WS_SVM_CLEAR_FLAGS,
		   WS_SVM_GRANULARITY,
};

#define WS_SVM_HOST_ACCESS 1u
#define WS_SVM_COHERENT 2u

struct ws_svm_attr {
	uint32_t what, value;
};

/* All or nothing. Pages that are not mapped, or belong to another allocation, are refused. */
enum ws_vm_status ws_svm_set(struct ws_vm *vm, uint64_t start, uint64_t size,
			     const struct ws_svm_attr *attrs, uint32_t n);
/*
 * Fills in the values; where the pages differ, locations are WS_SVM_NOWHERE and flags those that all
 * have set or clear. The value of an access attribute says which node, and `what` becomes its access.
 */
enum ws_vm_status ws_svm_get(struct ws_vm *vm, uint64_t start, uint64_t size,
			     struct ws_svm_attr *attrs, uint32_t n);

/* The range around an address, as ws_vm_query() describes blocks; its node is the last prefetch's, its flags
 * are those above. */
enum ws_vm_status ws_svm_query(struct ws_vm *vm, uint64_t addr, struct ws_vm_info *out_info);

void ws_svm_set_xnack(struct ws_vm *vm, bool on);
bool ws_svm_xnack(const struct ws_vm *vm);

#endif
