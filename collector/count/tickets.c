/*
 * tickets: the counting decisions, by the signal of their dispatch.
 *
 * A table without a lock: a slot is claimed by exchanging its signal from 0, and released
 * by storing 0.
 */
#include "collector/count/count.h"
#include "collector/count/count_priv.h"

#include <string.h>

#define TICKETS 32768u /* a power of two: more than all queues' places of a busy program */
#define TICKET_PROBES 64u

struct expected {
	uint64_t signal;
	struct col_count_ticket *ticket;
};

static struct expected *expected; /* TICKETS */
static col_count_answer *answers;

bool col_count_tickets_start(void)
{
	if (!expected)
		expected = col_pages(TICKETS * sizeof(*expected));
	return expected != NULL;
}

void col_count_tickets_forked(void)
{
	if (expected)
		memset(expected, 0, TICKETS * sizeof(*expected));
}

static uint32_t hash(uint64_t signal)
{
	return (uint32_t)((signal >> 6) * 0x9e3779b97f4a7c15ull >> 40);
}

bool col_count_expect(struct col_count_ticket *ticket, uint64_t signal)
{
	for (uint32_t i = 0; i < TICKET_PROBES; i++) {
		struct expected *e = &expected[(hash(signal) + i) % TICKETS];
		uint64_t none = 0;

		if (__atomic_load_n(&e->signal, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&e->signal, &none, signal, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED)) {
			__atomic_store_n(&e->ticket, ticket, __ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

static struct expected *find(uint64_t signal)
{
	for (uint32_t i = 0; signal && i < TICKET_PROBES; i++) {
		struct expected *e = &expected[(hash(signal) + i) % TICKETS];

		if (__atomic_load_n(&e->signal, __ATOMIC_ACQUIRE) == signal)
			return e;
	}
	return NULL;
}

struct col_count_ticket *col_count_expected(uint64_t signal)
{
	struct expected *e = find(signal);

	return e ? __atomic_load_n(&e->ticket, __ATOMIC_ACQUIRE) : NULL;
}

void col_count_ask(col_count_answer *answer)
{
	__atomic_store_n(&answers, answer, __ATOMIC_RELEASE);
}

struct col_count_ticket *col_count_unexpected(const struct softgpu_dispatch *dispatch,
					      uint32_t agent)
{
	col_count_answer *answer = __atomic_load_n(&answers, __ATOMIC_ACQUIRE);

	return answer ? answer(dispatch, agent) : NULL;
}

void col_count_over(const struct col_count_ticket *ticket, uint64_t signal)
{
	struct expected *e = find(signal);

	if (!e || __atomic_load_n(&e->ticket, __ATOMIC_RELAXED) != ticket)
		return;
	__atomic_store_n(&e->ticket, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&e->signal, 0, __ATOMIC_RELEASE);
}
