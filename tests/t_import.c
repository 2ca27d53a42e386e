/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readers of other tools' results: every form and oddity of each, counted by hand. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/import.h"
#include "read/import_private.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { NOTES_MAX = 16, ROWS_MAX = 64 };

struct note_line {
    size_t line;
    char text[SC_IMPORT_REASON];
};

/* A table in memory. */
struct table {
    struct sc_import *import;
    struct sc_import_outcome outcome;
    struct sc_import_error error;
    struct note_line notes[NOTES_MAX];
    size_t note_count, rows;
    struct sc_import_cell *cells[ROWS_MAX];
    char *texts[4096];
    size_t text_count;
    bool fine;
};

static void add_note(void *context, const char *file, size_t line, const char *text)
{
    struct table *const t = context;
    (void)file;
    if (t->note_count == NOTES_MAX)
        return;
    t->notes[t->note_count].line = line;
    (void)snprintf(t->notes[t->note_count++].text, sizeof t->notes[0].text, "%s", text);
}

static void copy_texts(struct table *t, struct sc_import_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (cells[i].kind != SC_IMPORT_TEXT)
            continue;
        char *copy = malloc(cells[i].length + 1);
        if (copy == NULL || t->text_count == COUNT(t->texts))
            bail("out of memory");
        memcpy(copy, cells[i].text, cells[i].length);
        copy[cells[i].length] = '\0';
        t->texts[t->text_count++] = copy;
        cells[i].text = copy;
    }
}

static void take_rows(struct table *t)
{
    bool any = true;
    if (!sc_import_rewind(t->import))
        bail("cannot rewind");
    for (;;) {
        const size_t count = sc_import_column_count(t->import);
        struct sc_import_cell *cells = calloc(count, sizeof *cells);
        if (cells == NULL || t->rows == ROWS_MAX || !sc_import_next(t->import, cells, &any))
            bail("cannot read the table");
        if (!any) {
            free(cells);
            return;
        }
        copy_texts(t, cells, count);
        t->cells[t->rows++] = cells;
    }
}

static struct table *start(const char *keep, const char *name)
{
    struct table *t = calloc(1, sizeof *t);
    if (t == NULL)
        bail("out of memory");
    const struct sc_import_options options = { .keep = keep, .name = name, .note = add_note,
                                               .context = t };
    t->fine = sc_import_create(&t->import, &options, &t->error);
    return t;
}

static void add_text(struct table *t, const char *kind, const char *text, size_t length,
                     const char *file_name)
{
    FILE *file = length > 0 ? fmemopen((void *)(uintptr_t)text, length, "rb") : tmpfile();
    if (file == NULL)
        bail("no file");
    t->fine = sc_import_file(t->import, kind != NULL ? sc_import_kind_find(kind) : NULL, file,
                             file_name, &t->outcome, &t->error);
    fclose(file);
}

/* One text of one kind (NULL: found out), with everything that --keep may take. */
static struct table *import_text(const char *kind, const char *keep, const char *text)
{
    struct table *t = start(keep, NULL);
    if (!t->fine)
        bail("%s", t->error.reason);
    add_text(t, kind, text, strlen(text), "test");
    if (t->fine)
        take_rows(t);
    return t;
}

static void finish(struct table *t)
{
    for (size_t i = 0; i < t->rows; i++)
        free(t->cells[i]);
    for (size_t i = 0; i < t->text_count; i++)
        free(t->texts[i]);
    sc_import_destroy(t->import);
    free(t);
}

static const struct sc_import_cell *cell(const struct table *t, size_t row, const char *column)
{
    static const struct sc_import_cell nothing = { .kind = SC_IMPORT_NOTHING };
    for (size_t i = 0; i < sc_import_column_count(t->import); i++)
        if (strcmp(sc_import_column_name(t->import, i), column) == 0)
            return row < t->rows ? &t->cells[row][i] : &nothing;
    note("no column %s", column);
    return &nothing;
}

static bool has_column(const struct table *t, const char *column)
{
    for (size_t i = 0; i < sc_import_column_count(t->import); i++)
        if (strcmp(sc_import_column_name(t->import, i), column) == 0)
            return true;
    return false;
}

static double number(const struct table *t, size_t row, const char *column)
{
    const struct sc_import_cell *const c = cell(t, row, column);
    return c->kind == SC_IMPORT_NUMBER ? c->number : (double)NAN;
}

static const char *words(const struct table *t, size_t row, const char *column)
{
    const struct sc_import_cell *const c = cell(t, row, column);
    return c->kind == SC_IMPORT_TEXT ? c->text : NULL;
}

/* Columns of a row, each with its number; NaN: nothing. */
struct want {
    const char *column;
    double value;
};

static void check_row(const struct table *t, size_t row, const struct want *wants, size_t count,
                      const char *what)
{
    for (size_t i = 0; i < count; i++)
        near(number(t, row, wants[i].column), wants[i].value, 1e-14, 0.0, "%s: row %zu: %s", what,
             row, wants[i].column);
}

#define CHECK_ROW(t, row, wants, what) check_row(t, row, wants, COUNT(wants), what)
#define NOTHING ((double)NAN)

static void check_note(const struct table *t, size_t i, size_t line, const char *text)
{
    is_int((long long)(i < t->note_count ? t->notes[i].line : 0), (long long)line, "line of: %s",
           text);
    is_str(i < t->note_count ? t->notes[i].text : NULL, text, "remark: %s", text);
}

static void check_failure(const char *kind, const char *text, size_t line, const char *reason)
{
    struct table *t = import_text(kind, NULL, text);
    ok(!t->fine, "refused: %s", reason);
    is_int((long long)t->error.line, (long long)line, "at its line: %s", reason);
    is_str(t->error.reason, reason, "because: %s", reason);
    finish(t);
}

/* ---- numbers and units ---- */

static void test_numbers(void)
{
    static const struct {
        const char *text;
        double value; /* NaN: none */
        const char *rest;
    } cases[] = {
        { "12", 12, "" },          { " 1.5e3x", 1500, "x" }, { "-7 GB/Sec", -7, " GB/Sec" },
        { "0x10", 0, "x10" },      { "1e", 1, "e" },         { "5%", 5, "%" },
        { "-nan", NOTHING, "" },   { "inf", NOTHING, "" },   { "", NOTHING, "" },
        { "1e999", NOTHING, "" },  { "+3", 3, "" },          { ".5", 0.5, "" },
        { "- 3", NOTHING, "" },    { "nan3", NOTHING, "" },  { "49.152KB", 49.152, "KB" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double value = (double)NAN;
        struct sc_piece rest = { "", 0 };
        const bool found = sc_piece_number(sc_piece_of(cases[i].text), &value, &rest);
        near(found ? value : NOTHING, cases[i].value, 0.0, 0.0, "number '%s'", cases[i].text);
        ok(!found || sc_piece_is(rest, cases[i].rest), "rest of '%s'", cases[i].text);
    }
}

static void test_grouped(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        { "1,362.20", 1362.2 },      { "12,345,678", 12345678 }, { "999", 999 },
        { "1234", 1234 },            { "-1,000", -1000 },        { "0.5", 0.5 },
        { "9,00", NOTHING },         { "1,2345", NOTHING },      { "1234,567", NOTHING },
        { ",123", NOTHING },         { "1,,234", NOTHING },      { "1,234,", NOTHING },
        { "1.5,000", NOTHING },      { "1,23.5", NOTHING },      { "12x", NOTHING },
        { "N/A", NOTHING },          { "", NOTHING },            { "1 2", NOTHING },
        { "1e6", 1e6 },              { "0x7F", NOTHING },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double value = (double)NAN;
        const bool found = sc_piece_grouped(sc_piece_of(cases[i].text), &value);
        near(found ? value : NOTHING, cases[i].value, 0.0, 0.0, "grouped '%s'", cases[i].text);
    }
}

