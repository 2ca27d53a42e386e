/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and a NUL. */
static bool reserve(struct text *text, size_t more)
{
    if (text->failed || more >= SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    const size_t needed = text->length + more + 1;
    if (needed <= text->capacity)
        return true;
    const size_t capacity = needed < 256 ? 256 : needed + needed / 2;
    char *bytes = realloc(text->bytes, capacity);
    if (bytes == NULL) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_add_string(struct text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

void text_add_char(struct text *text, char c)
{
    text_add(text, &c, 1);
}

void text_repeat(struct text *text, const char *string, size_t count)
{
    while (count-- > 0)
        text_add_string(text, string);
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        text->failed = true;
    } else if (reserve(text, (size_t)length)) {
        (void)vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void text_fini(struct text *text)
{
    free(text->bytes);
    *text = (struct text){ 0 };
}

size_t text_split(char *line, const char **words, size_t most)
{
    size_t count = 0;
    for (char *word = strtok_r(line, " ", &line); word != NULL && count < most;
         word = strtok_r(NULL, " ", &line))
        words[count++] = word;
    return count;
}

size_t text_character(const char *bytes, size_t length)
{
    const unsigned char *text = (const unsigned char *)bytes;
    const unsigned c = length > 0 ? text[0] : 0xFF;
    const size_t span = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : (c & 0xF0) == 0xE0 ? 3
                        : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (span == 0 || span > length)
        return 0;
    for (size_t i = 1; i < span; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    if ((c == 0xE0 && text[1] < 0xA0) || (c == 0xED && text[1] > 0x9F) ||
        (c == 0xF0 && text[1] < 0x90) || (c == 0xF4 && text[1] > 0x8F))
        return 0;
    return span;
}

size_t text_width(const char *bytes, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return width;
}
