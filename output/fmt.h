/*
 * fmt: numbers as text, into a buffer that has room for them.
 *
 * printf() takes 100 to 300 ns for a number; a trace of ten million events holds some
 * hundred million. These take 2 to 10. Each function writes at @p and returns the end.
 */
#ifndef WS_OUTPUT_FMT_H
#define WS_OUTPUT_FMT_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_FMT_U64_MAX 20  /* characters */
#define OUTPUT_FMT_F64_MAX 400 /* fixed form of the largest double */

extern const char output_fmt_pairs[201]; /* "00010203..99" */

static inline unsigned output_fmt_n_digits(uint64_t v)
{
	static const uint64_t power[] = {
		0, /* so that 0 has one digit */
		10ull,
		100ull,
		1000ull,
		10000ull,
		100000ull,
		1000000ull,
		10000000ull,
		100000000ull,
		1000000000ull,
		10000000000ull,
		100000000000ull,
		1000000000000ull,
		10000000000000ull,
		100000000000000ull,
		1000000000000000ull,
		10000000000000000ull,
		100000000000000000ull,
		1000000000000000000ull,
		10000000000000000000ull,
	};
	/* 1233/4096 is log10(2): the guess is right or one too small */
	unsigned n = (unsigned)((64 - __builtin_clzll(v | 1)) * 1233) >> 12;

	return n + (v >= power[n]);
}

static inline char *output_fmt_u64(char *p, uint64_t v)
{
	unsigned n = output_fmt_n_digits(v);
	char *end = p + n;

	p = end;
	while (v >= 100) {
		p -= 2;
		memcpy(p, output_fmt_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(p - 2, output_fmt_pairs + v * 2, 2);
	else
		p[-1] = (char)('0' + v);
	return end;
}

static inline char *output_fmt_i64(char *p, int64_t v)
{
	if (v < 0) {
		*p++ = '-';
		return output_fmt_u64(p, 0 - (uint64_t)v);
	}
	return output_fmt_u64(p, (uint64_t)v);
}

static inline char *output_fmt_u128(char *p, unsigned __int128 v)
{
	uint64_t low;

	if (v <= UINT64_MAX)
		return output_fmt_u64(p, (uint64_t)v);
	low = (uint64_t)(v % 1000000000000000000ull);
	p = output_fmt_u128(p, v / 1000000000000000000ull);
	for (int i = 17; i >= 0; i--, low /= 10)
		p[i] = (char)('0' + low % 10);
	return p + 18;
}

/* "0x" and 16 digits */
static inline char *output_fmt_hex16(char *p, uint64_t v)
{
	*p++ = '0';
	*p++ = 'x';
	for (int shift = 60; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 15];
	return p;
}

#define OUTPUT_FMT_LIT(p, literal)                                                                 \
	(memcpy((p), "" literal, sizeof(literal) - 1), (p) + sizeof(literal) - 1)

char *output_fmt_fixed6(char *p, double v);   /* %.6f */
char *output_fmt_counter(char *p, double v);  /* CSV's counter cells: >= 1 %.6f, else %.8e */
char *output_fmt_stat(char *p, double v);     /* averages and deviations: > 0.01 %.6f, else %.8e */
char *output_fmt_percent(char *p, double v);  /* >= 1 %.2f, > 0.01 %.4f, else %.3e */
char *output_fmt_shortest(char *p, double v); /* fewest digits that read back: 1.5 0.000123 1e-06 */
char *output_fmt_json_f64(char *p,
			  double v); /* the same, never without '.' or 'e'; not finite: null */

#endif
