/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read/import_gpgpusim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
enum {
    KERNEL, KERNEL_ID, KERNEL_WHOLE, CTAS,
    THREADS_PER_CTA, CTAS_PER_SM_MAX, CYCLES, TIME,
    INSTRUCTIONS, IPC, LOADS, STORES, READ_SECTORS,
    WRITE_SECTORS, L1_ACCESSES, L1_MISSES, L2_ACCESSES,
    L2_MISSES, L2_THROUGHPUT, DRAM_READS, DRAM_WRITES,
    DRAM_READ_BYTES, DRAM_WRITE_BYTES, DRAM_THROUGHPUT,
    REPLIES, MEMORY_LATENCY, IN_FLIGHT, HOST, SMS,
    CLOCK, CHANNELS, CHANNEL_BYTES, DATA_CLOCK,
    BANDWIDTH, MSHRS, LINE, SECTOR, LAUNCH,
    ROP, DRAM_LATENCY, VERSION, COLUMNS
};

/* How a column follows from its key. */
enum rule {
    SPECIAL, /* in its own way, or not from a key */
    BLOCK,   /* as a kernel block has it */
    TOTAL,   /* a count that goes on from kernel to kernel */
    MEAN,    /* likewise a mean over memory_replies */
    CONFIG   /* a line of the configuration */
};

