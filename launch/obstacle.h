/*
 * obstacle: why the loader will not put a library of ours in front of a program.
 *
 * Threads  pure function of the file.
 */
#ifndef WS_LAUNCH_OBSTACLE_H
#define WS_LAUNCH_OBSTACLE_H

enum launch_obstacle {
	LAUNCH_OBSTACLE_NONE,       /* as far as the file shows; a script starts other files */
	LAUNCH_OBSTACLE_PRIVILEGES, /* set-user-ID or similar: the loader obeys no variables */
	LAUNCH_OBSTACLE_32_BIT,
	LAUNCH_OBSTACLE_STATIC, /* it names no loader */
	LAUNCH_N_OBSTACLES
};

enum launch_obstacle launch_obstacle_of(const char *path);

#endif
