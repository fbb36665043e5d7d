/*
 * watch: packets as they end, for a profiler in the same process.
 *
 * libhsakmt.so.1 of the software GPU exports softgpu_watch() under the version WAVESCOPE_1; a
 * profiler finds it with dlsym(). The watcher is called once for every AQL packet that came to its end,
 * in the order of the queue and before its place is given back. For a kernel that is after its last
 * instruction and before anybody can know: its signal is not counted down yet, so whoever has seen a
 * kernel complete knows that the watcher has returned.
 *
 * Threads  the watcher runs on the device's threads, one call at a time per queue. It must not wait
 *          for anything and not call into the runtime: the queue stands still meanwhile.
 * Errors   a packet that faults stops its queue, and nobody is told of it.
 */
#ifndef WS_SOFTGPU_CP_WATCH_H
#define WS_SOFTGPU_CP_WATCH_H

#include <stdint.h>

struct softgpu_done {
	uint32_t node;     /* of the GPU, in the topology */
	const void *queue; /* the amd_queue_t, which begins with the program's hsa_queue_t */
	void **keep;       /* a word of this queue's for the watcher; NULL at first */
	uint64_t packet;   /* its index in the queue */
	const void *aql;   /* the packet as the program wrote it, 64 bytes */
	uint64_t start_ns, end_ns; /* of a kernel: CLOCK_BOOTTIME, as in its signal's time stamps */
};

typedef void softgpu_watcher(const struct softgpu_done *done);

/*
 * From the next packet on, of every GPU and queue; NULL: nobody. A call of the former one may still be
 * under way when this returns. ENODEV: the GPU was not opened, or this is a forked child.
 */
int softgpu_watch(softgpu_watcher *watcher);

#endif
