#!/bin/sh
# rocprof-sys-merge-output.sh FOLDER: the traces of all ranks in FOLDER as FOLDER/merged.proto.
# AMD's name and usage; rocprof-sys-merge-output --help says what it does.
here=$(dirname -- "$0")
if [ $# -eq 0 ]; then
	echo "Usage: $0 <folder_path>"
	exit 1
fi
for bin in "$here/../../bin" "$here"; do
	[ ! -x "$bin/rocprof-sys-merge-output" ] || exec "$bin/rocprof-sys-merge-output" --wait 60 -- "$@"
done
exec rocprof-sys-merge-output --wait 60 -- "$@"
