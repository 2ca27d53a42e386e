/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DRAMsim3: its statistics as text ("## Statistics of Channel N", "key = v # description") and as
 * JSON (an object keyed by channel, or an array of them, one per epoch).  Energies are in pJ,
 * power in mW, bandwidth in GB/s of the channel. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/import_private.h"

/* clang-format off */
enum {
    CHANNEL, EPOCH, CYCLES, READS, WRITES, READ_COMMANDS, WRITE_COMMANDS, READ_HITS, WRITE_HITS,
    ROW_HIT_SHARE, ACTIVATES, PRECHARGES, REFRESHES, THROUGHPUT, READ_LATENCY, INTERARRIVAL, ENERGY,
    POWER, COLUMNS
};

static const struct sc_import_column columns[] = {
    [CHANNEL] = { .name = "channel", .key = "Channel|channel", .help = "number of the channel" },
    [EPOCH] = { .name = "epoch", .key = "epoch_num", .help = "number of the epoch" },
    [CYCLES] = { .name = "cycles", .dimension = SC_CYCLES, .key = "num_cycles", .help = "of DRAM" },
    [READS] = { .name = "reads", .key = "num_reads_done", .help = "reads served" },
    [WRITES] = { .name = "writes", .key = "num_writes_done", .help = "writes served" },
    [READ_COMMANDS] = { .name = "read_commands", .key = "num_read_cmds", .help = "READ and READP" },
    [WRITE_COMMANDS] = { .name = "write_commands", .key = "num_write_cmds", .help = "WRITE and WRITEP" },
    [READ_HITS] = { .name = "read_row_hits", .key = "num_read_row_hits", .help = "reads of an open row" },
    [WRITE_HITS] = { .name = "write_row_hits", .key = "num_write_row_hits", .help = "writes to an open row" },
    [ROW_HIT_SHARE] = { .name = "row_hit_share", .dimension = SC_SHARE,
        .key = "row hits / commands", .help = "of reads and writes together" },
    [ACTIVATES] = { .name = "activates", .key = "num_act_cmds", .help = "ACT" },
    [PRECHARGES] = { .name = "precharges", .key = "num_pre_cmds", .help = "PRE" },
    [REFRESHES] = { .name = "refreshes", .key = "num_ref_cmds", .help = "REF" },
    [THROUGHPUT] = { .name = "throughput_bytes_per_s", .dimension = SC_BYTES_PER_SECOND,
        .key = "average_bandwidth", .help = "of the channel", .factor = 1e9 },
    [READ_LATENCY] = { .name = "read_latency_cycles", .dimension = SC_CYCLES,
        .key = "average_read_latency", .help = "mean" },
    [INTERARRIVAL] = { .name = "interarrival_cycles", .dimension = SC_CYCLES,
        .key = "average_interarrival", .help = "mean" },
    [ENERGY] = { .name = "energy_J", .dimension = SC_JOULES, .key = "total_energy", .help = "of the channel",
        .factor = 1e-12 },
    [POWER] = { .name = "power_W", .dimension = SC_WATTS, .key = "average_power", .help = "mean",
        .factor = 1e-3 },
};
/* clang-format on */

_Static_assert(SC_IMPORT_COUNT(columns) == COLUMNS, "a row for each column");

/* ---- one channel ---- */

static void set_value(struct sc_import *import, struct sc_piece key, struct sc_piece value)
{
    double number = 0.0;
    for (size_t i = EPOCH; i < COLUMNS; i++)
        if (sc_piece_is(key, columns[i].key) && sc_piece_number(value, &number, NULL))
            sc_import_set(import, i,
                          sc_scaled(number, columns[i].factor > 0.0 ? columns[i].factor : 1.0));
    if (sc_import_keeps(import, key))
        sc_import_set_kept(import, key, value);
}

static void end_channel(struct sc_import *import, size_t line)
{
    double hits[2] = { 0 }, commands[2] = { 0 };
    if (sc_import_has(import, READ_HITS, &hits[0]) && sc_import_has(import, WRITE_HITS, &hits[1]) &&
        sc_import_has(import, READ_COMMANDS, &commands[0]) &&
        sc_import_has(import, WRITE_COMMANDS, &commands[1]))
        sc_import_set(import, ROW_HIT_SHARE, (hits[0] + hits[1]) / (commands[0] + commands[1]));
    sc_import_row(import, line);
}

/* ---- text ---- */

static bool read_text(struct sc_import *import)
{
    static const char title[] = "## Statistics of Channel ";
    struct sc_piece line, value, rest;
    size_t start = 0;
    double channel = 0.0, cycles = 0.0;
    while (sc_import_line(import, &line)) {
        if (sc_piece_starts(line, title)) {
            if (start > 0)
                end_channel(import, start);
            start = sc_import_line_number(import);
            if (sc_piece_number(sc_piece_after(line, strlen(title)), &channel, NULL))
                sc_import_set(import, CHANNEL, channel);
        } else if (start > 0 && !sc_piece_starts(line, "#") &&
                   memchr(line.text, '=', line.length) != NULL) {
            const struct sc_piece key = sc_piece_trim(sc_piece_until(line, '=', &value));
            set_value(import, key, sc_piece_trim(sc_piece_until(value, '#', &rest)));
        }
    }
    if (start == 0)
        return sc_import_fail(import, 0, "expected '%sN', got none", title);
    /* Keys come in no set order: a last line without its end is all that shows a cut. */
    if (sc_import_line_is_cut(import) || !sc_import_has(import, CYCLES, &cycles)) {
        sc_import_refuse(import, start, "channel %g is cut off and left out", channel);
        sc_import_run_ended(import, "truncated");
        sc_import_drop(import);
        return true;
    }
    end_channel(import, start);
    sc_import_run_ended(import, "complete");
    return true;
}

