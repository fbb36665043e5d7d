#!/bin/sh
# Groups fill in only what nobody said: an explicit "no" always wins, also in a file.
. "$WS_SOURCE/tests/cmd/lib.sh"
no=
yaml="jobs:
 - sys_trace: true
   summary: true
   echo: true"
for s in hip-trace hsa-trace marker-trace kernel-trace memory-copy-trace memory-allocation-trace \
	scratch-memory-trace rccl-trace rocdecode-trace rocjpeg-trace kfd-trace; do
	no="$no --$s=no"
	yaml="$yaml
   $(echo $s | tr - _): false"
done
# shellcheck disable=SC2086
run rocprofv3 --sys-trace $no --summary --echo -- ./app
rc_is 2
out_lacks "command:"
err_has "No tracing options were enabled for --summary"
echo "$yaml" >"$work/jobs.yaml"
run rocprofv3 -i "$work/jobs.yaml" -- ./app
rc_is 2
out_lacks "command:"
# One of them left on is enough.
run rocprofv3 --sys-trace $no --kernel-trace --summary --echo -- ./app
rc_is 0
