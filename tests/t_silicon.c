/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Silicon of the staging buffer: Table IV of SlipStream (HPCA 2027), its text,
 * and what must hold for any size. */
#include "silicon.h"
#include "tap.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* One row of Table IV, in the units of the table.  `tag_*` are of one stack. */
static const struct size {
    const char *name;
    double buffer_bytes, slice_mm2, access_ns, total_mm2, total_leakage_w, total_dynamic_w;
    double tag_bytes;
} sizes[] = {
    { "40 MB", 40e6, 7.62, 2.5, 38.35, 12.86, 23.26, 32e3 },
    { "16 MB", 16e6, 3.39, 1.6, 17.21, 5.69, 14.77, 25.6e3 },
};

/* 2 TB/s x 20 us of 4 KiB pages on five stacks, 256 entries on each of 108 SMs. */
static struct sc_silicon_request request_of(double buffer_bytes)
{
    return (struct sc_silicon_request){ .buffer_bytes = buffer_bytes,
                                        .stacks = 5,
                                        .in_flight_pages = 2e12 * 20e-6 / 4096,
                                        .page_bytes = 4096,
                                        .tracking_entries = 256,
                                        .sms = 108,
                                        .node_m = 22e-9,
                                        .utilisation = 1 };
}

static struct sc_silicon_cost cost_of(double buffer_bytes)
{
    const struct sc_silicon_request request = request_of(buffer_bytes);
    return sc_silicon_cost(&request);
}

static void test_table(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct size *size = &sizes[i];
        struct sc_silicon_request request = request_of(size->buffer_bytes);
        const struct sc_silicon_cost cost = sc_silicon_cost(&request);
        near(cost.buffer_area_m2, size->total_mm2 * 1e-6, 0.01, 0, "%s: area of five stacks",
             size->name);
        near(cost.access_s, size->access_ns * 1e-9, 0.01, 0, "%s: access time", size->name);
        near(cost.tag_bytes / 5, size->tag_bytes, 0.01, 0, "%s: tags of a stack", size->name);
        request.tracking_entries = 0;
        const struct sc_silicon_cost dies = sc_silicon_cost(&request);
        near(dies.leakage_w, size->total_leakage_w, 0.01, 0, "%s: leakage of five stacks",
             size->name);
        near(dies.dynamic_w, size->total_dynamic_w, 0.01, 0, "%s: dynamic power of five stacks",
             size->name);
        near(cost.leakage_w - dies.leakage_w, 0.153, 0.01, 0, "%s: leakage of 108 tables",
             size->name);
        near(cost.dynamic_w - dies.dynamic_w, 0.09, 0.01, 0, "%s: dynamic power of 108 tables",
             size->name);
    }
}
enum { TABLE_TESTS = 7 * COUNT(sizes) };

/* What the text makes of the table. */
static void test_text(void)
{
    const struct sc_silicon_cost large = cost_of(40e6), small = cost_of(16e6);
    near(small.buffer_area_m2, 17.21e-6, 0.002, 0, "16 MB take 17.21 mm2");
    near(large.tracking_area_m2, 0.39e-6, 0.01, 0, "108 tables take 0.39 mm2");
    near(large.tracking_bytes, 135 * 1024, 0, 0, "108 tables of 1.25 KiB hold 135 KiB");

    struct sc_silicon_request request = request_of(40e6);
    request.utilisation = 0.492;
    struct sc_silicon_cost cost = sc_silicon_cost(&request);
    near(cost.leakage_w + cost.dynamic_w, 24.5, 0.03, 0, "24.5 W at 49.2 per cent");
    request.utilisation = 0.812;
    cost = sc_silicon_cost(&request);
    near(cost.leakage_w + cost.dynamic_w, 32.0, 0.03, 0, "32.0 W at 81.2 per cent");
    near((cost.leakage_w + cost.dynamic_w) / 654, 0.049, 0.03, 0, "4.9 per cent of 654 W");

    const double base_die_m2 = 121e-6;
    near(large.buffer_area_m2 / 5 / base_die_m2, 0.063, 0.01, 0, "6.3 per cent of a base die");
    request = request_of(40e6);
    request.node_m = 3e-9;
    cost = sc_silicon_cost(&request);
    near(cost.buffer_area_m2 / 5 / base_die_m2, 0.019, 0.01, 0, "1.9 per cent with 3 nm cells");
    /* Eight times the buffer, from the other end of the law. */
    near(cost_of(320e6).buffer_area_m2 / 5 / base_die_m2, 0.427, 0.1, 0,
         "320 MB take 42.7 per cent, which the law was not fitted to");
    request = request_of(320e6);
    request.node_m = 3e-9;
    cost = sc_silicon_cost(&request);
    near(cost.buffer_area_m2 / 5 / base_die_m2, 0.127, 0.1, 0, "and 12.7 per cent with 3 nm cells");
}
enum { TEXT_TESTS = 10 };

