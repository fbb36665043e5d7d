/*
 * sysfs: the files in which the kernel describes the GPUs, as a folder of ordinary files.
 *
 * The folder has the same layout below it as the system has below /: FOLDER/sys/class/drm/card0.
 * It is private to the user, depends on the machine's description alone, and is shared by all
 * processes with the same one. Who needs it first makes it, in $XDG_RUNTIME_DIR, /dev/shm or
 * /tmp.
 *
 * Threads  any.
 */
#ifndef WS_SOFTGPU_KFD_SYSFS_H
#define WS_SOFTGPU_KFD_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_topology;

#define SG_SYSFS_PATH 4096u

/* The files, in memory: "path\0type\0text\0" one after another. Type 'f' is a file, 'x' one of the
 * bytes whose hexadecimal digits are `text`, 'l' a link to `text`, 'd' an empty folder. */
struct sg_sysfs {
	char *bytes;
	size_t n, max;
	bool failed; /* out of memory */
};

void sg_sysfs_describe(struct sg_sysfs *tree, const struct sg_topology *topology);
/* A PCI device of the system, listed among the GPUs; one with the address of a GPU is left out. */
void sg_sysfs_add_pci(struct sg_sysfs *tree, const struct sg_topology *topology, const char *name);
void sg_sysfs_fini(struct sg_sysfs *tree);

/* The text of one file; NULL: there is no such file. path: "sys/module/amdgpu/version". */
const char *sg_sysfs_text(const struct sg_sysfs *tree, const char *path);

/* Where the folder is; makes it if there is none. False: a message has been logged. */
bool sg_sysfs_folder(const struct sg_sysfs *tree, char out_folder[SG_SYSFS_PATH]);

#endif
