#!/bin/sh
# Makes the file of a sampler writable for everyone.
#
#   gpu_info_post.sh gpu_info_power_profiler|gpu_info_vram_profiler

file=$1_output.csv
[ -e "$file" ] || [ ! -e prof.csv ] || mv prof.csv "$file"
if [ -e "$file" ]; then
	chmod a+rw "$file"
else
	echo "gpu_info_post.sh: warning: there is no $file" >&2
fi
exit 0
