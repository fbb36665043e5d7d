/*
 * gws: global wave sync, 64 counters on which waves of different workgroups meet.
 *
 * A barrier's counter says how many waves are still to come before the last one; a semaphore's how
 * many may pass. Nothing blocks here: a wave that has to wait is told so and asks again.
 *
 * Threads  ws_gws_do(): any. The waits belong to their waves.
 */
#ifndef WS_SOFTGPU_EXEC_GWS_H
#define WS_SOFTGPU_EXEC_GWS_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/exec/launch.h" /* ws_gws_create(), ws_gws_destroy() */

#define WS_GWS_RESOURCES 64u

enum ws_gws_op {
	WS_GWS_INIT,             /* counter = value */
	WS_GWS_BARRIER,          /* wait for the others; value: the counter of the next round */
	WS_GWS_SEMA_V,           /* one more may pass */
	WS_GWS_SEMA_BR,          /* value more may pass */
	WS_GWS_SEMA_P,           /* pass, or wait */
	WS_GWS_SEMA_RELEASE_ALL, /* all that wait now may pass */
};

/*
 * False: the wave waits and calls again with the same arguments. *wait is the wave's memory of
 * that: 0 whenever it starts an operation.
 */
bool ws_gws_do(struct ws_gws *gws, enum ws_gws_op op, unsigned resource, uint32_t value,
	       uint64_t *wait);

#endif
