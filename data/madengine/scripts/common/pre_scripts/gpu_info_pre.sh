#!/bin/sh
# Whether the GPUs of this machine can be read at all.
command -v wavescope >/dev/null || {
	echo "gpu_info_pre.sh: wavescope is not on PATH: power and VRAM cannot be sampled" >&2
	exit 1
}
exec wavescope gpu-info --list
