/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check_counters.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"

/* Above 0: it fails.  What an empty cell or a division by 0 makes of it is nothing, and passes. */
static const struct check {
    const char *violation, *text;
} checks[] = {
    /* The mean latency that a log prints is a whole number of cycles. */
    { "max(sectors_in_flight, memory_replies * memory_latency_cycles / (cycles - launch_cycles))"
      " - 1.02 * min(sectors_in_flight,"
      " memory_replies * memory_latency_cycles / (cycles - launch_cycles))"
      " + 0 * sectors_in_flight * memory_replies * memory_latency_cycles",
      "Little's law: sectors_in_flight is not memory_replies x memory_latency_cycles / (cycles - "
      "launch_cycles)" },
    /* Stores are answered too, and wait in no MSHR. */
    { "sectors_in_flight * global_read_sectors / (global_read_sectors + global_write_sectors)"
      " - 1.05 * sms * mshr_entries * line_bytes / sector_bytes",
      "more in flight than sms x mshr_entries lines" },
    { "sectors_in_flight * global_read_sectors / (global_read_sectors + global_write_sectors)"
      " - 1.05 * sms * warps_per_sm * outstanding_per_warp * ceil(bytes_per_load_B / sector_bytes)",
      "more in flight than sms x warps_per_sm x outstanding_per_warp loads" },
    { "l1_misses - l1_accesses", "l1_misses above l1_accesses" },
    { "l2_misses - l2_accesses", "l2_misses above l2_accesses" },
    { "dram_reads - 1.01 * l2_misses", "dram_reads above l2_misses" },
    { "dram_throughput_bytes_per_s - 1.01 * bandwidth_bytes_per_s",
      "dram_throughput_bytes_per_s above bandwidth_bytes_per_s" },
    { "max(cycles, time_s * clock_Hz) - 1.001 * min(cycles, time_s * clock_Hz)"
      " + 0 * cycles * time_s * clock_Hz",
      "cycles / clock_Hz is not time_s" },
    { "launch_cycles - cycles", "cycles below launch_cycles" },
};
enum { CHECKS = sizeof checks / sizeof checks[0] };

struct counter_checks {
    const struct rows *rows;
    struct {
        const struct check *check;
        struct expression *violation;
    } items[CHECKS];
    size_t count;
};

static size_t find_column(void *context, const char *name)
{
    return rows_column(context, name);
}

static bool add_check(struct counter_checks *c, const struct check *check, struct problem *problem)
{
    struct problem missing;
    struct rows rows = *c->rows;
    struct expression *const violation =
        expression_parse(check->violation, strlen(check->violation), "checks", problem);
    if (violation == NULL)
        return false;
    if (!expression_bind(violation, find_column, &rows, &missing)) {
        expression_destroy(violation);
        return true;
    }
    c->items[c->count].check = check;
    c->items[c->count++].violation = violation;
    return true;
}

struct counter_checks *counter_checks_create(const struct rows *rows, struct problem *problem)
{
    struct counter_checks *const c = calloc(1, sizeof *c);
    if (c == NULL) {
        (void)problem_set(problem, "out of memory");
        return NULL;
    }
    c->rows = rows;
    for (size_t i = 0; i < CHECKS; i++)
        if (!add_check(c, &checks[i], problem)) {
            counter_checks_destroy(c);
            return NULL;
        }
    return c;
}

void counter_checks_destroy(struct counter_checks *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count; i++)
        expression_destroy(c->items[i].violation);
    free(c);
}

struct cells {
    const struct sc_csv_field *fields;
    size_t count;
    char decimal;
};

static double value_of(void *context, size_t column)
{
    const struct cells *const cells = context;
    struct sc_quantity quantity;
    if (column >= cells->count ||
        sc_units_parse(cells->fields[column].text, cells->fields[column].length, SC_NUMBER, NULL,
                       cells->decimal, &quantity) != SC_UNITS_OK)
        return (double)NAN;
    return quantity.value;
}

void counter_checks_row(const struct counter_checks *c, const struct sc_csv_field *cells,
                        size_t cell_count, struct text *failed)
{
    struct cells context = { cells, cell_count, c->rows->decimal };
    for (size_t i = 0; i < c->count; i++) {
        if (!(expression_value(c->items[i].violation, value_of, &context) > 0.0))
            continue;
        if (failed->length > 0)
            text_add_string(failed, "; ");
        text_add_string(failed, c->items[i].check->text);
    }
}
