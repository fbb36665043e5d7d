#include "collector/rccl/bytes.h"

#include "base/util.h"
#include "collector/comm.h"
#include "collector/interpose/resolve.h"
#include "collector/provider.h"

#include <stddef.h>

/* ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, two of 8 bits */
static const uint8_t type_bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

enum { COMM_COUNT, COMM_USER_RANK, N_FUNCTIONS };
static const char *const symbols[N_FUNCTIONS] = { "ncclCommCount", "ncclCommUserRank" };
static const char *const libraries[] = { "librccl.so", "libnccl.so", NULL };
static void *functions[N_FUNCTIONS];
static struct col_api api = { functions, symbols, N_FUNCTIONS, libraries, NULL };

/* -1: RCCL cannot tell. */
static int of_comm(int row, void *comm)
{
	int (*fn)(const void *, int *);
	int value;

	*(void **)&fn = __atomic_load_n(&functions[row], __ATOMIC_RELAXED);
	if (!fn)
		*(void **)&fn = col_resolve(&api, (size_t)row);
	return fn && fn(comm, &value) == 0 ? value : -1;
}

void col_rccl_moved(int32_t ret, uint64_t count, int32_t type, int32_t root, void *comm,
		    uint32_t what)
{
	uint64_t n_bytes, n_ranks = 1;
	int n;

	if (ret || !col_on(COL_SERVICE_REGIONS) || type < 0 ||
	    (size_t)type >= WS_ARRAY_LEN(type_bytes))
		return;
	if (what & (COL_RCCL_SEND_ROOT | COL_RCCL_RECV_ROOT | COL_RCCL_RECV_OTHERS)) {
		bool is_root = of_comm(COMM_USER_RANK, comm) == root;

		if (what & (is_root ? COL_RCCL_RECV_OTHERS : COL_RCCL_RECV_ROOT))
			what &= ~COL_RCCL_RECV;
		if (!is_root && what & COL_RCCL_SEND_ROOT)
			what &= ~COL_RCCL_SEND;
	}
	if (what & (COL_RCCL_SEND_EACH | COL_RCCL_RECV_EACH)) {
		n = of_comm(COMM_COUNT, comm);
		n_ranks = n > 0 ? (uint64_t)n : 0;
	}
	n_bytes = count * type_bytes[type];
	if (what & COL_RCCL_SEND)
		col_comm_add(COL_COMM_RCCL_SEND,
			     n_bytes * (what & COL_RCCL_SEND_EACH ? n_ranks : 1));
	if (what & COL_RCCL_RECV)
		col_comm_add(COL_COMM_RCCL_RECV,
			     n_bytes * (what & COL_RCCL_RECV_EACH ? n_ranks : 1));
}