const struct sc_import_column gpgpusim_columns[GPGPUSIM_COLUMNS] = {
    [KERNEL] = { .name = "kernel",
        .key = "kernel_name",
        .help = "name of the kernel" },
    [KERNEL_ID] = { .name = "kernel_id",
        .key = "kernel_launch_uid",
        .help = "number of the launch", .rule = BLOCK },
    [KERNEL_WHOLE] = { .name = "kernel_whole",
        .key = "-",
        .help = "0: the run was stopped within this kernel" },
    [CTAS] = { .name = "ctas",
        .key = "-grid dim|gridDim",
        .help = "thread blocks" },
    [THREADS_PER_CTA] = { .name = "threads_per_cta",
        .key = "-block dim|blockDim",
        .help = "threads of each block" },
    [CTAS_PER_SM_MAX] = { .name = "ctas_per_sm_max",
        .key = "CTA/core",
        .help = "blocks that fit on an SM" },
    [CYCLES] = { .name = "cycles", .dimension = SC_CYCLES,
        .key = "gpu_sim_cycle",
        .help = "time of the kernel, launch included", .rule = BLOCK },
    [TIME] = { .name = "time_s", .dimension = SC_SECONDS,
        .key = "cycles / clock_Hz",
        .help = "the same" },
    [INSTRUCTIONS] = { .name = "instructions",
        .key = "gpu_sim_insn",
        .help = "instructions of threads", .rule = BLOCK },
    [IPC] = { .name = "ipc",
        .key = "gpu_ipc",
        .help = "instructions of threads per cycle", .rule = BLOCK },
    [LOADS] = { .name = "load_thread_instructions",
        .key = "gpgpu_n_load_insn",
        .help = "loads, counted by thread", .rule = TOTAL },
    [STORES] = { .name = "store_thread_instructions",
        .key = "gpgpu_n_store_insn",
        .help = "stores, counted by thread", .rule = TOTAL },
    [READ_SECTORS] = { .name = "global_read_sectors",
        .key = "gpgpu_n_mem_read_global",
        .help = "sectors that loads of global memory ask L2 for", .rule = TOTAL },
    [WRITE_SECTORS] = { .name = "global_write_sectors",
        .key = "gpgpu_n_mem_write_global",
        .help = "sectors that stores to global memory send to L2", .rule = TOTAL },
    [L1_ACCESSES] = { .name = "l1_accesses",
        .key = "L1D_total_cache_accesses",
        .help = "accesses to the L1 data caches", .rule = TOTAL },
    [L1_MISSES] = { .name = "l1_misses",
        .key = "L1D_total_cache_misses",
        .help = "misses of them", .rule = TOTAL },
    [L2_ACCESSES] = { .name = "l2_accesses",
        .key = "L2_total_cache_accesses",
        .help = "accesses to L2", .rule = TOTAL },
    [L2_MISSES] = { .name = "l2_misses",
        .key = "L2_total_cache_misses",
        .help = "misses of them", .rule = TOTAL },
    [L2_THROUGHPUT] = { .name = "l2_throughput_bytes_per_s", .dimension = SC_BYTES_PER_SECOND,
        .key = "L2_BW",
        .help = "sectors x 32 B over the time, launch included", .factor = 1e9, .rule = BLOCK },
    [DRAM_READS] = { .name = "dram_reads",
        .key = "total dram reads|total reads",
        .help = "reads of DRAM, a sector each", .rule = TOTAL },
    [DRAM_WRITES] = { .name = "dram_writes",
        .key = "total dram writes|total writes",
        .help = "writes to DRAM, a sector each", .rule = TOTAL },
    [DRAM_READ_BYTES] = { .name = "dram_read_bytes", .dimension = SC_BYTES,
        .key = "dram_reads x sector_bytes",
        .help = "the same reads" },
    [DRAM_WRITE_BYTES] = { .name = "dram_write_bytes", .dimension = SC_BYTES,
        .key = "dram_writes x sector_bytes",
        .help = "the same writes" },
    [DRAM_THROUGHPUT] = { .name = "dram_throughput_bytes_per_s", .dimension = SC_BYTES_PER_SECOND,
        .key = "both / time_s",
        .help = "launch included" },
    [REPLIES] = { .name = "memory_replies",
        .key = "icnt_total_pkts_mem_to_simt",
        .help = "packets from memory to the SMs", .rule = TOTAL },
    [MEMORY_LATENCY] = { .name = "memory_latency_cycles", .dimension = SC_CYCLES,
        .key = "averagemflatency",
        .help = "mean latency of the kernel's own requests; from whole numbers", .rule = MEAN },
    [IN_FLIGHT] = { .name = "sectors_in_flight",
        .key = "memory_replies x latency / (cycles - launch)",
        .help = "mean over the kernel (Little's law)" },
    [HOST] = { .name = "host_s", .dimension = SC_SECONDS,
        .key = "gpgpu_simulation_time",
        .help = "time that simulating it took" },
    [SMS] = { .name = "sms",
        .key = "-gpgpu_n_clusters x -gpgpu_n_cores_per_cluster",
        .help = "SMs" },
    [CLOCK] = { .name = "clock_Hz", .dimension = SC_HERTZ,
        .key = "-gpgpu_clock_domains, the first",
        .help = "of the SMs" },
    [CHANNELS] = { .name = "memory_channels",
        .key = "-gpgpu_n_mem",
        .help = "memory channels", .rule = CONFIG },
    [CHANNEL_BYTES] = { .name = "channel_bytes", .dimension = SC_BYTES,
        .key = "-gpgpu_n_mem_per_ctrlr x -gpgpu_dram_buswidth",
        .help = "width of a channel" },
    [DATA_CLOCK] = { .name = "memory_rate_Hz", .dimension = SC_HERTZ,
        .key = "-gpgpu_clock_domains, the last, x -dram_data_command_freq_ratio",
        .help = "transfers per second of a channel" },
    [BANDWIDTH] = { .name = "bandwidth_bytes_per_s", .dimension = SC_BYTES_PER_SECOND,
        .key = "memory_channels x channel_bytes x memory_rate_Hz",
        .help = "peak of the DRAM" },
    [MSHRS] = { .name = "mshr_entries",
        .key = "-gpgpu_cache:dl1",
        .help = "MSHRs of an L1" },
    [LINE] = { .name = "line_bytes", .dimension = SC_BYTES,
        .key = "-gpgpu_cache:dl2",
        .help = "line of L2" },
    [SECTOR] = { .name = "sector_bytes", .dimension = SC_BYTES,
        .key = "-gpgpu_cache:dl2",
        .help = "32 where the cache is sectored (S:), else a line" },
    [LAUNCH] = { .name = "launch_cycles", .dimension = SC_CYCLES,
        .key = "-gpgpu_kernel_launch_latency",
        .help = "latency of a launch", .rule = CONFIG },
    [ROP] = { .name = "l2_rop_latency_cycles", .dimension = SC_CYCLES,
        .key = "-gpgpu_l2_rop_latency|-rop_latency",
        .help = "latency of L2", .rule = CONFIG },
    [DRAM_LATENCY] = { .name = "dram_latency_cycles", .dimension = SC_CYCLES,
        .key = "-dram_latency",
        .help = "latency before DRAM, its timings aside", .rule = CONFIG },
    [VERSION] = { .name = "simulator_version",
        .key = "GPGPU-Sim Simulator Version",
        .help = "of GPGPU-Sim" },
};
/* clang-format on */

_Static_assert((int)COLUMNS == (int)GPGPUSIM_COLUMNS, "the header says how many columns there are");

enum {
    SLOTS = 256,    /* of the hash of keys; a power of two above twice their number */
    KEY_MAX = 48,   /* no key that is looked for is longer */
    LAUNCHES = 256, /* that wait for their kernel block */
    LAUNCH_NAME = 512,
    KEPT_CONFIG = 512, /* lines of the configuration that --keep takes */
    OLD_SECTOR_BYTES = 32
};

