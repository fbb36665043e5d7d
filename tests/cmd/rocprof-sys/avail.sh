#!/bin/sh
# rocprof-sys-avail: lists, columns, filters, and tables to the character.
. "$WS_SOURCE/tests/cmd/lib.sh"
HOME=$work
export HOME
cd "$work"
unset COLUMNS

run rocprof-sys-avail --help
rc_is 0
for group in DEBUG INFO FILTER COLUMN DISPLAY OUTPUT; do
	out_has "[$group OPTIONS]"
done
run rocprof-sys-avail '-?'
out_has "[OUTPUT OPTIONS]"

# The table of one setting, in full.
run rocprof-sys-avail -S -r '^ROCPROFSYS_SAMPLING_FREQ$'
rc_is 0
out_is '|---------------------------|--------|
|   ENVIRONMENT VARIABLE    | VALUE  |
|---------------------------|--------|
| ROCPROFSYS_SAMPLING_FREQ  |  300   |
|---------------------------|--------|'
# All columns, narrowed: descriptions go on in the next line, others are cut.
run rocprof-sys-avail -S -d -v -c -W 150 -w 46 -r '^ROCPROFSYS_SAMPLING_CPUS$'
out_is '|---------------------------|--------|------------|---------------------------------------------|---------------------------------------------|
|   ENVIRONMENT VARIABLE    | VALUE  | DATA TYPE  |                 DESCRIPTION                 |                 CATEGORIES                  |
|---------------------------|--------|------------|---------------------------------------------|---------------------------------------------|
| ROCPROFSYS_SAMPLING_CPUS  |  none  |   string   | CPUs whose frequency is read: none, all,    |                                             |
|                           |        |            |   or 0,1,5-8. Empty: all.                   | custom, librocprof-sys, process_sampling... |
|---------------------------|--------|------------|---------------------------------------------|---------------------------------------------|'

# What AMD tests.
run rocprof-sys-avail -c core
for name in CONFIG_FILE ENABLED SUPPRESS_CONFIG SUPPRESS_PARSING VERBOSE; do
	out_has "| ROCPROFSYS_$name "
done
is "$(grep -c ROCPROFSYS_ "$out")" 5 "settings of category core"
run rocprof-sys-avail -r wall_clock -C --available
out_is '|---------------------------------|
|            COMPONENT            |
|---------------------------------|
| wall_clock                      |
|---------------------------------|'
run rocprof-sys-avail -R rocprofsys '~timemory' -r _P '~PERFETTO' '~PROCESS_SAMPLING' '~KOKKOSP' '~PAGE' \
	--csv --brief --advanced
is "$(sed -n 1,3p "$out" | tr -d '\n')" \
	ENVIRONMENT\ VARIABLE,ROCPROFSYS_THREAD_POOL_SIZE,ROCPROFSYS_USE_PID, "rows of a negated filter"
out_lacks ROCPROFSYS_TRACE
run rocprof-sys-avail --all --csv --csv-separator '#'
rc_is 0
for header in 'COMPONENT#AVAILABLE#VALUE_TYPE#STRING_IDS#FILENAME#DESCRIPTION#CATEGORY#' \
	'ENVIRONMENT VARIABLE#VALUE#DATA TYPE#DESCRIPTION#CATEGORIES#' \
	'HARDWARE COUNTER#DEVICE#AVAILABLE#DESCRIPTION#'; do
	grep -qxF "$header" "$out" || fail "no header '$header'"
done
run rocprof-sys-avail --list-categories
tr '\n' ' ' <"$out" | grep -q ' component::.* hw_counters::.* settings::' || fail "order of categories"
out_has "    settings::core"
run rocprof-sys-avail --list-keys --expand-keys --markdown
out_has '| `%argv%`'
out_has '| `%argv_hash%`'
run rocprof-sys-avail --list-keys
out_has "  %tag%"
out_lacks " rocprof-sys-avail "
run rocprof-sys-avail --categories settings::rocprofsys --brief
out_has ROCPROFSYS_OUTPUT_PREFIX
out_lacks ROCPROFSYS_SCIENTIFIC
run rocprof-sys-avail --categories settings::timemory --brief --advanced
out_has ROCPROFSYS_SCIENTIFIC
out_lacks ROCPROFSYS_OUTPUT_FILE

