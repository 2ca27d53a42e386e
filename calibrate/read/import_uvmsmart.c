/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UVMSmart, which is GPGPU-Sim 3.2 with unified memory: kernel blocks as there, and one row more
 * for the run, since its counters of pages and of PCIe are of all kernels together. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/import_gpgpusim.h"

/* clang-format off */
enum {
    SCOPE = GPGPUSIM_COLUMNS,
    TLB_ACCESSES, TLB_HITS, TLB_MISSES, TLB_THRASHED,
    PAGE_ACCESSES, PAGE_HITS, PAGE_MISSES, FAULTS, PENDING, SERVED, FAULT_LATENCY,
    MIGRATED, EVICTED_DIRTY, EVICTED_CLEAN, THRASHED,
    PREFETCH_HITS, PREFETCH_MISSES, PREFETCH_FAULTS, PREFETCH_PAGE_LATENCY, PREFETCH_SIZE,
    PREFETCH_LATENCY, REMOTE_READS, REMOTE_MIGRATED_READ, REMOTE_MIGRATED_WRITE,
    READ_UTILISATION, WRITE_UTILISATION, LAST
};

static const struct sc_import_column columns[] = {
    { .name = "scope", .key = "-", .help = "kernel, or run: the row with what follows" },
    { .name = "tlb_accesses", .key = "Tlb_tot_access", .help = "accesses to the TLBs" },
    { .name = "tlb_hits", .key = "Tlb_tot_hit", .help = "hits of them" },
    { .name = "tlb_misses", .key = "Tlb_tot_miss", .help = "misses of them" },
    { .name = "tlb_thrashed", .key = "Tlb_tot_thrash", .help = "entries that were lost and came back" },
    { .name = "page_table_accesses", .key = "Page_table_tot_access", .help = "walks after a miss" },
    { .name = "page_hits", .key = "Page_tot_hit", .help = "that found the page on the GPU" },
    { .name = "page_misses", .key = "Page_tot_miss", .help = "that did not" },
    { .name = "page_faults", .key = "Page_tot_fault", .help = "the first of them for a page" },
    { .name = "page_faults_pending", .key = "Page_tot_pending", .help = "later ones, that wait too" },
    { .name = "page_faults_served", .key = "Total_memory_access_page_fault",
        .help = "faults whose latency was taken" },
    { .name = "page_fault_latency_cycles", .dimension = SC_CYCLES, .key = "Average_latency",
        .help = "mean of them" },
    { .name = "pages_migrated", .key = "Page_validate", .help = "pages that came to the GPU" },
    { .name = "pages_evicted_dirty", .key = "Page_evict_dirty", .help = "pages evicted and written back" },
    { .name = "pages_evicted_clean", .key = "Page_evict_not_dirty", .help = "pages evicted" },
    { .name = "pages_thrashed", .key = "Page_tot_thrash", .help = "pages that were evicted and came back" },
    { .name = "prefetch_page_hits", .key = "Tot_page_hit", .help = "pages that a prefetch found there" },
    { .name = "prefetch_page_misses", .key = "Tot_page_miss", .help = "pages that it brought" },
    { .name = "prefetches", .key = "Tot_page_fault", .help = "transfers of prefetches" },
    { .name = "prefetch_page_latency_cycles", .dimension = SC_CYCLES, .key = "Avg_page_latency",
        .help = "mean over pages" },
    { .name = "prefetch_size_mean", .key = "Avg_prefetch_size", .help = "mean size of a transfer, as printed" },
    { .name = "prefetch_latency_cycles", .dimension = SC_CYCLES, .key = "Avg_prefetch_latency",
        .help = "mean over transfers" },
    { .name = "remote_reads", .key = "dma_read", .help = "reads of host memory in place" },
    { .name = "remote_migrated_reads", .key = "dma_migration_read", .help = "pages of them that moved at last" },
    { .name = "remote_migrated_writes", .key = "dma_migration_write", .help = "the same for writes" },
    { .name = "pcie_read_utilisation", .dimension = SC_SHARE, .key = "Pcie_read_utilization",
        .help = "mean while it was in use; the simulator's own, and may pass 1" },
    { .name = "pcie_write_utilisation", .dimension = SC_SHARE, .key = "Pcie_write_utilization",
        .help = "the same, to the host" },
};
/* clang-format on */

_Static_assert(SC_IMPORT_COUNT(columns) == LAST - GPGPUSIM_COLUMNS, "a name for each column");

enum { EVENT_KINDS = 32, EVENT_NAME = 48, TIMES = 64, KEPT_MAX = 256 };

/* Sums over the rows of one type of event. */
struct events {
    char name[EVENT_NAME];
    double count, bytes, time_s;
};

struct run {
    double value[LAST - GPGPUSIM_COLUMNS];
    struct events events[EVENT_KINDS];
    struct {
        char name[EVENT_NAME];
        double time_s;
    } times[TIMES];
    struct {
        char name[EVENT_NAME], value[EVENT_NAME];
    } kept[KEPT_MAX]; /* of --keep; they are of the run, not of the kernel before them */
    size_t event_count, time_count, kept_count, lost_kinds;
    struct sc_pattern *event, *total;
    bool any;
};