/* What was said of a kernel before it ran. */
struct launch {
    char name[LAUNCH_NAME];
    double id, ctas, threads; /* NaN: not known */
};

struct kept {
    char *key, *value;
};

struct log {
    struct sc_import *import;
    const struct gpgpusim_extension *extension;
    struct {
        const char *key;
        size_t length, column;
    } slots[SLOTS];
    struct sc_pattern *uid, *pushing, *fits;

    /* of the run */
    bool any_banner, any_block; /* seen: the beginning, a block of this run */
    bool ended, stopped, cut_head;
    double config[COLUMNS];
    double clusters, cores, chips, bus_bytes, ratio, clock_hz, memory_hz;
    char version[64];
    struct kept kept[KEPT_CONFIG];
    size_t kept_count;
    double before[COLUMNS], host_before; /* totals up to the last block */
    double fit;                          /* blocks on an SM, of the kernel last begun */
    struct launch launches[LAUNCHES], header;
    size_t launch_count;

    /* of the block */
    bool in_block, whole; /* whole: its last line was seen */
    size_t block_line;
    char name[LAUNCH_NAME];
    double value[COLUMNS], host, block_fit;
    char section[32]; /* of DRAM, for --keep: "DRAM[3]." */
    bool writes;      /* under the head of DRAM writes, which GPGPU-Sim 3.x calls reads */
};

/* ---- keys ---- */

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = (uint32_t)length;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619U;
    return hash ^ hash >> 15U;
}

static void add_key(struct log *log, struct sc_piece key, size_t column)
{
    size_t slot = hash_of(key.text, key.length) % SLOTS;
    while (log->slots[slot].key != NULL)
        slot = (slot + 1) % SLOTS;
    log->slots[slot].key = key.text;
    log->slots[slot].length = key.length;
    log->slots[slot].column = column;
}

/* The column of a key, or COLUMNS. */
static size_t column_of(const struct log *log, struct sc_piece key)
{
    size_t slot = hash_of(key.text, key.length) % SLOTS;
    for (; log->slots[slot].key != NULL; slot = (slot + 1) % SLOTS)
        if (log->slots[slot].length == key.length &&
            memcmp(log->slots[slot].key, key.text, key.length) == 0)
            return log->slots[slot].column;
    return COLUMNS;
}

static void add_keys(struct log *log)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        struct sc_piece rest = sc_piece_of(gpgpusim_columns[i].key);
        while (gpgpusim_columns[i].rule != SPECIAL && rest.length > 0) {
            const struct sc_piece key = sc_piece_until(rest, '|', &rest);
            add_key(log, key, i);
        }
    }
}

static void copy_piece(char *out, size_t size, struct sc_piece piece)
{
    const size_t length = piece.length < size - 1 ? piece.length : size - 1;
    memcpy(out, piece.text, length);
    out[length] = '\0';
}

/* ---- launches ---- */

static void clear_header(struct log *log)
{
    log->header = (struct launch){ .id = (double)NAN, .ctas = (double)NAN, .threads = (double)NAN };
}

/* The oldest gives way when too many wait. */
static void add_launch(struct log *log, struct sc_piece name, double id)
{
    if (log->launch_count == LAUNCHES)
        memmove(log->launches, log->launches + 1, --log->launch_count * sizeof *log->launches);
    struct launch *const launch = &log->launches[log->launch_count++];
    *launch = log->header;
    launch->id = id;
    copy_piece(launch->name, sizeof launch->name, sc_piece_trim(name));
    clear_header(log);
}

/* That of the block: by its number, else the first of its name without one. */
static bool take_launch(struct log *log, struct launch *launch)
{
    size_t found = log->launch_count;
    for (size_t i = 0; i < log->launch_count; i++) {
        const struct launch *const at = &log->launches[i];
        if (strcmp(at->name, log->name) != 0)
            continue;
        if (at->id == log->value[KERNEL_ID]) {
            found = i;
            break;
        }
        if (isnan(at->id) && found == log->launch_count)
            found = i;
    }
    if (found == log->launch_count)
        return false;
    *launch = log->launches[found];
    memmove(log->launches + found, log->launches + found + 1,
            (--log->launch_count - found) * sizeof *log->launches);
    return true;
}

/* ---- the end of a block ---- */

static double difference(struct log *log, size_t column)
{
    const double now = log->value[column], before = log->before[column];
    if (isnan(now))
        return (double)NAN;
    log->before[column] = now < 0.0 ? (double)NAN : now;
    /* From what is no count nothing follows for the kernel after it either. */
    if (isnan(before) || (log->cut_head && !log->any_block))
        return (double)NAN;
    if (now >= before)
        return now - before;
    sc_import_note(log->import, log->block_line, "%s falls from %.17g to %.17g: left empty",
                   gpgpusim_columns[column].name, before, now);
    return (double)NAN;
}

