/*
 * listing: enumerations of an executable's symbols.
 *
 * HIP 5.7 to 6.4 looks at all symbols of an executable once for each of its kernels, and asks for the
 * kind of each. A code object of rocBLAS has thousands of kernels, so that is millions of calls
 * at the program's start, gigabytes of CSV, and nothing that the program did. Calls made inside an
 * enumeration are counted in the ledger; the enumeration itself is recorded. The flag
 * SYMBOL_QUERIES records them all.
 */
#include "collector/hsa/hsa_priv.h"

static __thread struct {
	uint32_t depth;
	uint64_t n;
} listing __attribute__((tls_model("initial-exec")));

bool col_hsa_is_listed(void)
{
	if (!listing.depth || col_config()->flags & COL_COLLECT_FLAG(SYMBOL_QUERIES))
		return false;
	listing.n++;
	return true;
}

/* Counted once per enumeration: millions of calls share one write to the file. */
static void end_listing(void)
{
	struct cap_writer *writer;

	if (--listing.depth || !listing.n)
		return;
	writer = col_capture_now();
	if (writer)
		cap_writer_count(writer, CAP_DOMAIN_HSA_API, CAP_LEDGER_LEFT_OUT, listing.n);
	listing.n = 0;
}

hsa_status_t col_hsa_hook_hsa_executable_iterate_symbols(
	hsa_executable_t executable,
	hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data),
	void *data)
{
	hsa_status_t ret;

	listing.depth++;
	ret = col_hsa.hsa_executable_iterate_symbols(executable, callback, data);
	end_listing();
	return ret;
}

hsa_status_t col_hsa_hook_hsa_executable_iterate_agent_symbols(
	hsa_executable_t executable, hsa_agent_t agent,
	hsa_status_t (*callback)(hsa_executable_t exec, hsa_agent_t agent,
				 hsa_executable_symbol_t symbol, void *data),
	void *data)
{
	hsa_status_t ret;

	listing.depth++;
	ret = col_hsa.hsa_executable_iterate_agent_symbols(executable, agent, callback, data);
	end_listing();
	return ret;
}

hsa_status_t col_hsa_hook_hsa_executable_iterate_program_symbols(
	hsa_executable_t executable,
	hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data),
	void *data)
{
	hsa_status_t ret;

	listing.depth++;
	ret = col_hsa.hsa_executable_iterate_program_symbols(executable, callback, data);
	end_listing();
	return ret;
}
