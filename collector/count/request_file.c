/* request_file: reads the request from the capture folder. */
#include "collector/collector_priv.h"
#include "collector/count/count_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *read_text(struct col_count_block **memory)
{
	char path[PATH_MAX + sizeof(COL_COUNT_REQUEST_NAME) + 1], *text;
	size_t n = 0, n_dir = strlen(col_config()->dir);
	ssize_t got = 1;
	int fd;

	memcpy(path, col_config()->dir, n_dir);
	path[n_dir] = '/';
	memcpy(path + n_dir + 1, COL_COUNT_REQUEST_NAME, sizeof(COL_COUNT_REQUEST_NAME));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = col_count_pages(memory, COL_COUNT_TEXT_MAX);
	while (text && got > 0 && n < COL_COUNT_TEXT_MAX - 1) {
		got = read(fd, text + n, COL_COUNT_TEXT_MAX - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return text;
}

bool col_count_request_load(struct col_count_block **memory, struct col_count_request *out_request)
{
	struct col_count_room *room = col_count_pages(memory, sizeof(*room));
	char *text = room ? read_text(memory) : NULL;
	char wrong[160];

	if (!text) {
		col_note("counters: no request file in the capture folder");
		return false;
	}
	if (col_count_request_parse(text, room, out_request))
		return true;
	snprintf(wrong, sizeof(wrong), "counters: the request cannot be read: %s",
		 out_request->wrong);
	col_note(wrong);
	return false;
}