/* The kernel's own mean, from the means and numbers of all requests before and with it. */
static double mean_latency(struct log *log, double replies_before)
{
    const double now = log->value[MEMORY_LATENCY], before = log->before[MEMORY_LATENCY];
    const double replies = log->value[REPLIES];
    log->before[MEMORY_LATENCY] = isnan(now) ? before : now;
    if (isnan(now) || !(replies > replies_before) || (log->cut_head && !log->any_block))
        return (double)NAN;
    return fmax(0.0, (now * replies - before * replies_before) / (replies - replies_before));
}

static void set_counts(struct log *log)
{
    const double replies_before = log->before[REPLIES];
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct sc_import_column *const column = &gpgpusim_columns[i];
        const double factor = column->factor > 0.0 ? column->factor : 1.0;
        if (column->rule == BLOCK)
            sc_import_set(log->import, i, sc_scaled(log->value[i], factor));
        else if (column->rule == TOTAL)
            sc_import_set(log->import, i, sc_scaled(difference(log, i), factor));
        else if (column->rule == CONFIG)
            sc_import_set(log->import, i, sc_scaled(log->config[i], factor));
    }
    sc_import_set(log->import, MEMORY_LATENCY, mean_latency(log, replies_before));
    if (!isnan(log->host) && !(log->cut_head && !log->any_block) && log->host >= log->host_before)
        sc_import_set(log->import, HOST, log->host - log->host_before);
    log->host_before = isnan(log->host) ? log->host_before : log->host;
}

static void set_machine(struct log *log)
{
    struct sc_import *const import = log->import;
    const double data_hz = log->memory_hz * log->ratio, channel = log->chips * log->bus_bytes;
    sc_import_set(import, SMS, log->clusters * log->cores);
    sc_import_set(import, CLOCK, log->clock_hz);
    sc_import_set(import, CHANNEL_BYTES, channel);
    sc_import_set(import, DATA_CLOCK, data_hz);
    sc_import_set(import, BANDWIDTH, log->config[CHANNELS] * channel * data_hz);
    sc_import_set(import, MSHRS, log->config[MSHRS]);
    sc_import_set(import, LINE, log->config[LINE]);
    sc_import_set(import, SECTOR, log->config[SECTOR]);
    sc_import_set_text(import, VERSION, sc_piece_of(log->version));
    for (size_t i = 0; i < log->kept_count; i++)
        sc_import_set_kept(import, sc_piece_of(log->kept[i].key), sc_piece_of(log->kept[i].value));
}

static void set_derived(struct log *log)
{
    struct sc_import *const import = log->import;
    const double sector = isnan(log->config[SECTOR]) ? OLD_SECTOR_BYTES : log->config[SECTOR];
    const double time_s = log->value[CYCLES] / log->clock_hz;
    double reads = (double)NAN, writes = (double)NAN, replies = (double)NAN, latency = (double)NAN;
    sc_import_set(import, TIME, time_s);
    if (sc_import_has(import, DRAM_READS, &reads))
        sc_import_set(import, DRAM_READ_BYTES, reads * sector);
    if (sc_import_has(import, DRAM_WRITES, &writes))
        sc_import_set(import, DRAM_WRITE_BYTES, writes * sector);
    sc_import_set(import, DRAM_THROUGHPUT, (reads + writes) * sector / time_s);
    const double launch = isnan(log->config[LAUNCH]) ? 0.0 : log->config[LAUNCH];
    if (sc_import_has(import, REPLIES, &replies) &&
        sc_import_has(import, MEMORY_LATENCY, &latency) && log->value[CYCLES] > launch)
        sc_import_set(import, IN_FLIGHT, replies * latency / (log->value[CYCLES] - launch));
}

static void finish_block(struct log *log, bool whole)
{
    struct sc_import *const import = log->import;
    struct launch launch;
    if (!log->in_block)
        return;
    log->in_block = false;
    if (!whole && !log->whole) {
        sc_import_refuse(import, log->block_line, "kernel '%.200s' is cut off and left out",
                         log->name);
        sc_import_drop(import);
        return;
    }
    /* The first launch has nothing before it. */
    if (!log->any_block && log->value[KERNEL_ID] == 1.0)
        log->cut_head = false;
    sc_import_set_text(import, KERNEL, sc_piece_of(log->name));
    sc_import_set(import, KERNEL_WHOLE, log->stopped ? 0.0 : 1.0);
    if (take_launch(log, &launch)) {
        sc_import_set(import, CTAS, launch.ctas);
        sc_import_set(import, THREADS_PER_CTA, launch.threads);
    }
    sc_import_set(import, CTAS_PER_SM_MAX, log->block_fit);
    if (log->extension != NULL)
        log->extension->kernel(log->extension->context, import);
    set_counts(log);
    set_machine(log);
    set_derived(log);
    sc_import_row(import, log->block_line);
    log->any_block = true;
}