static void clear_run(struct run *run)
{
    for (size_t i = 0; i < SC_IMPORT_COUNT(run->value); i++)
        run->value[i] = (double)NAN;
    run->event_count = run->time_count = run->kept_count = run->lost_kinds = 0;
    run->any = false;
}

/* In small letters, with anything else as _. */
static void column_name(char out[static EVENT_NAME], struct sc_piece text)
{
    size_t length = 0;
    for (; length < text.length && length < EVENT_NAME - 1; length++) {
        const unsigned char c = (unsigned char)text.text[length];
        out[length] = (char)(isalnum(c) ? tolower(c) : '_');
    }
    out[length] = '\0';
}

static struct events *events_of(struct run *run, struct sc_piece type)
{
    char name[EVENT_NAME];
    column_name(name, type);
    for (size_t i = 0; i < run->event_count; i++)
        if (strcmp(run->events[i].name, name) == 0)
            return &run->events[i];
    if (run->event_count == EVENT_KINDS)
        return NULL;
    struct events *const events = &run->events[run->event_count++];
    *events = (struct events){ .count = 0.0 };
    memcpy(events->name, name, sizeof name);
    return events;
}

/* "F:   223063----T:   225668 \t St: c0000000 Sz: 4096 \t Sm: 0 \t T: memcpy_h2d(1.758947)": from
 * and to in cycles, address, bytes, stream, type and time in us. */
static bool read_event(struct run *run, struct sc_piece line)
{
    double bytes = 0.0, time_us = 0.0;
    if (!sc_pattern_matches(run->event, line))
        return false;
    run->any = true;
    struct events *const events = events_of(run, sc_pattern_group(run->event, line, 2));
    if (events == NULL) {
        run->lost_kinds++;
        return true;
    }
    events->count++;
    if (sc_piece_number(sc_pattern_group(run->event, line, 1), &bytes, NULL))
        events->bytes += bytes;
    if (sc_piece_number(sc_pattern_group(run->event, line, 3), &time_us, NULL))
        events->time_s += sc_scaled(time_us, 1e-6);
    return true;
}

/* "Tot_kernel_exec_time: 123(cycle), 4.5(us)" */
static bool read_time(struct run *run, struct sc_piece line)
{
    double us = 0.0;
    char name[EVENT_NAME];
    size_t i = 0;
    if (!sc_pattern_matches(run->total, line))
        return false;
    run->any = true;
    if (!sc_piece_number(sc_pattern_group(run->total, line, 2), &us, NULL))
        return true;
    column_name(name, sc_pattern_group(run->total, line, 1));
    while (i < run->time_count && strcmp(run->times[i].name, name) != 0)
        i++;
    if (i == TIMES)
        return true;
    run->time_count += i == run->time_count;
    memcpy(run->times[i].name, name, sizeof name);
    run->times[i].time_s = sc_scaled(us, 1e-6);
    return true;
}

static void keep(struct run *run, struct sc_import *import, struct sc_piece key,
                 struct sc_piece value)
{
    char name[EVENT_NAME];
    size_t i = 0;
    if (!sc_import_keeps(import, key))
        return;
    (void)snprintf(name, sizeof name, "%.*s", (int)(key.length < 40 ? key.length : 40), key.text);
    while (i < run->kept_count && strcmp(run->kept[i].name, name) != 0)
        i++;
    if (i == KEPT_MAX) {
        sc_import_refuse(import, sc_import_line_number(import),
                         "--keep takes more than %d values of a run: %s is left out", (int)KEPT_MAX,
                         name);
        return;
    }
    run->kept_count += i == run->kept_count;
    memcpy(run->kept[i].name, name, sizeof name);
    (void)snprintf(run->kept[i].value, sizeof run->kept[i].value, "%.*s",
                   (int)(value.length < 40 ? value.length : 40), value.text);
}

/* "Key: v Key v, Key: v": keys are words, with or without a colon; values are numbers. */
static void read_pairs(struct run *run, struct sc_import *import, struct sc_piece line)
{
    static const char between[] = " \t,|";
    struct sc_piece key = { line.text, 0 };
    while (line.length > 0) {
        size_t length = 0;
        double number = 0.0;
        while (length < line.length && strchr(between, line.text[length]) == NULL)
            length++;
        struct sc_piece word = { line.text, length };
        line = sc_piece_after(line, length + 1);
        const size_t colon = sc_piece_find(word, ":");
        if (colon != SIZE_MAX && colon + 1 < word.length) {
            key = (struct sc_piece){ word.text, colon };
            word = sc_piece_after(word, colon + 1);
        }
        if (sc_piece_number(word, &number, NULL)) {
            for (size_t i = 1; i < SC_IMPORT_COUNT(columns); i++)
                if (sc_piece_is(key, columns[i].key))
                    run->value[i] = number;
            keep(run, import, key, word);
        } else if (word.length > 0 && !sc_piece_is_none(word)) {
            key = word;
            key.length -= key.text[key.length - 1] == ':';
        }
    }
    run->any = true;
}

