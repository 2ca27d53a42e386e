/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Silicon cost of a staging buffer and its tracking structures.
 *
 * Power laws through the two sizes of SlipStream's Table IV (CACTI, 22 nm):
 * per stack a 3.2 MB slice and an 8 MB slice, and per SM a 256-entry content
 * addressable table.  Other nodes scale area by (node / 22 nm)^0.60, the shrink
 * that the same section states for an 8 MB slice at a 3 nm bitcell.
 */
#ifndef SC_SILICON_H
#define SC_SILICON_H

struct sc_silicon_request {
    double buffer_bytes;     /* all stacks together, >= 0; 0: no buffer, no cost of it */
    double stacks;           /* slices that the buffer is cut into, >= 1 */
    double in_flight_pages;  /* pages that the tags must track besides the resident ones, >= 0 */
    double page_bytes;       /* > 0 */
    double tracking_entries; /* per SM, >= 0 */
    double sms;              /* >= 0 */
    double node_m;           /* process of the buffer, > 0 */
    double utilisation;      /* share of peak transfer rate, 0..1, scales dynamic power */
};

struct sc_silicon_cost {
    double buffer_area_m2, tracking_area_m2;
    double leakage_w;   /* buffer, tags and tracking tables */
    double dynamic_w;   /* at the given utilisation */
    double access_s;    /* of one buffer slice */
    double tag_bytes;   /* all stacks together */
    double tracking_bytes; /* all SMs together */
};

struct sc_silicon_cost sc_silicon_cost(const struct sc_silicon_request *request);

#endif
