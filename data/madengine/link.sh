#!/bin/sh
# link.sh FOLDER [NAME=]FILE...: links to the files in FOLDER of the build tree
set -eu
folder=$1
shift
for file; do
	case $file in
	*=*) name=${file%%=*} ;;
	*) name=${file##*/} ;;
	esac
	above=$(dirname "$folder/$name")
	[ ! -L "$above" ] || rm "$above" # an earlier version linked to the folder itself
	mkdir -p "$above"
	ln -sfn "${file#*=}" "$folder/$name"
done
