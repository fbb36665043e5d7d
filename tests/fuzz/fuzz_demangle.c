/* Names from symbol tables: one per line, of any bytes. */
#include "code/host_priv.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1), *rest, *line;

	CHECK(text);
	memcpy(text, bytes, n);
	text[n] = 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *exact = strdup(line), *name;

		CHECK(exact);
		name = code_host_demangle(exact);
		CHECK(name && strlen(name) < (1u << 20));
		free(name);
		free(exact);
	}
	free(text);
	return 0;
}