/* ---- JSON ---- */

/* Bytes one by one, so that nothing behind a value is taken with it. */
static size_t next_bytes(void *buffer, size_t length, void *context)
{
    (void)length;
    return sc_import_bytes(context, buffer, 1);
}

static void set_member(struct sc_import *import, const char *key, const json_t *value)
{
    char text[64];
    if (json_is_number(value)) {
        (void)snprintf(text, sizeof text, "%.17g", json_number_value(value));
        set_value(import, sc_piece_of(key), sc_piece_of(text));
    }
}

static void set_members(struct sc_import *import, json_t *channel)
{
    const char *key, *inner;
    json_t *value, *number;
    json_object_foreach(channel, key, value)
    {
        set_member(import, key, value);
        if (!json_is_object(value) || !sc_import_keeps_any(import))
            continue;
        json_object_foreach(value, inner, number)
        {
            char name[256];
            (void)snprintf(name, sizeof name, "%.120s.%.120s", key, inner);
            set_member(import, name, number);
        }
    }
}

static bool add_channels(struct sc_import *import, json_t *run)
{
    const char *key;
    json_t *channel;
    double number = 0.0;
    json_object_foreach(run, key, channel)
    {
        if (!json_is_object(channel))
            return sc_import_fail(import, 0,
                                  "expected an object for each channel, got '%.60s' with "
                                  "something else",
                                  key);
        if (sc_piece_number(sc_piece_of(key), &number, NULL))
            sc_import_set(import, CHANNEL, number);
        set_members(import, channel);
        end_channel(import, 0);
    }
    return true;
}

/* The next byte that is no blank; 0 at the end. */
static char next_mark(struct sc_import *import)
{
    char c = '\0';
    do
        if (sc_import_bytes(import, &c, 1) == 0)
            return '\0';
    while (c == ' ' || c == '\n' || c == '\t' || c == '\r');
    return c;
}

/* An object of channels.  False: it is cut, or the file is of no use. */
static bool read_object(struct sc_import *import, size_t number)
{
    json_error_t error;
    json_t *run = json_load_callback(next_bytes, import, JSON_DISABLE_EOF_CHECK, &error);
    if (run == NULL && number == 0)
        return sc_import_fail(import, 0, "is no whole JSON: %.200s", error.text);
    if (run == NULL) {
        sc_import_refuse(import, 0, "epoch %zu is cut off and left out: %.200s", number,
                         error.text);
        return false;
    }
    const bool fine = json_is_object(run)
                          ? add_channels(import, run)
                          : sc_import_fail(import, 0, "expected an object of channels");
    json_decref(run);
    return fine;
}

/* Objects in a row, as an array has them between its brackets and commas. */
static bool read_objects(struct sc_import *import, bool array)
{
    char mark = ',';
    for (size_t number = 0; mark == ','; number++) {
        if (!read_object(import, number)) {
            sc_import_run_ended(import, "truncated");
            return !sc_import_failed(import);
        }
        mark = array ? next_mark(import) : ']';
    }
    sc_import_run_ended(import, mark == ']' ? "complete" : "truncated");
    if (mark != ']')
        sc_import_note(import, 0, "the array of epochs has no end");
    return true;
}

static bool read_dramsim3(struct sc_import *import)
{
    char c = '\0';
    struct sc_piece first;
    if (!sc_import_peek(import, &first) || (*first.text != '{' && *first.text != '['))
        return read_text(import);
    if (*first.text == '[')
        (void)sc_import_bytes(import, &c, 1);
    return read_objects(import, c == '[');
}

static bool sniff(const char *head, size_t length)
{
    const struct sc_piece text = sc_piece_trim((struct sc_piece){ head, length });
    return sc_piece_find(text, "## Statistics of Channel ") != SIZE_MAX ||
           (text.length > 0 && (*text.text == '{' || *text.text == '[') &&
            (sc_piece_find(text, "\"average_bandwidth\"") != SIZE_MAX ||
             sc_piece_find(text, "\"num_reads_done\"") != SIZE_MAX ||
             sc_piece_find(text, "\"all_bank_idle_cycles\"") != SIZE_MAX));
}

const struct sc_import_kind sc_import_dramsim3 = {
    .name = "dramsim3",
    .summary = "statistics of DRAMsim3, text or JSON",
    .row = "a channel (of an epoch)",
    .sniff = sniff,
    .columns = { { columns, COLUMNS } },
    .more = "--keep takes any key, such as read_latency[0-19]; of JSON also what is within, as "
            "read_latency.100",
    .read = read_dramsim3,
};
