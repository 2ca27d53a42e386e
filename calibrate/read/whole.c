/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read/whole.h"

bool sc_whole_read(const char *text, size_t length, uint64_t *value, size_t *used)
{
    const bool hex = length > 2 && sc_is_hex_prefix(text);
    const unsigned base = hex ? 16 : 10;
    const size_t start = hex ? 2 : 0;
    *value = 0;
    for (*used = start; *used < length; ++*used) {
        const unsigned digit = sc_hex_digit(text[*used]);
        if (digit >= base)
            break;
        if (*value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    if (*used == start)
        *used = 0;
    return true;
}
