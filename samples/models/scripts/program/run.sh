#!/bin/bash
# A sample program as a model: run.sh PROGRAM [OPTION VALUE]...
#
# Options of tags arrive as --n 1024, those of the programs are -n 1024. With a launcher that starts
# any program (mpirun, srun), one copy per rank.
set -u
program=${1:?which program}
shift
path=$WAVESCOPE_SAMPLES/$program
if [ ! -x "$path" ]; then
	echo "run.sh: there is no sample program '$program': they are built where hipcc is installed (Debian: wavescope-samples)" >&2
	exit 1
fi
options=()
for word; do
	case $word in
	--?) options+=("${word#-}") ;;
	*) options+=("$word") ;;
	esac
done
runner=()
case ${MAD_MULTI_NODE_RUNNER:-} in
mpirun* | srun*) read -r -a runner <<<"$MAD_MULTI_NODE_RUNNER" ;;
esac
started=$(date +%s%N)
"${runner[@]}" "$path" "${options[@]}" || exit
elapsed=$(($(date +%s%N) - started))
# one sample is one run of the program
awk -v ns="$elapsed" 'BEGIN { printf "performance: %.4g samples_per_second\n", 1e9 / ns }'
