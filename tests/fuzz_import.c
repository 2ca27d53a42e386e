/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target of the readers of other tools' results, for libFuzzer.
 *
 * The first byte chooses the kind (beyond the last: found out) and whether keys are kept, the
 * rest is the file.  Checked: every number is finite, no text says nan, a failure has a reason,
 * rows are as many as were counted, and reading the file again from a pipe's worth at a time gives
 * the same table.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

enum { MOST = 200000 };

struct tally {
    size_t notes;
    uint64_t hash;
};

static void mix(struct tally *tally, const void *bytes, size_t length)
{
    const unsigned char *const b = bytes;
    for (size_t i = 0; i < length; i++)
        tally->hash = (tally->hash ^ b[i]) * 0x100000001b3U;
}

static void note(void *context, const char *file, size_t line, const char *text)
{
    struct tally *const tally = context;
    require(strcmp(file, "fuzz") == 0 && *text != '\0');
    tally->notes++;
    mix(tally, &line, sizeof line);
    mix(tally, text, strlen(text));
}

static size_t read_rows(struct sc_import *import, struct tally *tally)
{
    const size_t count = sc_import_column_count(import);
    struct sc_import_cell *cells = calloc(count, sizeof *cells);
    size_t rows = 0;
    bool any = true;
    require(cells != NULL && sc_import_rewind(import));
    for (;;) {
        require(sc_import_next(import, cells, &any));
        if (!any)
            break;
        rows++;
        require(cells[SC_IMPORT_FILE].kind == SC_IMPORT_TEXT);
        for (size_t i = 0; i < count; i++) {
            if (cells[i].kind == SC_IMPORT_NUMBER) {
                require(isfinite(cells[i].number));
                mix(tally, &cells[i].number, sizeof cells[i].number);
            } else if (cells[i].kind == SC_IMPORT_TEXT) {
                require(cells[i].length > 0);
                mix(tally, cells[i].text, cells[i].length);
            }
        }
    }
    for (size_t i = 0; i < count; i++)
        mix(tally, sc_import_column_name(import, i), strlen(sc_import_column_name(import, i)));
    free(cells);
    return rows;
}

static void read_once(const uint8_t *data, size_t size, const struct sc_import_kind *kind, bool keep,
                      size_t buffer, struct tally *tally)
{
    struct sc_import *import;
    struct sc_import_outcome outcome;
    struct sc_import_error error;
    const struct sc_import_options options = { .keep = keep ? "[a-m]" : NULL, .name = "(?<f>fu)",
                                               .note = note, .context = tally };
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : tmpfile();
    require(file != NULL && setvbuf(file, NULL, _IOFBF, buffer) == 0);
    require(sc_import_create(&import, &options, &error));
    if (sc_import_file(import, kind, file, "fuzz", &outcome, &error))
        require(read_rows(import, tally) == outcome.rows);
    else
        require(*error.reason != '\0');
    sc_import_destroy(import);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tally once = { 0 }, again = { 0 };
    if (size < 1 || size > MOST)
        return 0;
    const size_t choice = data[0] % (2 * (sc_import_kind_count + 1));
    const size_t kind = choice / 2;
    const struct sc_import_kind *const told =
        kind < sc_import_kind_count ? sc_import_kinds[kind] : NULL;
    read_once(data + 1, size - 1, told, choice % 2 != 0, 65536, &once);
    read_once(data + 1, size - 1, told, choice % 2 != 0, 7, &again);
    require(once.hash == again.hash && once.notes == again.notes);
    return 0;
}
