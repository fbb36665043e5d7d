/*
 * turns: kernels one at a time on a GPU, with packets around them that count.
 *
 * Hardware has one set of counters per GPU. While they count for a kernel, no other kernel may run there,
 * counted or not, and they can be read only when it has ended. So a dispatch of the program becomes several
 * packets of its queue, all with the barrier bit:
 *
 *	barrier      completes `arrived`: the queue has come to this dispatch
 *	barrier      waits for `granted`: no other kernel of the GPU runs
 *	start        aqlprofile's packets, if it is counted
 *	the kernel   with a signal of ours, which gets its times
 *	read, stop   or, if it is not counted, another barrier; the last one completes `ended`
 *
 * A handler on ROCr's own thread grants turns in the order of arrival, not of submission: a kernel that waits
 * for one of another queue does not keep that one from its turn. When `ended` has fallen, the same thread
 * reads the values, writes the record, lets the program see the completion, and grants the next turn.
 *
 * A kernel that is counted with several sets has its turn in another queue (replay.h): the program's has the two
 * barriers only, and the second one completes `ended` when all passes have run.
 *
 * A kernel that needs another one to run at the same time does not end, as under AMD's own tools.
 *
 * Threads  take, emit: the thread that submits, for one queue at a time; they take no lock of ours, unless kernels are
 *          replayed, but ROCr's.
 * Failure  no place, or no signal: the dispatch is passed on as it is, and counted as dropped.
 */
#ifndef WS_COLLECTOR_HSA_TURNS_H
#define WS_COLLECTOR_HSA_TURNS_H

#include "collector/hsa/queue_priv.h"

#define COL_TURN_PACKETS 6u /* at most, that a dispatch becomes */

struct col_turn;

/*
 * A place for the dispatch. With @p, which is filled but for its signal, the packet gets a signal of ours, and
 * @p is finished when the turn ends. NULL: there is none.
 */
struct col_turn *col_turn_take(struct col_queue *queue, struct col_pending *p,
			       hsa_kernel_dispatch_packet_t *packet);
/* The packets of the turn; returns how many. They must be submitted. */
uint32_t col_turn_emit(struct col_turn *turn, const hsa_kernel_dispatch_packet_t *packet,
		       union col_packet to[COL_TURN_PACKETS]);

/*
 * Whether the calling thread is ROCr's that gives turns, which must not wait for one. It submits, too: ROCr goes on there
 * with packets of a queue that was full.
 */
bool col_turns_handles(void);

/*
 * For copies of the program that wait (ranges.h). A barrier packet of the queue completes @signal, after all that was
 * submitted before. Then, whether @signal stays as it is while another dispatch has the GPU.
 */
void col_turns_barrier(const struct col_queue *queue, uint64_t signal);
bool col_turns_hold(uint32_t agent, uint64_t signal);

/* The queue is gone: its turns end, and another queue has the GPU. */
void col_turns_queue_gone(const struct col_queue *queue);
void col_turns_unload(void);
void col_turns_forked(void);

#endif
