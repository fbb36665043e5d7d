#include "code/host_priv.h"

#include "base/map.h"
#include "base/vec.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST_NAMES_BYTES_MAX ((size_t)1 << 30)
#define HOST_NAMES_MAX (1u << 24)

struct code_host {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;  /* libdwfl's */
	bool read; /* what follows was read, or is not there */
	struct code_host_symbols *symbols;
	struct code_host_units *units;
	struct code_host_starts starts;
	Dwarf_Addr dwarf_bias; /* address in the file minus address in its DWARF data */
	Dwarf_CFI *cfi;        /* NULL: not read, or not there */
	bool cfi_read;
	struct ws_arena arena;
	struct ws_map names; /* address of a name in the file -> demangled */
};

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = code_host_find_debug,
	.section_address = dwfl_offline_section_address,
};

/* ---- opening ---- */

static enum ws_status open_file(const char *path, int *out_fd, struct ws_err *err)
{
	struct stat st;
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd < 0)
		return ws_fail(err, WS_E_NOTFOUND, "'%s' cannot be opened", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return ws_fail(err, WS_E_NOTFOUND, "'%s' is not a file", path);
	}
	*out_fd = fd;
	return WS_OK;
}

static enum ws_status open_module(struct code_host *host, const char *path, struct ws_err *err)
{
	GElf_Addr bias;
	enum ws_status st;
	int fd = -1;

	st = open_file(path, &fd, err);
	if (st)
		return st;
	host->dwfl = dwfl_begin(&callbacks);
	if (host->dwfl) {
		dwfl_report_begin(host->dwfl);
		/* at 0: addresses are those of the file */
		host->module = dwfl_report_elf(host->dwfl, path, path, fd, 0, true);
		dwfl_report_end(host->dwfl, NULL, NULL);
	}
	if (!host->module)
		close(fd); /* otherwise it is libdwfl's */
	host->elf = host->module ? dwfl_module_getelf(host->module, &bias) : NULL;
	return host->elf ? WS_OK
			 : ws_fail(err, WS_E_FORMAT, "'%s' is not an executable or library", path);
}

static enum ws_status check_build_id(struct code_host *host, const char *path,
				     const uint8_t *build_id, size_t n_build_id, struct ws_err *err)
{
	const void *found;
	ssize_t n = dwelf_elf_gnu_build_id(host->elf, &found);

	if (!n_build_id ||
	    (n > 0 && (size_t)n == n_build_id && memcmp(found, build_id, n_build_id) == 0))
		return WS_OK;
	return ws_fail(err, WS_E_STATE, "'%s' has changed since it was profiled", path);
}

enum ws_status code_host_open(const char *path, const uint8_t *build_id, size_t n_build_id,
			      struct code_host **out_host, struct ws_err *err)
{
	struct code_host *host = calloc(1, sizeof(*host));
	enum ws_status st;

	if (!host)
		return ws_fail(err, WS_E_NOMEM, "'%s'", path);
	ws_arena_init(&host->arena, HOST_NAMES_BYTES_MAX);
	ws_map_init(&host->names, WS_MAP_U64, HOST_NAMES_MAX);
	elf_version(EV_CURRENT);
	st = open_module(host, path, err);
	if (!st)
		st = check_build_id(host, path, build_id, n_build_id, err);
	if (st) {
		code_host_close(host);
		return st;
	}
	*out_host = host;
	return WS_OK;
}

void code_host_close(struct code_host *host)
{
	if (!host)
		return;
	code_host_units_destroy(host->units);
	code_host_symbols_destroy(host->symbols);
	if (host->cfi)
		dwarf_cfi_end(host->cfi);
	if (host->dwfl)
		dwfl_end(host->dwfl);
	ws_map_fini(&host->names);
	ws_arena_fini(&host->arena);
	free(host);
}

/* ---- looking up ---- */

static void read_module(struct code_host *host)
{
	Dwarf *dwarf;

	if (host->read)
		return;
	host->read = true;
	host->symbols = code_host_symbols_create(host->module, &host->arena);
	code_host_starts_read(&host->starts, host->elf);
	dwarf = dwfl_module_getdwarf(host->module, &host->dwarf_bias);
	host->units = dwarf ? code_host_units_create(dwarf) : NULL;
}

/* Demangled once. Without memory it stays as it is in the file. */
static const char *shown(struct code_host *host, const char *name)
{
	const char *known;
	char *text;

	if (!name)
		return NULL;
	known = ws_map_get_u64(&host->names, (uintptr_t)name);
	if (known)
		return known;
	text = code_host_demangle(name);
	known = text && strcmp(text, name) != 0 ? ws_arena_strdup(&host->arena, text) : name;
	free(text);
	if (!known || ws_map_put_u64(&host->names, (uintptr_t)name, (void *)known, NULL))
		return known ? known : name;
	return known;
}

size_t code_host_at(struct code_host *host, uint64_t offset, struct code_host_frame *out_frames,
		    size_t max)
{
	struct code_inlined_call calls[CODE_HOST_FRAMES_MAX];
	struct code_place place;
	size_t n;

	read_module(host);
	n = code_host_units_at(host->units, offset - host->dwarf_bias, &place, calls,
			       WS_MIN(max, WS_ARRAY_LEN(calls)) - 1);
	for (size_t i = 0; i < n; i++) {
		out_frames[i] = (struct code_host_frame){
			.name = shown(host, calls[i].function),
			.file = place.file,
			.line = place.line,
			.inlined = true,
		};
		place = calls[i].caller;
	}
	out_frames[n] = (struct code_host_frame){
		.name = host->symbols ? shown(host, code_host_symbol_at(host->symbols, offset))
				      : NULL,
		.file = place.file,
		.line = place.line,
	};
	if (!out_frames[n].name)
		out_frames[n].start = code_host_start_at(&host->starts, offset);
	return n + 1;
}

bool code_host_is_signal_return(struct code_host *host, uint64_t offset)
{
	Dwarf_Frame *frame = NULL;
	bool signal = false;

	if (!host->cfi_read) {
		host->cfi_read = true;
		host->cfi = dwarf_getcfi_elf(host->elf);
	}
	if (!host->cfi || dwarf_cfi_addrframe(host->cfi, offset, &frame) != 0)
		return false;
	if (dwarf_frame_info(frame, NULL, NULL, &signal) < 0)
		signal = false;
	free(frame);
	return signal;
}
