/*
 * md5: the digest that AMD's tools put into names of files. Not for security.
 *
 * Threads  a pure function.
 */
#ifndef WS_SETTINGS_MD5_H
#define WS_SETTINGS_MD5_H

#include <stddef.h>

/* As 32 hexadecimal digits and a NUL. */
void set_md5(const void *bytes, size_t n, char out_hex[33]);

#endif
