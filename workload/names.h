/*
 * names: the files of a profile folder and the columns in them, each written down once.
 *
 * Both are AMD's: other programs read these folders. Files of older versions of AMD's tool
 * have other column names, which csv.c translates into these.
 */
#ifndef WS_WORKLOAD_NAMES_H
#define WS_WORKLOAD_NAMES_H

/* ---- files ---- */
#define WL_FILE_SYSINFO "sysinfo.csv"            /* the machine */
#define WL_FILE_CONFIG "profiling_config.yaml"   /* the options of the profile */
#define WL_FILE_LOG "log.txt"                    /* what the profile printed */
#define WL_FILE_TIMESTAMPS "timestamps.csv"      /* dispatches without counters */
#define WL_FILE_MERGED "pmc_perf.csv"            /* all passes, joined */
#define WL_FILE_PEAKS "roofline.csv"             /* measured peaks */
#define WL_FILE_TOP_KERNELS "pmc_kernel_top.csv" /* left by analyze, as the next */
#define WL_FILE_DISPATCHES "pmc_dispatch_info.csv"

#define WL_DIR_PERFMON "perfmon"         /* inputs of the passes */
#define WL_DIR_RECORDED ".recorded"      /* captures of a run whose files could not be written */
#define WL_DIR_TORCH "torch_trace"       /* PyTorch operators */
#define WL_FILE_TORCH "consolidated.csv" /* in it */

/* A pass: pmc_perf_N.csv, or named after the level counter it is about. */
#define WL_MERGED_NAME "pmc_perf"
#define WL_PASS_PREFIX "pmc_perf_"
#define WL_LEVEL_PREFIX "SQ"
/* The same in the long form, one row per dispatch and counter. */
#define WL_LONG_PREFIX "results_"
#define WL_CSV ".csv"
#define WL_SAMPLES_PREFIX "ps_file" /* PC samples, as rocprofv3 -o names them */

/* ---- columns ---- */
#define WL_COL_DISPATCH "Dispatch_ID"
#define WL_COL_GPU "GPU_ID"
#define WL_COL_QUEUE "Queue_ID"
#define WL_COL_PID "PID"
#define WL_COL_TID "TID"
#define WL_COL_GRID "Grid_Size"
#define WL_COL_WORKGROUP "Workgroup_Size"
#define WL_COL_LDS "LDS_Per_Workgroup"
#define WL_COL_SCRATCH "Scratch_Per_Workitem"
#define WL_COL_ARCH_VGPR "Arch_VGPR"
#define WL_COL_ACCUM_VGPR "Accum_VGPR"
#define WL_COL_SGPR "SGPR"
#define WL_COL_WAVE_SIZE "Wave_Size"
#define WL_COL_KERNEL "Kernel_Name"
#define WL_COL_START "Start_Timestamp"
#define WL_COL_END "End_Timestamp"
#define WL_COL_CORRELATION "Correlation_ID"
#define WL_COL_KERNEL_ID "Kernel_ID"
/* of the long form */
#define WL_COL_COUNTER "Counter_Name"
#define WL_COL_VALUE "Counter_Value"
/* of PyTorch operators */
#define WL_COL_OPERATOR "Operator_Name"
#define WL_COL_CONTEXT "Context_Id"
#define WL_COL_START_KERNEL "Start_Timestamp_kernel"
#define WL_COL_END_KERNEL "End_Timestamp_kernel"
/* the accumulated level, in the file of a level counter */
#define WL_COL_ACCUM "SQ_ACCUM_PREV_HIRES"

#endif
