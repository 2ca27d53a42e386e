/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ramulator 2: indented "key: v"; a key of a controller ends in its channel, one of a core in
 * _core_N.  avg_read_latency counts requests that were sent again as new ones, so the mean is made
 * anew from the sum of latencies and the requests that the memory system took. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/import_private.h"

/* clang-format off */
enum {
    CHANNEL, DEVICE, CYCLES, ALL_READS, ALL_WRITES, READS, WRITES, HITS, MISSES, CONFLICTS,
    ROW_HIT_SHARE, QUEUE, LATENCY_SUM, PRINTED_LATENCY, LATENCY, COLUMNS
};

static const struct sc_import_column columns[] = {
    [CHANNEL] = { .name = "channel", .key = "_N", .help = "number of the channel" },
    [DEVICE] = { .name = "dram", .key = "DRAM: impl", .help = "what is simulated" },
    [CYCLES] = { .name = "cycles", .dimension = SC_CYCLES, .key = "memory_system_cycles",
        .help = "of the memory system" },
    [ALL_READS] = { .name = "total_reads", .key = "total_num_read_requests",
        .help = "reads that the memory system took, all channels" },
    [ALL_WRITES] = { .name = "total_writes", .key = "total_num_write_requests", .help = "the same for writes" },
    [READS] = { .name = "reads_sent", .key = "num_read_reqs", .help = "reads sent to the channel, again ones too" },
    [WRITES] = { .name = "writes_sent", .key = "num_write_reqs", .help = "the same for writes" },
    [HITS] = { .name = "row_hits", .key = "row_hits", .help = "accesses to an open row" },
    [MISSES] = { .name = "row_misses", .key = "row_misses", .help = "accesses to a closed bank" },
    [CONFLICTS] = { .name = "row_conflicts", .key = "row_conflicts", .help = "accesses to another row" },
    [ROW_HIT_SHARE] = { .name = "row_hit_share", .dimension = SC_SHARE,
        .key = "row_hits / (row_hits + row_misses + row_conflicts)", .help = "of accesses" },
    [QUEUE] = { .name = "queue_length", .key = "queue_len_avg", .help = "mean" },
    [LATENCY_SUM] = { .name = "read_latency_sum_cycles", .dimension = SC_CYCLES, .key = "read_latency",
        .help = "sum over the reads of the channel" },
    [PRINTED_LATENCY] = { .name = "printed_read_latency_cycles", .dimension = SC_CYCLES,
        .key = "avg_read_latency", .help = "as printed; too low under back-pressure" },
    [LATENCY] = { .name = "read_latency_cycles", .dimension = SC_CYCLES,
        .key = "sum of read_latency_N / total_num_read_requests",
        .help = "mean over all channels, from the counts" },
};
/* clang-format on */

_Static_assert(SC_IMPORT_COUNT(columns) == COLUMNS, "a row for each column");

enum { CHANNELS_MAX = 4096, KEPT_MAX = 65536, SENT_AGAIN_PER_CENT = 1 };

struct kept {
    size_t channel; /* CHANNELS_MAX: of all */
    char *key, *value;
};

struct run {
    struct sc_import *import;
    double (*value)[COLUMNS]; /* of each channel */
    size_t *line;
    size_t channels;
    double shared[COLUMNS]; /* of all channels */
    char device[64];
    size_t current; /* channel whose controller is being told of; CHANNELS_MAX: not said */
    bool in_device, any;
    struct kept *kept;
    size_t kept_count, kept_room;
};

static bool fail_memory(struct run *run)
{
    return sc_import_fail(run->import, 0, "out of memory");
}

static void clear_run(struct run *run)
{
    for (size_t i = 0; i < run->kept_count; i++) {
        free(run->kept[i].key);
        free(run->kept[i].value);
    }
    for (size_t i = 0; i < COLUMNS; i++)
        run->shared[i] = (double)NAN;
    run->kept_count = run->channels = 0;
    run->device[0] = '\0';
    run->current = CHANNELS_MAX;
    run->in_device = run->any = false;
}

