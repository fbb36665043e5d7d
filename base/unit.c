#include "base/unit.h"

#include "base/util.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *const ws_time_unit_words[] = {
#define WORD_ROW(id, word, symbol, ns) [WS_TIME_##id] = word,
	WS_TIME_UNIT_TABLE(WORD_ROW)
#undef WORD_ROW
		NULL,
};

const char *const ws_time_unit_symbols[] = {
#define SYMBOL_ROW(id, word, symbol, ns) [WS_TIME_##id] = symbol,
	WS_TIME_UNIT_TABLE(SYMBOL_ROW)
#undef SYMBOL_ROW
		NULL,
};

uint64_t ws_time_unit_ns(enum ws_time_unit unit)
{
	static const uint64_t ns_of[] = {
#define NS_ROW(id, word, symbol, ns) [WS_TIME_##id] = ns,
		WS_TIME_UNIT_TABLE(NS_ROW)
#undef NS_ROW
	};

	return ns_of[unit];
}

bool ws_time_unit_parse(const char *word, enum ws_time_unit *out_unit)
{
	for (int i = 0; word && i < WS_TIME_UNIT_COUNT; i++)
		if (strcmp(word, ws_time_unit_words[i]) == 0) {
			*out_unit = (enum ws_time_unit)i;
			return true;
		}
	return false;
}

static const struct {
	const char *word;
	int fd;
} streams[] = {
	{ "stdout", STDOUT_FILENO },
	{ "stderr", STDERR_FILENO },
};

int ws_stream_fd(const char *name)
{
	for (size_t i = 0; name && i < WS_ARRAY_LEN(streams); i++)
		if (strcasecmp(name, streams[i].word) == 0)
			return streams[i].fd;
	return -1;
}

const char *ws_stream_word(int fd)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(streams); i++)
		if (streams[i].fd == fd)
			return streams[i].word;
	return "";
}
