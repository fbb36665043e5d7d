/* counting: ROCM_EVENTS as a request to count (launch/counting.h). */
#ifndef WS_CMD_SYS_COUNTING_H
#define WS_CMD_SYS_COUNTING_H

#include "launch/counting.h"
#include "settings/values.h"

bool sys_counts(const struct set_values *values);

struct sys_count {
	struct ws_arena arena;
	struct ws_strv names;
	struct launch_count_request request; /* refers to the names */
};
/* To be finished also after a failure. */
enum ws_status sys_count_init(struct sys_count *count, const struct set_values *values,
			      struct ws_err *err);
void sys_count_fini(struct sys_count *count);

#endif
