/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a row of a field table is written, for the tables of hbf and serve. */
#ifndef SC_HBF_ROWS_PRIVATE_H
#define SC_HBF_ROWS_PRIVATE_H

#include <math.h>

#include "hbf_private.h"

#define CHOICES(rows) .kind = SC_CHOICE, .choices = rows, .choice_size = sizeof rows[0], \
                      .choice_count = sizeof rows / sizeof rows[0], .minimum = 0, .maximum = 0
#define RANGE(low, high) .minimum = low, .maximum = high
#define SAMPLE(low, high, logarithmic) \
    .sample_low = low, .sample_high = high, .sample_log = logarithmic
#define REQUIRED .fallback = (double)NAN
#define FROM(text) .fallback = (double)NAN, .derived = text, .provenance = SC_DERIVED
#define SHAPE(key_name, member, high, text) \
    { .key = key_name, .kind = SC_INTEGER, .dimension = SC_NUMBER, MEMBER(member), REQUIRED, \
      RANGE(1, high), .provenance = SC_FACT, .source = "models", .help = text }
#define OPTIONAL_SHAPE(key_name, member, low, high, rule, text) \
    { .key = key_name, .kind = SC_INTEGER, .dimension = SC_NUMBER, MEMBER(member), FROM(rule), \
      RANGE(low, high), .source = "models", .help = text }
#define COEFFICIENT(key_name, member, value, what) \
    { .key = key_name, .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(member), .fallback = value, \
      RANGE(0.01, 100), .provenance = SC_CALIBRATED, .source = "params/hbf", \
      .help = "closed form: factor on the " what }

#endif
