/*
 * wrap: calls of MPI as regions of category mpi, the bytes they move as metrics, and collective
 * operations with their communicator.
 *
 * The library is preloaded. The MPI that a program uses is found at the first call
 * (interpose/resolve.h); table.h says why the same wrappers are right for any MPI.
 *
 * Counts are those of the arguments: a receive counts the size of its buffer. Persistent requests
 * and operations whose counts are arrays are regions without bytes.
 */
#include "base/util.h"
#include "collector/comm.h"
#include "collector/interpose/resolve.h"
#include "collector/mpi/comms.h"
#include "collector/mpi/table.h"
#include "collector/regions.h"

#include <stdbool.h>
#include <string.h>

#define MPI_FAILED 15 /* MPI_ERR_OTHER of MPICH; any number but 0 will do */

/* ---- the functions ---- */

enum row {
#define C_INDEX(name, n, ...) ROW_##name,
	COL_MPI_TABLE(C_INDEX)
#undef C_INDEX
		ROW_C_COUNT,
	/* called, not wrapped */
	ROW_MPI_Type_size = ROW_C_COUNT,
#define FORTRAN_INDEX(name, c_name, n) ROW_##name,
	COL_MPI_FORTRAN_TABLE(FORTRAN_INDEX)
#undef FORTRAN_INDEX
		ROW_mpi_type_size_,
	ROW_COUNT
};

static const char *const symbols[ROW_COUNT] = {
#define C_SYMBOL(name, n, ...) [ROW_##name] = #name,
	COL_MPI_TABLE(C_SYMBOL)
#undef C_SYMBOL
#define FORTRAN_SYMBOL(name, c_name, n) [ROW_##name] = #name,
		COL_MPI_FORTRAN_TABLE(FORTRAN_SYMBOL)
#undef FORTRAN_SYMBOL
			[ROW_MPI_Type_size] = "MPI_Type_size",
	[ROW_mpi_type_size_] = "mpi_type_size_",
};

static const struct col_mpi_moves all_moves[ROW_C_COUNT] = {
#define C_MOVES(name, n, ...) [ROW_##name] = __VA_ARGS__,
	COL_MPI_TABLE(C_MOVES)
#undef C_MOVES
};

/* What a function does with communicators, by which of its arguments. */
static const struct share {
	bool shared, makes, frees;
	int8_t comm, root; /* root -1: none */
} shares[ROW_C_COUNT] = {
#define C_SHARED(name, comm, root) [ROW_##name] = { true, false, false, comm, root },
	COL_MPI_SHARED_TABLE(C_SHARED)
#undef C_SHARED
#define C_MAKES(name, comm) [ROW_##name] = { false, true, false, comm, -1 },
		COL_MPI_MAKES_TABLE(C_MAKES)
#undef C_MAKES
#define C_FREES(name, comm) [ROW_##name] = { false, false, true, comm, -1 },
			COL_MPI_FREES_TABLE(C_FREES)
#undef C_FREES
};

#define BASE_ROWS (ROW_MPI_Comm_size + 1)

/* The libraries of Fortran functions first: they depend on the others, which are then found, too. */
const char *const col_mpi_libraries[] = { "libmpi_mpifh.so",
					  "libmpichfort.so",
					  "libmpifort.so",
					  "libmpi.so",
					  "libmpich.so",
					  "libmpi",
					  NULL };
static void *functions[ROW_COUNT];
static uint32_t regions[ROW_C_COUNT];
static struct col_api api = { functions, symbols, ROW_COUNT, col_mpi_libraries, NULL };

static void *real_of(enum row row)
{
	void *fn = __atomic_load_n(&functions[row], __ATOMIC_RELAXED);

	return fn ? fn : col_resolve(&api, row);
}

/* ---- bytes ---- */

/* The call's arguments: values, or the addresses of values. */
struct call {
	const uintptr_t *args;
	bool fortran;
};

static int integer(const struct call *call, int at)
{
	return call->fortran ? *(const int *)call->args[at] : (int)call->args[at];
}

static int type_bytes(const struct call *call, int at)
{
	int size = 0, error = 0;
	void *fn = real_of(call->fortran ? ROW_mpi_type_size_ : ROW_MPI_Type_size);

	if (!fn)
		return 0;
	if (call->fortran)
		((void (*)(uintptr_t, int *, int *))fn)(call->args[at], &size, &error);
	else
		error = ((int (*)(uintptr_t, int *))fn)(call->args[at], &size);
	return error ? 0 : size;
}

/* Of the communicator: the number of its ranks, or our rank. */
static int of_comm(const struct call *call, int at, enum row c_row, enum row fortran_row)
{
	int value = -1, error = 0;
	void *fn = real_of(call->fortran ? fortran_row : c_row);

	if (!fn)
		return -1;
	if (call->fortran)
		((void (*)(uintptr_t, int *, int *))fn)(call->args[at], &value, &error);
	else
		error = ((int (*)(uintptr_t, int *))fn)(call->args[at], &value);
	return error ? -1 : value;
}

