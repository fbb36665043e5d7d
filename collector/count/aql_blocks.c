/* The numbers that aqlprofile has for the blocks of data/counters: hsa_ven_amd_aqlprofile_block_name_t. */
#include "base/util.h"
#include "collector/count/aqlprofile.h"

#include <string.h>

uint32_t col_aql_block(const char *name)
{
	static const struct {
		const char *name;
		uint32_t number;
	} blocks[] = {
		{ "CPC", 0 }, { "CPF", 1 },  { "GRBM", 3 }, { "SPI", 5 },  { "SQ", 6 },
		{ "TA", 10 }, { "TCA", 11 }, { "TCC", 12 }, { "TCP", 13 }, { "TD", 14 },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(blocks); i++) {
		if (strcmp(blocks[i].name, name) == 0)
			return blocks[i].number;
	}
	return UINT32_MAX;
}
