/*
 * truncation: handles a capture that is truncated while it is written.
 *
 * Access to a missing page raises SIGBUS. The collector's handler calls this file. If the page
 * belongs to a capture, zeroed memory is mapped in its place and the access is repeated. The head
 * is written to the file again, with the ledger and the number of missing pages, which the reader
 * reports. No further chunks are created, because the records they would refer to are lost.
 *
 * A chunk that is made between the truncation and the first access extends the file again: then
 * the missing pages are there, full of zeros. So the head of a chunk is checked when a lane
 * takes the chunk, and when it is full.
 */
#include "capture/writer_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define WRITERS 8u /* one, and those that attaching left behind for a moment */

static struct cap_writer *writers[WRITERS];

__thread struct cap_fresh cap_fresh_ __attribute__((tls_model("initial-exec")));

void cap_truncation_watch(struct cap_writer *writer)
{
	for (unsigned i = 0; i < WRITERS; i++) {
		struct cap_writer *none = NULL;

		if (__atomic_compare_exchange_n(&writers[i], &none, writer, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return;
	}
}

void cap_truncation_unwatch(struct cap_writer *writer)
{
	for (unsigned i = 0; i < WRITERS; i++) {
		struct cap_writer *there = writer;

		if (__atomic_compare_exchange_n(&writers[i], &there, NULL, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return;
	}
}

void cap_chunk_unmap(struct cap_chunk_head *chunk)
{
	uint32_t n_bytes;

	cap_fresh_ = (struct cap_fresh){ (char *)chunk, PAGE };
	n_bytes = __atomic_load_n(&chunk->n_bytes, __ATOMIC_RELAXED);
	cap_fresh_.at = NULL;
	if (n_bytes) /* else it was cut: its place stays taken */
		munmap(chunk, n_bytes);
}

static bool is_in(const char *address, const void *start, size_t n_bytes)
{
	return start && address >= (const char *)start && address < (const char *)start + n_bytes;
}

/* Everything that is looked at here is memory of our own: it cannot be cut. */
static bool is_chunk(const struct cap_writer *writer, const char *address)
{
	uint32_t n = __atomic_load_n(&writer->n_lanes, __ATOMIC_ACQUIRE);

	if (is_in(address, cap_fresh_.at, cap_fresh_.n_bytes))
		return true;
	for (uint32_t i = 0; i < n; i++) {
		const struct cap_lane *lane = &writer->lanes[i];

		if (lane->chunk &&
		    is_in(address, lane->chunk, (size_t)(lane->end - (char *)lane->chunk)))
			return true;
	}
	for (int class = 0; class < CAP_SPARE_CLASSES; class ++) {
		for (uint32_t i = 0; i < CAP_SPARES_MAX; i++) {
			if (is_in(address, writer->spares[class][i], cap_spare_bytes[class]))
				return true;
		}
	}
	for (uint32_t i = 0; i < CAP_SPENT_MAX; i++) {
		if (is_in(address, writer->spent[i], PAGE)) /* its head, for its size */
			return true;
	}
	return false;
}

/* The head as it would be: in the file, and so in the mapping. */
static bool write_head(struct cap_writer *writer)
{
	struct cap_file_head head = writer->first;
	int fd = cap_writer_fd(writer);

	memcpy(head.ledger, writer->ledger, sizeof(head.ledger));
	memcpy(head.left_out, writer->left_out, sizeof(head.left_out));
	head.n_cut = __atomic_load_n(&writer->n_cut, __ATOMIC_RELAXED);
	head.end_bytes = CAP_FILE_HEAD_BYTES;
	return fd >= 0 && pwrite(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       pwrite(fd, "", 1, PAGE - 1) == 1;
}

/*
 * One more page is missing. The head may be gone as well, or be cut in two, which no fault
 * reports. Whoever truncates the file again and again has his way. True: there is a new head.
 */
static bool note_cut(struct cap_writer *writer, bool head)
{
	if (__atomic_add_fetch(&writer->n_cut, 1, __ATOMIC_RELAXED) > 1 && !head)
		return false;
	return __atomic_fetch_add(&writer->n_heads, 1, __ATOMIC_RELAXED) < 3 && write_head(writer);
}

static void store_cut(struct cap_writer *writer)
{
	__atomic_store_n(&writer->head->n_cut, __atomic_load_n(&writer->n_cut, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
}

void cap_truncation_found(struct cap_writer *writer)
{
	if (__atomic_load_n(&writer->n_cut, __ATOMIC_RELAXED))
		return;
	note_cut(writer, false);
	store_cut(writer);
}

void cap_truncation_check(struct cap_writer *writer, const struct cap_chunk_head *chunk)
{
	if (__atomic_load_n(&chunk->magic, __ATOMIC_RELAXED) != CAP_CHUNK_MAGIC)
		cap_truncation_found(writer);
}

static bool put_memory(char *page)
{
	return mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) != MAP_FAILED;
}

static bool repair(struct cap_writer *writer, char *address)
{
	char *page = address - (uintptr_t)address % PAGE;
	bool head = is_in(address, writer->head, PAGE), done;

	if (!head && !is_chunk(writer, address))
		return false;
	if (note_cut(writer, head) && head)
		return true;
	done = put_memory(page);
	if (!head)
		store_cut(writer);
	return done;
}

bool cap_writers_truncated(void *address)
{
	for (unsigned i = 0; i < WRITERS; i++) {
		struct cap_writer *writer = __atomic_load_n(&writers[i], __ATOMIC_ACQUIRE);

		if (writer && repair(writer, address))
			return true;
	}
	return false;
}
