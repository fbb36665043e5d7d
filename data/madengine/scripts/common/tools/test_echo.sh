#!/bin/sh
# Prints its arguments: for tests of the order of scripts.
echo "$@"
