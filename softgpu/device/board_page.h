/*
 * board_page: what a process on the software GPU shows other processes of it.
 *
 * A driver knows the memory in use and the load of all processes; the software GPUs of two processes know
 * nothing of each other. So each process has a page in a folder of its user, SG_BOARD_FOLDER followed by the user
 * id, in a file named after its process id. A reader adds up the pages of the processes that are running.
 * Nobody waits for anybody, and a page whose process has ended is removed by the next one that opens a
 * GPU. Node n of the topology is element n - 1.
 *
 * The folder is owned by the user and closed to others; a reader checks that, and the size of a page.
 */
#ifndef WS_SOFTGPU_DEVICE_BOARD_PAGE_H
#define WS_SOFTGPU_DEVICE_BOARD_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define SG_BOARD_FOLDER "/dev/shm/wavescope-gpus-"
#define SG_BOARD_MAGIC 0x42475357u /* "WSGB" */
#define SG_BOARD_VERSION 3u
#define SG_BOARD_GPUS 16u

/*
 * The load of a GPU, as means in which the past counts less the longer ago it is: `recent` is what
 * tools show as busy, `lasting` is what heats a board. Both are parts of SG_BOARD_WHOLE at the time
 * at_ns; the GPU has been running, or idle, since then. turn is odd while they change.
 */
struct sg_board_load {
	_Atomic uint32_t turn, is_running;
	_Atomic uint32_t recent, lasting;
	_Atomic uint64_t at_ns; /* CLOCK_BOOTTIME */
};

#define SG_BOARD_WHOLE 1000000u
#define SG_BOARD_RECENT_NS 100000000.0 /* so much time and it counts 1/e */
#define SG_BOARD_LASTING_NS 10000000000.0

struct sg_board_page {
	uint32_t magic, version;
	uint32_t pid, n_gpus;
	uint64_t pid_space;   /* inode of /proc/self/ns/pid: a pid means a process in it only */
	uint64_t start_ticks; /* of the process, field 22 of /proc/PID/stat: pids are used again */
	uint64_t memory_bytes[SG_BOARD_GPUS];
	_Atomic uint64_t used_bytes[SG_BOARD_GPUS];
	/* Time in which a kernel was running, until since_ns; since_ns: CLOCK_BOOTTIME, 0 while none is. */
	_Atomic uint64_t busy_ns[SG_BOARD_GPUS], since_ns[SG_BOARD_GPUS];
	struct sg_board_load load[SG_BOARD_GPUS];
	_Atomic uint32_t n_queues[SG_BOARD_GPUS];
};

#endif
