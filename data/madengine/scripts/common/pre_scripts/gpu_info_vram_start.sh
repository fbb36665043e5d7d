#!/bin/sh
# Starts the sampler of the tool gpu_info_vram_profiler.
exec sh ../scripts/common/tools/gpu_info_sampler.sh start vram
