/* config_json: NAME_config.json, the settings of a run for those who ask later. */
#ifndef WS_CMD_ROCPROFV3_CONFIG_JSON_H
#define WS_CMD_ROCPROFV3_CONFIG_JSON_H

#include "cmd/rocprofv3/options.h"
#include "output/output.h"

enum ws_status rp_write_config(const struct rp_args *args, const struct trc_process *process,
			       const struct output_config *cfg, struct ws_err *err);

/* Every option and its value, one per line, as --log-level config shows them. */
void rp_print_settings(const struct rp_args *args);

#endif
