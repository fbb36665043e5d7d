/* A code object of any bytes: every offset may be asked for. */
#include "code/code.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct code_function f;
	struct code_insn insn;
	struct code_code *code;
	struct ws_err err;

	if (code_load("fuzz", bytes, n, &code, &err))
		return 0;
	for (uint64_t at = 0; at < 0x3000; at += 4) {
		code_at(code, at, &insn);
		code_function(code, at, &f);
	}
	code_at(code, UINT64_MAX - 3, &insn);
	code_unload(code);
	return 0;
}
