#!/bin/bash
# A model with several results: one row each in perf.csv.
{
	echo "model,performance,metric,batch_size"
	echo "small,10.5,samples_per_second,1"
	echo "large,80,samples_per_second,64"
} >"$MAD_OUTPUT_CSV"
