#include "report/number.h"

#include "base/util.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *rpt_number_short(char *text, double value, int n_digits)
{
	static const char suffixes[] = "\0KMGTPE";
	size_t step = 0;
	double size = fabs(value);

	if (isnan(value))
		return strcpy(text, "N/A");
	if (isinf(value))
		return strcpy(text, value < 0 ? "-inf" : "inf");
	if (size == floor(size) && snprintf(NULL, 0, "%.0f", value) <= n_digits) {
		snprintf(text, RPT_NUMBER_ROOM, "%.0f", value);
		return text;
	}
	while (size >= 999.5 && step + 2 < sizeof(suffixes)) {
		size /= 1000;
		value /= 1000;
		step++;
	}
	snprintf(text, RPT_NUMBER_ROOM, "%.*f%s",
		 size >= 99.95   ? 0
		 : size >= 9.995 ? 1
				 : 2,
		 value, step ? (char[]){ suffixes[step], '\0' } : "");
	return text;
}

char *rpt_number_plain(char *text, double value, int n_digits)
{
	double size = fabs(value);
	int n_decimals;

	if (isnan(value))
		return strcpy(text, "N/A");
	if (isinf(value))
		return strcpy(text, value < 0 ? "-inf" : "inf");
	if (value == 0)
		return strcpy(text, "0");
	if (size >= 1e9 || size < 1e-4) {
		snprintf(text, RPT_NUMBER_ROOM, "%.*g", n_digits, value);
		return text;
	}
	n_decimals = n_digits - 1 - (int)floor(log10(size));
	snprintf(text, RPT_NUMBER_ROOM, "%.*f", WS_MAX(0, n_decimals), value);
	if (strchr(text, '.')) {
		char *end = text + strlen(text);

		while (end[-1] == '0')
			*--end = '\0';
		if (end[-1] == '.')
			end[-1] = '\0';
	}
	return text;
}
