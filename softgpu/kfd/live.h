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

struct sg_live_file {
	bool in_hwmon; /* or in the device's folder */
	const char *name;
	size_t (*write)(const struct sg_gpu *gpu, const struct sg_board_use *use, uint32_t which,
			char out[SG_LIVE_BYTES]); /* returns the size */
	uint32_t which;                           /* of several sensors */
};

extern const struct sg_live_file sg_live_files[];
extern const uint32_t sg_live_n_files;

/* The names of the sensors: temp1_label and so on; NULL: there are no more. */
const char *sg_live_temperature(uint32_t which);

/* One of enum sg_drm_sensor. False: there is no such sensor. */
bool sg_live_sensor(const struct sg_gpu *gpu, const struct sg_board_use *use, uint32_t which,
		    uint32_t *out);

/* Whether a path of the program ends in one of these files or leads to the list of processes. */
bool sg_live_is_one(const char *path);
/* Writes it: the path is the program's, with the machine's folder in front. */
void sg_live_refresh(const char *folder, const struct sg_topology *topology, const char *path);

#endif
