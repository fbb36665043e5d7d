#!/bin/sh
# rocprofv3-avail pmc-check: the set is checked as a set.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
tab=$(printf '\t')

run rocprofv3-avail pmc-check SQ_WAVES GRBM_COUNT L2CacheHit
rc_is 0
err_is_empty
out_is "Following input counters can be collected together on GPU:0${tab}SQ_WAVES${tab}GRBM_COUNT${tab}L2CacheHit"

# Each of them can be had, but not all at once; AMD's tool says they can.
run rocprofv3-avail pmc-check TA_TA_BUSY TA_FLAT_WAVEFRONTS TA_BUFFER_WAVEFRONTS
rc_is 1
out_is_empty
err_has "Fatal error: TA_TA_BUSY TA_FLAT_WAVEFRONTS TA_BUFFER_WAVEFRONTS not collected on agent gfx90a"
err_has "block TA counts 2 at once on gfx90a, but 3 are requested"
run rocprofv3-avail pmc-check TA_TA_BUSY TA_FLAT_WAVEFRONTS
rc_is 0
# Forms of one counter take one place.
run rocprofv3-avail pmc-check TCC_HIT 'TCC_HIT[3]' TCC_HIT_sum TCC_MISS TCC_REQ TCC_READ
rc_is 0
# An accumulation takes two of eight.
run rocprofv3-avail pmc-check SQ_LEVEL_WAVES_ACCUM SQ_IFETCH_LEVEL_ACCUM SQ_INST_LEVEL_LDS_ACCUM \
	SQ_INST_LEVEL_SMEM_ACCUM
rc_is 0
run rocprofv3-avail pmc-check SQ_LEVEL_WAVES_ACCUM SQ_IFETCH_LEVEL_ACCUM SQ_INST_LEVEL_LDS_ACCUM \
	SQ_INST_LEVEL_SMEM_ACCUM SQ_WAVES
rc_is 1
err_has "block SQ counts 8 at once on gfx90a, but 9 are requested"

run rocprofv3-avail pmc-check SQ_WAVE
rc_is 1
err_has "Fatal error: Invalid counter name"
err_has "did you mean 'SQ_WAVES'?"
run rocprofv3-avail pmc-check SQ_WAVES SQ_INSTS_VALU_MFMA_F8
rc_is 1
err_has "only on gfx940, gfx941, gfx942, gfx950"
run rocprofv3-avail pmc-check TD_SPI_STALL
rc_is 1
err_has "Fatal error: TD_SPI_STALL not collected on agent gfx90a"
err_has "not supported by the software GPU"

run rocprofv3-avail pmc-check
rc_is 1
err_is "Fatal error: Provide counter to check"
run rocprofv3-avail pmc-check SQ_WAVES:device=1
rc_is 1
err_is "Fatal error: Invalid device id : 1"
run rocprofv3-avail -d 7 pmc-check SQ_WAVES
rc_is 1
err_is "Fatal error: Invalid device id : 7"
run rocprofv3-avail pmc-check SQ_WAVES:device=0:x
rc_is 1
err_is "Fatal error: Invalid format for pmc-check"
run rocprofv3-avail pmc-check SQ_WAVES:gpu=0
rc_is 1
err_is "Fatal error: Incorrect input format for device index"

export WAVESCOPE_GPU=mi100,mi210
run rocprofv3-avail pmc-check SQ_WAVES SQ_INSTS_VALU_ADD_F16:device=1
rc_is 0
is "$(cat "$out")" "Following input counters can be collected together on GPU:0${tab}SQ_WAVES
Following input counters can be collected together on GPU:1${tab}SQ_WAVES${tab}SQ_INSTS_VALU_ADD_F16" output
run rocprofv3-avail pmc-check SQ_INSTS_VALU_ADD_F16
rc_is 1
err_has "no counter 'SQ_INSTS_VALU_ADD_F16' on gfx908"
