/*
 * companion: a library beside this one that adapts HIP to a GPU which runs on the cores of the host.
 *
 * Whoever presents the machine loads it when the runtime opens the driver. It has an effect from the first call
 * on for which HIP is loaded. Without the library nothing happens.
 *
 * Threads  any. It calls the dynamic loader: not while a lock is held.
 */
#ifndef WS_SOFTGPU_CORE_COMPANION_H
#define WS_SOFTGPU_CORE_COMPANION_H

void sg_companion_load(void);

#endif
