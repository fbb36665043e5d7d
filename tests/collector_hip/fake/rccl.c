/* fake_rccl: a librccl that does a collective with one rank, which is a copy on the stream. */
#include <stddef.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

struct unique_id {
	char internal[128];
};
struct comm {
	int n_ranks, rank;
};

int hipMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *stream);
static struct comm the_comm;

PUBLIC int ncclGetVersion(int *version)
{
	*version = 21805;
	return 0;
}

PUBLIC int ncclGetUniqueId(struct unique_id *id)
{
	memset(id, 0xab, sizeof(*id));
	return 0;
}

PUBLIC int ncclCommInitRank(struct comm **comm, int n_ranks, struct unique_id id, int rank)
{
	if (id.internal[127] != (char)0xab || rank >= n_ranks)
		return 4; /* ncclInvalidArgument */
	the_comm = (struct comm){ n_ranks, rank };
	*comm = &the_comm;
	return 0;
}

PUBLIC int ncclCommCount(const struct comm *comm, int *count)
{
	*count = comm->n_ranks;
	return 0;
}

PUBLIC int ncclGroupStart(void)
{
	return 0;
}

PUBLIC int ncclGroupEnd(void)
{
	return 0;
}

PUBLIC int ncclAllReduce(const void *send, void *recv, size_t count, int datatype, int op,
			 struct comm *comm, void *stream)
{
	return hipMemcpyAsync(recv, send, count * 4, 3, stream);
}

PUBLIC int ncclCommDestroy(struct comm *comm)
{
	return 0;
}

PUBLIC const char *ncclGetErrorString(int code)
{
	return code ? "wrong" : "no error";
}
