/*
 * rocminfo: agents in the layout of AMD's rocminfo, which people and scripts know how to read.
 */
#ifndef WS_REPORT_ROCMINFO_H
#define WS_REPORT_ROCMINFO_H

#include "gpu/hsa_agents.h"

#include <stdio.h>

void rpt_rocminfo(FILE *to, const struct gpu_hsa_agents *agents);

#endif