/* ---- runs ---- */

static void reset_run(struct log *log)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        log->before[i] = 0.0;
        log->config[i] = (double)NAN;
    }
    for (size_t i = 0; i < log->kept_count; i++) {
        free(log->kept[i].key);
        free(log->kept[i].value);
    }
    log->kept_count = log->launch_count = 0;
    log->clusters = log->bus_bytes = log->clock_hz = log->memory_hz = (double)NAN;
    log->cores = log->chips = 1.0; /* as the simulator has it where nothing is said */
    log->ratio = 2.0;
    log->host_before = 0.0;
    log->fit = (double)NAN;
    log->any_banner = log->any_block = log->ended = log->stopped = log->cut_head = false;
    log->version[0] = '\0';
    clear_header(log);
}

static void finish_run(struct log *log)
{
    struct sc_import *const import = log->import;
    const size_t line = sc_import_line_number(import);
    const bool anything = log->any_banner || log->any_block || log->in_block;
    finish_block(log, log->ended);
    if (!anything)
        return;
    if (log->extension != NULL)
        log->extension->end(log->extension->context, import, line);
    sc_import_run_ended(import, !log->ended ? "truncated" : log->stopped ? "stopped" : "complete");
    if (!log->any_block)
        sc_import_refuse(import, line, "the log has no whole kernel");
    else if (!log->ended)
        sc_import_note(import, line, "the log has no end: its whole kernels are there");
    else if (log->stopped)
        sc_import_note(import, line,
                       "the run was stopped by a limit: its last kernel is not whole");
    if (log->any_block && log->cut_head)
        sc_import_note(import, 0,
                       "the log has no beginning: counts of the first kernel are not known");
    sc_import_run(import);
    reset_run(log);
}

static void start_block(struct log *log, struct sc_piece name)
{
    finish_block(log, true);
    if (log->ended)
        finish_run(log);
    sc_import_drop(log->import);
    log->in_block = true;
    log->whole = false;
    log->block_line = sc_import_line_number(log->import);
    copy_piece(log->name, sizeof log->name, sc_piece_trim(name));
    for (size_t i = 0; i < COLUMNS; i++)
        log->value[i] = (double)NAN;
    log->host = (double)NAN;
    log->block_fit = log->fit;
    log->section[0] = '\0';
    if (!log->any_banner && !log->any_block)
        log->cut_head = true;
}

/* ---- lines ---- */

/* "1132.0:1132.0:1132.0:850.0": core, network, L2, DRAM in MHz. */
static void read_clocks(struct log *log, struct sc_piece value)
{
    double mhz = 0.0;
    for (size_t i = 0; value.length > 0; i++) {
        if (!sc_piece_number(sc_piece_until(value, ':', &value), &mhz, NULL))
            return;
        if (i == 0)
            log->clock_hz = mhz * 1e6;
        log->memory_hz = mhz * 1e6;
    }
}

/* "S:32:128:24,L:B:m:L:P,A:192:4,32:0,32": sets, bytes of a line; the third part has the MSHRs. */
static void read_cache(struct log *log, struct sc_piece value, bool l1)
{
    struct sc_piece rest, geometry = sc_piece_until(value, ',', &rest);
    double line = 0.0, entries = 0.0;
    const bool sectored = sc_piece_starts(geometry, "S:");
    if (geometry.length > 0 && (*geometry.text == 'S' || *geometry.text == 'N'))
        (void)sc_piece_until(geometry, ':', &geometry);
    (void)sc_piece_until(geometry, ':', &geometry);
    (void)sc_piece_until(rest, ',', &rest);
    struct sc_piece mshrs = sc_piece_until(rest, ',', &rest);
    (void)sc_piece_until(mshrs, ':', &mshrs);
    if (l1 && sc_piece_number(mshrs, &entries, NULL))
        log->config[MSHRS] = entries;
    if (!l1 && sc_piece_number(geometry, &line, NULL)) {
        log->config[LINE] = line;
        log->config[SECTOR] = sectored ? OLD_SECTOR_BYTES : line;
    }
}