static void test_nothing(void)
{
    struct sc_silicon_request request = request_of(0);
    const struct sc_silicon_cost tables = sc_silicon_cost(&request);
    ok(tables.buffer_area_m2 == 0 && tables.tag_bytes == 0 && tables.access_s == 0,
       "no buffer, no area, no tags");
    near(tables.leakage_w, 0.153, 0.01, 0, "only the tables leak");
    request.tracking_entries = 0;
    const struct sc_silicon_cost none = sc_silicon_cost(&request);
    ok(none.leakage_w == 0 && none.dynamic_w == 0 && none.tracking_area_m2 == 0 &&
           none.tracking_bytes == 0,
       "nothing costs nothing");
    request = request_of(40e6);
    request.utilisation = 0;
    const struct sc_silicon_cost idle = sc_silicon_cost(&request);
    ok(idle.dynamic_w == 0 && idle.leakage_w == cost_of(40e6).leakage_w, "idle, it only leaks");
}
enum { NOTHING_TESTS = 4 };

static bool is_dearer(const struct sc_silicon_cost *a, const struct sc_silicon_cost *b)
{
    return a->buffer_area_m2 > b->buffer_area_m2 && a->leakage_w > b->leakage_w &&
           a->dynamic_w > b->dynamic_w && a->access_s > b->access_s && a->tag_bytes > b->tag_bytes;
}

static void test_monotone(void)
{
    size_t wrong = 0, sublinear = 0, steps = 0;
    struct sc_silicon_cost before = cost_of(4096);
    for (double bytes = 8192; bytes <= 1e12; bytes *= 2, steps++) {
        const struct sc_silicon_cost cost = cost_of(bytes);
        wrong += !is_dearer(&cost, &before);
        sublinear += cost.buffer_area_m2 < 2 * before.buffer_area_m2;
        before = cost;
    }
    is_int((long long)wrong, 0, "a larger buffer costs more of everything");
    is_int((long long)sublinear, (long long)steps, "twice the buffer is less than twice the area");

    struct sc_silicon_request request = request_of(40e6);
    before = sc_silicon_cost(&request);
    request.node_m = 12e-9;
    struct sc_silicon_cost cost = sc_silicon_cost(&request);
    ok(cost.buffer_area_m2 < before.buffer_area_m2 &&
           cost.tracking_area_m2 < before.tracking_area_m2,
       "a finer process takes less area");
    near(cost.buffer_area_m2 / before.buffer_area_m2,
         cost.tracking_area_m2 / before.tracking_area_m2, 1e-12, 0, "of buffer and tables alike");
    request = request_of(40e6);
    request.in_flight_pages *= 2;
    cost = sc_silicon_cost(&request);
    ok(cost.tag_bytes > before.tag_bytes && cost.buffer_area_m2 > before.buffer_area_m2 &&
           cost.access_s == before.access_s,
       "more pages in flight need more tags, not a slower buffer");
    request = request_of(40e6);
    request.utilisation = 0.5;
    near(sc_silicon_cost(&request).dynamic_w, before.dynamic_w / 2, 1e-12, 0,
         "dynamic power goes with utilisation");
    request = request_of(40e6);
    request.sms *= 2;
    cost = sc_silicon_cost(&request);
    near(cost.tracking_area_m2, 2 * before.tracking_area_m2, 1e-12, 0, "tables go with the SMs");
    ok(cost.buffer_area_m2 == before.buffer_area_m2, "and leave the buffer alone");
}
enum { MONOTONE_TESTS = 8 };

int main(void)
{
    plan(TABLE_TESTS + TEXT_TESTS + NOTHING_TESTS + MONOTONE_TESTS);
    test_table();
    test_text();
    test_nothing();
    test_monotone();
    return done();
}
