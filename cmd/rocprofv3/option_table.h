/*
 * option_table: every option of rocprofv3, once.
 *
 * A row is: the field in struct rp_args, which is also the key in input files; the
 * short and the long name; the value's name; the environment variable that presets it
 * (ROCPROF_ in front; "" none, or read in environment.c because its text differs);
 * the help, NULL for options that --help leaves out.
 *
 * GROUP heading, FLAG plain switch, TRI three states, STR one text, ONE one of a list,
 * MANY one or more texts, SOME some of a list, SETS any number and each occurrence apart,
 * ALSO a second name of a field.
 */
/* clang-format off */
#define RP_OPTION_TABLE(GROUP, FLAG, TRI, STR, ONE, MANY, SOME, SETS, ALSO)                                  \
GROUP("Input and output")                                                                                    \
STR(input, 'i', "input", "FILE", "", "read jobs from FILE (.txt, .json, .yaml, .yml); the program is run once per job") \
STR(output_file, 'o', "output-file", "NAME", "OUTPUT_FILE_NAME", "beginning of the file names; placeholders as in %hostname%/%pid%, which is the default") \
STR(output_directory, 'd', "output-directory", "DIR", "OUTPUT_PATH", "folder of the output files; with placeholders. Default: the working directory") \
SOME(output_format, 'f', "output-format", "FORMAT", rp_formats, "csv, json, pftrace, otf2, rocpd, html (a page for a browser): one or more. Default: rocpd") \
TRI(output_config, 0, "output-config", "OUTPUT_CONFIG_FILE", "also write the settings of the run to NAME_config.json") \
ONE(log_level, 0, "log-level", "LEVEL", "LOG_LEVEL", rp_log_levels, "fatal, error, warning, info or trace; env and config show the settings") \
STR(extra_counters, 'E', "extra-counters", "FILE", "", "more counter definitions, in YAML")                  \
GROUP("Tracing: groups of services")                                                                         \
TRI(sys_trace, 's', "sys-trace", "", "everything below: HIP and HSA calls, markers, kernels, copies, allocations, scratch, RCCL, decoders") \
TRI(runtime_trace, 'r', "runtime-trace", "", "the same without HSA calls and HIP compiler calls")            \
TRI(hip_trace, 0, "hip-trace", "", "HIP calls: runtime and compiler")                                        \
TRI(hsa_trace, 0, "hsa-trace", "", "HSA calls: core, AMD extension, image, finalizer")                       \
TRI(kokkos_trace, 0, "kokkos-trace", "", "record Kokkos regions as markers and name kernels after them")                 \
TRI(kfd_trace, 0, "kfd-trace", "", "driver events: page migration and mapping, queues, lost events")         \
GROUP("Tracing: services (each takes yes or no; 'no' removes it from a group)")                              \
TRI(kernel_trace, 0, "kernel-trace", "KERNEL_TRACE", "kernel dispatches")                                    \
TRI(memory_copy_trace, 0, "memory-copy-trace", "MEMORY_COPY_TRACE", "memory copies")                         \
TRI(memory_allocation_trace, 0, "memory-allocation-trace", "MEMORY_ALLOCATION_TRACE", "memory allocated and freed") \
TRI(scratch_memory_trace, 0, "scratch-memory-trace", "SCRATCH_MEMORY_TRACE", "scratch memory of kernels")    \
TRI(marker_trace, 0, "marker-trace", "MARKER_API_TRACE", "roctx marks and ranges")                           \
TRI(hip_runtime_trace, 0, "hip-runtime-trace", "HIP_RUNTIME_API_TRACE", "HIP runtime calls")                 \
TRI(hip_compiler_trace, 0, "hip-compiler-trace", "HIP_COMPILER_API_TRACE", "HIP compiler calls (made by compiled HIP code)") \
TRI(hip_graph_trace, 0, "hip-graph-trace", "HIP_GRAPH_TRACE", "HIP graph launches; part of HIP runtime calls") \
TRI(hip_event_trace, 0, "hip-event-trace", "HIP_EVENT_TRACE", "HIP events; part of HIP runtime calls")       \
TRI(hsa_core_trace, 0, "hsa-core-trace", "HSA_CORE_API_TRACE", "HSA core calls")                             \
TRI(hsa_amd_trace, 0, "hsa-amd-trace", "HSA_AMD_EXT_API_TRACE", "HSA calls of AMD's extension")              \
TRI(hsa_image_trace, 0, "hsa-image-trace", "HSA_IMAGE_EXT_API_TRACE", "HSA image calls")                     \
TRI(hsa_finalizer_trace, 0, "hsa-finalizer-trace", "HSA_FINALIZER_EXT_API_TRACE", "HSA finalizer calls")     \
TRI(hsa_symbol_queries, 0, "hsa-symbol-queries", "", "record also each hsa_executable_symbol_get_info that is called while symbols are enumerated: HIP 5.7 to 6.4 calls it millions of times for a large library. Otherwise they are only counted") \
TRI(rccl_trace, 0, "rccl-trace", "RCCL_API_TRACE", "RCCL collectives")                                       \
TRI(rocdecode_trace, 0, "rocdecode-trace", "ROCDECODE_API_TRACE", "rocDecode calls")                         \
TRI(rocjpeg_trace, 0, "rocjpeg-trace", "ROCJPEG_API_TRACE", "rocJPEG calls")                                 \
TRI(rocshmem_trace, 0, "rocshmem-trace", "ROCSHMEM_API_TRACE", "rocSHMEM calls")                             \
TRI(hipfile_trace, 0, "hipfile-trace", "HIPFILE_API_TRACE", "hipFile calls")                                 \
SETS(ompt_trace, 0, "ompt-trace", "[KIND]", "", rp_ompt_kinds, "OpenMP events: all, or some of thread parallel task sync mutex target device error") \
TRI(kfd_page_migration_trace, 0, "kfd-page-migration-trace", "KFD_PAGE_MIGRATION_TRACE", "driver: page migrations") \
TRI(kfd_page_mapping_trace, 0, "kfd-page-mapping-trace", "KFD_PAGE_MAPPING_TRACE", "driver: page mappings") \
TRI(kfd_queue_trace, 0, "kfd-queue-trace", "KFD_QUEUE_TRACE", "driver: queues evicted and restored")         \
TRI(kfd_dropped_events_trace, 0, "kfd-dropped-events-trace", "KFD_DROPPED_EVENTS_TRACE", "driver: lost events") \
GROUP("Statistics and summary")                                                                              \
TRI(stats, 0, "stats", "STATS", "with csv: NAME_*_stats.csv per service, and NAME_domain_stats.csv")         \
TRI(summary, 'S', "summary", "STATS_SUMMARY", "print one table of all services")                             \
TRI(summary_per_domain, 'D', "summary-per-domain", "STATS_SUMMARY_PER_DOMAIN", "print one table per service") \
MANY(summary_groups, 0, "summary-groups", "REGEX", NULL, "print one table per REGEX of the services that match: 'KERNEL_DISPATCH|MEMORY_COPY'") \
STR(summary_output_file, 0, "summary-output-file", "NAME", "STATS_SUMMARY_OUTPUT", "stdout, stderr (the default) or the stem of a file") \
ONE(summary_units, 'u', "summary-units", "UNIT", "STATS_SUMMARY_UNITS", &ws_time_unit_words[WS_TIME_SEC], "sec, msec, usec or nsec (the default)") \
GROUP("Kernel names and filters")                                                                            \
TRI(mangled_kernels, 'M', "mangled-kernels", "", "show kernels by their mangled symbols")                     \
TRI(truncate_kernels, 'T', "truncate-kernels", "TRUNCATE_KERNELS", "show kernels by function name, without arguments") \
TRI(kernel_rename, 0, "kernel-rename", "KERNEL_RENAME", "name kernels after the roctx range around their launch") \
STR(kernel_include_regex, 0, "kernel-include-regex", "REGEX", "KERNEL_FILTER_INCLUDE_REGEX", "collect counters, PC samples and thread trace only for kernels whose name matches") \
STR(kernel_exclude_regex, 0, "kernel-exclude-regex", "REGEX", "KERNEL_FILTER_EXCLUDE_REGEX", "do not collect them for kernels whose name matches") \
MANY(kernel_iteration_range, 0, "kernel-iteration-range", "RANGE", NULL, "collect them only for these launches of a kernel: '[1-3]', '[1, 2, [5-8]]'") \
MANY(collection_period, 'P', "collection-period", "DELAY:TIME:REPEAT", NULL, "wait DELAY, record for TIME, REPEAT times (0: until the end)") \
ONE(collection_period_unit, 0, "collection-period-unit", "UNIT", "", ws_time_unit_words, "hour, min, sec (the default), msec, usec or nsec") \
TRI(selected_regions, 0, "selected-regions", "SELECTED_REGIONS", "record only between roctxProfilerResume and roctxProfilerPause") \
TRI(selected_regions_ref_count, 0, "selected-regions-ref-count", "SELECTED_REGIONS_REF_COUNT", "count nested resumes and pauses") \
GROUP("Counters")                                                                                            \
SETS(pmc, 0, "pmc", "NAME", "", NULL, "counters, comma or space separated; any number. Each --pmc has separate results") \
STR(pmc_interval, 0, "pmc-interval", "MSEC", "PMC_INTERVAL", "count whole GPUs instead of kernels: what the counters of --pmc add every MSEC milliseconds") \
TRI(counter_collection, 0, "counter-collection", "", "accepted; --pmc and -i collect counters without it") \
ONE(replay, 0, "replay", "WHAT", "REPLAY", rp_replay_modes, "when counters need several passes: repeat each kernel (the default on the software GPU), or the application") \
ONE(replay_mode, 0, "replay-mode", "WHAT", "REPLAY_MODE", rp_replay_modes, "AMD's name for --replay")        \
TRI(kernel_replay_beta_enabled, 0, "kernel-replay-beta-enabled", "KERNEL_REPLAY_BETA_ENABLED", "accepted; --replay kernel does not need it") \
TRI(dry_run, 0, "dry-run", "", "show the counters and how many passes they need; run nothing")  \
STR(baseline, 0, "baseline", "SECONDS", "", "with --dry-run: the duration of the program, to estimate the total time") \
SETS(spm, 0, "spm", "NAME", "", NULL, "streaming counters, sampled over time")                               \
TRI(spm_beta_enabled, 0, "spm-beta-enabled", "SPM_BETA_ENABLED", "allow --spm")                              \
STR(spm_sample_interval, 0, "spm-sample-interval", "N", "SPM_SAMPLE_INTERVAL", "units between samples")      \
ONE(spm_sample_interval_unit, 0, "spm-sample-interval-unit", "UNIT", "SPM_SAMPLE_INTERVAL_UNIT", rp_spm_units, "sclk_cycles") \
GROUP("PC sampling")                                                                                         \
TRI(pc_sampling_beta_enabled, 0, "pc-sampling-beta-enabled", "", "enable PC sampling; requires the next three options") \
ONE(pc_sampling_unit, 0, "pc-sampling-unit", "UNIT", "PC_SAMPLING_UNIT", rp_pc_units, "instructions, cycles or time") \
ONE(pc_sampling_method, 0, "pc-sampling-method", "METHOD", "PC_SAMPLING_METHOD", rp_pc_methods, "stochastic or host_trap") \
STR(pc_sampling_interval, 0, "pc-sampling-interval", "N", "PC_SAMPLING_INTERVAL", "host_trap: microseconds; stochastic: cycles, a power of two") \
TRI(pc_report, 0, "pc-report", "PC_REPORT", "print samples by source line and instruction, with stall reasons; without other options it samples every 1024 cycles") \
GROUP("Thread trace")                                                                                        \
TRI(advanced_thread_trace, 0, "att", "ADVANCED_THREAD_TRACE", "record every instruction of some waves; needs AMD's trace decoder library") \
ALSO(tri, advanced_thread_trace, 0, "advanced-thread-trace")                                                 \
MANY(att_library_path, 0, "att-library-path", "DIR", NULL, "folder of librocprof-trace-decoder.so") \
STR(att_target_cu, 0, "att-target-cu", "N", "ATT_PARAM_TARGET_CU", "the compute unit. Default: 1")           \
STR(att_simd_select, 0, "att-simd-select", "MASK", "ATT_PARAM_SIMD_SELECT", "its SIMDs. Default: 0xF")       \
STR(att_buffer_size, 0, "att-buffer-size", "BYTES", "ATT_PARAM_BUFFER_SIZE", "of the trace. Default: 0x10000000") \
STR(att_shader_engine_mask, 0, "att-shader-engine-mask", "MASK", "ATT_PARAM_SHADER_ENGINE_MASK", "Default: 0x1") \
STR(att_gpu_index, 0, "att-gpu-index", "N,...", "ATT_PARAM_GPU_INDEX", "GPUs to trace. Default: all")      \
MANY(att_perfcounters, 0, "att-perfcounters", "NAME[:MASK]", NULL, "counters in the trace")                  \
STR(att_perfcounter_ctrl, 0, "att-perfcounter-ctrl", "N", "ATT_PARAM_PERFCOUNTER_CTRL", "how often they are read, 1 to 32") \
STR(att_activity, 0, "att-activity", "N", "", "a predefined set of activity counters, read at rate 1 to 16")      \
TRI(att_serialize_all, 0, "att-serialize-all", "ATT_PARAM_SERIALIZE_ALL", "run one kernel at a time, including kernels that are not traced") \
STR(att_consecutive_kernels, 0, "att-consecutive-kernels", "N", "ATT_CONSECUTIVE_KERNELS", "continue for the next N kernels") \
TRI(att_perfcounter_target_only, 0, "att-perfcounter-target-only", "ATT_PERFCOUNTER_TARGET_ONLY", "counters of the target compute unit only") \
TRI(att_no_intercept, 0, "att-no-intercept", "ATT_NO_INTERCEPT", "trace the device, not single dispatches")  \
TRI(att_no_detail, 0, "att-no-detail", "ATT_NO_DETAIL", "waves and counters without instructions")           \
STR(att_resource_mode, 0, "att-resource-mode", "MODE", "ATT_RESOURCE_MODE", NULL)                            \
GROUP("Software GPU")                                                                                        \
ONE(gpu_time, 0, "gpu-time", "KIND", "", rp_gpu_times, "times of kernels and copies: host, the time the host took to execute them (the default), or simulated, from the timing model. Counted kernels always have simulated times") \
GROUP("Perfetto and display")                                                                                \
STR(perfetto_trace_filename, 0, "perfetto-trace-filename", "NAME", "", "write the Perfetto trace to NAME in the output directory; implies -f pftrace. A second process of the program writes NAME_PID") \
ONE(perfetto_backend, 0, "perfetto-backend", "NAME", "PERFETTO_BACKEND", rp_backends, "inprocess (the default) or system; the trace is written by rocprofv3 in either case") \
STR(perfetto_buffer_size, 0, "perfetto-buffer-size", "KB", "PERFETTO_BUFFER_SIZE_KB", "recorded in the metadata; no such buffer is used") \
ONE(perfetto_buffer_fill_policy, 0, "perfetto-buffer-fill-policy", "POLICY", "PERFETTO_BUFFER_FILL_POLICY", rp_fill_policies, "discard or ring_buffer; recorded in the metadata") \
STR(perfetto_shmem_size_hint, 0, "perfetto-shmem-size-hint", "KB", "PERFETTO_SHMEM_SIZE_HINT_KB", "likewise") \
TRI(group_by_queue, 0, "group-by-queue", "GROUP_BY_QUEUE", "timelines per HSA queue instead of per HIP stream") \
ONE(agent_index, 'A', "agent-index", "KIND", "AGENT_INDEX", trc_agent_index_words, "absolute, relative (the default) or type-relative numbers of agents") \
STR(minimum_output_data, 0, "minimum-output-data", "KB", "", "write files only if there is at least this much data") \
TRI(list_avail, 'L', "list-avail", "", "list counters and PC sampling configurations; a program after -- is then run") \
GROUP("Processes")                                                                                           \
SETS(preload, 0, "preload", "LIB", "", NULL, "libraries to prepend to LD_PRELOAD")                 \
MANY(pid, 'p', "pid", "PID", NULL, "attach to a running process")                                            \
ALSO(many, pid, 0, "attach")                                                                                 \
STR(attach_duration_msec, 0, "attach-duration-msec", "N", "ATTACH_DURATION", "detach after N milliseconds. Default: on Enter") \
TRI(attach_children, 0, "attach-children", "ATTACH_CHILDREN", "also attach to its child processes")                       \
TRI(attach_sync_output, 0, "attach-sync-output", "ATTACH_OUTPUT_GENERATION_SYNC", NULL)                      \
TRI(process_sync, 0, "process-sync", "PROCESS_SYNC", "accepted: output is written when the program has ended") \
STR(profile_mpi_ranks, 0, "profile-mpi-ranks", "LIST", "MPI_RANKS", "profile these ranks only: 0-3,8; the others run without profiling") \
STR(mpi_world_rank_variable, 0, "mpi-world-rank-variable", "NAME", "", "name of name of name of the environment variable with the rank") \
STR(mpi_world_size_variable, 0, "mpi-world-size-variable", "NAME", "", "name of the environment variable with the number of ranks")  \
TRI(disable_signal_handlers, 0, "disable-signal-handlers", "", "accepted; no signal handlers are installed") \
GROUP("This tool")                                                                                           \
TRI(strict, 0, "strict", "STRICT", "exit with 3 if a requested service was not observed, or if records were lost") \
STR(recover, 0, "recover", "DIR", "", "write the output of an interrupted run from its captures in DIR") \
STR(wait_seconds, 0, "wait-seconds", "N", "WAIT_SECONDS", "wait this long for processes that the program leaves running. Default: 60; 0: do not wait") \
TRI(keep_captures, 0, "keep-captures", "KEEP_CAPTURES", "keep the captures")                    \
STR(capture_limit, 0, "capture-limit", "MB", "CAPTURE_LIMIT", "limit the size of the capture of a process") \
STR(rocm_root, 0, "rocm-root", "DIR", "", "accepted; no other ROCm tools are used")                          \
STR(sdk_soversion, 0, "sdk-soversion", "N", "", NULL)                                                        \
STR(sdk_version, 0, "sdk-version", "X.Y.Z", "", NULL)                                                        \
TRI(readlink, 0, "readlink", "", NULL)                                                                       \
TRI(realpath, 0, "realpath", "", NULL)                                                                       \
TRI(suppress_marker_preload, 0, "suppress-marker-preload", "", NULL)                                         \
TRI(echo, 0, "echo", "", NULL)                                                                               \
ONE(benchmark_mode, 0, "benchmark-mode", "MODE", "BENCHMARK_MODE", rp_benchmark_modes, NULL)                 \
FLAG(version, 'v', "version", "show the version and exit")
/* clang-format on */
