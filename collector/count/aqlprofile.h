/*
 * aqlprofile: AMD's library that makes packets which program and read hardware counters.
 *
 * libhsa-amd-aqlprofile64 comes with ROCm 5 to 7. It is found at run time. It has two interfaces: the first,
 * hsa_ven_amd_aqlprofile_*, takes an HSA agent, and the second, aqlprofile_*, takes an agent by its numbers and an
 * allocator. The second is used where the library has it.
 *
 *	program = col_aql_create(&agent, events, n)     packets for these events, with buffers of its own
 *	start, kernel, read, stop                        program->packets, into a queue in this order
 *	col_aql_values(program, each, ctx)               when the last one has completed
 *
 * Threads  create, destroy: one at a time. values: any, one at a time per program.
 * Failure  a library, an agent or an event that does not do: NULL, and the message says why. The library prints
 *          nothing of its own unless AQLPROFILE_* variables request it.
 */
#ifndef WS_COLLECTOR_COUNT_AQLPROFILE_H
#define WS_COLLECTOR_COUNT_AQLPROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The soname, and the name that packages of ROCm 5 have without a number. */
#define COL_AQL_LIBRARIES                                                                          \
	{                                                                                          \
		"libhsa-amd-aqlprofile64.so.1", "libhsa-amd-aqlprofile64.so"                       \
	}

struct col_aql_agent {
	uint64_t handle;  /* hsa_agent_t */
	const char *name; /* "gfx90a" */
	uint32_t n_dies, n_engines, n_cus,
		n_arrays;          /* engines and CUs of all dies; arrays per engine */
	uint32_t domain, location; /* PCI */
	/* Memory that the GPU and the host reach; NULL: none left. Freed with the process. */
	void *(*allocate)(const struct col_aql_agent *agent, size_t n_bytes);
};

/* One register of one block instance; an event on every instance of a block is several of these. */
struct col_aql_event {
	uint32_t block; /* col_aql_block() */
	uint32_t instance;
	uint32_t number;
	uint32_t n_engines; /* values of each die: one per shader engine, or 1 */
};

union col_aql_packet {
	uint16_t header; /* the caller's */
	uint8_t bytes[64];
	struct {
		uint8_t rest[56];
		uint64_t completion; /* the caller's */
	};
};

enum col_aql_step { COL_AQL_START, COL_AQL_READ, COL_AQL_STOP, COL_AQL_STEPS };

struct col_aql_program; /* private */
struct col_aql_packets {
	union col_aql_packet at[COL_AQL_STEPS];
	bool has_read; /* else stop reads too */
};

/*
 * False: there is no such library, or not one with either interface; @out_why is a sentence.
 * @first_only: its first interface, also where it has the second.
 */
bool col_aql_find(bool first_only, const char **out_why);
/* A number for "SQ", "TCC"; UINT32_MAX: the library has no such block. */
uint32_t col_aql_block(const char *name);

/*
 * @events in the order in which a block's counters are to be used: an accumulation follows its level.
 * NULL: more events than the block has counters, not an event of this GPU, no memory; @out_why says which.
 */
struct col_aql_program *col_aql_create(const struct col_aql_agent *agent,
				       const struct col_aql_event *events, uint32_t n_events,
				       const char **out_why);
const struct col_aql_packets *col_aql_packets(const struct col_aql_program *program);

/* Before a program is started again: what is not read afterwards is not taken for a value. */
void col_aql_clear(struct col_aql_program *program);
/*
 * Calls @each for each event and shader engine: the number of the event in @events, the die, the engine.
 * False: the packets have not written all values.
 */
typedef void col_aql_each(void *ctx, uint32_t event, uint32_t die, uint32_t engine, uint64_t value);
bool col_aql_values(struct col_aql_program *program, col_aql_each *each, void *ctx);

#endif
