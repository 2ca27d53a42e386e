/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces and miss-ratio curves as files: what is read, and what is said of what is not. */
#include <float.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/addresses.h"
#include "read/miss_curve.h"
#include "read/packed.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { MOST = 64 };

/* Everything of a text; -1: refused, with the fault. */
static long read_all(const char *text, size_t length, const struct sc_addresses_options *options,
                     uint64_t *value, struct sc_addresses_error *error)
{
    FILE *file = length > 0 ? fmemopen((void *)(uintptr_t)text, length, "rb") : tmpfile();
    struct sc_addresses *reader;
    size_t count = 0, got = 1;
    *error = (struct sc_addresses_error){ 0 };
    if (file == NULL)
        bail("no file");
    bool fine = sc_addresses_create(&reader, file, options, error);
    while (fine && got > 0 && count < MOST) {
        fine = sc_addresses_read(reader, value + count, MOST - count < 3 ? MOST - count : 3, &got,
                                 error);
        count += fine ? got : 0;
    }
    sc_addresses_destroy(reader);
    fclose(file);
    return fine ? (long)count : -1;
}

static void test_read(void)
{
    static const struct {
        const char *text;
        uint64_t value[4];
        size_t count;
    } cases[] = {
        { "", { 0 }, 0 },
        { "\n\n# nothing\n", { 0 }, 0 },
        { "5", { 5 }, 1 },
        { "0\n", { 0 }, 1 },
        { "1\n2\r\n 3 \n\t4\t\n", { 1, 2, 3, 4 }, 4 },
        { "\xEF\xBB\xBF" "7\n", { 7 }, 1 },
        { "# addresses\n1\n# more\n\n2", { 1, 2 }, 2 },
        { "0x10\n0XfF\n0x0\n10", { 16, 255, 0, 10 }, 4 },
        { "18446744073709551615\n0xffffffffffffffff\n0\n", { UINT64_MAX, UINT64_MAX, 0 }, 3 },
        { "1\n18446744073709551615\n00000000000000000000018\n0x00000000000000000012\n",
          { 1, UINT64_MAX, 18, 18 }, 4 },
        { "9999999999999999999\n9999999999999999999\n", { 9999999999999999999U, 9999999999999999999U }, 2 },
    };
    static const size_t blocks[] = { 0, 1, 2, 3, 7 };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t b = 0; b < COUNT(blocks); b++) {
            const struct sc_addresses_options options = { .block_bytes = blocks[b] };
            struct sc_addresses_error error;
            uint64_t value[MOST];
            const long count =
                read_all(cases[i].text, strlen(cases[i].text), &options, value, &error);
            if (count < 0)
                note("%s", error.reason);
            ok(count == (long)cases[i].count &&
                   memcmp(value, cases[i].value, cases[i].count * sizeof *value) == 0,
               "text %zu in blocks of %zu", i, blocks[b]);
        }
}

static void test_names(void)
{
    uint64_t value[MOST];
    struct sc_addresses_error error;
    static const char text[] = "weights.0\nkv-cache\nweights.0\n_x\nweights.1\n-\nkv-cach\n";
    ok(read_all(text, strlen(text), &(struct sc_addresses_options){ 0 }, value, &error) == 7, "names");
    ok(value[0] == value[2] && value[0] != value[1] && value[0] != value[3] &&
           value[0] != value[4] && value[1] != value[6],
       "are the same where they are the same");
}

