/* facts: the counters of a request, with their numbers, as metadata records. */
#include "collector/count/count_priv.h"

#include "base/util.h"
#include "collector/count/source.h"

#include <string.h>

#define LISTED_MAX 2048u
#define DIM_INSTANCE 7u /* AMD's number of DIMENSION_INSTANCE */

/* NAME, NAME_sum, NAME[n] and NAME_ACCUM are all of the counter NAME. */
static size_t base_length(const char *name)
{
	size_t n = strcspn(name, "[");

	if (n > 4 && memcmp(name + n - 4, "_sum", 4) == 0)
		return n - 4;
	if (n > 6 && memcmp(name + n - 6, "_ACCUM", 6) == 0)
		return n - 6;
	return n;
}

/* Is this the listed counter? The memory side of L2 is TCC_EA0_ on later GPUs, and TCC_EA_ in the list. */
static bool is_called(const char *listed, const char *name, size_t n)
{
	static const char first[] = "TCC_EA_", later[] = "TCC_EA0_";
	const size_t n_first = sizeof(first) - 1, n_later = sizeof(later) - 1;

	if (n > n_later && memcmp(name, later, n_later) == 0 &&
	    strncmp(listed, first, n_first) == 0) {
		listed += n_first;
		name += n_later;
		n -= n_later;
	}
	return strlen(listed) == n && memcmp(listed, name, n) == 0;
}

static const struct softgpu_counter *find_listed(const struct softgpu_counter *list, size_t n,
						 const char *name)
{
	size_t n_base = base_length(name);

	for (size_t i = 0; i < n; i++) {
		if (is_called(list[i].name, name, strlen(name)) ||
		    is_called(list[i].name, name, n_base))
			return &list[i];
	}
	return NULL;
}

static uint32_t known_as(const struct col_count_fact *facts, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(facts[i].name, name) == 0)
			return facts[i].id;
	}
	return 0;
}

bool col_count_facts(struct col_count_block **memory, const struct col_count_target *target,
		     const struct col_count_source *source, uint32_t **out_ids,
		     uint32_t **out_firsts, struct col_count_fact **out_facts,
		     uint32_t *out_n_facts)
{
	const struct col_count_gpu *asked = target->asked;
	static uint32_t n_ids; /* unique in the process: two GPUs' counters are two */
	struct softgpu_counter *listed = col_count_pages(memory, LISTED_MAX * sizeof(*listed));
	size_t n_names = 0, n_listed, at = 0;
	uint32_t n_facts = 0;

	for (size_t i = 0; i < asked->n_sets; i++)
		n_names += asked->sets[i].n;
	*out_ids = col_count_pages(memory, (n_names + 1) * sizeof(**out_ids));
	*out_firsts = col_count_pages(memory, (asked->n_sets + 1) * sizeof(**out_firsts));
	*out_facts = col_count_pages(memory, (n_names + 1) * sizeof(**out_facts));
	if (!listed || !*out_ids || !*out_firsts || !*out_facts)
		return false;
	n_listed = WS_MIN(source->counters(target, listed, LISTED_MAX), (size_t)LISTED_MAX);
	for (size_t i = 0; i < asked->n_sets; i++) {
		(*out_firsts)[i] = (uint32_t)at;
		for (size_t k = 0; k < asked->sets[i].n; k++) {
			const char *name = asked->sets[i].names[k];
			uint32_t id = known_as(*out_facts, n_facts, name);

			if (!id) {
				const struct softgpu_counter *counter =
					find_listed(listed, n_listed, name);
				bool each = counter && is_called(counter->name, name, strlen(name));

				id = ++n_ids;
				(*out_facts)[n_facts++] =
					(struct col_count_fact){ id, name, counter,
								 each ? counter->n_instances : 1 };
			}
			(*out_ids)[at++] = id;
		}
	}
	(*out_firsts)[asked->n_sets] = (uint32_t)at;
	*out_n_facts = n_facts;
	return true; /* the list stays: the facts point into it */
}

void col_count_write_facts(struct cap_writer *writer, uint32_t agent,
			   const struct col_count_fact *facts, uint32_t n_facts)
{
	struct {
		struct cap_rec_counter rec;
		struct cap_counter_dim dim;
	} fact;
	uint32_t dim_str =
		cap_writer_intern(writer, "DIMENSION_INSTANCE", strlen("DIMENSION_INSTANCE"));

	for (uint32_t i = 0; i < n_facts; i++) {
		const struct softgpu_counter *counter = facts[i].counter;
		const char *text = counter ? counter->text : "";
		const char *block = counter ? counter->block : "";

		memset(&fact, 0, sizeof(fact));
		fact.rec.h.tag = CAP_REC_TAG(CAP_REC_COUNTER, sizeof(fact));
		fact.rec.h.what = facts[i].id;
		fact.rec.agent = agent;
		fact.rec.name_str = cap_writer_intern(writer, facts[i].name, strlen(facts[i].name));
		fact.rec.description_str = cap_writer_intern(writer, text, strlen(text));
		fact.rec.block_str = cap_writer_intern(writer, block, strlen(block));
		fact.rec.flags =
			counter && counter->fidelity == SOFTGPU_EXACT ? 0 : CAP_COUNTER_IS_MODELLED;
		fact.rec.n_dims = 1;
		fact.dim = (struct cap_counter_dim){ dim_str, DIM_INSTANCE, facts[i].n, 0 };
		cap_writer_meta(writer, &fact.rec.h);
	}
}