static void keep_config(struct log *log, struct sc_piece key, struct sc_piece value)
{
    if (log->kept_count == KEPT_CONFIG || !sc_import_keeps(log->import, key))
        return;
    struct kept *const kept = &log->kept[log->kept_count];
    kept->key = malloc(key.length + 1);
    kept->value = malloc(value.length + 1);
    if (kept->key == NULL || kept->value == NULL) {
        free(kept->key);
        free(kept->value);
        (void)sc_import_fail(log->import, 0, "out of memory");
        return;
    }
    copy_piece(kept->key, key.length + 1, key);
    copy_piece(kept->value, value.length + 1, value);
    log->kept_count++;
}

/* "-name   value # comment" */
static void read_config(struct log *log, struct sc_piece line)
{
    const struct {
        const char *key;
        double *value;
    } numbers[] = { { "-gpgpu_n_clusters", &log->clusters },
                    { "-gpgpu_n_cores_per_cluster", &log->cores },
                    { "-gpgpu_n_mem_per_ctrlr", &log->chips },
                    { "-gpgpu_dram_buswidth", &log->bus_bytes },
                    { "-dram_data_command_freq_ratio", &log->ratio } };
    size_t length = 0;
    double number = 0.0;
    while (length < line.length && line.text[length] != ' ' && line.text[length] != '\t')
        length++;
    const struct sc_piece key = { line.text, length };
    struct sc_piece value = sc_piece_trim(sc_piece_after(line, length));
    const size_t comment = sc_piece_find(value, "#");
    if (comment != SIZE_MAX)
        value = sc_piece_trim((struct sc_piece){ value.text, comment });
    keep_config(log, key, value);
    if (sc_piece_is(key, "-gpgpu_clock_domains"))
        read_clocks(log, value);
    else if (sc_piece_is(key, "-gpgpu_cache:dl1") || sc_piece_is(key, "-gpgpu_cache:dl2"))
        read_cache(log, value, key.text[key.length - 1] == '1');
    if (!sc_piece_number(value, &number, NULL))
        return;
    for (size_t i = 0; i < SC_IMPORT_COUNT(numbers); i++)
        if (sc_piece_is(key, numbers[i].key))
            *numbers[i].value = number;
    const size_t column = column_of(log, key);
    if (column < COLUMNS)
        log->config[column] = number;
}

/* "-grid dim = (20,1,1)" and its like, which stand before a launch, or the configuration. */
static void read_dash(struct log *log, struct sc_piece line)
{
    double product = 0.0;
    struct sc_piece value;
    (void)sc_piece_until(line, '=', &value);
    const bool grid = sc_piece_starts(line, "-grid dim"),
               block = sc_piece_starts(line, "-block dim");
    if (log->ended)
        finish_run(log);
    if (!grid && !block)
        read_config(log, line);
    else if (sc_piece_product(value, &product))
        *(grid ? &log->header.ctas : &log->header.threads) = product;
}

/* "GPGPU-Sim: ..." and "GPGPU-Sim uArch: ..." */
static void read_marker(struct log *log, struct sc_piece line)
{
    double product = 0.0;
    if (sc_piece_find(line, "*** exit detected ***") != SIZE_MAX) {
        log->ended = true;
    } else if (sc_piece_find(line, "** break due to reaching the maximum") != SIZE_MAX ||
               sc_piece_find(line, "deadlock detected") != SIZE_MAX) {
        log->stopped = true;
    } else if (sc_piece_find(line, "CTA/core") != SIZE_MAX && sc_pattern_matches(log->fits, line)) {
        (void)sc_piece_number(sc_pattern_group(log->fits, line, 1), &log->fit, NULL);
    } else if (sc_piece_find(line, "pushing kernel") != SIZE_MAX &&
               sc_pattern_matches(log->pushing, line)) {
        if (sc_piece_product(sc_pattern_group(log->pushing, line, 2), &product))
            log->header.ctas = product;
        if (sc_piece_product(sc_pattern_group(log->pushing, line, 3), &product))
            log->header.threads = product;
        add_launch(log, sc_pattern_group(log->pushing, line, 1), (double)NAN);
    }
}

static bool read_banner(struct log *log, struct sc_piece line)
{
    static const char title[] = "*** GPGPU-Sim Simulator Version ";
    const size_t at = sc_piece_find(line, title);
    struct sc_piece rest;
    if (at == SIZE_MAX)
        return false;
    finish_run(log);
    log->any_banner = true;
    copy_piece(log->version, sizeof log->version,
               sc_piece_until(sc_piece_after(line, at + strlen(title)), ' ', &rest));
    return true;
}

