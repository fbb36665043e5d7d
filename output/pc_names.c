/* The names of what PC samples hold, as AMD spells them. */
#include "output/output_priv.h"

#define TYPE(name) "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_" #name
#define REASON(name) "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_" #name

static const char *const types[] = {
	TYPE(NONE),         TYPE(VALU),    TYPE(MATRIX),     TYPE(SCALAR),
	TYPE(TEX),          TYPE(LDS),     TYPE(LDS_DIRECT), TYPE(FLAT),
	TYPE(EXPORT),       TYPE(MESSAGE), TYPE(BARRIER),    TYPE(BRANCH_NOT_TAKEN),
	TYPE(BRANCH_TAKEN), TYPE(JUMP),    TYPE(OTHER),      TYPE(NO_INST),
	TYPE(DUAL_VALU),
};

static const char *const reasons[] = {
	REASON(NONE),
	REASON(NO_INSTRUCTION_AVAILABLE),
	REASON(ALU_DEPENDENCY),
	REASON(WAITCNT),
	REASON(INTERNAL_INSTRUCTION),
	REASON(BARRIER_WAIT),
	REASON(ARBITER_NOT_WIN),
	REASON(ARBITER_WIN_EX_STALL),
	REASON(OTHER_WAIT),
	REASON(SLEEP_WAIT),
};

const char *output_pc_inst_type(unsigned type)
{
	return types[type < WS_ARRAY_LEN(types) ? type : 0];
}

const char *output_pc_stall_reason(unsigned reason)
{
	return reasons[reason < WS_ARRAY_LEN(reasons) ? reason : 0];
}
