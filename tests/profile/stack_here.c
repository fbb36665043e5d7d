/*
 * A library for real_python.py: writes a capture with one sample, the native stack of the caller
 * and the Python frames that the caller says it has.
 */
#include "capture/writer.h"

#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 512

struct stack_here_python {
	const char *name, *file;
	const void *table;
	uint32_t n_table, first_line, version, at, entry;
};

static bool append(struct cap_lane *lane, unsigned type, const void *fixed, size_t fixed_bytes,
		   const void *const *parts, const size_t *part_bytes, unsigned n_parts)
{
	uint64_t words[4096] = { 0 };
	struct cap_rec *rec = (struct cap_rec *)words;
	size_t n = fixed_bytes;

	memcpy(words, fixed, fixed_bytes);
	for (unsigned i = 0; i < n_parts; i++) {
		if (n + part_bytes[i] > sizeof(words))
			return false;
		memcpy((char *)words + n, parts[i], part_bytes[i]);
		n += part_bytes[i];
	}
	rec->tag = CAP_REC_TAG(type, CAP_REC_ROUND(n));
	return cap_lane_append(lane, rec);
}

static int put_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct cap_rec_module module = {
		.h.what = 1, .start = UINT64_MAX, .bias = info->dlpi_addr, .generation = 1
	};
	char path[4096];
	const void *parts[] = { path };
	ssize_t n = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (start < module.start)
			module.start = start;
		module.end = start + info->dlpi_phdr[i].p_memsz;
	}
	if (!info->dlpi_name[0])
		n = readlink("/proc/self/exe", path, sizeof(path));
	else
		n = snprintf(path, sizeof(path), "%s", info->dlpi_name);
	module.n_bytes = n > 0 ? (uint32_t)n : 0;
	return !append(ctx, CAP_REC_MODULE, &module, sizeof(module), parts,
		       (size_t[]){ module.n_bytes }, 1);
}

static bool put_code(struct cap_lane *lane, uint32_t id, const struct stack_here_python *from)
{
	struct cap_rec_python_code code = {
		.h.what = id,
		.first_line = from->first_line,
		.version = from->version,
		.n_name = (uint32_t)strlen(from->name),
		.n_file = (uint32_t)strlen(from->file),
	};

	code.n_bytes = code.n_name + code.n_file + from->n_table;
	return append(lane, CAP_REC_PYTHON_CODE, &code, sizeof(code),
		      (const void *const[]){ from->name, from->file, from->table },
		      (size_t[]){ code.n_name, code.n_file, from->n_table }, 3);
}

/* 0: done. The sample is of the instruction behind the call of backtrace(). */
__attribute__((visibility("default"), noinline)) int stack_here(
	const char *path, const struct stack_here_python *python, uint32_t n_python)
{
	struct cap_writer_opts opts = { .no_helper = true };
	struct cap_rec_process process = {
		.h = { CAP_REC_FIXED_TAG(PROCESS, struct cap_rec_process), 100, 1 }, .main_tid = 100
	};
	struct cap_rec_sample sample = { .h = { CAP_REC_FIXED_TAG(SAMPLE, struct cap_rec_sample), 1,
						1000 } };
	struct cap_rec_stack stack = { .h.what = 1, .generation = 1 };
	void *native[FRAMES_MAX];
	uint64_t frames[FRAMES_MAX * 2];
	int n = backtrace(native, FRAMES_MAX);
	struct cap_writer *writer;
	struct cap_lane *lane;
	bool ok = n < FRAMES_MAX && n_python < FRAMES_MAX;

	if (!ok || cap_writer_open(path, &opts, &writer, NULL))
		return 1;
	ok = cap_writer_meta(writer, &process.h);
	lane = cap_lane_get(writer, 100);
	dl_iterate_phdr(put_module, lane);
	stack.n_native = (uint32_t)n;
	stack.n_frames = stack.n_native + n_python;
	for (int i = 0; i < n; i++)
		frames[i] = (uintptr_t)native[i];
	for (uint32_t i = 0; i < n_python; i++) {
		ok &= put_code(lane, i + 1, &python[i]);
		frames[stack.n_native + i] = CAP_FRAME_PYTHON |
					     (python[i].entry ? CAP_FRAME_ENTRY : 0) |
					     (uint64_t)(i + 1) << 32 | python[i].at;
	}
	ok &= append(lane, CAP_REC_STACK, &stack, sizeof(stack), (const void *const[]){ frames },
		     (size_t[]){ stack.n_frames * sizeof(*frames) }, 1);
	ok &= cap_lane_append(lane, &sample.h);
	cap_lane_put(lane);
	cap_writer_end(writer, CAP_END_EXIT);
	cap_writer_close(writer);
	return !ok;
}
