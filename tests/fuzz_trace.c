/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target of the readers of traces and of miss-ratio curves, for libFuzzer.
 *
 * The first byte chooses the form, the second a block size, the rest is the file.  Checked: two
 * block sizes give the same values and the same fault; what was read has a histogram that adds
 * up, and a curve that falls; a curve that is read is one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/addresses.h"
#include "read/miss_curve.h"
#include "reuse_distance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

enum { MOST = 20000 };

struct result {
    uint64_t values[MOST];
    size_t count;
    bool fine;
    struct sc_addresses_error error;
};

static FILE *open_text(const uint8_t *text, size_t length)
{
    FILE *file = length > 0 ? fmemopen((void *)(uintptr_t)text, length, "rb") : tmpfile();
    require(file != NULL);
    return file;
}

static void read_all(const uint8_t *text, size_t length, enum sc_addresses_form form,
                     size_t block_bytes, size_t piece, struct result *result)
{
    const struct sc_addresses_options options = { .form = form, .block_bytes = block_bytes };
    FILE *file = open_text(text, length);
    struct sc_addresses *reader;
    size_t got = 1;
    memset(result, 0, sizeof *result);
    result->fine = sc_addresses_create(&reader, file, &options, &result->error);
    require(result->fine == (reader != NULL));
    while (result->fine && got > 0 && result->count + piece <= MOST) {
        result->fine = sc_addresses_read(reader, result->values + result->count, piece, &got,
                                         &result->error);
        require(got <= piece);
        result->count += got;
    }
    require(result->fine || *result->error.reason != '\0');
    sc_addresses_destroy(reader);
    fclose(file);
}

static void check_distances(const struct result *r, uint64_t divisor)
{
    const struct sc_reuse_options options = { .divisor = divisor };
    const double capacity[] = { 0, 1, 2, 10, 1e9 };
    struct sc_reuse_meter *meter;
    struct sc_reuse_histogram h;
    double ratio[5], sum;
    require(sc_reuse_meter_create(&meter, &options, NULL) == SC_OK);
    require(sc_reuse_meter_add(meter, r->values, r->count, NULL) == SC_OK);
    if (r->count > 0) {
        require(sc_reuse_meter_histogram(meter, false, &h, NULL) == SC_OK);
        sum = h.cold;
        for (size_t i = 0; i < h.bins; i++)
            sum += h.count[i];
        require(sum == (double)r->count && h.cold >= 1.0);
        require(sc_reuse_meter_curve(meter, sc_reuse_rule_find("lru"), 0, capacity, 5, ratio, NULL,
                                     NULL) == SC_OK);
        require(ratio[0] == 1.0 && ratio[4] == h.cold / sum);
        for (size_t i = 1; i < 5; i++)
            require(ratio[i] <= ratio[i - 1]);
    }
    sc_reuse_meter_destroy(meter);
}

static void check_curve(const uint8_t *text, size_t length)
{
    struct sc_miss_curve curve;
    struct sc_miss_curve_error error;
    FILE *file = open_text(text, length);
    const enum sc_status status = sc_miss_curve_read(file, &curve, &error);
    fclose(file);
    require((status == SC_OK) == (curve.count > 0));
    require(status == SC_OK || *error.reason != '\0');
    for (size_t i = 0; i < curve.count; i++) {
        require(curve.miss_ratio[i] >= 0.0 && curve.miss_ratio[i] <= 1.0);
        require(i == 0 || curve.cache_bytes[i] > curve.cache_bytes[i - 1]);
        const double at = sc_miss_curve_at(&curve, curve.cache_bytes[i]);
        require(at == curve.miss_ratio[i]);
    }
    sc_miss_curve_fini(&curve);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct result whole, pieces;
    if (size < 2 || size > MOST)
        return 0;
    if (data[0] % 4 == 3) {
        check_curve(data + 2, size - 2);
        return 0;
    }
    const enum sc_addresses_form form = (enum sc_addresses_form)(data[0] % 4);
    read_all(data + 2, size - 2, form, 0, 1000, &whole);
    read_all(data + 2, size - 2, form, 1 + data[1] % 64U, 1 + data[1] / 64U, &pieces);
    require(whole.fine == pieces.fine && whole.error.line == pieces.error.line);
    require(strcmp(whole.error.reason, pieces.error.reason) == 0);
    require(whole.count == pieces.count);
    require(memcmp(whole.values, pieces.values, whole.count * sizeof *whole.values) == 0);
    check_distances(&whole, 1 + data[1]);
    return 0;
}
