/* convert: what its two halves share. */
#ifndef WS_CMD_ROCPD_CONVERT_H
#define WS_CMD_ROCPD_CONVERT_H

#include "cmd/rocpd/rocpd.h"

struct convert_args {
	struct rpd_common common;
	struct ws_strv formats;
	const char *agent_index;
	const char *perfetto_backend, *perfetto_fill_policy;
	uint64_t perfetto_buffer_size, perfetto_shmem_size_hint;
	bool group_by_queue;
};

/* convert_csv.c: NAME_kernel_trace.csv and the like, from the views. */
enum ws_status rpd_convert_csv(struct rpd_db *db, const struct convert_args *args,
			       const char *prefix, struct ws_err *err);

/*
 * import.c: the joined databases as a capture of each of their processes, from which the
 * writers of rocprofv3 can work. Paths are temporary files; the caller removes them.
 */
enum ws_status rpd_import(struct rpd_db *db, const char *folder, struct ws_strv *out_paths,
			  struct ws_err *err);

#endif
