/* A code object of any bytes: every offset may be asked for. */
#include "code/code.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct ws_code_function f;
	struct ws_code_insn insn;
	struct ws_code *code;
	struct ws_err err;

	if (ws_code_load("fuzz", bytes, n, &code, &err))
		return 0;
	for (uint64_t at = 0; at < 0x3000; at += 4) {
		ws_code_at(code, at, &insn);
		ws_code_function(code, at, &f);
	}
	ws_code_at(code, UINT64_MAX - 3, &insn);
	ws_code_unload(code);
	return 0;
}