static bool add_channel(struct run *run, size_t channel)
{
    if (channel < run->channels)
        return true;
    double(*value)[COLUMNS] = realloc(run->value, (channel + 1) * sizeof *value);
    if (value == NULL)
        return fail_memory(run);
    run->value = value;
    size_t *line = realloc(run->line, (channel + 1) * sizeof *line);
    if (line == NULL)
        return fail_memory(run);
    run->line = line;
    for (; run->channels <= channel; run->channels++) {
        run->line[run->channels] = 0;
        for (size_t i = 0; i < COLUMNS; i++)
            run->value[run->channels][i] = (double)NAN;
    }
    return true;
}

static char *copy_of(struct sc_piece piece)
{
    char *copy = malloc(piece.length + 1);
    if (copy != NULL) {
        memcpy(copy, piece.text, piece.length);
        copy[piece.length] = '\0';
    }
    return copy;
}

static bool keep(struct run *run, size_t channel, struct sc_piece key, struct sc_piece value)
{
    if (!sc_import_keeps(run->import, key))
        return true;
    if (run->kept_count == KEPT_MAX)
        return sc_import_fail(run->import, sc_import_line_number(run->import),
                              "--keep takes more than %d values of a run", (int)KEPT_MAX);
    if (run->kept_count == run->kept_room) {
        const size_t room = run->kept_room == 0 ? 64 : 2 * run->kept_room;
        struct kept *kept = realloc(run->kept, room * sizeof *kept);
        if (kept == NULL)
            return fail_memory(run);
        run->kept = kept;
        run->kept_room = room;
    }
    struct kept *const kept = &run->kept[run->kept_count];
    *kept = (struct kept){ channel, copy_of(key), copy_of(value) };
    run->kept_count++;
    return (kept->key != NULL && kept->value != NULL) || fail_memory(run);
}

/* ---- the end of a run ---- */

static double mean_latency(const struct run *run)
{
    double sum = 0.0;
    for (size_t c = 0; c < run->channels; c++)
        sum += run->value[c][LATENCY_SUM];
    return sum / run->shared[ALL_READS];
}

/* Says so where the printed mean is not that of the requests taken. */
static void check_latency(struct run *run)
{
    double sent = 0.0;
    for (size_t c = 0; c < run->channels; c++)
        sent += run->value[c][READS];
    const double taken = run->shared[ALL_READS];
    if (sent > taken * (1.0 + SENT_AGAIN_PER_CENT / 100.0) && taken > 0.0)
        sc_import_note(run->import, run->line[0],
                       "%.0f reads were sent for %.0f taken: avg_read_latency is too low, "
                       "read_latency_cycles is from the counts",
                       sent, taken);
}

static void finish_run(struct run *run)
{
    struct sc_import *const import = run->import;
    for (size_t c = 0; c < run->channels; c++) {
        double *const value = run->value[c];
        sc_import_set(import, CHANNEL, (double)c);
        sc_import_set_text(import, DEVICE, sc_piece_of(run->device));
        value[ROW_HIT_SHARE] = value[HITS] / (value[HITS] + value[MISSES] + value[CONFLICTS]);
        value[LATENCY] = mean_latency(run);
        for (size_t i = CYCLES; i < COLUMNS; i++)
            sc_import_set(import, i, isnan(run->shared[i]) ? value[i] : run->shared[i]);
        for (size_t k = 0; k < run->kept_count; k++)
            if (run->kept[k].channel == c || run->kept[k].channel == CHANNELS_MAX)
                sc_import_set_kept(import, sc_piece_of(run->kept[k].key),
                                   sc_piece_of(run->kept[k].value));
        sc_import_row(import, run->line[c]);
    }
    if (run->channels > 0)
        check_latency(run);
    clear_run(run);
}

/* ---- lines ---- */

/* "row_hits_3" may be row_hits of channel 3; "row_hits_core_3" is of no channel. */
static size_t split_channel(struct sc_piece key, struct sc_piece *stem)
{
    size_t length = key.length, channel = 0, digit = 1;
    *stem = key;
    while (length > 0 && key.text[length - 1] >= '0' && key.text[length - 1] <= '9') {
        channel += digit * (size_t)(key.text[length - 1] - '0');
        if (channel >= CHANNELS_MAX)
            return CHANNELS_MAX;
        digit *= 10;
        length--;
    }
    if (length == key.length || length < 2 || key.text[length - 1] != '_')
        return CHANNELS_MAX;
    const struct sc_piece before = { key.text, length - 1 };
    if (before.length >= 5 && memcmp(before.text + before.length - 5, "_core", 5) == 0)
        return CHANNELS_MAX;
    *stem = before;
    return channel;
}

