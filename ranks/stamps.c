#include "ranks/stamps.h"

#include "base/file.h"
#include "launch/clock_stamps.h"

#include <string.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define STAMPS_MAX ((size_t)1 << 24)

static size_t node_of(const struct rnk_job *job, const uint8_t boot_id[16])
{
	size_t i = 0;

	while (i < job->n_nodes &&
	       memcmp(job->nodes[i].boot_id, boot_id, sizeof(job->nodes[i].boot_id)) != 0)
		i++;
	return i;
}

static enum ws_status take_lines(const struct rnk_job *job, struct ws_str rest,
				 struct rnk_stamp_list *to, struct ws_err *err)
{
	enum ws_status st = WS_OK;
	struct ws_str line;

	while (!st && to->n < STAMPS_MAX && ws_str_next(&rest, '\n', &line)) {
		struct launch_clock_time times[2];
		struct rnk_stamp stamp;

		if (!launch_clock_times_parse(line, times, 2))
			continue;
		stamp = (struct rnk_stamp){ node_of(job, times[0].boot_id),
					    node_of(job, times[1].boot_id), times[0].ns,
					    times[1].ns };
		if (stamp.reader < job->n_nodes && stamp.writer < job->n_nodes &&
		    stamp.reader != stamp.writer)
			st = ws_vec_push(to, stamp, err);
	}
	return st;
}

enum ws_status rnk_stamps_read(struct rnk_job *job, const struct ws_strv *files,
			       struct rnk_stamp_list *out_stamps, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	ws_vec_init(out_stamps, STAMPS_MAX);
	for (size_t i = 0; !st && i < files->n; i++) {
		struct ws_err unread = { 0 };
		struct ws_buf text;

		ws_buf_init(&text, FILE_BYTES_MAX);
		if (ws_file_read(files->at[i], &text, &unread))
			st = rnk_job_note(job, err, "%s: its clocks are left out", unread.text);
		else
			st = take_lines(job, ws_buf_view(&text), out_stamps, err);
		ws_buf_fini(&text);
	}
	return st;
}
