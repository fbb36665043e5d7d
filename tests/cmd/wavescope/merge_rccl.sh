#!/bin/sh
# Two ranks with two clocks, which share nothing but RCCL: a time namespace has a CLOCK_BOOTTIME of its
# own, and by how much it differs is known. The RCCL is a stand-in, whose collectives are two kernels
# with a barrier between them: no rank's second kernel begins before the first of all has ended.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
HOME=$work
export HOME
unshare -T --boottime 100000 true 2>/dev/null || skip "no permission for a time namespace"
needs_hip_library() { printf 'int hipInit(unsigned);int main(void){return hipInit(0)==99;}\n' >have.c && cc have.c -o have -lamdhip64 2>/dev/null; }
needs_hip_library || skip "no libamdhip64 to link with"

cat >nccl.h <<'END'
#include <stddef.h>
typedef struct { char internal[128]; } ncclUniqueId;
typedef struct comm *ncclComm_t;
int ncclCommInitRank(ncclComm_t *comm, int n_ranks, ncclUniqueId id, int rank);
int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made, void *config);
int ncclCommCount(const ncclComm_t comm, int *count);
int ncclCommUserRank(const ncclComm_t comm, int *rank);
int ncclCommDestroy(ncclComm_t comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, ncclComm_t comm, void *stream);
int hipMalloc(void **at, size_t n);
int hipMemsetAsync(void *at, int value, size_t n, void *stream);
int hipStreamSynchronize(void *stream);
END
cat >rccl.c <<'END'
#include "nccl.h"
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Counts how often each rank has entered; in a file, because the ranks are processes. */
struct shared { volatile int entered[2]; };
struct comm { int rank, n_ranks; struct shared *shared; };
static int group, n_pending;
static struct comm *pending;

static void wait_for_all(struct comm *comm)
{
	int mine = __atomic_add_fetch(&comm->shared->entered[comm->rank], 1, __ATOMIC_SEQ_CST);

	for (int i = 0; i < comm->n_ranks; i++)
		while (__atomic_load_n(&comm->shared->entered[i], __ATOMIC_SEQ_CST) < mine)
			sched_yield();
}

int ncclCommInitRank(ncclComm_t *comm, int n_ranks, ncclUniqueId id, int rank)
{
	int fd = open(id.internal, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	*comm = malloc(sizeof(**comm));
	(*comm)->rank = rank;
	(*comm)->n_ranks = n_ranks;
	(*comm)->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	wait_for_all(*comm);
	return 0;
}

int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made, void *config)
{
	*made = malloc(sizeof(**made));
	**made = *comm;
	(void)color, (void)key, (void)config;
	wait_for_all(comm);
	return 0;
}

int ncclCommCount(const ncclComm_t comm, int *count) { *count = comm->n_ranks; return 0; }
int ncclCommUserRank(const ncclComm_t comm, int *rank) { *rank = comm->rank; return 0; }
int ncclCommDestroy(ncclComm_t comm) { free(comm); return 0; }
int ncclGroupStart(void) { group++; return 0; }

static int reduce(struct comm *comm)
{
	static void *memory;

	if (!memory && hipMalloc(&memory, 4096))
		return 1;
	if (hipMemsetAsync(memory, 1, 4096, NULL) || hipStreamSynchronize(NULL))
		return 1;
	wait_for_all(comm);
	return hipMemsetAsync(memory, 2, 4096, NULL) || hipStreamSynchronize(NULL);
}

int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, ncclComm_t comm, void *stream)
{
	(void)send, (void)recv, (void)type, (void)op, (void)stream;
	if (!group)
		return count ? reduce(comm) : 0;
	pending = comm;
	n_pending++;
	return 0;
}