/* "gpgpu_simulation_time = 0 days, 0 hrs, 1 min, 43 sec (103 sec)" */
static void read_host(struct log *log, struct sc_piece value)
{
    struct sc_piece seconds;
    (void)sc_piece_until(value, '(', &seconds);
    (void)sc_piece_number(seconds, &log->host, NULL);
}

/* ---- --keep ---- */

/* The pairs of a line: "k = v", "a[3]: k = v, k = v", "k=v k=v", "k:v <tab> k:v", "k: v". */
static void keep_pair(struct log *log, struct sc_piece prefix, struct sc_piece key,
                      struct sc_piece value)
{
    char name[256];
    key = sc_piece_trim(key);
    if (key.length == 0 || prefix.length + key.length + sizeof log->section > sizeof name)
        return;
    const int length = snprintf(name, sizeof name, "%s%.*s%.*s", log->section, (int)prefix.length,
                                prefix.text, (int)key.length, key.text);
    const struct sc_piece whole = { name, (size_t)length };
    if (sc_import_keeps(log->import, whole))
        sc_import_set_kept(log->import, whole, value);
}

static bool begins_key(struct sc_piece p)
{
    return p.length > 0 && ((*p.text >= 'a' && *p.text <= 'z') ||
                            (*p.text >= 'A' && *p.text <= 'Z') || *p.text == '_');
}

/* Where in the text between two '=' the next key begins, or SIZE_MAX: behind a comma, else behind
 * the last blank. */
static size_t next_key(struct sc_piece between)
{
    size_t at = between.length;
    while (at > 0 && between.text[at - 1] == ' ')
        at--;
    const size_t last = at;
    while (at > 0 && between.text[at - 1] != ',')
        at--;
    for (size_t i = last; at == 0 && i > 0; i--)
        if (between.text[i - 1] == ' ' || between.text[i - 1] == '\t') {
            at = i;
            break;
        }
    return at > 0 && begins_key(sc_piece_trim(sc_piece_after(between, at))) ? at : SIZE_MAX;
}

static void keep_equals(struct log *log, struct sc_piece line)
{
    struct sc_piece rest, key = sc_piece_until(line, '=', &rest), prefix = { line.text, 0 };
    for (size_t i = key.length; i > 1; i--)
        if (key.text[i - 1] == ',' || (key.text[i - 1] == ' ' && key.text[i - 2] == ':')) {
            if (key.text[i - 1] == ' ')
                prefix.length = i;
            key = sc_piece_after(key, i);
            break;
        }
    for (;;) {
        struct sc_piece after, value = sc_piece_until(rest, '=', &after);
        const bool more = value.length < rest.length;
        const size_t at = more ? next_key(value) : SIZE_MAX;
        if (at == SIZE_MAX) {
            keep_pair(log, prefix, key, rest);
            return;
        }
        const struct sc_piece next = sc_piece_after(value, at);
        value.length = at;
        while (value.length > 0 && strchr(", \t", value.text[value.length - 1]) != NULL)
            value.length--;
        keep_pair(log, prefix, key, value);
        key = next;
        rest = after;
    }
}

static void keep_colons(struct log *log, struct sc_piece line)
{
    static const struct sc_piece none = { "", 0 };
    struct sc_piece value, key = sc_piece_until(line, ':', &value), next;
    (void)sc_piece_until(sc_piece_until(value, '\t', &next), ':', &next);
    if (next.length == 0 && memchr(value.text, '\t', value.length) != NULL &&
        memchr(value.text, ':', value.length) == NULL) {
        keep_pair(log, none, key, value); /* a table of numbers */
        return;
    }
    while (line.length > 0) {
        key = sc_piece_until(sc_piece_until(line, '\t', &line), ':', &value);
        if (value.length > 0)
            keep_pair(log, none, key, value);
    }
}

static void keep_line(struct log *log, struct sc_piece line)
{
    struct sc_piece rest;
    if (sc_piece_starts(line, "====") || sc_piece_starts(line, "Memory Partition"))
        log->section[0] = '\0';
    if (sc_piece_starts(line, "DRAM["))
        (void)snprintf(log->section, sizeof log->section, "%.*s.",
                       (int)sc_piece_until(line, ':', &rest).length % 16, line.text);
    if (memchr(line.text, '=', line.length) != NULL)
        keep_equals(log, line);
    else if (memchr(line.text, ':', line.length) != NULL)
        keep_colons(log, line);
}

/* ---- a line of a block ---- */

