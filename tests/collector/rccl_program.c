/* Calls each function that moves data, so that the totals say which one is wrong. */
#include <stddef.h>

#define TWO const void *, void *, size_t, int
int ncclSend(const void *, size_t, int, int, void *, void *);
int ncclRecv(void *, size_t, int, int, void *, void *);
int ncclBcast(void *, size_t, int, int, void *, void *);
int ncclAllGather(TWO, void *, void *);
int ncclAllToAll(TWO, void *, void *);
int ncclAllReduce(TWO, int, void *, void *);
int ncclReduceScatter(TWO, int, void *, void *);
int ncclReduce(TWO, int, int, void *, void *);
int ncclBroadcast(TWO, int, void *, void *);
int ncclGather(TWO, int, void *, void *);
int ncclScatter(TWO, int, void *, void *);

int main(void)
{
	enum { INT8 = 0, INT64 = 4, HALF = 6, FLOAT = 7 };
	char buffer[8] = "", comm[8] = "";
	int bad = 0;

	bad |= ncclSend(buffer, 1, INT8, 1, comm, NULL);                   /* 1, 0 */
	bad |= ncclRecv(buffer, 2, INT64, 1, comm, NULL);                  /* 0, 16 */
	bad |= ncclAllReduce(buffer, buffer, 10, FLOAT, 0, comm, NULL);    /* 40, 40 */
	bad |= ncclAllGather(buffer, buffer, 5, HALF, comm, NULL);         /* 10, 40 */
	bad |= ncclAllToAll(buffer, buffer, 25, INT8, comm, NULL);         /* 100, 100 */
	bad |= ncclReduceScatter(buffer, buffer, 3, FLOAT, 0, comm, NULL); /* 48, 12 */
	bad |= ncclReduce(buffer, buffer, 1000, INT8, 0, 0, comm, NULL);   /* 1000, 0 */
	bad |= ncclReduce(buffer, buffer, 2000, INT8, 0, 2, comm, NULL);   /* 2000, 2000 */
	bad |= ncclBroadcast(buffer, buffer, 10000, INT8, 2, comm, NULL);  /* 10000, 0 */
	bad |= ncclBcast(buffer, 20000, INT8, 1, comm, NULL);              /* 0, 20000 */
	bad |= ncclGather(buffer, buffer, 100000, INT8, 2, comm, NULL);    /* 100000, 400000 */
	bad |= ncclScatter(buffer, buffer, 1000000, INT8, 0, comm, NULL);  /* 0, 1000000 */
	/* what fails, and what is of no known type, moves nothing */
	bad |= !ncclSend(buffer, 1, INT8, 1, NULL, NULL);
	bad |= ncclSend(buffer, 1, 99, 1, comm, NULL);
	return bad ? 1 : 7;
}