static void add(const struct call *call, enum col_comm what, int count_at, int type_at, int times)
{
	int count = integer(call, count_at), size = type_bytes(call, type_at);

	if (count > 0 && size > 0 && times > 0)
		col_comm_add(what, (uint64_t)count * (uint64_t)size * (uint64_t)times);
}

static void count_bytes(const struct col_mpi_moves *m, const struct call *call)
{
	bool sends = m->send_count >= 0, receives = m->recv_count >= 0, is_root = false;
	int n_ranks = 1;

	if (m->root >= 0) {
		is_root = of_comm(call, m->comm, ROW_MPI_Comm_rank, ROW_mpi_comm_rank_) ==
			  integer(call, m->root);
		sends &= is_root || !(m->flags & COL_MPI_SEND_ROOT);
		receives &= is_root ? !(m->flags & COL_MPI_RECV_OTHERS)
				    : !(m->flags & COL_MPI_RECV_ROOT);
	}
	if (m->flags & (COL_MPI_SEND_EACH | COL_MPI_RECV_EACH))
		n_ranks = of_comm(call, m->comm, ROW_MPI_Comm_size, ROW_mpi_comm_size_);
	if (sends)
		add(call, COL_COMM_MPI_SEND, m->send_count, m->send_type,
		    m->flags & COL_MPI_SEND_EACH ? n_ranks : 1);
	if (receives)
		add(call, COL_COMM_MPI_RECV, m->recv_count, m->recv_type,
		    m->flags & COL_MPI_RECV_EACH ? n_ranks : 1);
}

/* ---- regions ---- */

/* MPI's own calls are part of the program's: Fortran functions may call those of C. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

#define N_CLOCK_BARRIERS 32

/*
 * Barriers of our own, when the user asks for them: a rank leaves none before all have entered, so they
 * tell how far the clocks of two nodes are apart. MPI_COMM_WORLD is free at both ends of the program.
 */
static void exchange_clocks(void)
{
	static uint32_t region;
	int (*barrier)(uintptr_t comm);

	*(void **)&barrier = real_of(ROW_MPI_Barrier);
	if (!barrier || !(col_config()->flags & COL_COLLECT_FLAG(MPI_CLOCKS)))
		return;
	if (!region)
		region = col_region_intern(CAP_REGION_MPI, CAP_CLOCK_EXCHANGE, NULL, 0);
	col_region_enter(region);
	for (int i = 0; i < N_CLOCK_BARRIERS; i++) {
		struct cap_rec_collective rec = { .h.what = region, .root = -1 };
		uintptr_t world = col_mpi_comm_world();

		if (!world || !col_mpi_comm_next(world, &rec))
			break;
		rec.h.time = cap_ticks();
		if (barrier(world) != 0)
			break;
		rec.end_ticks = cap_ticks();
		if (col_on(COL_SERVICE_REGIONS))
			col_comm_collective(&rec);
	}
	col_region_leave(region);
}

struct begun {
	bool outermost;
	uint32_t region;                      /* 0: not recorded */
	struct cap_rec_collective collective; /* comm 0: it is none, or cannot be matched */
};

/* Collectives are numbered also while nothing is recorded: all ranks have to agree. */
static void number(const struct share *share, const struct call *call,
		   struct cap_rec_collective *out)
{
	if (!col_mpi_comm_next(col_mpi_comm_of(call->args[share->comm], call->fortran), out))
		return;
	out->root = share->root < 0 ? -1 : integer(call, share->root);
}

static struct begun begin(enum row row, const struct call *call)
{
	const struct share *share = &shares[row];
	struct begun begun = { .region = 0 };

	if (inside || (row >= BASE_ROWS && !(col_config()->flags & COL_COLLECT_FLAG(MPI))))
		return begun;
	inside = begun.outermost = true;
	if (row == ROW_MPI_Finalize)
		exchange_clocks();
	if (share->shared)
		number(share, call, &begun.collective);
	else if (share->frees)
		col_mpi_comm_gone(col_mpi_comm_at(call->args[share->comm], call->fortran));
	if (!col_on(COL_SERVICE_REGIONS))
		return begun;
	begun.region = __atomic_load_n(&regions[row], __ATOMIC_RELAXED);
	if (!begun.region) {
		begun.region = col_region_intern(CAP_REGION_MPI, symbols[row], NULL, 0);
		__atomic_store_n(&regions[row], begun.region, __ATOMIC_RELAXED);
	}
	if (begun.region)
		col_region_enter(begun.region);
	begun.collective.h.time = cap_ticks();
	return begun;
}

