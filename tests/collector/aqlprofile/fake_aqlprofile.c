/*
 * A stand-in for AMD's libhsa-amd-aqlprofile64, its first interface, for SQ, GRBM and TCC of gfx90a. It makes the
 * packets of docs/real-gpus.md, so that counting by packets is tested where AMD's library is not installed.
 *
 *	FAKE_AQLPROFILE=off     its start does not switch the counters on: they stay 0
 *	FAKE_AQLPROFILE=silent  its read writes nothing
 *	FAKE_AQLPROFILE=sq      its read writes nothing for sets without a counter of SQ
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define PACKET(opcode, n_body) (3u << 30 | ((n_body)-1) << 16 | (opcode) << 8)
#define N_SE 8u
#define MAX_WORDS 65536u
#define BROADCAST 0xe0000000u

static const struct block {
	uint32_t name, n_counters, n_instances, n_engines, mask;
	uint16_t select[8], low[8];
} blocks[] = {
	{ HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ,
	  8,
	  1,
	  N_SE,
	  0x0f0ff000,
	  { 0xd9c0, 0xd9c1, 0xd9c2, 0xd9c3, 0xd9c4, 0xd9c5, 0xd9c6, 0xd9c7 },
	  { 0xd1c0, 0xd1c2, 0xd1c4, 0xd1c6, 0xd1c8, 0xd1ca, 0xd1cc, 0xd1ce } },
	{ HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM,
	  2,
	  1,
	  1,
	  0,
	  { 0xd840, 0xd841 },
	  { 0xd040, 0xd043 } },
	{ HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC,
	  4,
	  32,
	  1,
	  0,
	  { 0xdb80, 0xdb82, 0xdb84, 0xdb85 },
	  { 0xd380, 0xd382, 0xd384, 0xd386 } },
};

static const struct block *find_block(uint32_t name)
{
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (blocks[i].name == name)
			return &blocks[i];
	return NULL;
}

/* Which counter of its block instance an event gets: they are used in order. */
static uint32_t place_of(const hsa_ven_amd_aqlprofile_profile_t *profile, uint32_t event)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < event; i++)
		n += profile->events[i].block_name == profile->events[event].block_name &&
		     profile->events[i].block_index == profile->events[event].block_index;
	return n;
}

struct words {
	uint32_t *at;
	uint32_t n;
};

static void put(struct words *w, uint32_t word)
{
	if (w->at && w->n < MAX_WORDS)
		w->at[w->n] = word;
	w->n++;
}

static void set(struct words *w, uint32_t number, uint32_t value)
{
	put(w, PACKET(0x79, 2));
	put(w, number - 0xc000);
	put(w, value);
}

static void copy(struct words *w, uint32_t number, const void *to)
{
	put(w, PACKET(0x40, 5));
	put(w, 0x02002500);
	put(w, number);
	put(w, 0);
	put(w, (uint32_t)(uintptr_t)to);
	put(w, (uint32_t)((uint64_t)(uintptr_t)to >> 32));
}

static bool is_set(const char *to)
{
	const char *text = getenv("FAKE_AQLPROFILE");

	return text && strcmp(text, to) == 0;
}

static bool is_silent(const hsa_ven_amd_aqlprofile_profile_t *profile)
{
	bool has_sq = false;

	for (uint32_t i = 0; i < profile->event_count; i++)
		has_sq |= profile->events[i].block_name == HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ;
	return is_set("silent") || (is_set("sq") && !has_sq);
}

static uint32_t index_of(const struct block *block, uint32_t instance, uint32_t engine)
{
	return block->n_engines > 1     ? 0x60000000u | engine << 16
	       : block->n_instances > 1 ? 0xa0000000u | instance
					: BROADCAST;
}

static void put_start(struct words *w, const hsa_ven_amd_aqlprofile_profile_t *profile)
{
	set(w, 0xc200, BROADCAST);
	set(w, 0xd808, 0);
	set(w, 0xd9e0, 0xffff007f);
	for (uint32_t i = 0; i < profile->event_count; i++) {
		const hsa_ven_amd_aqlprofile_event_t *event = &profile->events[i];
		const struct block *block = find_block(event->block_name);

		set(w, 0xc200,
		    block->n_instances > 1 ? 0xa0000000u | event->block_index : BROADCAST);
		set(w, block->select[place_of(profile, i)], block->mask | event->counter_id);
	}
	set(w, 0xc200, BROADCAST);
	set(w, 0xd808, is_set("off") ? 0 : 1);
}

