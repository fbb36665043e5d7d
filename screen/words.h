/*
 * words: small texts of screens, and what a line of a report is about, read back from its text.
 *
 * The lines of tables and findings begin with the id of what they show, after spaces and the border of
 * a table. So the report stays the only place that makes text, and a screen can follow it.
 */
#ifndef WS_SCREEN_WORDS_H
#define WS_SCREEN_WORDS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* The first word, terminated; false: there is none, or it does not fit. */
bool scr_first_word(struct ws_str line, char *out_word, size_t room);
/*
 * The number of the kernel that a line of findings is about: "kernel 3: name", also after what it could
 * gain, "38 % of 12.3 us  kernel 3: name". False: it is about none.
 */
bool scr_kernel_number(struct ws_str line, struct ws_str *out_number);
/* Capitals, digits and at least one '_': SQ_WAVES, TCC_EA0_RDREQ[0]. */
bool scr_is_counter_name(const char *word);

/* A time in the unit that suits it: "187.8 us", "-" for none. Returns @room. */
#define SCR_TIME_BYTES 32
const char *scr_time_text(char room[SCR_TIME_BYTES], double ns);
/* A number of bytes likewise: "1.50 GiB". */
const char *scr_bytes_text(char room[SCR_TIME_BYTES], double n_bytes);

#endif
