/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read/miss_curve.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "read/csv.h"

static const char size_name[] = "cache_bytes", ratio_name[] = "miss_ratio",
                  error_name[] = "miss_ratio_error", blocks_name[] = "cache_blocks";
static const double rounding = 1e-5;
enum { ROWS = 256 };

struct reading {
    struct sc_csv *csv;
    struct sc_csv_batch batch;
    size_t size_column, ratio_column, blocks_column;
    bool estimated;
    struct sc_miss_curve curve;
    size_t room;
    struct sc_miss_curve_error *error;
};

static enum sc_status refuse(struct reading *r, enum sc_status status, size_t line,
                             const char *column, const char *reason, const char *got)
{
    if (r->error == NULL)
        return status;
    *r->error = (struct sc_miss_curve_error){ .line = line, .column = column };
    (void)snprintf(r->error->reason, sizeof r->error->reason, "%s%s%.40s%s", reason,
                   got != NULL ? ", got '" : "", got != NULL ? got : "", got != NULL ? "'" : "");
    return status;
}

static enum sc_status refuse_csv(struct reading *r, enum sc_csv_status status,
                                 const struct sc_csv_error *error)
{
    return refuse(r, status == SC_CSV_ENOMEMORY ? SC_ENOSPACE : SC_EDOMAIN, error->line, "",
                  error->reason, NULL);
}

/* Index of the one column of that name; the count when there is none, or more than one. */
static size_t find_column(const struct sc_csv *csv, const char *name)
{
    const size_t count = sc_csv_column_count(csv);
    size_t found = count;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sc_csv_columns(csv)[i].text, name) != 0)
            continue;
        if (found < count)
            return count;
        found = i;
    }
    return found;
}

static enum sc_status find_columns(struct reading *r)
{
    const size_t count = sc_csv_column_count(r->csv), line = sc_csv_header_line(r->csv);
    r->size_column = find_column(r->csv, size_name);
    r->ratio_column = find_column(r->csv, ratio_name);
    r->blocks_column = find_column(r->csv, blocks_name);
    r->estimated = find_column(r->csv, error_name) < count;
    if (r->size_column == count)
        return refuse(r, SC_EDOMAIN, line, size_name, "expected one such column", NULL);
    if (r->ratio_column == count)
        return refuse(r, SC_EDOMAIN, line, ratio_name, "expected one such column", NULL);
    return SC_OK;
}

/* A finite decimal number and nothing else; under the C locale. */
static bool parse_number(const char *text, char decimal, double *value)
{
    char plain[64], *end;
    const size_t length = strlen(text);
    if (length == 0 || length >= sizeof plain)
        return false;
    memcpy(plain, text, length + 1);
    for (char *c = plain; *c != '\0'; c++) {
        if (*c == decimal)
            *c = '.';
        else if (strchr("+-0123456789eE", *c) == NULL)
            return false;
    }
    errno = 0;
    *value = strtod(plain, &end);
    return *end == '\0' && isfinite(*value);
}

static enum sc_status read_cell(struct reading *r, const struct sc_csv_row *row, size_t column,
                                const char *name, double *value)
{
    const char *text =
        column < row->field_count ? r->batch.fields[row->first_field + column].text : "";
    const bool is_ratio = column == r->ratio_column;
    if (parse_number(text, sc_csv_decimal(r->csv), value) && *value >= 0.0 && (!is_ratio || *value <= 1.0))
        return SC_OK;
    return refuse(r, SC_EDOMAIN, row->line, name,
                  is_ratio ? "expected a share from 0 to 1" : "expected a number of bytes", text);
}

static bool make_room(struct reading *r)
{
    struct sc_miss_curve *const c = &r->curve;
    if (c->count < r->room)
        return true;
    const size_t room = r->room == 0 ? ROWS : 2 * r->room;
    if (room > SIZE_MAX / sizeof *c->cache_bytes)
        return false;
    double *sizes = realloc(c->cache_bytes, room * sizeof *sizes);
    if (sizes != NULL)
        c->cache_bytes = sizes;
    double *ratios = realloc(c->miss_ratio, room * sizeof *ratios);
    if (ratios != NULL)
        c->miss_ratio = ratios;
    r->room = sizes != NULL && ratios != NULL ? room : r->room;
    return sizes != NULL && ratios != NULL;
}