static void put_read(struct words *w, const hsa_ven_amd_aqlprofile_profile_t *profile,
		     uint32_t *out_n_values)
{
	uint32_t *to = profile->output_buffer.ptr, n = 0;

	for (uint32_t i = 0; i < profile->event_count; i++) {
		const hsa_ven_amd_aqlprofile_event_t *event = &profile->events[i];
		const struct block *block = find_block(event->block_name);
		uint32_t low = block->low[place_of(profile, i)];

		for (uint32_t engine = 0; engine < block->n_engines; engine++, n++) {
			if (is_silent(profile))
				continue;
			set(w, 0xc200, index_of(block, event->block_index, engine));
			copy(w, low, to + 2 * n);
			copy(w, low + 1, to + 2 * n + 1);
		}
	}
	set(w, 0xc200, BROADCAST);
	*out_n_values = n;
}

static void put_stop(struct words *w)
{
	set(w, 0xd808, 2);
}

static void call(hsa_ext_amd_aql_pm4_packet_t *packet, const uint32_t *words, uint32_t n)
{
	uint32_t body[14] = { 1u << 16,
			      PACKET(0x3f, 3),
			      (uint32_t)(uintptr_t)words,
			      (uint32_t)((uint64_t)(uintptr_t)words >> 32),
			      n | 1u << 23,
			      10 };

	memset(packet, 0, sizeof(*packet));
	memcpy(packet, body, sizeof(body));
}

/* The command buffer: read, start, stop, each at a third of it. */
#define THIRD(profile, k)                                                                          \
	((uint32_t *)(profile)->command_buffer.ptr + (k) * ((profile)->command_buffer.size / 12))

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_validate_event(
	hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *event, bool *result)
{
	const struct block *block = find_block(event->block_name);

	*result = block && event->block_index < block->n_instances;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_start(hsa_ven_amd_aqlprofile_profile_t *profile,
						 hsa_ext_amd_aql_pm4_packet_t *packet)
{
	struct words read = { 0 }, start = { 0 }, stop = { 0 };
	uint32_t n_values;

	for (uint32_t i = 0; i < profile->event_count; i++) {
		const struct block *block = find_block(profile->events[i].block_name);

		if (!block || place_of(profile, i) >= block->n_counters)
			return HSA_STATUS_ERROR;
	}
	if (profile->command_buffer.ptr) {
		read.at = THIRD(profile, 0);
		start.at = THIRD(profile, 1);
		stop.at = THIRD(profile, 2);
	}
	put_read(&read, profile, &n_values);
	put_start(&start, profile);
	put_stop(&stop);
	profile->output_buffer.size = 8 * n_values;
	if (!profile->command_buffer.ptr)
		profile->command_buffer.size = 12 * (read.n > start.n ? read.n : start.n);
	if (packet)
		call(packet, start.at, start.n);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_stop(const hsa_ven_amd_aqlprofile_profile_t *profile,
						hsa_ext_amd_aql_pm4_packet_t *packet)
{
	struct words stop = { 0 };

	put_stop(&stop);
	call(packet, THIRD(profile, 2), stop.n);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_read(const hsa_ven_amd_aqlprofile_profile_t *profile,
						hsa_ext_amd_aql_pm4_packet_t *packet)
{
	struct words read = { 0 };
	uint32_t n_values;

	put_read(&read, profile, &n_values);
	call(packet, THIRD(profile, 0), read.n);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t
hsa_ven_amd_aqlprofile_iterate_data(const hsa_ven_amd_aqlprofile_profile_t *profile,
				    hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
	const uint64_t *values = profile->output_buffer.ptr;

	for (uint32_t i = 0; i < profile->event_count; i++) {
		const struct block *block = find_block(profile->events[i].block_name);

		for (uint32_t engine = 0; engine < block->n_engines; engine++) {
			hsa_ven_amd_aqlprofile_info_data_t info = { .sample_id = engine };
			hsa_status_t status;

			info.pmc_data.event = profile->events[i];
			info.pmc_data.result = *values++;
			status = callback(HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &info, data);
			if (status != HSA_STATUS_SUCCESS)
				return status;
		}
	}
	return HSA_STATUS_SUCCESS;
}