static void end(enum row row, struct begun *begun, const struct call *call, bool succeeded)
{
	uint64_t now = cap_ticks();

	if (!begun->outermost)
		return;
	if (succeeded && (row == ROW_MPI_Init || row == ROW_MPI_Init_thread))
		col_mpi_comms_start();
	if (succeeded && shares[row].makes)
		col_mpi_comm_made(col_mpi_comm_at(call->args[shares[row].comm], call->fortran));
	if (begun->region && succeeded && begun->collective.comm) {
		begun->collective.h.what = begun->region;
		begun->collective.end_ticks = now;
		col_comm_collective(&begun->collective);
	}
	if (begun->region && succeeded &&
	    (all_moves[row].send_count >= 0 || all_moves[row].recv_count >= 0))
		count_bytes(&all_moves[row], call);
	if (begun->region)
		col_region_leave(begun->region);
	if (succeeded && (row == ROW_MPI_Init || row == ROW_MPI_Init_thread))
		exchange_clocks();
	inside = false;
}

/* ---- wrappers ---- */

/* clang-format off */
#define P(i) uintptr_t a##i
#define PARAMS_0 void
#define PARAMS_1 P(0)
#define PARAMS_2 PARAMS_1, P(1)
#define PARAMS_3 PARAMS_2, P(2)
#define PARAMS_4 PARAMS_3, P(3)
#define PARAMS_5 PARAMS_4, P(4)
#define PARAMS_6 PARAMS_5, P(5)
#define PARAMS_7 PARAMS_6, P(6)
#define PARAMS_8 PARAMS_7, P(7)
#define PARAMS_9 PARAMS_8, P(8)
#define PARAMS_10 PARAMS_9, P(9)
#define PARAMS_11 PARAMS_10, P(10)
#define PARAMS_12 PARAMS_11, P(11)
#define PARAMS_13 PARAMS_12, P(12)
#define ARGS_0
#define ARGS_1 a0
#define ARGS_2 ARGS_1, a1
#define ARGS_3 ARGS_2, a2
#define ARGS_4 ARGS_3, a3
#define ARGS_5 ARGS_4, a4
#define ARGS_6 ARGS_5, a5
#define ARGS_7 ARGS_6, a6
#define ARGS_8 ARGS_7, a7
#define ARGS_9 ARGS_8, a8
#define ARGS_10 ARGS_9, a9
#define ARGS_11 ARGS_10, a10
#define ARGS_12 ARGS_11, a11
#define ARGS_13 ARGS_12, a12
#define LIST_0 0
#define LIST_1 ARGS_1
#define LIST_2 ARGS_2
#define LIST_3 ARGS_3
#define LIST_4 ARGS_4
#define LIST_5 ARGS_5
#define LIST_6 ARGS_6
#define LIST_7 ARGS_7
#define LIST_8 ARGS_8
#define LIST_9 ARGS_9
#define LIST_10 ARGS_10
#define LIST_11 ARGS_11
#define LIST_12 ARGS_12
#define LIST_13 ARGS_13
/* clang-format on */

#define C_WRAPPER(name, n, ...)                                                                    \
	WS_PUBLIC int name(PARAMS_##n);                                                            \
	int name(PARAMS_##n)                                                                       \
	{                                                                                          \
		int (*real)(PARAMS_##n);                                                           \
		const uintptr_t list[] = { LIST_##n };                                             \
		const struct call call = { list, false };                                          \
		struct begun begun;                                                                \
		int status;                                                                        \
                                                                                                   \
		*(void **)&real = real_of(ROW_##name);                                             \
		if (!real)                                                                         \
			return MPI_FAILED;                                                         \
		begun = begin(ROW_##name, &call);                                                  \
		status = real(ARGS_##n);                                                           \
		end(ROW_##name, &begun, &call, status == 0);                                       \
		return status;                                                                     \
	}
COL_MPI_TABLE(C_WRAPPER)
#undef C_WRAPPER

/* One more argument: the address of the error. */
#define PLUS_0 1
#define PLUS_1 2
#define PLUS_2 3
#define PLUS_3 4
#define PLUS_4 5
#define PLUS_5 6
#define PLUS_6 7
#define PLUS_7 8
#define PLUS_8 9
#define PLUS_9 10
#define PLUS_12 13
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define FORTRAN_WRAPPER(name, c_name, n)                                                           \
	WS_PUBLIC void name(JOIN(PARAMS_, PLUS_##n));                                              \
	void name(JOIN(PARAMS_, PLUS_##n))                                                         \
	{                                                                                          \
		void (*real)(JOIN(PARAMS_, PLUS_##n));                                             \
		const uintptr_t list[] = { JOIN(LIST_, PLUS_##n) };                                \
		const struct call call = { list, true };                                           \
		int *error = (int *)a##n;                                                          \
		struct begun begun;                                                                \
                                                                                                   \
		*(void **)&real = real_of(ROW_##name);                                             \
		if (!real) {                                                                       \
			*error = MPI_FAILED;                                                       \
			return;                                                                    \
		}                                                                                  \
		begun = begin(ROW_##c_name, &call);                                                \
		real(JOIN(ARGS_, PLUS_##n));                                                       \
		end(ROW_##c_name, &begun, &call, *error == 0);                                     \
	}
COL_MPI_FORTRAN_TABLE(FORTRAN_WRAPPER)
#undef FORTRAN_WRAPPER