/* Parts of a block count for nothing: `blocks` of them fit into `size`, one more does not. */
static void bound_block(struct reading *r, const struct sc_csv_row *row, double size)
{
    struct sc_miss_curve *const c = &r->curve;
    double blocks = 0.0;
    if (r->blocks_column < row->field_count &&
        parse_number(r->batch.fields[row->first_field + r->blocks_column].text,
                     sc_csv_decimal(r->csv), &blocks) &&
        blocks >= 1.0) {
        c->block_above = fmax(c->block_above, size / (blocks + 1.0));
        c->block_most = fmin(c->block_most, size / blocks);
    }
}

static enum sc_status read_row(struct reading *r, const struct sc_csv_row *row)
{
    struct sc_miss_curve *const c = &r->curve;
    double size = 0.0, ratio = 0.0;
    enum sc_status status = read_cell(r, row, r->size_column, size_name, &size);
    if (status == SC_OK)
        status = read_cell(r, row, r->ratio_column, ratio_name, &ratio);
    if (status != SC_OK)
        return status;
    if (c->count > 0 && size <= c->cache_bytes[c->count - 1])
        return refuse(r, SC_EDOMAIN, row->line, size_name, "expected more than in the row before",
                      r->batch.fields[row->first_field + r->size_column].text);
    if (c->count > 0 && !r->estimated && ratio > c->miss_ratio[c->count - 1] + rounding)
        return refuse(r, SC_EDOMAIN, row->line, ratio_name,
                      "expected no more than in the row before",
                      r->batch.fields[row->first_field + r->ratio_column].text);
    if (!make_room(r))
        return refuse(r, SC_ENOSPACE, 0, "", "needs more memory than there is", NULL);
    bound_block(r, row, size);
    c->cache_bytes[c->count] = size;
    c->miss_ratio[c->count++] = ratio;
    return SC_OK;
}

static enum sc_status read_rows(struct reading *r)
{
    for (;;) {
        struct sc_csv_error error;
        const enum sc_csv_status csv = sc_csv_read(r->csv, &r->batch, ROWS, &error);
        if (csv == SC_CSV_END)
            return r->curve.count > 0 ? SC_OK
                                      : refuse(r, SC_EDOMAIN, 0, "", "expected at least one row",
                                               NULL);
        if (csv != SC_CSV_OK)
            return refuse_csv(r, csv, &error);
        for (size_t i = 0; i < r->batch.row_count; i++) {
            const enum sc_status status = read_row(r, &r->batch.rows[i]);
            if (status != SC_OK)
                return status;
        }
    }
}

enum sc_status sc_miss_curve_read(FILE *file, struct sc_miss_curve *curve,
                                  struct sc_miss_curve_error *error)
{
    struct reading r = { .error = error, .curve = { .block_most = (double)INFINITY } };
    struct sc_csv_error csv_error;
    *curve = (struct sc_miss_curve){ 0 };
    const enum sc_csv_status csv = sc_csv_create(&r.csv, file, "", NULL, &csv_error);
    if (csv != SC_CSV_OK)
        return refuse_csv(&r, csv, &csv_error);
    enum sc_status status = find_columns(&r);
    if (status == SC_OK)
        status = read_rows(&r);
    sc_csv_batch_fini(&r.batch);
    sc_csv_destroy(r.csv);
    if (status == SC_OK)
        *curve = r.curve;
    else
        sc_miss_curve_fini(&r.curve);
    return status;
}

void sc_miss_curve_fini(struct sc_miss_curve *curve)
{
    free(curve->cache_bytes);
    free(curve->miss_ratio);
    *curve = (struct sc_miss_curve){ 0 };
}

double sc_miss_curve_at(const struct sc_miss_curve *curve, double cache_bytes)
{
    size_t low = 0, high = curve->count;
    while (low < high) { /* the first row that is larger */
        const size_t middle = low + (high - low) / 2;
        if (curve->cache_bytes[middle] <= cache_bytes)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == curve->count)
        return curve->miss_ratio[curve->count - 1];
    const double from = low > 0 ? curve->cache_bytes[low - 1] : 0.0;
    const double start = low > 0 ? curve->miss_ratio[low - 1] : 1.0;
    const double share = (cache_bytes - from) / (curve->cache_bytes[low] - from);
    return cache_bytes > from ? start + share * (curve->miss_ratio[low] - start) : start;
}
