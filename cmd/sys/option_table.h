/*
 * option_table: the options of rocprof-sys-run and rocprof-sys-sample that are not just the name of a
 * setting. run's others are made from data/settings/.
 *
 * who: R run, S sample, RS both. TRI, STR and WORDS give their value to a setting; MY_ rows are for
 * options.c to interpret.
 */
#ifndef WS_CMD_SYS_OPTION_TABLE_H
#define WS_CMD_SYS_OPTION_TABLE_H

/* clang-format off */
#define SYS_OPTION_TABLE(GROUP, TRI, STR, WORDS, MY_TRI, MY_STR, MY_WORDS, MY_FLAG)                            \
GROUP(RS, "Debug")                                                                                             \
TRI(RS, MONOCHROME, 0, "monochrome", "print without colours")                                                  \
TRI(RS, DEBUG, 0, "debug", "print what the collector does inside the program")                                 \
STR(RS, VERBOSE, 'v', "verbose", "N", "-1: print errors only; 1: also the command; 2, 3: details")            \
GROUP(RS, "General")                                                                                           \
MY_WORDS(R, config, 'c', "config", "FILE...", "configuration files (rocprof-sys-avail -G FILE writes one)")    \
MY_WORDS(S, config, 'c', "config", "[FILE]...", "configuration files (rocprof-sys-avail -G FILE writes one); without any, none is read") \
MY_WORDS(RS, output, 'o', "output", "PATH [PREFIX]", "output folder, and text in front of the names of files") \
TRI(RS, TRACE, 'T', "trace", "write a Perfetto trace (the default unless a profile is requested)")             \
TRI(RS, PROFILE, 'P', "profile", "write call-tree profiles")                                                   \
MY_TRI(RS, flat_profile, 'F', "flat-profile", "write profiles without a tree: one row per function")           \
MY_WORDS(R, sample, 'S', "sample", "[cputime] [realtime]", "sample call stacks, at intervals of CPU time or elapsed time") \
MY_TRI(RS, host, 'H', "host", "read CPU frequency, memory, page faults and other metrics of the process")      \
MY_TRI(RS, device, 'D', "device", "read GPU metrics: utilization, temperature, power, memory")                 \
MY_STR(RS, wait, 'w', "wait", "SEC", "wait this long before recording and sampling")                           \
MY_STR(RS, duration, 'd', "duration", "SEC", "record and sample for this long")                                \
WORDS(R, TRACE_PERIODS, 0, "periods", "SPEC...", "record several times: DELAY:DURATION[:REPEAT[:CLOCK]]")      \
MY_FLAG(R, fork, 0, "fork", "accepted: the program always runs as a child")                                    \
GROUP(RS, "Back ends")                                                                                         \
MY_WORDS(RS, include, 'I', "include", "NAME...", "turn on: all kokkosp mpip ompt rcclp amd-smi rocm mutex-locks spin-locks rw-locks") \
MY_WORDS(RS, exclude, 'E', "exclude", "NAME...", "turn off, likewise")                                         \
MY_STR(R, launcher, 'l', "launcher", "REGEX", "the command starts other programs (mpirun, srun): profile those whose name matches") \
GROUP(RS, "Trace")                                                                                             \
STR(RS, PERFETTO_FILE, 0, "trace-file", "NAME", "its name, relative to the output folder")                     \
STR(RS, PERFETTO_BUFFER_SIZE_KB, 0, "trace-buffer-size", "KB", "its largest size")                             \
STR(RS, PERFETTO_FILL_POLICY, 0, "trace-fill-policy", "POLICY", "what is left out of a larger one: discard the last records, ring_buffer the first") \
STR(RS, TRACE_DELAY, 0, "trace-wait", "SEC", "wait this long before recording")                                \
STR(RS, TRACE_DURATION, 0, "trace-duration", "SEC", "record for this long")                                    \
WORDS(RS, TRACE_PERIODS, 0, "trace-periods", "SPEC...", "record several times: DELAY:DURATION[:REPEAT[:CLOCK]]") \
STR(RS, TRACE_PERIOD_CLOCK_ID, 0, "trace-clock-id", "ID", "the clock of these times")                          \
GROUP(RS, "Profile")                                                                                           \
MY_WORDS(RS, profile_format, 0, "profile-format", "NAME...", "text, json, console; needs -P or -F")            \
MY_WORDS(RS, profile_diff, 0, "profile-diff", "PATH [PREFIX]", "compare with the profile in this folder")      \
GROUP(RS, "Metrics of the process, the CPUs and the GPUs")                                                     \
STR(RS, PROCESS_SAMPLING_FREQ, 0, "process-freq", "HZ", "measurements per second")                             \
STR(RS, PROCESS_SAMPLING_DELAY, 0, "process-wait", "SEC", "wait this long before the first one")               \
STR(RS, PROCESS_SAMPLING_DURATION, 0, "process-duration", "SEC", "measure for this long")                      \
WORDS(RS, SAMPLING_CPUS, 0, "cpus", "LIST...", "CPUs whose frequency is read, such as 0,2-5; needs -H")        \
WORDS(RS, SAMPLING_GPUS, 0, "gpus", "LIST...", "GPUs, likewise; needs -D")                                     \
GROUP(RS, "Call-stack sampling")                                                                               \
STR(R, SAMPLING_FREQ, 'f', "sampling-freq", "HZ", "samples per second")                                        \
STR(S, SAMPLING_FREQ, 'f', "freq", "HZ", "samples per second")                                                 \
STR(RS, SAMPLING_DELAY, 0, "sampling-wait", "SEC", "wait this long before the first sample")                   \
STR(RS, SAMPLING_DURATION, 0, "sampling-duration", "SEC", "sample for this long")                              \
WORDS(RS, SAMPLING_TIDS, 't', "tids", "LIST...", "threads to sample, 0 is the main thread: 0,2-5")             \
MY_WORDS(R, cputime, 0, "sample-cputime", "[HZ] [DELAY] [TIDS...]", "at intervals of CPU time")                \
MY_WORDS(S, cputime, 0, "cputime", "[HZ] [DELAY] [TIDS...]", "at intervals of CPU time")                       \
MY_WORDS(R, realtime, 0, "sample-realtime", "[HZ] [DELAY] [TIDS...]", "at intervals of elapsed time")          \
MY_WORDS(S, realtime, 0, "realtime", "[HZ] [DELAY] [TIDS...]", "at intervals of elapsed time")                 \
MY_WORDS(R, overflow, 0, "sample-overflow", "[EVENT] [N] [TIDS...]", "whenever a CPU counter has counted N events") \
STR(S, SAMPLING_FREQ, 0, "sampling-freq", "HZ", NULL) /* AMD's newer names */                                  \
MY_WORDS(RS, cputime, 0, "sampling-cputime", "[HZ] [DELAY] [TIDS...]", NULL)                                   \
MY_WORDS(RS, realtime, 0, "sampling-realtime", "[HZ] [DELAY] [TIDS...]", NULL)                                 \
TRI(RS, SAMPLING_INCLUDE_INLINES, 'i', "inlines", "show inlined functions")                                    \
GROUP(RS, "Counters")                                                                                          \
WORDS(RS, PAPI_EVENTS, 'C', "cpu-events", "EVENT...", "CPU counters (rocprof-sys-avail -H -c CPU)")            \
WORDS(RS, ROCM_EVENTS, 'G', "gpu-events", "EVENT...", "GPU counters (rocprof-sys-avail -H -c GPU)")            \
GROUP(RS, "Other")                                                                                             \
MY_STR(RS, hsa_interrupt, 0, "hsa-interrupt", "0|1", "the value of HSA_ENABLE_INTERRUPT for the program")      \
MY_STR(RS, recover, 0, "recover", "DIR", "write the output of an interrupted run from its captures in DIR")    \
MY_FLAG(RS, question, '?', NULL, NULL)
/* clang-format on */

#endif