static bool is_known(struct sc_piece stem)
{
    for (size_t i = CYCLES; i < COLUMNS; i++)
        if (sc_piece_is(stem, columns[i].key))
            return true;
    return false;
}

/* A number at the end of other keys is the channel's only if their controller has said so: it may
 * as well be that of a bank. */
static size_t channel_of(const struct run *run, struct sc_piece key, struct sc_piece *stem)
{
    const size_t channel = split_channel(key, stem);
    if (channel == run->current || is_known(*stem))
        return channel;
    *stem = key;
    return CHANNELS_MAX;
}

/* "id: Channel 3" */
static void read_id(struct run *run, struct sc_piece value)
{
    static const char word[] = "Channel ";
    double number = 0.0;
    if (sc_piece_starts(value, word) &&
        sc_piece_number(sc_piece_after(value, strlen(word)), &number, NULL) && number >= 0.0 &&
        number < CHANNELS_MAX)
        run->current = (size_t)number;
}

static bool read_pair(struct run *run, struct sc_piece key, struct sc_piece value)
{
    double number = 0.0;
    struct sc_piece stem;
    if (sc_piece_is(key, "id"))
        read_id(run, value);
    const size_t channel = channel_of(run, key, &stem);
    const bool numeric = sc_piece_number(value, &number, NULL);
    if (run->in_device && sc_piece_is(key, "impl")) {
        (void)snprintf(run->device, sizeof run->device, "%.*s", (int)value.length % 60, value.text);
        run->in_device = false;
    }
    if (channel < CHANNELS_MAX) {
        if (!add_channel(run, channel))
            return false;
        if (run->line[channel] == 0)
            run->line[channel] = sc_import_line_number(run->import);
    }
    for (size_t i = CYCLES; numeric && i < COLUMNS; i++) {
        if (!sc_piece_is(stem, columns[i].key))
            continue;
        if (channel < CHANNELS_MAX)
            run->value[channel][i] = number;
        else if (i == CYCLES || i == ALL_READS || i == ALL_WRITES)
            run->shared[i] = number;
    }
    run->any = run->any || numeric;
    return keep(run, channel, stem, value);
}

static bool read_line(struct run *run, struct sc_piece line)
{
    struct sc_piece value, key = sc_piece_trim(sc_piece_until(line, ':', &value));
    if (key.length == 0 || key.length == line.length)
        return true;
    value = sc_piece_trim(value);
    if (value.length == 0) {
        /* A new dump begins with its front end; without one, with its memory system. */
        if (sc_piece_is(key, "Frontend") || (sc_piece_is(key, "MemorySystem") && run->channels > 0))
            finish_run(run);
        run->in_device = sc_piece_is(key, "DRAM");
        return true;
    }
    return read_pair(run, key, value);
}

static bool read_ramulator2(struct sc_import *import)
{
    struct run run = { .import = import };
    struct sc_piece line;
    bool fine = true;
    clear_run(&run);
    while (fine && sc_import_line(import, &line))
        fine = read_line(&run, line);
    if (fine && run.channels == 0 && run.any)
        fine = sc_import_fail(import, 0, "expected keys of a controller that end in _0, got none");
    if (fine)
        finish_run(&run);
    clear_run(&run);
    free(run.kept);
    free(run.value);
    free(run.line);
    return fine;
}

static bool sniff(const char *head, size_t length)
{
    const struct sc_piece text = { head, length };
    return sc_piece_find(text, "MemorySystem:") != SIZE_MAX ||
           sc_piece_find(text, "memory_system_cycles:") != SIZE_MAX ||
           sc_piece_find(text, "avg_read_latency_0:") != SIZE_MAX;
}

const struct sc_import_kind sc_import_ramulator2 = {
    .name = "ramulator2",
    .summary = "statistics of Ramulator 2",
    .row = "a channel",
    .sniff = sniff,
    .columns = { { columns, COLUMNS } },
    .more = "--keep takes any key, without the channel at its end",
    .read = read_ramulator2,
};
