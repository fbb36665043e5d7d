#include "output/fmt.h"

#include <stdbool.h>

const char output_fmt_pairs[201] =
	"00010203040506070809101112131415161718192021222324252627282930313233"
	"34353637383940414243444546474849505152535455565758596061626364656667"
	"6869707172737475767778798081828384858687888990919293949596979899";

/* A whole number that a double holds exactly. */
static bool is_whole(double v)
{
	return v >= 0 && v < 9007199254740992.0 && v == (double)(uint64_t)v;
}

char *output_fmt_fixed6(char *p, double v)
{
	if (is_whole(v) && !signbit(v)) {
		p = output_fmt_u64(p, (uint64_t)v);
		return OUTPUT_FMT_LIT(p, ".000000");
	}
	return p + sprintf(p, "%.6f", v);
}

char *output_fmt_counter(char *p, double v)
{
	if (v >= 1.0)
		return output_fmt_fixed6(p, v);
	return p + sprintf(p, "%.8e", v);
}

char *output_fmt_stat(char *p, double v)
{
	return v > 0.01 ? output_fmt_fixed6(p, v) : p + sprintf(p, "%.8e", v);
}

char *output_fmt_percent(char *p, double v)
{
	return p + sprintf(p, v >= 1.0 ? "%.2f" : v > 0.01 ? "%.4f" : "%.3e", v);
}

char *output_fmt_shortest(char *p, double v)
{
	char text[40], digits[20];
	int n_digits, exponent;

	if (!isfinite(v))
		return p + sprintf(p, "%g", v);
	if (is_whole(v) && !signbit(v))
		return output_fmt_u64(p, (uint64_t)v);
	for (int precision = 0; precision < 17; precision++) {
		sprintf(text, "%.*e", precision, v);
		if (strtod(text, NULL) == v)
			break;
	}
	/* take "-d.ddde-xx" apart and lay it out anew */
	n_digits = 0;
	if (text[0] == '-')
		*p++ = '-';
	for (const char *at = text; *at != 'e'; at++)
		if (*at >= '0' && *at <= '9')
			digits[n_digits++] = *at;
	exponent = atoi(strchr(text, 'e') + 1);
	while (n_digits > 1 && digits[n_digits - 1] == '0')
		n_digits--;
	if (exponent < -4 || exponent >= 16) {
		*p++ = digits[0];
		if (n_digits > 1) {
			*p++ = '.';
			memcpy(p, digits + 1, (size_t)n_digits - 1);
			p += n_digits - 1;
		}
		return p + sprintf(p, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
	}
	if (exponent < 0) {
		p = OUTPUT_FMT_LIT(p, "0.");
		for (int i = -1; i > exponent; i--)
			*p++ = '0';
		memcpy(p, digits, (size_t)n_digits);
		return p + n_digits;
	}
	for (int i = 0; i <= exponent || i < n_digits; i++) {
		if (i == exponent + 1)
			*p++ = '.';
		*p++ = i < n_digits ? digits[i] : '0';
	}
	return p;
}

char *output_fmt_json_f64(char *p, double v)
{
	char *end;

	if (!isfinite(v))
		return OUTPUT_FMT_LIT(p, "null");
	end = output_fmt_shortest(p, v);
	for (char *at = p; at < end; at++)
		if (*at == '.' || *at == 'e')
			return end;
	return OUTPUT_FMT_LIT(end, ".0");
}
