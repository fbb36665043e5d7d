/*
 * live: files about the GPUs whose content changes: sensors, clocks, memory in use, processes.
 *
 * A file of sysfs has its content when it is read. These are ordinary files in the machine's folder
 * (sysfs.h), so they are written again, each by renaming a complete one, when a program names
 * one. What they say comes from the pages of all processes of the user (device/board.h): the memory in use
 * is exact, the load is measured, and power, temperature and clocks follow from the load and the
 * board's limits. docs/kernel-driver.md has the formulas.
 *
 * Threads  any.
 */
#ifndef WS_SOFTGPU_KFD_LIVE_H
#define WS_SOFTGPU_KFD_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_board_use;
struct sg_gpu;
struct sg_topology;

#define SG_LIVE_BYTES 512u /* the longest content */

/* The driver shows the sensors of a GPU of several dies differently: no edge, and the power of now. */
enum sg_live_boards { SG_LIVE_ALL, SG_LIVE_ONE_DIE, SG_LIVE_DIES };

struct sg_live_file {
	enum sg_live_boards boards; /* that have this file */
	const char *label; /* of a sensor, which is in the folder hwmon; NULL: of the device */
	const char *name;
	size_t (*write)(const struct sg_gpu *gpu, const struct sg_board_use *use, uint32_t which,
			char out[SG_LIVE_BYTES]); /* returns the size */
	uint32_t which;                           /* of several sensors */
};

extern const struct sg_live_file sg_live_files[];
extern const uint32_t sg_live_n_files;

bool sg_live_has(const struct sg_live_file *file, const struct sg_gpu *gpu);

/* One of enum sg_drm_sensor. False: there is no such sensor. */
bool sg_live_sensor(const struct sg_gpu *gpu, const struct sg_board_use *use, uint32_t which,
		    uint32_t *out);

/* Whether a path of the program ends in one of these files or leads to the list of processes. */
bool sg_live_is_one(const char *path);
/* Writes it: the path is the program's, with the machine's folder in front. */
void sg_live_refresh(const char *folder, const struct sg_topology *topology, const char *path);

#endif