static void read_statistic(struct log *log, struct sc_piece line)
{
    size_t length = 0;
    double number = 0.0;
    while (length < line.length && length < KEY_MAX && line.text[length] != '=' &&
           line.text[length] != ':')
        length++;
    if (length == line.length || length == KEY_MAX)
        return;
    const struct sc_piece value = sc_piece_after(line, length + 1);
    const struct sc_piece key = sc_piece_trim((struct sc_piece){ line.text, length });
    if (sc_piece_is(key, "kernel_name")) {
        start_block(log, value);
        return;
    }
    if (!log->in_block || log->whole)
        return;
    size_t column = column_of(log, key);
    if (column == DRAM_READS && log->writes && sc_piece_is(key, "total reads"))
        column = DRAM_WRITES;
    if (column < COLUMNS && sc_piece_number(value, &number, NULL))
        log->value[column] = number;
    else if (sc_piece_starts(key, "number of total"))
        log->writes = sc_piece_find(key, "write") != SIZE_MAX;
    else if (sc_piece_is(key, "gpgpu_simulation_time"))
        read_host(log, value);
    else if (sc_piece_is(key, "gpgpu_simulation_rate"))
        log->whole = sc_piece_find(value, "(cycle/sec)") != SIZE_MAX;
}

static void read_line(struct log *log, struct sc_piece line)
{
    while (line.length > 0 && (*line.text == ' ' || *line.text == '\t'))
        line = sc_piece_after(line, 1);
    if (line.length == 0)
        return;
    const char first = *line.text;
    if (log->extension != NULL && log->extension->line(log->extension->context, log->import, line))
        return;
    if (first == '-' && (!log->in_block || log->whole))
        read_dash(log, line);
    else if (first == 'G' && sc_piece_starts(line, "GPGPU-Sim"))
        read_marker(log, line);
    else if (first == '*' && read_banner(log, line))
        return;
    else if (first == 'l' && sc_piece_starts(line, "launching kernel name") &&
             sc_pattern_matches(log->uid, line)) {
        double id = (double)NAN;
        (void)sc_piece_number(sc_pattern_group(log->uid, line, 2), &id, NULL);
        add_launch(log, sc_pattern_group(log->uid, line, 1), id);
    } else {
        if (log->in_block && !log->whole && sc_import_keeps_any(log->import))
            keep_line(log, line);
        read_statistic(log, line);
    }
}

static bool make_patterns(struct log *log)
{
    char reason[SC_IMPORT_REASON];
    log->uid = sc_pattern_create("^launching kernel name: (.*?) +uid: *(\\d+)", reason);
    log->fits = sc_pattern_create("CTA/core *= *(\\d+)", reason);
    log->pushing = sc_pattern_create(
        "pushing kernel '(.*?)' .*gridDim *= *(\\([^)]*\\)).*blockDim *= *(\\([^)]*\\))", reason);
    return (log->uid != NULL && log->fits != NULL && log->pushing != NULL) ||
           sc_import_fail(log->import, 0, "%s", reason);
}

bool gpgpusim_read(struct sc_import *import, const struct gpgpusim_extension *extension)
{
    struct sc_piece line;
    struct log *log = calloc(1, sizeof *log);
    if (log == NULL)
        return sc_import_fail(import, 0, "out of memory");
    log->import = import;
    log->extension = extension;
    add_keys(log);
    reset_run(log);
    bool fine = make_patterns(log);
    while (fine && sc_import_line(import, &line)) {
        read_line(log, line);
        fine = !sc_import_failed(import);
    }
    if (fine)
        finish_run(log);
    reset_run(log);
    sc_pattern_destroy(log->uid);
    sc_pattern_destroy(log->fits);
    sc_pattern_destroy(log->pushing);
    free(log);
    return fine && !sc_import_failed(import);
}

bool gpgpusim_sniff(const char *head, size_t length)
{
    static const char *const signs[] = { "GPGPU-Sim Simulator Version", "kernel_launch_uid =",
                                         "gpu_sim_cycle =", "Accel-Sim [build" };
    const struct sc_piece text = { head, length };
    for (size_t i = 0; i < SC_IMPORT_COUNT(signs); i++)
        if (sc_piece_find(text, signs[i]) != SIZE_MAX)
            return true;
    return false;
}

/* ---- Accel-Sim and GPGPU-Sim by themselves ---- */

static bool read_accelsim(struct sc_import *import)
{
    return gpgpusim_read(import, NULL);
}

const struct sc_import_kind sc_import_accelsim = {
    .name = "accelsim",
    .summary = "logs of GPGPU-Sim 3.x and 4.x and of Accel-Sim",
    .row = "a kernel launch",
    .sniff = gpgpusim_sniff,
    .columns = { { gpgpusim_columns, GPGPUSIM_COLUMNS } },
    .more = "--keep takes any statistic of a block (as it stands: most go on from kernel to "
            "kernel) and any line of the configuration",
    .read = read_accelsim,
};
