/*
 * gws: global wave sync, 64 counters on which waves of different workgroups meet.
 *
 * A barrier's counter says how many waves are still to come before the last one; a semaphore's how
 * many may pass. Nothing blocks here: a wave that has to wait tries again later.
 *
 * Threads  sg_gws_do(): any. The waits belong to their waves.
 */
#ifndef WS_SOFTGPU_EXEC_GWS_H
#define WS_SOFTGPU_EXEC_GWS_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/exec/launch.h" /* sg_gws_create(), sg_gws_destroy() */

#define SG_GWS_RESOURCES 64u

enum sg_gws_op {
	SG_GWS_INIT,             /* counter = value */
	SG_GWS_BARRIER,          /* wait for the others; value: the counter of the next round */
	SG_GWS_SEMA_V,           /* one more may pass */
	SG_GWS_SEMA_BR,          /* value more may pass */
	SG_GWS_SEMA_P,           /* pass, or wait */
	SG_GWS_SEMA_RELEASE_ALL, /* all that wait now may pass */
};

/*
 * False: the wave waits and calls again with the same arguments. *wait is the wave's memory of
 * that: 0 whenever it starts an operation.
 */
bool sg_gws_do(struct sg_gws *gws, enum sg_gws_op op, unsigned resource, uint32_t value,
	       uint64_t *wait);

#endif