# Values of the environment and of files, and keys in them.
printf 'sampling_freq = 77\ntrace_delay = 3\n' >.rocprof-sys.cfg
ROCPROFSYS_TRACE_DELAY=4 run rocprof-sys-avail --csv -r '_(SAMPLING_FREQ|TRACE_DELAY|TRACE)$'
out_has "ROCPROFSYS_SAMPLING_FREQ,77,"
out_has "ROCPROFSYS_TRACE_DELAY,4,"
out_has "ROCPROFSYS_TRACE,true,"
rm .rocprof-sys.cfg
ROCPROFSYS_PROFILE=on run rocprof-sys-avail --csv -r 'ROCPROFSYS_(TRACE|PROFILE)$'
out_has "ROCPROFSYS_TRACE,false,"
run rocprof-sys-avail --csv --expand-keys -t app -r OUTPUT_PATH
out_has "ROCPROFSYS_OUTPUT_PATH,rocprofsys-app-output,"
# An advanced setting shows when somebody set it.
run rocprof-sys-avail --csv -r KOKKOSP_PREFIX
out_lacks KOKKOSP_PREFIX
ROCPROFSYS_KOKKOSP_PREFIX='[kokkos]' run rocprof-sys-avail --csv -r KOKKOSP_PREFIX
out_has "ROCPROFSYS_KOKKOSP_PREFIX,[kokkos],"

# Counters of GPUs as rocprofv3-avail has them, of CPUs as libpfm.
if [ -e "$WS_BUILD/lib/libwavescope-kfd.so" ]; then
	run env WAVESCOPE_GPU=mi210 rocprof-sys-avail -H -c GPU --csv -r '^SQ_WAVES:' '^GRBM_GUI_ACTIVE:'
	out_has "SQ_WAVES:device=0,GPU,true,"
	out_has "GRBM_GUI_ACTIVE:device=0,GPU,true,"
	out_lacks ",CPU,"
	run env WAVESCOPE_GPU=mi210 rocprof-sys-avail -H -c GPU --csv -r '^GPUBusy:'
	out_has "GPUBusy:device=0,GPU,true,"
	out_has "Derived counter: "
else
	skip_part "the software GPU is not in this build"
fi
run rocprof-sys-avail -H -c CPU --csv
out_has "PAPI_TOT_CYC,CPU,"
out_has "perf::INSTRUCTIONS,CPU,"
out_has "perf::PERF_COUNT_HW_CACHE_REFERENCES,CPU,"
out_lacks ",GPU,"

# Columns of components; markdown; highlighted matches.
run rocprof-sys-avail -C -v -s -f -d -c -r '^peak_rss$'
out_is '|---------------------------------|---------------|-----------------------|-------------------------------------------|-----------------------|-------------------------------------------|-----------------------------------|
|            COMPONENT            |   AVAILABLE   |      VALUE_TYPE       |                STRING_IDS                 |       FILENAME        |                DESCRIPTION                |             CATEGORY              |
|---------------------------------|---------------|-----------------------|-------------------------------------------|-----------------------|-------------------------------------------|-----------------------------------|
| peak_rss                        |     true      |        double         | peak_rss                                  | peak_rss              | Highest resident memory of the process    | memory, native, resource_usage    |
|---------------------------------|---------------|-----------------------|-------------------------------------------|-----------------------|-------------------------------------------|-----------------------------------|'
run rocprof-sys-avail -H -c CPU -b -r '^PAPI_TOT'
out_is '|---------------------|---------|
|  HARDWARE COUNTER   | DEVICE  |
|---------------------|---------|
| PAPI_TOT_CYC        |   CPU   |
| PAPI_TOT_INS        |   CPU   |
|---------------------|---------|'
run rocprof-sys-avail -S --markdown -r '^ROCPROFSYS_USE_PID$'
out_is '|  ENVIRONMENT VARIABLE   |  VALUE   |
|-------------------------|----------|
| ROCPROFSYS_USE_PID      |   true   |'
run rocprof-sys-avail -C -b --hl -r peak
grep -q "$(printf '\033')\[01;04;36;40mpeak$(printf '\033')\[0m_rss" "$out" || fail "no match is highlighted"

# To a file, sorted, ignoring case.
run rocprof-sys-avail --alphabetical -b --csv -i -r mpip kokkosp_ --advanced -O list.csv
rc_is 0
out_is_empty
is "$(tr '\n' ' ' <list.csv)" "ENVIRONMENT VARIABLE, ROCPROFSYS_KOKKOSP_DEEP_COPY, ROCPROFSYS_KOKKOSP_KERNEL_LOGGER, ROCPROFSYS_KOKKOSP_NAME_LENGTH_MAX, ROCPROFSYS_KOKKOSP_PREFIX, ROCPROFSYS_USE_MPIP, " "sorted rows"

# Mistakes.
run rocprof-sys-avail -c coer
rc_is 2
err_is "rocprof-sys-avail: no category 'coer': --list-categories shows them"
run rocprof-sys-avail -r '('
rc_is 2
err_has "rocprof-sys-avail: filter '(': "
run rocprof-sys-avail --csv --markdown
rc_is 2
run rocprof-sys-avail -w wide
rc_is 2
err_is "rocprof-sys-avail: option '-w': 'wide' is not a whole number"
ROCPROFSYS_TARCE=1 run rocprof-sys-avail -b
rc_is 0
err_is "rocprof-sys-avail: warning: the variable ROCPROFSYS_TARCE is not a setting: did you mean ROCPROFSYS_TRACE?"