static void test_units(void)
{
    static const struct {
        const char *unit;
        bool binary;
        double factor;
        const char *si;
    } cases[] = {
        { "byte", false, 1, "B" },            { "Kbyte", false, 1e3, "B" },
        { "Mbyte", false, 1e6, "B" },         { "Gbyte", false, 1e9, "B" },
        { "MB", false, 1e6, "B" },            { "KB", true, 1024, "B" },
        { "MB", true, 1048576, "B" },         { "KiB", false, 1024, "B" },
        { "nsecond", false, 1e-9, "s" },      { "usecond", false, 1e-6, "s" },
        { "msecond", false, 1e-3, "s" },      { "second", false, 1, "s" },
        { "ns", false, 1e-9, "s" },           { "us", false, 1e-6, "s" },
        { "Gbyte/second", false, 1e9, "B/s" }, { "byte/nsecond", false, 1e9, "B/s" },
        { "GB/s", false, 1e9, "B/s" },        { "cycle/nsecond", false, 1e9, "Hz" },
        { "cycle/usecond", false, 1e6, "Hz" }, { "Ghz", false, 1e9, "Hz" },
        { "cycle", false, 1, "cycles" },      { "%", false, 1, "%" },
        { "inst", false, 1, NULL },           { "register/thread", false, 1, NULL },
        { "", false, 1, NULL },               { "byte/block", false, 1, NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sc_measure m = sc_measure_of(sc_piece_of(cases[i].unit), cases[i].binary);
        near(m.factor, cases[i].factor, 1e-15, 0.0, "factor of '%s'", cases[i].unit);
        is_str(m.si, cases[i].si, "SI unit of '%s'", cases[i].unit);
    }
    near(sc_scaled(449, 1e-6), 0.000449, 0.0, 0.0, "449 us are the double 0.000449");
    near(sc_scaled(1073.676, 1e6), 1073676000.0, 0.0, 0.0, "1073.676 MB are whole bytes");
}

/* ---- GPGPU-Sim ---- */

#define BANNER "        *** GPGPU-Sim Simulator Version 4.2.0  [build x] ***\n"
#define CONFIG \
    "-gpgpu_n_clusters   3 # a\n-gpgpu_n_clusters   2 # again\n-gpgpu_n_cores_per_cluster 4 # b\n" \
    "-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:512:8,16:0,32 # c\n" \
    "-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32 # d\n" \
    "-gpgpu_n_mem 8 # e\n-gpgpu_n_mem_per_ctrlr 1 # f\n-gpgpu_dram_buswidth 16 # g\n" \
    "-dram_data_command_freq_ratio 2 # h\n-gpgpu_clock_domains 1000.0:900.0:800.0:500.0 # i\n" \
    "-gpgpu_kernel_launch_latency 5000 # j\n-hw_perf_bench_name   # nothing\n"
#define LAUNCH(name, id, grid, block) \
    "-kernel name = " name "\n-grid dim = " grid "\n-block dim = " block "\n" \
    "launching kernel name: " name " uid: " id " cuda_stream_id: 0\n"
#define KERNEL(name, id, cycles) \
    "kernel_name = " name " \nkernel_launch_uid = " id " \nkernel_stream_id = 140101\n" \
    "gpu_sim_cycle = " cycles "\ngpu_occupancy = -nan% \n"
#define END_OF_KERNEL(seconds) \
    "gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 9 sec (" seconds " sec)\n" \
    "gpgpu_simulation_rate = 9 (inst/sec)\ngpgpu_simulation_rate = 7 (cycle/sec)\n" \
    "gpgpu_silicon_slowdown = 4x\n"
#define EXIT "GPGPU-Sim: *** simulation thread exiting ***\nGPGPU-Sim: *** exit detected ***\n"
#define STOP "GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **\n"

static void test_kernels(void)
{
    static const char text[] = "Accel-Sim [build x]\n" BANNER CONFIG LAUNCH("a", "1", "(2,3,1)", "(64,1,1)")
        LAUNCH("b", "2", "(4,1,1)", "(32,2,1)")
        "GPGPU-Sim uArch: CTA/core = 32, limited by: threads cta_limit\n"
        KERNEL("a", "1", "10000") "gpgpu_n_load_insn  = 2048\n\tL1D_total_cache_accesses = 256\n"
        "averagemflatency = 300 \ntotal dram reads = 250\ntotal dram writes = 0\n"
        "icnt_total_pkts_mem_to_simt=250\nL2_BW  =       0.8970 GB/Sec\n" END_OF_KERNEL("2")
        "GPGPU-Sim uArch: CTA/core = 8, limited by: threads\n"
        KERNEL("b", "2", "6000") "gpgpu_n_load_insn  = 4096\n\tL1D_total_cache_accesses = 512\n"
        "averagemflatency = 200 \ntotal dram reads = 300\ntotal dram writes = 40\n"
        "icnt_total_pkts_mem_to_simt=500\n" END_OF_KERNEL("5") EXIT;
    static const struct want first[] = {
        { "kernel_id", 1 }, { "kernel_whole", 1 }, { "ctas", 6 }, { "threads_per_cta", 64 },
        { "ctas_per_sm_max", 32 }, { "cycles", 10000 }, { "time_s", 1e-5 },
        { "load_thread_instructions", 2048 }, { "l1_accesses", 256 }, { "dram_reads", 250 },
        { "dram_writes", 0 }, { "dram_read_bytes", 8000 }, { "memory_latency_cycles", 300 },
        { "sectors_in_flight", 15 }, { "l2_throughput_bytes_per_s", 897e6 }, { "host_s", 2 },
        { "sms", 8 }, { "clock_Hz", 1e9 }, { "memory_channels", 8 }, { "channel_bytes", 16 },
        { "memory_rate_Hz", 1e9 }, { "bandwidth_bytes_per_s", 128e9 }, { "mshr_entries", 512 },
        { "line_bytes", 128 }, { "sector_bytes", 32 }, { "launch_cycles", 5000 },
        { "ipc", NOTHING }, { "l2_misses", NOTHING },
    };
    /* What went on from the first kernel is taken off; a mean of 200 over 500 is 100 over the
     * second 250. */
    static const struct want second[] = {
        { "kernel_id", 2 }, { "ctas", 4 }, { "threads_per_cta", 64 }, { "ctas_per_sm_max", 8 },
        { "cycles", 6000 }, { "load_thread_instructions", 2048 }, { "l1_accesses", 256 },
        { "dram_reads", 50 }, { "dram_writes", 40 }, { "dram_write_bytes", 1280 },
        { "memory_latency_cycles", 100 }, { "sectors_in_flight", 25 }, { "host_s", 3 },
        { "dram_throughput_bytes_per_s", 480e6 },
    };
    struct table *t = import_text(NULL, NULL, text);
    is_int((long long)t->rows, 2, "a row per kernel");
    is_str(t->fine ? t->outcome.kind->name : "", "accelsim", "found out");
    CHECK_ROW(t, 0, first, "first kernel");
    CHECK_ROW(t, 1, second, "second kernel");
    is_str(words(t, 0, "kernel"), "a", "name without its blank");
    is_str(words(t, 0, "simulator_version"), "4.2.0", "version");
    is_str(words(t, 1, "run_ended"), "complete", "complete");
    near(number(t, 0, "file_line"), 24, 0, 0, "line of the block");
    check_note(t, 0, 0, "read as accelsim");
    is_int((long long)t->note_count, 1, "and no other remark");
    finish(t);
}

static void test_run_ends(void)
{
    static const char stopped[] = BANNER KERNEL("a", "1", "5") END_OF_KERNEL("1")
        KERNEL("b", "2", "6") END_OF_KERNEL("2") STOP EXIT;
    static const char cut[] = BANNER KERNEL("a", "1", "5") END_OF_KERNEL("1")
        KERNEL("b", "2", "6") "gpgpu_n_load_ins";
    static const char no_exit[] = BANNER KERNEL("a", "1", "5") END_OF_KERNEL("1");
    static const char nothing[] = BANNER CONFIG;
    static const char early_exit[] = BANNER KERNEL("a", "1", "5") EXIT;
    struct table *t = import_text("accelsim", NULL, stopped);
    is_int((long long)t->rows, 2, "a stopped run has its last kernel");
    is_str(words(t, 0, "run_ended"), "stopped", "and says so");
    near(number(t, 0, "kernel_whole"), 1, 0, 0, "the first is whole");
    near(number(t, 1, "kernel_whole"), 0, 0, 0, "the last is not");
    check_note(t, 0, 22, "the run was stopped by a limit: its last kernel is not whole");
    is_int((long long)t->outcome.refused, 0, "nothing is left out");
    finish(t);

    t = import_text("accelsim", NULL, cut);
    is_int((long long)t->rows, 1, "a cut block is left out");
    is_str(words(t, 0, "run_ended"), "truncated", "and the run is cut");
    check_note(t, 0, 11, "kernel 'b' is cut off and left out");
    check_note(t, 1, 16, "the log has no end: its whole kernels are there");
    is_int((long long)t->outcome.refused, 1, "counted");
    finish(t);

    t = import_text("accelsim", NULL, no_exit);
    is_int((long long)t->rows, 1, "a whole block stays");
    is_str(words(t, 0, "run_ended"), "truncated", "of a log without an end");
    is_int((long long)t->outcome.refused, 0, "nothing is left out of it");
    finish(t);

    t = import_text("accelsim", NULL, nothing);
    is_int((long long)t->rows, 0, "no kernel, no row");
    is_int((long long)t->outcome.refused, 1, "which is a fault");
    check_note(t, 0, 13, "the log has no whole kernel");
    finish(t);

    t = import_text("accelsim", NULL, early_exit);
    is_int((long long)t->rows, 1, "an end makes the block before it whole");
    finish(t);
}

/* Every prefix of a log gives a prefix of its rows. */
static void test_every_cut(void)
{
    static const char text[] = BANNER CONFIG LAUNCH("a", "1", "(2,3,1)", "(64,1,1)")
        KERNEL("a", "1", "10000") "gpgpu_n_load_insn  = 2048\n" END_OF_KERNEL("2")
        KERNEL("b", "2", "6000") "gpgpu_n_load_insn  = 4096\n" END_OF_KERNEL("5") EXIT;
    const char *const first = strstr(text, "(cycle/sec)"), *const second = strstr(first + 1, "(cycle/sec)");
    bool sound = true;
    for (size_t length = strlen(BANNER); length < strlen(text); length++) {
        struct table *t = start(NULL, NULL);
        add_text(t, "accelsim", text, length, "test");
        const size_t want = (length >= (size_t)(first - text) + 11 ? 1U : 0U) +
                            (length >= (size_t)(second - text) + 11 ? 1U : 0U);
        if (!t->fine || t->outcome.rows != want)
            sound = false;
        finish(t);
    }
    ok(sound, "a log cut anywhere keeps its whole kernels");
}

static void test_runs_in_a_file(void)
{
    static const char text[] = BANNER "-gpgpu_n_mem 8 # x\n" KERNEL("a", "1", "5")
        "total dram reads = 100\n" END_OF_KERNEL("1") EXIT BANNER "-gpgpu_n_mem 4 # x\n"
        KERNEL("b", "1", "6") "total dram reads = 70\n" END_OF_KERNEL("1");
    struct table *t = import_text("accelsim", NULL, text);
    is_int((long long)t->rows, 2, "two runs in a file");
    near(number(t, 1, "dram_reads"), 70, 0, 0, "the second begins anew");
    near(number(t, 1, "memory_channels"), 4, 0, 0, "with its own configuration");
    is_str(words(t, 0, "run_ended"), "complete", "one has an end");
    is_str(words(t, 1, "run_ended"), "truncated", "the other has none");
    finish(t);
}

static void test_odd_counters(void)
{
    static const char headless[] = KERNEL("b", "2", "6") "total dram reads = 70\n" END_OF_KERNEL("3")
        KERNEL("c", "3", "6") "total dram reads = 90\n" END_OF_KERNEL("4") EXIT;
    static const char falling[] = BANNER KERNEL("a", "1", "5") "total dram reads = 100\n"
        END_OF_KERNEL("1") KERNEL("b", "2", "6") "total dram reads = 70\n" END_OF_KERNEL("2") EXIT;
    static const char one_line[] =
        "kernel_name = k=v:x \ngpu_sim_cycle=7\ngpu_sim_insn   =   9\ngpu_ipc = -nan\n"
        "gpgpu_simulation_rate = 7 (cycle/sec)\nGPGPU-Sim: *** exit detected ***";
    struct table *t = import_text("accelsim", NULL, headless);
    near(number(t, 0, "dram_reads"), NOTHING, 0, 0, "without a beginning the first count is not known");
    near(number(t, 0, "host_s"), NOTHING, 0, 0, "nor its time");
    near(number(t, 1, "dram_reads"), 20, 0, 0, "the second is");
    check_note(t, 0, 0, "the log has no beginning: counts of the first kernel are not known");
    finish(t);

    t = import_text("accelsim", NULL, KERNEL("a", "1", "6") "total dram reads = 70\n" EXIT);
    near(number(t, 0, "dram_reads"), 70, 0, 0, "but that of the first launch is");
    finish(t);

    t = import_text("accelsim", NULL, falling);
    near(number(t, 1, "dram_reads"), NOTHING, 0, 0, "a count that falls is left empty");
    check_note(t, 0, 12, "dram_reads falls from 100 to 70: left empty");
    finish(t);

    t = import_text("accelsim", NULL, one_line);
    is_str(words(t, 0, "kernel"), "k=v:x", "a name with signs in it");
    near(number(t, 0, "cycles"), 7, 0, 0, "k=v");
    near(number(t, 0, "instructions"), 9, 0, 0, "k  =  v");
    near(number(t, 0, "ipc"), NOTHING, 0, 0, "-nan");
    finish(t);
}

static void test_keep(void)
{
    static const char text[] = BANNER "-gpgpu_scheduler gto # x\n" KERNEL("a", "1", "5")
        "L2_cache_bank[3]: Access = 16, Miss = 15, Miss_rate = 0.938\n"
        "DRAM[1]: 16 bks, busW=16 BL=2\nn_cmd=7762 n_nop=7728 n_act=2 bw_util=0.004123\n"
        "Row_Buffer_Locality_write = -nan\n\n========= L2 cache stats =========\n"
        "\tX_breakdown[GLOBAL_ACC_R][HIT] = 3\nStall:0\tW0_Idle:21402\tW1:7\n"
        "traffic[GLOBAL_ACC_R] = 2048 {8:256,}\nlat_table:64 \t52 \t28 \t\n"
        "average row locality = 256/0 = inf\nchip skew: 32/16 = 2.00\nrate = 41.5% \n"
        "total accesses: 12\nmrqq: max=7 avg=0.5\n" END_OF_KERNEL("1") "later = 5\n" EXIT;
    static const struct want wants[] = {
        { "L2_cache_bank[3]: Access", 16 }, { "L2_cache_bank[3]: Miss", 15 },
        { "L2_cache_bank[3]: Miss_rate", 0.938 }, { "DRAM[1].busW", 16 }, { "DRAM[1].BL", 2 },
        { "DRAM[1].n_cmd", 7762 }, { "DRAM[1].n_act", 2 }, { "DRAM[1].bw_util", 0.004123 },
        { "DRAM[1].Row_Buffer_Locality_write", NOTHING }, { "X_breakdown[GLOBAL_ACC_R][HIT]", 3 },
        { "Stall", 0 }, { "W0_Idle", 21402 }, { "W1", 7 }, { "traffic[GLOBAL_ACC_R]", 2048 },
        { "average row locality", NOTHING }, { "rate", 41.5 }, { "total accesses", 12 },
        { "mrqq: max", 7 }, { "mrqq: avg", 0.5 },
    };
    struct table *t = import_text("accelsim", "", text);
    CHECK_ROW(t, 0, wants, "kept");
    is_str(words(t, 0, "-gpgpu_scheduler"), "gto", "of the configuration");
    is_str(words(t, 0, "lat_table"), "64 \t52 \t28", "a table of numbers");
    ok(!has_column(t, "later"), "nothing behind the block");
    finish(t);
    t = import_text("accelsim", "^n_act$|_HIT", text);
    ok(!has_column(t, "W1"), "only what the pattern takes");
    finish(t);
}

static void test_gpgpusim3(void)
{
    static const char text[] =
        "        *** GPGPU-Sim Simulator Version 3.2.2  [build 0] ***\n"
        "-gpgpu_cache:dl1 32:128:4,L:L:m:N:H,A:32:8,8 # x\n"
        "-gpgpu_cache:dl2 64:64:8,L:B:m:W:L,A:32:4,4:0,32 # x\n-rop_latency 120 # x\n"
        "-gpgpu_n_mem 6 # x\n-gpgpu_n_mem_per_ctrlr 2 # x\n-gpgpu_dram_buswidth 4 # x\n"
        "-gpgpu_clock_domains 700.0:700.0:700.0:924.0 # x\n"
        "the program: prints = this\n"
        "GPGPU-Sim PTX: pushing kernel '_Z3addPf' to stream 0, gridDim= (10,2,1) blockDim = (16,16,1) \n"
        "GPGPU-Sim PTX: pushing kernel '_Z3addPf' to stream 0, gridDim= (7,1,1) blockDim = (8,1,1) \n"
        KERNEL("_Z3addPf", "1", "7000")
        "number of total read accesses:\ndram[0]: 1 2\ntotal reads: 160\n"
        "number of total write accesses:\ntotal reads: 80\n" END_OF_KERNEL("4")
        KERNEL("_Z3addPf", "2", "700") END_OF_KERNEL("4") EXIT;
    static const struct want first[] = {
        { "ctas", 20 }, { "threads_per_cta", 256 }, { "dram_reads", 160 }, { "dram_writes", 80 },
        { "line_bytes", 64 }, { "sector_bytes", 64 }, { "dram_read_bytes", 10240 },
        { "mshr_entries", 32 }, { "l2_rop_latency_cycles", 120 }, { "memory_rate_Hz", 1848e6 },
        { "bandwidth_bytes_per_s", 6.0 * 8 * 1848e6 }, { "time_s", 1e-5 },
    };
    static const struct want second[] = { { "ctas", 7 }, { "threads_per_cta", 8 },
                                          { "host_s", 0 }, { "dram_reads", NOTHING } };
    struct table *t = import_text(NULL, NULL, text);
    CHECK_ROW(t, 0, first, "GPGPU-Sim 3");
    CHECK_ROW(t, 1, second, "the next launch of the same name");
    finish(t);
}

static void test_uvmsmart(void)
{
    static const char text[] = BANNER "-hardware_prefetch 1 # x\n-gpgpu_clock_domains 1000.0:1:1:1 # x\n"
        KERNEL("k", "1", "1000") END_OF_KERNEL("1")
        "F:   223063----T:   225668 \t St: c0000000 Sz: 4096 \t Sm: 0 \t T: memcpy_h2d(1.758947)\n"
        "F:   225668----T:   230000 \t St: c0001000 Sz: 61440 \t Sm: 0 \t T: memcpy_h2d(2.25)\n"
        "F:   230000----T:   231000 \t St: c0000000 Sz: 4096 \t Sm: 0 \t T: write_back(0.5)\n"
        "Tot_kernel_exec_time: 250000(cycle), 168.75(us)\n"
        "=====Page fault statistics=====\n"
        "Page_table_tot_access: 348532 Page_tot_hit: 247646, Page_tot_miss 100886, "
        "Page_tot_hit_rate: 0.7 Page_tot_fault: 99 Page_tot_pending: 7\n"
        "Page_validate: 15 Page_evict_dirty: 4 Page_evict_not_dirty: 3\n"
        "Avg_page_latency: 0.0, Avg_prefetch_size: -nan, Avg_prefetch_latency: 2.5\n"
        "dma_migration_read 12\nPcie_read_utilization: 1.004862\n" EXIT;
    static const struct want run[] = {
        { "page_table_accesses", 348532 }, { "page_hits", 247646 }, { "page_misses", 100886 },
        { "page_faults", 99 }, { "page_faults_pending", 7 }, { "pages_migrated", 15 },
        { "pages_evicted_dirty", 4 }, { "pages_evicted_clean", 3 },
        { "prefetch_size_mean", NOTHING }, { "prefetch_latency_cycles", 2.5 },
        { "remote_migrated_reads", 12 }, { "pcie_read_utilisation", 1.004862 },
        { "memcpy_h2d_events", 2 }, { "memcpy_h2d_bytes", 65536 }, { "memcpy_h2d_s", 4.008947e-6 },
        { "write_back_events", 1 }, { "write_back_s", 5e-7 }, { "total_kernel_exec_s", 168.75e-6 },
        { "cycles", NOTHING },
    };
    struct table *t = import_text(NULL, "Page_tot_hit_rate", text);
    is_str(t->fine ? t->outcome.kind->name : "", "uvmsmart", "found out");
    near(number(t, 0, "Page_tot_hit_rate"), NOTHING, 0, 0, "what --keep takes of the run");
    near(number(t, 1, "Page_tot_hit_rate"), 0.7, 0, 0, "is in the row of the run");
    is_int((long long)t->rows, 2, "a kernel and the run");
    near(number(t, 0, "cycles"), 1000, 0, 0, "the kernel's cycles");
    near(number(t, 0, "page_faults"), NOTHING, 0, 0, "which has no faults of its own");
    is_str(words(t, 0, "scope"), "kernel", "scope of a kernel");
    is_str(words(t, 1, "scope"), "run", "scope of the run");
    CHECK_ROW(t, 1, run, "run");
    finish(t);
}

/* ---- DRAM and flash ---- */

static void test_dramsim3(void)
{
    static const char text[] =
        "####\n## Statistics of Channel 3\n####\n"
        "num_cycles                     =       100000   # Number of DRAM cycles\n"
        "num_read_cmds = 20000 # x\nnum_write_cmds = 5000 # x\nnum_read_row_hits = 15000 # x\n"
        "num_write_row_hits = 3750 # x\nread_latency[0-19]             =            7   # Read\n"
        "average_bandwidth = 116.034 # x\naverage_power = 1276.08 # x\ntotal_energy = 1.5e+08 # x\n"
        "average_interarrival = -nan # x\n"
        "## Statistics of Channel 4\nnum_cycles = 5 # x\nnum_reads_done = 9 # ";
    static const char json[] =
        " [\n{\"0\":{\"average_bandwidth\":1.5,\"epoch_num\":0,\"num_cycles\":50,"
        "\"read_latency\":{\"100\":2,\"102\":37}}},\n{\"0\":{\"num_cycles\":60},\"7\":{\"num_cycles\":61}}\n]\n";
    static const struct want first[] = {
        { "channel", 3 }, { "cycles", 100000 }, { "row_hit_share", 0.75 },
        { "throughput_bytes_per_s", 116.034e9 }, { "power_W", 1.27608 }, { "energy_J", 1.5e-4 },
        { "interarrival_cycles", NOTHING }, { "read_latency[0-19]", 7 }, { "file_line", 2 },
    };
    struct table *t = import_text(NULL, "^read_latency", text);
    is_int((long long)t->rows, 1, "a channel that is cut is left out");
    CHECK_ROW(t, 0, first, "text");
    is_str(words(t, 0, "run_ended"), "truncated", "and said so");
    check_note(t, 1, 14, "channel 4 is cut off and left out");
    finish(t);

    t = import_text(NULL, "^read_latency", json);
    is_int((long long)t->rows, 3, "a row per channel and epoch");
    near(number(t, 0, "throughput_bytes_per_s"), 1.5e9, 0, 0, "GB/s");
    near(number(t, 0, "read_latency.102"), 37, 0, 0, "what is within");
    near(number(t, 2, "channel"), 7, 0, 0, "channel of the key");
    is_str(words(t, 0, "run_ended"), "complete", "whole");
    finish(t);

    t = import_text(NULL, NULL, "[{\"0\":{\"num_reads_done\":1}},{\"0\":{\"num_rea");
    is_int((long long)t->rows, 1, "of a cut array the whole epochs");
    is_str(words(t, 0, "run_ended"), "truncated", "are of a cut file");
    is_int((long long)t->outcome.refused, 1, "with one left out");
    finish(t);
    check_failure("dramsim3", "{\"0\":5}", 0,
                  "expected an object for each channel, got '0' with something else");
    check_failure("dramsim3", "x = 5 # y\n", 0, "expected '## Statistics of Channel N', got none");
}

static void test_ramulator2(void)
{
    static const char text[] =
        "MemorySystem:\n  total_num_read_requests: 50\n  memory_system_cycles: 1000\n  DRAM:\n"
        "    impl: DDR4\n  Controller:\n    id: Channel 0\n    num_read_reqs_0: 80\n"
        "    avg_read_latency_0: 25\n\n    bank_acts_core_free_7: 3\n    priority_core_0: 5\n"
        "    core_queue_0: 6\n    row_hits_0: 30\n    row_misses_0: 5\n"
        "    row_conflicts_0: 15\n    read_row_hits_core_0: 7\n    read_latency_0: 2000\n"
        "  Controller:\n    id: Channel 1\n    queue_len_avg_1: -nan\n    num_read_reqs_1: 20\n"
        "    row_hits_1: 20\n    row_misses_1: 0\n    row_conflicts_1: 0\n    read_latency_1: 1000\n"
        "MemorySystem:\n  total_num_read_requests: 4\n  memory_system_cycles: 9\n"
        "    num_read_reqs_0: 4\n    read_latency_0: 8\n";
    static const struct want first[] = {
        { "channel", 0 }, { "cycles", 1000 }, { "total_reads", 50 }, { "reads_sent", 80 },
        { "row_hits", 30 }, { "row_hit_share", 0.6 }, { "printed_read_latency_cycles", 25 },
        { "read_latency_cycles", 60 }, { "read_row_hits_core_0", 7 },
        { "bank_acts_core_free_7", 3 }, { "core_queue", 6 }, { "priority_core_0", 5 },
    };
    static const struct want second[] = { { "channel", 1 }, { "queue_length", NOTHING },
                                          { "row_hit_share", 1 }, { "read_latency_cycles", 60 } };
    struct table *t = import_text(NULL, "core", text);
    is_int((long long)t->rows, 3, "a row per channel and dump");
    CHECK_ROW(t, 0, first, "channel 0");
    CHECK_ROW(t, 1, second, "channel 1");
    near(number(t, 2, "read_latency_cycles"), 2, 0, 0, "the next dump");
    is_str(words(t, 0, "dram"), "DDR4", "what is simulated");
    check_note(t, 1, 8, "100 reads were sent for 50 taken: avg_read_latency is too low, "
                        "read_latency_cycles is from the counts");
    is_int((long long)t->note_count, 2, "said only where it is so");
    finish(t);
}

static void test_mqsim(void)
{
    static const char xml[] =
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<MQSim_Results>\n<Host>\n<Host.IO_Flow>\n"
        "  <Name>flow 0</Name>\n  <IOPS>inf</IOPS>\n  <IOPS_Read>-nan</IOPS_Read>\n"
        "  <Request_Count>10690</Request_Count>\n"
        "  <Device_Response_Time>449</Device_Response_Time>\n</Host.IO_Flow>\n</Host>\n<SSDDevice>\n"
        "<SSDDevice.HostInterface><Name>no row</Name></SSDDevice.HostInterface>\n"
        "<SSDDevice.TSU>\n<SSDDevice.TSU.Q Name=\"empty\" No_Of_Transactions_Enqueued=\"0\" "
        "Avg_Transaction_Waiting_Time=\"9223372036854775808\"/>\n"
        "<SSDDevice.TSU.Q Name=\"used\" No_Of_Transactions_Enqueued=\"3\" "
        "Avg_Transaction_Waiting_Time=\"9223372036854775808\" Max_Transaction_Waiting_Time=\"7\"/>\n"
        "</SSDDevice.TSU>\n<SSDDevice.FTL Issued_Flash_Read_CMD=\"12\" "
        "Average_Page_Movement_For_GC=\"-nan\"/>\n</SSDDevice>\n</MQSim_Results>\n";
    static const struct want flow[] = { { "requests", 10690 }, { "requests_per_s", NOTHING },
                                        { "read_requests_per_s", NOTHING },
                                        { "response_s", 449e-6 }, { "file_line", 4 } };
    static const struct want queue[] = { { "queue_entered", 3 }, { "queue_waiting_s", NOTHING },
                                         { "queue_waiting_max_s", 7e-6 } };
    struct table *t = import_text(NULL, NULL, xml);
    is_int((long long)t->rows, 3, "flow, queue that was used, FTL");
    CHECK_ROW(t, 0, flow, "flow");
    CHECK_ROW(t, 1, queue, "queue");
    is_str(words(t, 0, "name"), "flow 0", "its name");
    is_str(words(t, 1, "name"), "used", "name as an attribute");
    near(number(t, 2, "flash_reads"), 12, 0, 0, "attribute of the FTL");
    finish(t);

    char cut[sizeof xml];
    memcpy(cut, xml, sizeof xml);
    *strstr(cut, "<Request_Count>") = '\0';
    t = import_text(NULL, NULL, cut);
    is_int((long long)t->rows, 0, "of a cut file no part of a row");
    is_int((long long)t->outcome.refused, 1, "but a remark");
    finish(t);
    t = import_text(NULL, NULL, "MQSim started at x\nERROR:no trace\n");
    check_note(t, 1, 2, "MQSim ended in 'ERROR:no trace'");
    is_int((long long)t->outcome.refused, 1, "what MQSim prints is no result");
    finish(t);
    check_failure("mqsim",
                  "<!DOCTYPE x [\n<!ENTITY a \"aaaa\">\n<!ENTITY b \"&a;&a;\">]>\n<MQSim_Results>&b;",
                  2, "expected results, got a declaration of the entity 'a'");
    check_failure("mqsim", "<MQSim_Results><a></b></MQSim_Results>", 1,
                  "is no XML of results: mismatched tag");
}

/* ---- profilers ---- */

#define LONG_HEADER "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"," \
                    "\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define LONG_ROW(id, rest) "\"" id "\",\"9\",\"k<4, 2>(int)\",\"(256, 1, 1)\",\"(96, 2, 1)\"," rest "\n"

static void test_ncu_long(void)
{
    static const char text[] = "==PROF== Connected\nstep 1, loss, 3\n" LONG_HEADER
        LONG_ROW("0", "\"gpu__time_duration.sum\",\"usecond\",\"1,362.20\"")
        LONG_ROW("0", "\"dram__bytes_read.sum\",\"Mbyte\",\"2.50\"") "==WARNING== x\nstep 2, loss, 3\n"
        LONG_ROW("0", "\"sectors\",\"sector\",\"12,345,678\"") LONG_ROW("0", "\"occ\",\"%\",\"N/A\"")
        LONG_ROW("1", "\"gpu__time_duration.sum\",\"nsecond\",\"980\"")
        LONG_ROW("1", "\"dram__bytes_read.sum\",\"byte\",2,816")
        LONG_ROW("1", "\"dram__bytes_write.sum\",\"byte\",\"9,00\"")
        LONG_ROW("1", "\"cut");
    static const struct want first[] = {
        { "kernel_id", 0 }, { "ctas", 192 }, { "threads_per_cta", 256 }, { "time_s", 1362.2e-6 },
        { "dram_read_bytes", 2.5e6 }, { "sectors (sector)", 12345678 },
    };
    static const struct want second[] = { { "kernel_id", 1 }, { "time_s", 980e-9 },
                                          { "dram_read_bytes", NOTHING },
                                          { "dram_write_bytes", NOTHING } };
    struct table *t = import_text(NULL, NULL, text);
    is_int((long long)t->rows, 2, "a row per launch");
    is_str(words(t, 0, "kernel"), "k<4, 2>(int)", "a name with commas");
    CHECK_ROW(t, 0, first, "first");
    CHECK_ROW(t, 1, second, "second");
    ok(!has_column(t, "occ (%)"), "N/A is nothing");
    check_note(t, 1, 11, "expected 8 fields, got 9: commas within numbers that have no quotes cannot "
                         "be told from those between fields");
    check_note(t, 2, 12, "dram__bytes_write.sum: expected a number as 1,234.5, got '9,00'");
    check_note(t, 3, 13, "expected a line of CSV, got one whose quotes do not close");
    finish(t);
    t = import_text("ncu", "^nothing$", text);
    ok(!has_column(t, "sectors (sector)"), "--keep limits");
    near(number(t, 0, "time_s"), 1362.2e-6, 1e-14, 0, "but not what is always there");
    finish(t);
    check_failure("ncu", "nothing\n", 0,
                  "expected a header with the column Kernel Name, got none: is it from ncu --csv?");
    check_failure("ncu", "\"ID\",\"Kernel Name\",\"Metric Name\"\n", 1,
                  "expected columns Metric Unit and Metric Value or Average, got none");
}

static void test_ncu_other_forms(void)
{
    static const char wide[] =
        "\"ID\",\"Kernel Name\",\"Grid Size\",\"dram__bytes_read.sum\",\"x\",\"chip\"\n"
        "\"\",\"\",\"\",\"Kbyte\",\"%\",\"\"\n"
        "\"0\",\"gemm\",\"(10, 1, 1)\",\"1,024.5\",\"71.2\",\"GH100\"\n"
        "\"1\",\"gemm\",\"(20, 1, 1)\",\"nan\",\"71.4\",\"GH100\"\n";
    static const char summary[] =
        "\"Process ID\",\"Kernel Name\",\"Invocations\",\"Metric Name\",\"Metric Unit\",\"Minimum\","
        "\"Maximum\",\"Average\"\n"
        "\"1\",\"gemm\",\"3\",\"m\",\"Kbyte\",\"1,000.00\",\"2,000.00\",\"1,500.00\"\n"
        "\"1\",\"gemm\",\"3\",\"Duration\",\"us\",\"10\",\"30\",\"20\"\n"
        "\"1\",\"axpy\",\"1\",\"Duration\",\"ms\",\"1\",\"1\",\"1\"\n";
    static const struct want first[] = { { "m (B)", 1.5e6 }, { "m minimum (B)", 1e6 },
                                         { "m maximum (B)", 2e6 }, { "invocations", 3 },
                                         { "time_s", 20e-6 } };
    struct table *t = import_text("ncu", NULL, wide);
    is_int((long long)t->rows, 2, "wide: the units are no row");
    near(number(t, 0, "dram_read_bytes"), 1024500, 0, 0, "in their units");
    near(number(t, 1, "dram_read_bytes"), NOTHING, 0, 0, "nan is nothing");
    near(number(t, 1, "x (%)"), 71.4, 0, 0, "another metric");
    near(number(t, 1, "ctas"), 20, 0, 0, "grid");
    is_str(words(t, 0, "chip"), "GH100", "text of a metric");
    finish(t);
    t = import_text(NULL, NULL, summary);
    is_int((long long)t->rows, 2, "summary: a row per kernel");
    CHECK_ROW(t, 0, first, "summary");
    near(number(t, 1, "time_s"), 1e-3, 0, 0, "the next kernel");
    finish(t);
}

static void test_nsys(void)
{
    static const char csv[] =
        "Processing [r.sqlite] with [/opt/x/cuda_gpu_kern_sum.py]...\n"
        "Time (%),Total Time (ns),Instances,Avg (ns),StdDev (ns),Name\n"
        "75.0,\"1,500\",3,500.0,86.2,\"k<4, 2>(int)\"\n25.0,1,500,1,500.0,0.0,scale\n\n"
        "Processing [r.sqlite] with [/opt/x/um_cpu_page_faults_sum.py]...\n"
        "SKIPPED: r.sqlite has none.\n";
    static const char old[] =
        "Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,Name\n50.0,30,3,10.0,9,11,k\n";
    static const char text[] =
        "[10/11] Executing 'unifiedmemorytotals' stats report\n\n"
        " Total HtoD Migration Size (MB)  Total CPU Page Faults  Total GPU PageFaults  Minimum Virtual Address\n"
        " ------------------------------  ---------------------  --------------------  -----------------------\n"
        "                      3,050.439                 15,360                38,007  0x7F9C80000000         \n"
        "\nnext\n";
    static const struct want kernel[] = { { "time_s", 1500e-9 }, { "count", 3 },
                                          { "mean_s", 500e-9 }, { "time_share", 0.75 },
                                          { "deviation_s", 86.2e-9 } };
    static const struct want memory[] = { { "host_to_device_bytes", 3050439000.0 },
                                          { "cpu_page_faults", 15360 },
                                          { "gpu_page_faults", 38007 }, { "file_line", 5 } };
    struct table *t = import_text(NULL, NULL, csv);
    is_int((long long)t->rows, 1, "a row per kernel");
    CHECK_ROW(t, 0, kernel, "CSV");
    is_str(words(t, 0, "report"), "cuda_gpu_kern_sum", "its report");
    is_str(words(t, 0, "kernel"), "k<4, 2>(int)", "its name");
    check_note(t, 1, 4, "expected 6 fields, got 7: commas within numbers that have no quotes cannot "
                        "be told from those between fields");
    check_note(t, 2, 7, "SKIPPED: r.sqlite has none.");
    finish(t);
    t = import_text("nsys", NULL, old);
    near(number(t, 0, "mean_s"), 10e-9, 1e-15, 0, "averages without a unit are in ns");
    near(number(t, 0, "time_share"), 0.5, 0, 0, "Time(%%) without a blank");
    finish(t);
    t = import_text(NULL, NULL, text);
    is_int((long long)t->rows, 1, "a table of text");
    CHECK_ROW(t, 0, memory, "text");
    is_str(words(t, 0, "report"), "um_total_sum", "by its new name");
    is_str(words(t, 0, "Minimum Virtual Address"), "0x7F9C80000000", "an address stays text");
    finish(t);
}

static void test_nvprof(void)
{
    static const char text[] =
        "a, b: 48 1KB 1KB 1KB 1KB 1us no\n==1== NVPROF is profiling process 1\n"
        "==1== Profiling result:\n            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
        " GPU activities:   75.00%  3.2557ms         2  1.6279ms  1.5000ms  1.7557ms  add(int, float*)\n"
        "                   25.00%  1.0852ms         1  1.0852ms  1.0852ms  1.0852ms  [CUDA memcpy HtoD]\n"
        "      API calls:   98.54%  348.11ms         2  174.06ms  111.49us  348.00ms  cudaMalloc\n"
        "                    1.46%  957.25us         2  478.62us  370.95us  402.15us  cudaFree\n\n"
        "==1== Unified Memory profiling result:\nDevice \"Tesla V100 (0)\"\n"
        "   Count  Avg Size  Min Size  Max Size  Total Size  Total Time  Name\n"
        "      48  49.152KB  4.0000KB  0.9961MB  8.000000MB  31.40422ms  Host To Device\n"
        "      12         -         -         -           -  4.243755ms  Gpu page fault groups\n"
        "Total CPU Page faults: 36\n";
    static const char csv[] =
        "==1== Profiling result:\n\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
        ",%,ms,,us,us,us,\n\"GPU activities\",100.0,3.2557,2,1627.85,1500.0,1755.7,add(int, float*, x<1, 2>)\n"
        "\"API calls\",98.5,348.1,2,1.0,1.0,1.0,\"cudaMalloc\"\n"
        "==1== Unified Memory profiling result:\n"
        "\"Device\",\"Count\",\"Avg Size\",\"Min Size\",\"Max Size\",\"Total Size\",\"Total Time\",\"Name\"\n"
        ",,KB,KB,KB,MB,ms,\n\"P100 (0)\",48,1.5,4.0,1020.0,8.0,0.5,\"Host To Device\"\n"
        "\"P100 (0)\",12,-,-,-,-,4.25,\"GPU Page fault groups\"\n"
        "\"P100 (1)\",24,170.67,4.0,1020.0,4.0,0.25,\"Device To Host\"\nTotal CPU Page faults: 36\n";
    static const char trace[] =
        "==1== Profiling result:\n\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\","
        "\"Block Y\",\"Block Z\",\"Device\",\"Name\"\nms,us,,,,,,,,\n"
        "1.5,2.5,10,2,1,32,4,1,\"V100 (0)\",\"k(int)\"\n";
    static const struct want kernel[] = { { "time_s", 3.2557e-3 }, { "calls", 2 },
                                          { "mean_s", 1.6279e-3 }, { "time_share", 0.75 } };
    static const struct want memory[] = {
        { "host_to_device_count", 48 }, { "host_to_device_bytes", 8388608 },
        { "host_to_device_bytes_mean", 50331.648 }, { "host_to_device_bytes_max", 1044486.5536 },
        { "host_to_device_s", 31.40422e-3 }, { "gpu_page_fault_groups_count", 12 },
        { "gpu_page_fault_groups_s", 4.243755e-3 }, { "cpu_page_faults", 36 },
    };
    struct table *t = import_text(NULL, NULL, text);
    is_int((long long)t->rows, 3, "kernels and a device, no API calls");
    CHECK_ROW(t, 0, kernel, "kernel");
    CHECK_ROW(t, 2, memory, "unified memory");
    is_str(words(t, 0, "kernel"), "add(int, float*)", "name");
    is_str(words(t, 2, "device"), "Tesla V100 (0)", "device");
    ok(!has_column(t, "gpu_page_fault_groups_bytes"), "- is nothing");
    finish(t);
    t = import_text(NULL, NULL, csv);
    is_int((long long)t->rows, 4, "CSV: a kernel, two devices, the host");
    is_str(words(t, 0, "kernel"), "add(int, float*, x<1, 2>)", "a name with bare commas");
    near(number(t, 0, "mean_s"), 1627.85e-6, 1e-15, 0, "in the unit of its column");
    near(number(t, 1, "host_to_device_bytes"), 8388608, 0, 0, "the first device");
    near(number(t, 1, "gpu_page_fault_groups_s"), 4.25e-3, 0, 0, "in one row");
    near(number(t, 2, "device_to_host_bytes"), 4194304, 0, 0, "the second");
    is_str(words(t, 3, "device"), "host", "faults of the host, of all devices");
    near(number(t, 3, "cpu_page_faults"), 36, 0, 0, "are counted");
    finish(t);
    t = import_text("nvprof", NULL, trace);
    near(number(t, 0, "time_s"), 2.5e-6, 1e-15, 0, "a trace: duration");
    near(number(t, 0, "ctas"), 20, 0, 0, "grid");
    near(number(t, 0, "threads_per_cta"), 128, 0, 0, "block");
    finish(t);
}

/* ---- the table ---- */

static void test_files(void)
{
    static const char a[] = "kernel_name = a\ngpu_sim_cycle = 5\nx = 1\nGPGPU-Sim: *** exit detected ***\n";
    static const char b[] = "kernel_name = b\ngpu_sim_cycle = 6\nyx = 2\r\nGPGPU-Sim: *** exit detected ***\r\n";
    static const char c[] = "\xEF\xBB\xBF{\"0\":{\"num_reads_done\":3}}";
    struct table *t = start("x", "w(?<warps>\\d+)(?:_(?<shape>[a-z]+))?");
    add_text(t, NULL, a, strlen(a), "run_w8_tall.log");
    add_text(t, NULL, b, strlen(b), "run_w16.log");
    add_text(t, NULL, c, strlen(c), "dram.json");
    take_rows(t);
    is_int((long long)t->rows, 3, "rows of several files");
    near(number(t, 0, "x"), 1, 0, 0, "a column of the first");
    near(number(t, 1, "x"), NOTHING, 0, 0, "is empty in the second");
    near(number(t, 1, "yx"), 2, 0, 0, "which has one of its own, CRLF or not");
    near(number(t, 2, "reads"), 3, 0, 0, "another kind");
    near(number(t, 0, "warps"), 8, 0, 0, "a number from the name");
    near(number(t, 1, "warps"), 16, 0, 0, "of each file");
    is_str(words(t, 0, "shape"), "tall", "text from the name");
    is_str(words(t, 1, "shape"), NULL, "that is not there");
    is_str(words(t, 2, "file"), "dram.json", "file");
    is_str(words(t, 2, "format"), "dramsim3", "format");
    finish(t);
}

static void test_lines(void)
{
    const size_t long_bytes = 3 * SC_IMPORT_LINE_MAX;
    static const char head[] = "kernel_name = a\ngpu_sim_cycle = 5\nx = ";
    static const char tail[] = "\ngpu_sim_insn = 7\nGPGPU-Sim: *** exit detected ***";
    char *text = malloc(long_bytes + sizeof head + sizeof tail);
    if (text == NULL)
        bail("out of memory");
    memcpy(text, head, strlen(head));
    memset(text + strlen(head), '9', long_bytes);
    memcpy(text + strlen(head) + long_bytes, tail, sizeof tail);
    struct table *t = import_text("accelsim", NULL, text);
    near(number(t, 0, "instructions"), 7, 0, 0, "what is behind a line of 3 MiB is read");
    near(number(t, 0, "file_line"), 1, 0, 0, "and lines are counted");
    check_note(t, 1, 0, "of lines above 1 MiB only the first MiB was read");
    finish(t);
    free(text);
    check_failure(NULL, "hello\n", 0,
                  "is of no kind that is known; expected results of a simulator or a profiler");
    check_failure(NULL, "", 0, "is empty");
    check_failure(NULL, "\xFF\xFEk", 0, "is UTF-16 text; expected UTF-8");
    check_failure("accelsim", "hello\n", 0,
                  "expected logs of GPGPU-Sim 3.x and 4.x and of Accel-Sim, got none");
}

static void test_patterns(void)
{
    static const struct {
        const char *keep, *name, *reason;
    } cases[] = {
        { "(", NULL, "--keep: missing closing parenthesis, at letter 2 of '('" },
        { NULL, "*", "--name: quantifier does not follow a repeatable item, at letter 1 of '*'" },
        { NULL, "w(\\d+)", "--name: expected a pattern with named groups, as in 'w(?<warps>\\d+)', "
                           "got 'w(\\d+)'" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct table *t = start(cases[i].keep, cases[i].name);
        ok(!t->fine, "refused: %s", cases[i].reason);
        is_str(t->error.reason, cases[i].reason, "because: %s", cases[i].reason);
        finish(t);
    }
    char text[6000] = "kernel_name = a\ngpu_sim_cycle = 5\n";
    const size_t start_length = strlen(text);
    memset(text + start_length, 'a', 5000);
    memcpy(text + start_length + 5000, " = 1\nGPGPU-Sim: *** exit detected ***\n", 39);
    struct table *t = import_text("accelsim", "^(a+)+$|^(?:a|aa)+b", text);
    ok(t->fine && t->rows == 1, "a pattern without end does not hang");
    finish(t);
}

static void test_kinds(void)
{
    for (size_t i = 0; i < sc_import_kind_count; i++) {
        const struct sc_import_kind *const kind = sc_import_kinds[i];
        bool sound = kind->name != NULL && kind->summary != NULL && kind->row != NULL &&
                     kind->sniff != NULL && kind->read != NULL && kind->columns[0].count > 0;
        for (size_t c = 0; c < SC_IMPORT_TABLES; c++)
            for (size_t r = 0; r < kind->columns[c].count; r++) {
                const struct sc_import_column *const column = &kind->columns[c].rows[r];
                sound = sound && column->name != NULL && column->key != NULL && column->help != NULL;
                for (size_t other = 0; other < r; other++)
                    sound = sound && strcmp(column->name, kind->columns[c].rows[other].name) != 0;
            }
        ok(sound, "%s: every column has name, key and help, and no name twice", kind->name);
        ok(sc_import_kind_find(kind->name) == kind, "%s is found by its name", kind->name);
    }
    ok(sc_import_kind_find("auto") == NULL, "auto is no kind");
}

int main(void)
{
    plan(473);
    test_numbers();
    test_grouped();
    test_units();
    test_kernels();
    test_run_ends();
    test_every_cut();
    test_runs_in_a_file();
    test_odd_counters();
    test_keep();
    test_gpgpusim3();
    test_uvmsmart();
    test_dramsim3();
    test_ramulator2();
    test_mqsim();
    test_ncu_long();
    test_ncu_other_forms();
    test_nsys();
    test_nvprof();
    test_files();
    test_lines();
    test_patterns();
    test_kinds();
    return done();
}
