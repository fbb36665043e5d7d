/* uses_rccl: what a training program does with RCCL, once. */
#include <stdio.h>
#include <string.h>

struct unique_id {
	char internal[128];
};

int ncclGetVersion(int *version);
int ncclGetUniqueId(struct unique_id *id);
int ncclCommInitRank(void **comm, int n_ranks, struct unique_id id, int rank);
int ncclCommCount(const void *comm, int *count);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *send, void *recv, unsigned long count, int datatype, int op,
		  void *comm, void *stream);
int ncclCommDestroy(void *comm);
const char *ncclGetErrorString(int code);
int hipStreamCreate(void **stream);
int hipStreamDestroy(void *stream);
__attribute__((weak)) int ncclMemFree(void *ptr); /* not in this library */

int main(void)
{
	float send[4] = { 1, 2, 3, 4 }, recv[4] = { 0 };
	struct unique_id id;
	void *comm, *stream;
	int version, count, bad = 0;

	bad |= ncclGetVersion(&version) || version != 21805;
	bad |= ncclGetUniqueId(&id);
	bad |= ncclCommInitRank(&comm, 1, id, 1) != 4;
	bad |= ncclCommInitRank(&comm, 1, id, 0);
	bad |= ncclCommCount(comm, &count) || count != 1;
	bad |= hipStreamCreate(&stream);
	bad |= ncclGroupStart();
	bad |= ncclAllReduce(send, recv, 4, 7, 0, comm, stream);
	bad |= ncclGroupEnd();
	bad |= memcmp(send, recv, sizeof(send)) != 0;
	bad |= strcmp(ncclGetErrorString(3), "wrong") != 0;
	bad |= hipStreamDestroy(stream);
	bad |= ncclCommDestroy(comm);
	printf("ncclMemFree %d\n", ncclMemFree ? ncclMemFree(NULL) : -1);
	return bad;
}
