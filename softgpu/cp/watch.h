/*
 * watch: a callback for each packet that ends, for a profiler in the same process.
 *
 * The software GPU's library exports softgpu_watch() under the version WAVESCOPE_1; a
 * profiler finds it with dlsym(). The watcher is called once for every AQL packet that has ended, in the
 * order of the queue and before its slot in the ring is released. For a kernel this is after its last
 * instruction and before its signal is decremented, so a thread that has seen the completion of a kernel
 * knows that the watcher has returned.
 *
 * Threads  the watcher runs on the device's threads, one call at a time per queue. It must not block
 *          or call into the runtime, because the queue waits for it.
 * Errors   a packet that faults stops its queue; the watcher is not called.
 */
#ifndef WS_SOFTGPU_CP_WATCH_H
#define WS_SOFTGPU_CP_WATCH_H

#include <stdint.h>

struct softgpu_done {
	uint32_t node;     /* of the GPU, in the topology */
	const void *queue; /* the amd_queue_t, which begins with the program's hsa_queue_t */
	void **keep;       /* a word per queue for the watcher's use; initially NULL */
	uint64_t packet;   /* its index in the queue */
	const void *aql;   /* the packet as the program wrote it, 64 bytes */
	uint64_t start_ns, end_ns; /* of a kernel: CLOCK_BOOTTIME, as in its signal's time stamps */
};

typedef void softgpu_watcher(const struct softgpu_done *done);

/*
 * Sets the watcher for all GPUs and queues, from the next packet on; NULL: none. A call of the former
 * watcher may still be running when this returns. ENODEV: the GPU was not opened, or this is a forked child.
 */
int softgpu_watch(softgpu_watcher *watcher);

#endif