static void test_refused(void)
{
    static const struct {
        const char *text;
        size_t line;
        const char *reason;
    } cases[] = {
        { "1\n-5\n", 2, "expected no negative number, got '-5'" },
        { "-5\n", 1, "expected no negative number, got '-5'" },
        { "+5\n", 1, "expected a number without a sign, got '+5'" },
        { "1\n\n18446744073709551616\n", 3, "expected a number below 2^64, got '18446744073709551616'" },
        { "1\n0x10000000000000000\n", 2, "expected a number below 2^64, got '0x10000000000000000'" },
        { "1\n99999999999999999999\n", 2, "expected a number below 2^64, got '99999999999999999999'" },
        { "7fff5694\n", 1, "expected a whole number (hexadecimal after 0x), got '7fff5694'" },
        { "1.5\n", 1, "expected a whole number (hexadecimal after 0x), got '1.5'" },
        { "1\n2e3\n", 2, "expected a whole number (hexadecimal after 0x), got '2e3'" },
        { "0x\n", 1, "expected a whole number (hexadecimal after 0x), got '0x'" },
        { "1\n0x\n", 2, "expected a whole number (hexadecimal after 0x), got '0x'" },
        { "1\n0xg\n", 2, "expected a whole number (hexadecimal after 0x), got '0xg'" },
        { "1 2\n", 1, "expected one number or name in a line, got '1 2'" },
        { "1\n2,3\n", 2, "expected one number or name in a line, got '2,3'" },
        { "R 0x100\n", 1, "expected one number or name in a line, got 'R 0x100'" },
        { "1\nabc\n", 2, "expected a number, as in line 1, got 'abc'" },
        { "\nabc\n\n1\n", 4, "expected a name, as in line 2, got '1'" },
        { "a234567890123456789012345678901234567890123 b\n", 1,
          "expected one number or name in a line, got 'a234567890123456789012345678901234567890' ..." },
    };
    static const size_t blocks[] = { 0, 1, 5 };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t b = 0; b < COUNT(blocks); b++) {
            const struct sc_addresses_options options = { .block_bytes = blocks[b] };
            struct sc_addresses_error error;
            uint64_t value[MOST];
            ok(read_all(cases[i].text, strlen(cases[i].text), &options, value, &error) == -1 &&
                   error.line == cases[i].line && strcmp(error.reason, cases[i].reason) == 0,
               "line %zu: %s", cases[i].line, cases[i].reason);
        }
}

static void test_odd_text(void)
{
    struct sc_addresses_error error;
    uint64_t value[MOST];
    char *line = malloc(SC_ADDRESSES_LINE_MAX + 2);
    if (line == NULL)
        bail("out of memory");
    memset(line, 'a', SC_ADDRESSES_LINE_MAX + 1);
    line[SC_ADDRESSES_LINE_MAX + 1] = '\n';
    for (size_t b = 0; b < 2000; b += 1999) {
        const struct sc_addresses_options options = { .block_bytes = b };
        ok(read_all(line, SC_ADDRESSES_LINE_MAX + 2, &options, value, &error) == -1 &&
               error.line == 1,
           "a line without an end");
        is_str(error.reason, "expected a line of less than 64 KiB: is this a text?", "is told");
        ok(read_all(line + 3, SC_ADDRESSES_LINE_MAX - 1, &options, value, &error) == 1,
           "a long line is read");
    }
    free(line);
    ok(read_all("1\n2\0\n", 5, &(struct sc_addresses_options){ 0 }, value, &error) == -1 &&
           error.line == 2,
       "a zero byte");
    ok(read_all("\xFF\xFE" "1\0", 4, &(struct sc_addresses_options){ 0 }, value, &error) == -1, "UTF-16");
    is_str(error.reason, "is UTF-16 text; expected UTF-8", "is told");
}

static void test_raw(void)
{
    static const unsigned char bytes[] = { 1, 0, 0, 0, 0, 0, 0, 0,  255, 255, 255, 255, 255, 255,
                                           255, 255, 0, 1, 0, 0, 0, 0, 0, 128, 9, 9, 9 };
    static const size_t blocks[] = { 0, 1, 8, 11 };
    for (size_t b = 0; b < COUNT(blocks); b++) {
        const struct sc_addresses_options options = { .form = SC_ADDRESSES_RAW,
                                                      .block_bytes = blocks[b] };
        struct sc_addresses_error error;
        uint64_t value[MOST];
        ok(read_all((const char *)bytes, 24, &options, value, &error) == 3 && value[0] == 1 &&
               value[1] == UINT64_MAX && value[2] == 0x8000000000000100U,
           "raw numbers, lowest byte first");
        ok(read_all((const char *)bytes, 27, &options, value, &error) == -1, "one that is cut off");
        is_str(error.reason, "expected numbers of 8 bytes each, got 3 bytes at byte 24, its last",
               "is told, with its byte");
        ok(read_all((const char *)bytes, 0, &options, value, &error) == 0, "none");
    }
}

