/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in and out: numbers beside printf and strtod, CSV rows beside bare libcsv. */
#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "number.h"
#include "read/csv.h"
#include "units.h"

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { ROUNDS = 5, VALUES = 200000, ROWS = 200000 };

static double values[VALUES];
static char texts[VALUES][32];

static double median(double *times)
{
    for (int i = 1; i < ROUNDS; i++)
        for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
            const double t = times[j];
            times[j] = times[j - 1];
            times[j - 1] = t;
        }
    return times[ROUNDS / 2];
}

static size_t format_ours(void)
{
    char out[SC_NUMBER_MAX];
    size_t sum = 0;
    for (int i = 0; i < VALUES; i++)
        sum += sc_number_format(out, values[i], 6);
    return sum;
}

static size_t format_printf(void)
{
    char out[64];
    size_t sum = 0;
    for (int i = 0; i < VALUES; i++)
        sum += (size_t)snprintf(out, sizeof out, "%.6g", values[i]);
    return sum;
}

static size_t parse_ours(void)
{
    size_t sum = 0;
    struct sc_quantity quantity;
    for (int i = 0; i < VALUES; i++)
        sum += sc_units_parse(texts[i], strlen(texts[i]), SC_NUMBER, NULL, '.', &quantity) ==
               SC_UNITS_OK;
    return sum;
}

static size_t parse_strtod(void)
{
    size_t sum = 0;
    for (int i = 0; i < VALUES; i++)
        sum += strtod(texts[i], NULL) != 0.0;
    return sum;
}

static FILE *rows_file;

static size_t rows_ours(void)
{
    struct sc_csv *reader;
    struct sc_csv_batch batch = { 0 };
    size_t rows = 0;
    rewind(rows_file);
    if (sc_csv_create(&reader, rows_file, "rows", NULL, NULL) != SC_CSV_OK)
        exit(1);
    while (sc_csv_read(reader, &batch, 1024, NULL) == SC_CSV_OK)
        rows += batch.row_count;
    sc_csv_batch_fini(&batch);
    sc_csv_destroy(reader);
    return rows;
}

static void field(void *text, size_t length, void *count)
{
    (void)text;
    *(size_t *)count += length == 0;
}

static void row(int end, void *count)
{
    (void)end;
    ++*(size_t *)count;
}

static size_t rows_libcsv(void)
{
    static char block[65536];
    struct csv_parser parser;
    size_t rows = 0, length;
    rewind(rows_file);
    if (csv_init(&parser, CSV_APPEND_NULL) != 0)
        exit(1);
    while ((length = fread(block, 1, sizeof block, rows_file)) > 0)
        (void)csv_parse(&parser, block, length, field, row, &rows);
    (void)csv_fini(&parser, field, row, &rows);
    csv_free(&parser);
    return rows;
}

static void compare(const char *what, const char *unit, double scale, int count,
                    size_t (*ours)(void), const char *peer, size_t (*theirs)(void))
{
    double a[ROUNDS], b[ROUNDS];
    size_t sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double start_s = now_s();
        sum += ours();
        a[i] = now_s() - start_s;
        start_s = now_s();
        sum += theirs();
        b[i] = now_s() - start_s;
    }
    const double x = median(a), y = median(b);
    const double ours_shown = scale > 0 ? x / count * scale : count / x / 1e6;
    const double theirs_shown = scale > 0 ? y / count * scale : count / y / 1e6;
    printf("%-24s %8.1f %s   %s %8.1f %s   time ratio %.2f\n", what, ours_shown, unit, peer,
           theirs_shown, unit, x / y);
    if (sum == 0)
        exit(1);
}

int main(void)
{
    unsigned long long state = 1;
    rows_file = tmpfile();
    if (rows_file == NULL)
        return 1;
    (void)fputs("a,b,c,d,e,f,g,h\n", rows_file);
    for (int i = 0; i < VALUES; i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        values[i] = (double)(state >> 40) * 1e-3;
        (void)snprintf(texts[i], sizeof texts[i], "%.6g", values[i]);
    }
    for (int i = 0; i < ROWS; i++)
        (void)fprintf(rows_file, "%d,llama-70b,slipstream,%d,20,2,64,%s\n", i, i % 320, texts[i]);
    compare("number to text", "ns", 1e9, VALUES, format_ours, "snprintf", format_printf);
    compare("text to number", "ns", 1e9, VALUES, parse_ours, "strtod  ", parse_strtod);
    compare("CSV rows of 8 fields", "M/s", 0, ROWS, rows_ours, "libcsv  ", rows_libcsv);
    (void)fclose(rows_file);
    return 0;
}
