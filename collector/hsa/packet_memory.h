/*
 * packet_memory: what AMD's aqlprofile has to know of an agent, and memory for its packets.
 *
 * Threads  while a queue is created, one at a time.
 */
#ifndef WS_COLLECTOR_HSA_PACKET_MEMORY_H
#define WS_COLLECTOR_HSA_PACKET_MEMORY_H

#include "collector/count/aqlprofile.h"

/* False: the runtime has no memory that both the agent and the host can use. */
bool col_packet_agent(uint32_t agent, struct col_aql_agent *out_agent);

/* A pool of an agent (hsa_agent_t) with this HSA_AMD_MEMORY_POOL_GLOBAL_FLAG; 0: none to allocate from. */
uint64_t col_packet_pool(uint64_t agent, uint32_t flag);

#endif
