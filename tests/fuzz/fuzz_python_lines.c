/* Line tables of any bytes, for every version of Python: every instruction may be looked up. */
#include "tests/fuzz/fuzz.h"
#include "trace/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static volatile uint32_t sum;

	for (uint32_t version = 0x0308; version <= 0x030e; version++) {
		struct trc_python_code code = { .version = version,
						.first_line = 1,
						.line_table = bytes,
						.n_line_table = (uint32_t)n };

		for (uint32_t at = 0; at < 600; at += 2)
			sum += trc_python_line(&code, at);
		sum += trc_python_line(&code, UINT32_MAX - 1);
		CHECK(trc_python_line(&code, UINT32_MAX) == 1);
	}
	return 0;
}