int ncclGroupEnd(void)
{
	struct comm *comm = pending;

	if (--group || !n_pending)
		return 0;
	n_pending = 0;
	return reduce(comm); /* one launch for all of them, as RCCL does */
}
END
cat >program.c <<'END'
#include "nccl.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank = atoi(getenv("RANK")), bad = 0;
	ncclUniqueId id = { { 0 } };
	ncclComm_t comm, half;
	void *memory;

	snprintf(id.internal, sizeof(id.internal), "%s", argv[1]);
	/* Which of the processes has started HIP first is chance, and no wait of a collective. */
	bad |= hipMalloc(&memory, 4096) || hipMemsetAsync(memory, 0, 4096, NULL) || hipStreamSynchronize(NULL);
	for (int i = 0; i < 2; i++) {
		char here[200];

		snprintf(here, sizeof(here), "%s.%d", argv[1], i == 0 ? rank : !rank);
		if (i == 0)
			bad |= close(creat(here, 0600)) != 0;
		while (access(here, F_OK))
			usleep(100);
	}
	bad |= ncclCommInitRank(&comm, 2, id, rank);
	bad |= ncclCommSplit(comm, 3, rank, &half, NULL);
	for (int i = 0; argc < 3 && i < 10; i++) {
		if (rank == 1)
			usleep(30000); /* much, beside what other load costs */
		bad |= ncclAllReduce(NULL, NULL, 8, 7, 0, comm, NULL);
		bad |= ncclAllReduce(NULL, NULL, 0, 7, 0, comm, NULL); /* of nothing */
		bad |= ncclGroupStart();
		bad |= ncclAllReduce(NULL, NULL, 8, 7, 0, half, NULL);
		bad |= ncclAllReduce(NULL, NULL, 8, 7, 0, half, NULL);
		bad |= ncclGroupEnd();
	}
	bad |= ncclCommDestroy(half) || ncclCommDestroy(comm);
	return bad;
}
END
cc -shared -fPIC rccl.c -o librccl.so.1 -Wl,-soname,librccl.so.1 -lamdhip64
cc program.c -o program ./librccl.so.1 "-Wl,-rpath,$work" -lamdhip64

job() { # FOLDER OPTION... -- PROGRAM...: rank 1 has another clock
	folder=$1
	shift
	RANK=0 WORLD_SIZE=2 rocprofv3 --keep-captures -d "$folder" "$@" >"$folder.0" 2>&1 &
	first=$!
	RANK=1 WORLD_SIZE=2 unshare -T --boottime 100000 \
		"$(command -v rocprofv3)" --keep-captures -d "$folder" "$@" >"$folder.1" 2>&1 || fail "rank 1: $(cat "$folder.1")"
	wait $first || fail "rank 0: $(cat "$folder.0")"
}

job out --rccl-trace --kernel-trace -- ./program "$work/first"
run wavescope merge out -o merged
rc_is 0
err_is_empty
"$PYTHON" - <<'END' || fail "values: $(cat merged_ranks.json)"
import json
data = json.load(open("merged_ranks.json"))
second = data["nodes"][1]
# ncclCommInitRank, ncclCommSplit, and of each step one in the communicator and two in the group
assert second["clock"] == "collectives" and second["collectives"] == 2 + 10 * 3, second
error = second["offset_ns"] + 100000 * 10**9
assert abs(error) <= second["uncertainty_ns"] < 20e6, (error, second)
rows = {row["name"]: row for row in data["imbalance"] if row["kind"] == "collective"}
assert sorted(rows) == ["ncclAllReduce", "ncclCommInitRank", "ncclCommSplit"], rows
row = rows["ncclAllReduce"]
assert row["comm_ranks"] == 2 and row["calls"] == 2 * 30, row
# rank 1 sleeps for 30 ms in each step; on a busy machine it waits for rank 0, too
assert row["by_rank"][0]["wait_ns"] > 10e6, row
assert data["unmatched_calls"] == 0, data
END

# The finding has the same numbers: rank 1 is late, and waits less than rank 0.
run wavescope advise out --json --min-gain 0
rc_is 0
"$PYTHON" - "$out" <<'END' || fail "findings: $(cat "$out")"
import json, sys
found = {f["id"]: f for f in json.load(open(sys.argv[1]))["findings"]}["collective_waits"]
value = {v["name"]: v["value"] for v in found["subjects"][0]["evidence"]}
assert value["Collectives of all ranks"] == 2 * (2 + 30), value
assert value["Rank that waits most"] > 10e6, value
END

# Without kernels the calls tell nothing about when a collective ended; making the communicators does.
job calls --rccl-trace -- ./program "$work/second"
run wavescope merge calls -o calls
rc_is 0
"$PYTHON" - <<'END' || fail "values: $(cat calls_ranks.json)"
import json
second = json.load(open("calls_ranks.json"))["nodes"][1]
assert second["collectives"] == 2, second
assert abs(second["offset_ns"] + 100000 * 10**9) <= second["uncertainty_ns"] < 50e6, second
END
