/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growing piece of text.
 *
 * Out of memory is remembered, not reported at every call: once `failed` is
 * set, later calls do nothing, and the caller checks once at the end.
 */
#ifndef SC_TEXT_H
#define SC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes; /* NUL-terminated once anything was added */
    size_t length, capacity;
    bool failed;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_add_string(struct text *text, const char *string);
void text_add_char(struct text *text, char c);
/* Appends `count` copies of the string. */
void text_repeat(struct text *text, const char *string, size_t count);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Empties the text and keeps its memory. */
void text_clear(struct text *text);
void text_fini(struct text *text);

/* The words of a line that blanks separate, in place; at most `most` of them. */
size_t text_split(char *line, const char **words, size_t most);

/* Bytes of the well-formed UTF-8 sequence that bytes[0 .. length) starts with, or 0. */
size_t text_character(const char *bytes, size_t length);
/* Columns that UTF-8 text takes on a terminal: code points, continuation bytes not counted. */
size_t text_width(const char *bytes, size_t length);

#endif
