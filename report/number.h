/*
 * number: numbers as charts show them; table.h has those of the tables.
 *
 * Nothing here allocates; @text must have RPT_NUMBER_ROOM bytes.
 */
#ifndef WS_REPORT_NUMBER_H
#define WS_REPORT_NUMBER_H

#define RPT_NUMBER_ROOM 352 /* the largest double in fixed form, and a little */

/* At most @n_digits characters and a suffix for thousands: 950, 131.1K, 1.05M, 20.9T, N/A. */
char *rpt_number_short(char *text, double value, int n_digits);

/* @n_digits significant digits, no exponent between 1e-4 and 1e9, no needless zeros: 0.0314 */
char *rpt_number_plain(char *text, double value, int n_digits);

#endif
