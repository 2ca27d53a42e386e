/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole numbers of 64 bits as traces have them. */
#ifndef SC_READ_WHOLE_H
#define SC_READ_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h" /* SC_MUST_CHECK */

/* 0 to 15, or more for what is no hexadecimal digit. */
static inline unsigned sc_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    const unsigned letter = ((unsigned char)c | 0x20U) - 'a';
    return letter < 6 ? letter + 10 : 99;
}

/* Of a text of at least two bytes. */
static inline bool sc_is_hex_prefix(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* The number that text[0 .. length) begins with: decimal, or hexadecimal after 0x.  *used: the
 * bytes that it takes, 0 when there is none.  False: above 2^64 - 1. */
bool sc_whole_read(const char *text, size_t length, uint64_t *value, size_t *used) SC_MUST_CHECK;

#endif
