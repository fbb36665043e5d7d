/*
 * config_priv: the words of the configuration, which config.c reads and config_print.c writes.
 */
#ifndef WS_COLLECTOR_CONFIG_PRIV_H
#define WS_COLLECTOR_CONFIG_PRIV_H

#include "collector/config.h"

extern const char *const col_config_services[COL_SERVICE_COUNT];
extern const char *const col_config_flags[COL_COLLECT_FLAG_COUNT];
extern const char *const col_config_metrics[COL_MONITOR_COUNT];
extern const char *const col_config_logs[COL_COLLECT_LOG_COUNT];
extern const char *const col_config_samplers[CAP_SAMPLER_COUNT];

#endif
