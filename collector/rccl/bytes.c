#include "collector/rccl/bytes.h"

#include "base/util.h"
#include "collector/comm.h"
#include "collector/provider.h"
#include "collector/rccl/comms.h"

#include <stddef.h>

/* ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, two of 8 bits */
static const uint8_t type_bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

void col_rccl_moved(int32_t ret, uint64_t count, int32_t type, int32_t root, void *comm,
		    uint32_t what)
{
	uint64_t n_bytes, n_ranks = 1;
	int32_t n;

	if (ret || !col_on(COL_SERVICE_REGIONS) || type < 0 ||
	    (size_t)type >= WS_ARRAY_LEN(type_bytes))
		return;
	if (what & (COL_RCCL_SEND_ROOT | COL_RCCL_RECV_ROOT | COL_RCCL_RECV_OTHERS)) {
		bool is_root = col_rccl_comm_rank(comm) == root;

		if (what & (is_root ? COL_RCCL_RECV_OTHERS : COL_RCCL_RECV_ROOT))
			what &= ~COL_RCCL_RECV;
		if (!is_root && what & COL_RCCL_SEND_ROOT)
			what &= ~COL_RCCL_SEND;
	}
	if (what & (COL_RCCL_SEND_EACH | COL_RCCL_RECV_EACH)) {
		n = col_rccl_comm_count(comm);
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
