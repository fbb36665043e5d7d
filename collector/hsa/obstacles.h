/* obstacles: why a kernel is not repeated. The text completes "kernel 'NAME' was not repeated: ...". */
#ifndef WS_COLLECTOR_HSA_OBSTACLES_H
#define WS_COLLECTOR_HSA_OBSTACLES_H

// clang-format off
#define COL_OBSTACLE_TABLE(X)                                                                      \
	X(COL_OBSTACLE_COOPERATIVE,  "it was launched into a cooperative queue")                   \
	X(COL_OBSTACLE_CU_MASK,      "its queue is limited to some of the compute units")          \
	X(COL_OBSTACLE_ATTACHED,     "memory allocated before the attach is not known")            \
	X(COL_OBSTACLE_PAGEABLE,     "with XNACK it can write any memory of the host")             \
	X(COL_OBSTACLE_FINE_GRAINED, "the program has fine-grained memory on a GPU, which others can use while it runs") \
	X(COL_OBSTACLE_PROCESSES,    "the program shares memory with another process or device")   \
	X(COL_OBSTACLE_PEERS,        "several GPUs can write the memory that it can write")        \
	X(COL_OBSTACLE_TOO_MANY,     "the program has too many allocations")                       \
	X(COL_OBSTACLE_TOO_LARGE,    "the memory that it can write is larger than WAVESCOPE_REPLAY_MB allows") \
	X(COL_OBSTACLE_NO_MEMORY,    "there is no memory left to save what it can write")          \
	X(COL_OBSTACLE_POINTER,      "an argument points to memory of the runtime, such as a signal") \
	X(COL_OBSTACLE_ARGUMENTS,    "an argument points to memory that has the arguments of kernels") \
	X(COL_OBSTACLE_HOST,         "memory of the host changed while it ran")                    \
	X(COL_OBSTACLE_COPY_WAITS,   "a copy to its GPU was about to begin")               \
	X(COL_OBSTACLE_COPY_CAME,    "a copy to its GPU could not wait longer")                    \
	X(COL_OBSTACLE_FAILED,       "the runtime has no queue or memory for that, or the GPU is not one of gfx9")
// clang-format on

enum col_obstacle {
	COL_OBSTACLE_NONE,
#define COL_OBSTACLE_ID(id, text) id,
	COL_OBSTACLE_TABLE(COL_OBSTACLE_ID)
#undef COL_OBSTACLE_ID
		COL_OBSTACLES
};

#endif
