#!/bin/sh
# link.sh FOLDER FILE...: links to the files in FOLDER of the build tree
set -eu
folder=$1
shift
mkdir -p "$folder"
for file; do
	ln -sfn "$file" "$folder/${file##*/}"
done
