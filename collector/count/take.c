/* take: the request, from the folder of the captures. */
#include "collector/collector_priv.h"
#include "collector/count/count_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *read_text(struct ws_count_block **memory)
{
	char path[PATH_MAX + sizeof(WS_COUNT_REQUEST_NAME) + 1], *text;
	size_t n = 0, n_dir = strlen(ws_config()->dir);
	ssize_t got = 1;
	int fd;

	memcpy(path, ws_config()->dir, n_dir);
	path[n_dir] = '/';
	memcpy(path + n_dir + 1, WS_COUNT_REQUEST_NAME, sizeof(WS_COUNT_REQUEST_NAME));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = ws_count_pages(memory, WS_COUNT_TEXT_MAX);
	while (text && got > 0 && n < WS_COUNT_TEXT_MAX - 1) {
		got = read(fd, text + n, WS_COUNT_TEXT_MAX - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return text;
}

bool ws_count_request_take(struct ws_count_block **memory, struct ws_count_request *out_request)
{
	struct ws_count_room *room = ws_count_pages(memory, sizeof(*room));
	char *text = room ? read_text(memory) : NULL;
	char wrong[160];

	if (!text) {
		ws_note("counters: there is no request in the folder of the captures");
		return false;
	}
	if (ws_count_request_parse(text, room, out_request))
		return true;
	snprintf(wrong, sizeof(wrong), "counters: the request cannot be read: %s",
		 out_request->wrong);
	ws_note(wrong);
	return false;
}
