/*
 * image: the bytes of code objects, kept with the capture.
 *
 * Printing the instructions of PC samples requires the code. Code compiled at run time was never in
 * a file; a file may be removed, rebuilt, or on another machine when the capture is read. So each
 * image is copied once when it is loaded, however many GPUs and modules use it.
 *
 * The runtime reports the address that the image had when it was loaded. The program may have
 * unmapped it since. So a system call copies it, which fails where a load would fault.
 */
#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/ranges.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Libraries have images of 100s of MB, and their files are likely to stay. */
#define MEMORY_IMAGE_MAX (64ull << 20)
#define FILE_IMAGE_MAX (16ull << 20)
#define MEMORY_TOTAL_MAX (256ull << 20)
#define FILE_TOTAL_MAX (64ull << 20)
#define LOAD_GRANULE 65536u /* the loader rounds sizes up, to pages at least */
#define HASH_SUMS 8u
#define IMAGES_MAX 4096u /* later ones are kept, too, but not recognised when they come again */

struct image {
	uint64_t hash[2], n_bytes;
	uint32_t code_object;
};

static struct {
	struct image known[IMAGES_MAX];
	uint32_t n;
	uint64_t total_bytes;
} images;

void col_image_fresh(void)
{
	images.n = 0;
	images.total_bytes = 0;
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0xff51afd7ed558ccdu;
	return sum ^ sum >> 32;
}

/* Eight sums, each of every eighth word, so that none waits for the one before: at memory speed. */
void col_image_hash(const void *bytes, uint64_t n, uint64_t out[2])
{
	uint64_t sums[HASH_SUMS], words[HASH_SUMS], i = 0;
	const char *at = bytes;

	for (unsigned k = 0; k < HASH_SUMS; k++)
		sums[k] = 0x9e3779b97f4a7c15u * (k + 1) ^ n;
	for (; n - i >= sizeof(words); i += sizeof(words)) {
		memcpy(words, at + i, sizeof(words));
		for (unsigned k = 0; k < HASH_SUMS; k++)
			sums[k] = mix(sums[k], words[k]);
	}
	memset(words, 0, sizeof(words));
	memcpy(words, at + i, n - i);
	out[0] = n;
	out[1] = ~n;
	for (unsigned k = 0; k < HASH_SUMS; k++) {
		sums[k] = mix(sums[k], words[k]);
		out[0] = mix(out[0], sums[k]);
		out[1] = mix(out[1], sums[k] * 0xd6e8feb86659fd93u);
	}
}

bool col_image_copy(void *to, uint64_t from, uint64_t n)
{
	uint64_t did = 0;

	while (did < n) {
		struct iovec there = { (void *)(uintptr_t)(from + did), n - did };
		struct iovec here = { (char *)to + did, n - did };
		ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);

		if (got <= 0)
			return false;
		did += (uint64_t)got;
	}
	return true;
}

/*
 * Whether this is a code object that takes as much memory as the one that was loaded: when we
 * attach, the program may have used the place for something else since.
 */
static bool is_image_of(const char *bytes, uint64_t n, uint64_t load_size)
{
	uint64_t end = 0;
	Elf64_Ehdr head;

	if (n < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine != EM_AMDGPU ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > n ||
	    head.e_phnum > (n - head.e_phoff) / sizeof(Elf64_Phdr))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, bytes + head.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > end)
			end = segment.p_vaddr + segment.p_memsz;
	}
	return end <= load_size && load_size - end < LOAD_GRANULE;
}

static const struct image *find_image(const struct image *image)
{
	for (uint32_t i = 0; i < images.n; i++) {
		const struct image *known = &images.known[i];

		if (known->hash[0] == image->hash[0] && known->hash[1] == image->hash[1] &&
		    known->n_bytes == image->n_bytes)
			return known;
	}
	return NULL;
}

void col_image_keep(struct cap_writer *writer, const struct cap_rec_code_object *rec,
		    const char *uri)
{
	bool in_file = strncmp(uri, "file:", 5) == 0;
	uint64_t n = rec->memory_size;
	struct image image = { .n_bytes = n, .code_object = rec->h.what };
	const struct image *known;
	void *copy;

	if (!(col_config()->flags & COL_COLLECT_FLAG(CODE_BYTES)) || !rec->memory_base || !n ||
	    n > (in_file ? FILE_IMAGE_MAX : MEMORY_IMAGE_MAX))
		return;
	copy = col_pages(n);
	if (!copy)
		return;
	if (!col_image_copy(copy, rec->memory_base, n) || !is_image_of(copy, n, rec->load_size))
		goto out;
	col_image_hash(copy, n, image.hash);
	known = find_image(&image);
	if (known) {
		struct cap_rec_code_same same = {
			.h = { CAP_REC_FIXED_TAG(CODE_SAME, struct cap_rec_code_same), rec->h.what,
			       0 },
			.same_as = known->code_object,
		};

		cap_writer_meta(writer, &same.h);
		goto out;
	}
	if (images.total_bytes + n > (in_file ? FILE_TOTAL_MAX : MEMORY_TOTAL_MAX) ||
	    !cap_writer_code_bytes(writer, rec->h.what, copy, n))
		goto out;
	images.total_bytes += n;
	if (images.n < IMAGES_MAX)
		images.known[images.n++] = image;
out:
	col_pages_free(copy, n);
}

#define SEGMENTS_MAX 64u

/* False: the image is not in memory any more, or not what was loaded. */
static bool writable_segments(const struct cap_rec_code_object *rec)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	Elf64_Ehdr head;

	if (!rec->memory_base || rec->memory_size < sizeof(head) ||
	    !col_image_copy(&head, rec->memory_base, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine != EM_AMDGPU ||
	    head.e_phentsize != sizeof(segments[0]) || head.e_phnum > SEGMENTS_MAX ||
	    head.e_phoff > rec->memory_size ||
	    head.e_phnum > (rec->memory_size - head.e_phoff) / sizeof(segments[0]) ||
	    !col_image_copy(segments, rec->memory_base + head.e_phoff,
			    head.e_phnum * sizeof(segments[0])))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		uint64_t at = rec->load_delta + segments[i].p_vaddr;

		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_W))
			continue;
		if (at < rec->load_base || at - rec->load_base > rec->load_size ||
		    segments[i].p_memsz > rec->load_size - (at - rec->load_base))
			return false;
		col_ranges_add(at, segments[i].p_memsz, rec->agent, COL_RANGE_SAVED);
	}
	return true;
}

void col_image_variables(const struct cap_rec_code_object *rec)
{
	if (!col_ranges_kept() || !rec->agent || !col_agent_is_gpu(rec->agent))
		return;
	if (!writable_segments(rec))
		col_ranges_add(rec->load_base, rec->load_size, rec->agent, COL_RANGE_SAVED);
}