static void test_csv(void)
{
    static const struct {
        const char *text, *column;
        long count;
        size_t line;
        const char *in, *reason;
    } cases[] = {
        { "op,addr\nR,1\nW,0x10\n", "addr", 2, 0, "", "" },
        { "addr\n1\n2\n", NULL, 2, 0, "", "" },
        { "op;addr\nR; 1 \n", "addr", 1, 0, "", "" },
        { "addr\n", NULL, 0, 0, "", "" },
        { "op,name\nR,a b\n", "name", 1, 0, "", "" },
        { "op,addr\nR,1\n", NULL, -1, 1, "", "expected one column by its name, got op, addr" },
        { "op,addr\nR,1\n", "adr", -1, 1, "", "expected a column 'adr', got op, addr" },
        { "a,a\n1,2\n", "a", -1, 1, "", "expected one column 'a', got a, a" },
        { "100\n200\n", NULL, -1, 1, "", "expected the name of the column, got '100'" },
        { "op,addr\nR,1\nR\n", "addr", -1, 3, "addr", "expected a number or name, got nothing" },
        { "op,addr\nR,\n", "addr", -1, 2, "addr", "expected a number or name, got nothing" },
        { "op,addr\nR,-1\n", "addr", -1, 2, "addr", "expected no negative number, got '-1'" },
        { "op,addr\nR,1\nR,x\n", "addr", -1, 3, "addr", "expected a number, as in line 2, got 'x'" },
        { "op,addr\n\"R,1\n", "addr", -1, 2, "", "the quote is not closed" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sc_addresses_options options = { .form = SC_ADDRESSES_CSV,
                                                      .column = cases[i].column };
        struct sc_addresses_error error;
        uint64_t value[MOST];
        is_int(read_all(cases[i].text, strlen(cases[i].text), &options, value, &error),
               cases[i].count, "CSV %zu", i);
        is_int((long)error.line, (long)cases[i].line, "line");
        is_str(error.column, cases[i].in, "column");
        if (i + 1 < COUNT(cases))
            is_str(error.reason, cases[i].reason, "reason");
        else
            ok(strstr(error.reason, "quote") != NULL, "the quote is told of");
    }
}

static void test_stem(void)
{
    is_int((long)sc_packed_stem("a.u64.gz"), 5, "a.u64.gz");
    is_int((long)sc_packed_stem("a.u64.zst"), 5, "a.u64.zst");
    is_int((long)sc_packed_stem("A.U64.GZ"), 5, "A.U64.GZ");
    is_int((long)sc_packed_stem("a.u64.Zst"), 5, "a.u64.Zst");
    is_int((long)sc_packed_stem("a.u64"), 5, "a.u64");
    is_int((long)sc_packed_stem(".gz"), 3, "a name is more than its end");
}

/* ---- curves ---- */

static enum sc_status read_curve(const char *text, struct sc_miss_curve *curve,
                                 struct sc_miss_curve_error *error)
{
    FILE *file = *text != '\0' ? fmemopen((void *)(uintptr_t)text, strlen(text), "rb") : tmpfile();
    if (file == NULL)
        bail("no file");
    const enum sc_status status = sc_miss_curve_read(file, curve, error);
    fclose(file);
    return status;
}

static void test_curve(void)
{
    struct sc_miss_curve curve;
    struct sc_miss_curve_error error;
    ok(read_curve("cache_bytes,cache_blocks,misses,miss_ratio\n"
                  "2097152,1,8,0.8\n4194304,2,4,0.4\n8388608,4,4,0.4\n", &curve, &error) == SC_OK &&
           curve.count == 3,
       "what mrc writes");
    near(sc_miss_curve_at(&curve, 0), 1, 0, 0, "no cache");
    near(sc_miss_curve_at(&curve, 1048576), 0.9, 1e-15, 0, "half of the first");
    near(sc_miss_curve_at(&curve, 2097152), 0.8, 0, 0, "the first");
    near(sc_miss_curve_at(&curve, 3145728), 0.6, 1e-15, 0, "between");
    near(sc_miss_curve_at(&curve, 1e18), 0.4, 0, 0, "beyond");
    near(curve.block_above, 1048576 * 8.0 / 5.0, 1e-15, 0, "its blocks are larger than that");
    near(curve.block_most, 2097152, 0, 0, "and no larger than that");
    sc_miss_curve_fini(&curve);
    ok(read_curve("cache_bytes;cache_blocks;miss_ratio\n10000,5;2;0,5\n", &curve, &error) == SC_OK,
       "what mrc writes with a decimal comma");
    near(sc_miss_curve_at(&curve, 10000.5), 0.5, 0, 0, "is a number");
    near(curve.block_most, 5000.25, 0, 0, "for blocks too");
    sc_miss_curve_fini(&curve);
    ok(read_curve("cache_bytes,miss_ratio\n1,0.5\n", &curve, NULL) == SC_OK &&
           curve.block_above == 0.0 && curve.block_most > DBL_MAX,
       "blocks of any size where it is not told");
    sc_miss_curve_fini(&curve);
    ok(read_curve("cache_bytes,miss_ratio,miss_ratio_error\n1,0.5,0.1\n2,0.6,0.1\n", &curve, NULL) ==
           SC_OK,
       "an estimate may rise");
    sc_miss_curve_fini(&curve);
    ok(read_curve("cache_bytes,miss_ratio\n0,1\n", &curve, NULL) == SC_OK, "a size of nothing");
    near(sc_miss_curve_at(&curve, 0), 1, 0, 0, "has its ratio");
    sc_miss_curve_fini(&curve);
}

static void test_curve_refused(void)
{
    static const struct {
        const char *text;
        size_t line;
        const char *column, *reason;
    } cases[] = {
        { "cache_bytes,ratio\n1,1\n", 1, "miss_ratio", "expected one such column" },
        { "size,miss_ratio\n1,1\n", 1, "cache_bytes", "expected one such column" },
        { "cache_bytes,miss_ratio,miss_ratio\n1,1,1\n", 1, "miss_ratio", "expected one such column" },
        { "cache_bytes,miss_ratio\n", 0, "", "expected at least one row" },
        { "cache_bytes,miss_ratio\n1,1.01\n", 2, "miss_ratio", "expected a share from 0 to 1, got '1.01'" },
        { "cache_bytes,miss_ratio\n1,nan\n", 2, "miss_ratio", "expected a share from 0 to 1, got 'nan'" },
        { "cache_bytes,miss_ratio\n-1,1\n", 2, "cache_bytes", "expected a number of bytes, got '-1'" },
        { "cache_bytes,miss_ratio\n1MB,1\n", 2, "cache_bytes", "expected a number of bytes, got '1MB'" },
        { "cache_bytes,miss_ratio\n1e999,1\n", 2, "cache_bytes", "expected a number of bytes, got '1e999'" },
        { "cache_bytes,miss_ratio\n1\n", 2, "miss_ratio", "expected a share from 0 to 1, got ''" },
        { "cache_bytes,miss_ratio\n2,1\n2,0.5\n", 3, "cache_bytes", "expected more than in the row before, got '2'" },
        { "cache_bytes,miss_ratio\n2,0.5\n3,0.6\n", 3, "miss_ratio", "expected no more than in the row before, got '0.6'" },
    };
    struct sc_miss_curve curve;
    struct sc_miss_curve_error error;
    for (size_t i = 0; i < COUNT(cases); i++) {
        ok(read_curve(cases[i].text, &curve, &error) == SC_EDOMAIN && curve.count == 0 &&
               curve.cache_bytes == NULL && error.line == cases[i].line,
           "curve %zu, line %zu", i, cases[i].line);
        is_str(error.column, cases[i].column, "column");
        is_str(error.reason, cases[i].reason, "reason");
    }
    ok(read_curve("", &curve, &error) == SC_EDOMAIN && error.line == 0, "nothing at all");
}

int main(void)
{
    plan(250);
    test_read();
    test_names();
    test_refused();
    test_odd_text();
    test_raw();
    test_csv();
    test_stem();
    test_curve();
    test_curve_refused();
    return done();
}
