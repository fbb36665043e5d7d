/*
 * clock: whose clock the times of a database are of, and moving them to another one.
 *
 * Times are CLOCK_BOOTTIME of the machine that recorded them. Our own databases name its
 * clock. In those of AMD's tools, the name and the id of the machine stand for it, and
 * its CLOCK_REALTIME is not known.
 */
#ifndef WS_ROCPD_CLOCK_H
#define WS_ROCPD_CLOCK_H

#include "rocpd/rocpd.h"

struct rpd_clock {
	uint8_t id[16];             /* as cap_file_head.boot_id: the same one is the same clock */
	uint64_t init_ns;           /* of the process */
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME; 0 unknown */
};

/* Of a process: a row of rocpd_info_process. False: there is no such process. */
bool rpd_clock_find(sqlite3 *sql, const char *guid, int64_t process, struct rpd_clock *out_clock);

/* How many clocks the times of @files are of. */
enum ws_status rpd_clocks_count(const struct ws_strv *files, size_t *out_n, struct ws_err *err);

/* All times of a run in the database at @path, which is ours to write to. */
enum ws_status rpd_clock_move(const char *path, const char *guid, const struct trc_clock_line *line,
			      struct ws_err *err);

#endif