static bool has_pairs(struct sc_piece line)
{
    static const char *const starts[] = { "Tlb_tot",  "Page_", "Total_memory_access_page_fault",
                                          "Tot_page", "Avg_p", "dma_",
                                          "Pcie_" };
    for (size_t i = 0; i < SC_IMPORT_COUNT(starts); i++)
        if (sc_piece_starts(line, starts[i]))
            return true;
    return false;
}

static bool read_line(void *context, struct sc_import *import, struct sc_piece line)
{
    struct run *const run = context;
    if (sc_piece_starts(line, "F:"))
        return read_event(run, line);
    if (sc_piece_starts(line, "Tot_") && read_time(run, line))
        return true;
    if (!has_pairs(line))
        return false;
    read_pairs(run, import, line);
    return true;
}

static void set_sums(struct run *run, struct sc_import *import)
{
    char name[EVENT_NAME + 16];
    for (size_t i = 0; i < run->event_count; i++) {
        const struct events *const e = &run->events[i];
        (void)snprintf(name, sizeof name, "%s_events", e->name);
        sc_import_set_named(import, sc_piece_of(name), SC_NUMBER, e->count);
        (void)snprintf(name, sizeof name, "%s_bytes", e->name);
        sc_import_set_named(import, sc_piece_of(name), SC_BYTES, e->bytes);
        (void)snprintf(name, sizeof name, "%s_s", e->name);
        sc_import_set_named(import, sc_piece_of(name), SC_SECONDS, e->time_s);
    }
    for (size_t i = 0; i < run->time_count; i++) {
        (void)snprintf(name, sizeof name, "total_%s_s", run->times[i].name);
        sc_import_set_named(import, sc_piece_of(name), SC_SECONDS, run->times[i].time_s);
    }
    for (size_t i = 0; i < run->kept_count; i++)
        sc_import_set_kept(import, sc_piece_of(run->kept[i].name), sc_piece_of(run->kept[i].value));
}

static void end_kernel(void *context, struct sc_import *import)
{
    (void)context;
    sc_import_set_text(import, SCOPE, sc_piece_of("kernel"));
}

static void end_run(void *context, struct sc_import *import, size_t line)
{
    struct run *const run = context;
    if (run->any) {
        sc_import_set_text(import, SCOPE, sc_piece_of("run"));
        for (size_t i = 1; i < SC_IMPORT_COUNT(columns); i++)
            sc_import_set(import, GPGPUSIM_COLUMNS + i, run->value[i]);
        set_sums(run, import);
        sc_import_row(import, line);
    }
    if (run->lost_kinds > 0)
        sc_import_refuse(import, line, "%zu events are of more than %d types and left out",
                         run->lost_kinds, (int)EVENT_KINDS);
    clear_run(run);
}

static bool read_uvmsmart(struct sc_import *import)
{
    char reason[SC_IMPORT_REASON];
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return sc_import_fail(import, 0, "out of memory");
    const struct gpgpusim_extension extension = {
        .line = read_line, .kernel = end_kernel, .end = end_run, .context = run
    };
    clear_run(run);
    run->event = sc_pattern_create(
        "^F: *\\d+-+T: *\\d+(?:.*?\\bSz: *(\\d+))?.*\\bT: *(\\w+)(?:\\((-?[\\d.e+-]+)\\))?",
        reason);
    run->total = sc_pattern_create(
        "^Tot_(\\w+?)(?:_time)?: *[\\d.]+ *\\(cycle\\), *([^(]*)\\(us\\)", reason);
    const bool fine = run->event != NULL && run->total != NULL
                          ? gpgpusim_read(import, &extension)
                          : sc_import_fail(import, 0, "%s", reason);
    sc_pattern_destroy(run->event);
    sc_pattern_destroy(run->total);
    free(run);
    return fine;
}

/* What is of UVMSmart alone may come late, so options of its configuration tell it too. */
static bool sniff(const char *head, size_t length)
{
    static const char *const signs[] = { "Page fault statistics", "-hardware_prefetch",
                                         "-enable_rdma", "-page_table_walk_latency",
                                         "Pcie_read_utilization" };
    const struct sc_piece text = { head, length };
    for (size_t i = 0; i < SC_IMPORT_COUNT(signs); i++)
        if (sc_piece_find(text, signs[i]) != SIZE_MAX)
            return true;
    return false;
}

const struct sc_import_kind sc_import_uvmsmart = {
    .name = "uvmsmart",
    .summary = "logs of UVMSmart, GPGPU-Sim 3.2 with unified memory",
    .row = "a kernel launch, and one for the run",
    .sniff = sniff,
    .columns = { { gpgpusim_columns, GPGPUSIM_COLUMNS }, { columns, SC_IMPORT_COUNT(columns) } },
    .more = "TYPE_events, TYPE_bytes and TYPE_s of each type of event (memcpy_h2d, ...); total_X_s "
            "of each Tot_X_time; --keep as for accelsim",
    .read = read_uvmsmart,
};
