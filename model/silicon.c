/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "silicon.h"

#include <math.h>

/* SlipStream (HPCA 2027), Table IV: one slice per stack at 22 nm. */
static const double small_slice_bytes = 3.2e6;

/* value(bytes) = small (bytes / 3.2 MB)^exponent, which passes through the 8 MB
 * row too: exponent = ln(large / small) / ln(8 / 3.2). */
struct slice_law {
    double small, exponent;
};
static const struct slice_law area_law = { 3.39e-6, 0.88394046 };      /* to 7.62 mm2 */
static const struct slice_law leakage_law = { 1.13, 0.89250016 };      /* to 2.56 W */
static const struct slice_law dynamic_law = { 2.95, 0.49663500 };      /* to 4.65 W */
static const struct slice_law access_law = { 1.6e-9, 0.48705841 };     /* to 2.5 ns */

/* Tag and metadata of a slice: 25.6 KB and 32 KB for 1953 pages in flight plus
 * 781 and 1953 resident ones, so two costs per page; the bytes of silicon per
 * tag byte follow from the same rows. */
static const double tag_bytes_per_in_flight_page = 10.93;
static const double tag_bytes_per_resident_page = 5.46;
static const double tag_area_m2_per_byte = 0.026e-6 / 32e3;
static const double tag_leakage_w_per_byte = 0.010 / 32e3;
static const double tag_dynamic_w_per_byte = 0.002 / 32e3;
/* Control and queues of a slice. */
static const double control_area_m2 = 0.028e-6, control_leakage_w = 0.001;

/* Per SM: 256 entries of 5 bytes. */
static const double table_entries = 256, entry_bytes = 5;
static const double table_area_m2 = 0.0036e-6, table_leakage_w = 0.153 / 108,
                    table_dynamic_w = 0.09 / 108;

/* 6.3 % of the base die at 22 nm, 1.9 % with a 3 nm bitcell (section VI-G):
 * ln(6.3 / 1.9) / ln(22 / 3). */
static const double node_exponent = 0.6016;
static const double law_node_m = 22e-9;

/* log_ratio = ln(slice bytes / 3.2 MB), taken once for the four laws. */
static double slice_value(struct slice_law law, double log_ratio)
{
    return law.small * exp(law.exponent * log_ratio);
}

struct sc_silicon_cost sc_silicon_cost(const struct sc_silicon_request *request)
{
    const double shrink = request->node_m == law_node_m
                              ? 1.0
                              : pow(request->node_m / law_node_m, node_exponent);
    const double tables = request->sms * request->tracking_entries / table_entries;
    struct sc_silicon_cost cost = {
        .tracking_area_m2 = tables * table_area_m2 * shrink,
        .tracking_bytes = request->sms * request->tracking_entries * entry_bytes,
        .leakage_w = tables * table_leakage_w,
        .dynamic_w = tables * table_dynamic_w * request->utilisation,
    };
    if (request->buffer_bytes <= 0.0)
        return cost;

    const double log_ratio =
        log(request->buffer_bytes / request->stacks / small_slice_bytes);
    cost.tag_bytes = tag_bytes_per_in_flight_page * request->in_flight_pages +
                     tag_bytes_per_resident_page * request->buffer_bytes / request->page_bytes;
    cost.buffer_area_m2 = shrink * (request->stacks * (slice_value(area_law, log_ratio) +
                                                       control_area_m2) +
                                    cost.tag_bytes * tag_area_m2_per_byte);
    cost.leakage_w += request->stacks * (slice_value(leakage_law, log_ratio) +
                                         control_leakage_w) +
                      cost.tag_bytes * tag_leakage_w_per_byte;
    cost.dynamic_w += request->utilisation *
                      (request->stacks * slice_value(dynamic_law, log_ratio) +
                       cost.tag_bytes * tag_dynamic_w_per_byte);
    cost.access_s = slice_value(access_law, log_ratio);
    return cost;
}
