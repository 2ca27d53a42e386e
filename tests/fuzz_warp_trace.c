/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target of the reader of traces of warps, for libFuzzer.
 *
 * The first byte chooses a block size and a policy, the rest is the file.  Checked: two block
 * sizes give the same trace or fault; what is written of a trace, and read again, is the same;
 * a small trace runs under the policy with all identities of the accounts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/warp_trace_file.h"
#include "sim/prefetch_engine.h"
#include "sim/prefetch_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 8192, INSTRUCTIONS = 20000 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

static struct sc_warp_trace *read_bytes(const void *bytes, size_t length, size_t block_bytes,
                                        struct sc_warp_trace_error *error)
{
    FILE *file = length > 0 ? fmemopen((void *)(uintptr_t)bytes, length, "rb") : tmpfile();
    struct sc_warp_trace *trace;
    require(file != NULL);
    const bool fine = sc_warp_trace_read(&trace, file, block_bytes, error);
    fclose(file);
    require(fine == (trace != NULL) && fine == (*error->reason == '\0'));
    return trace;
}

static char *write_all(const struct sc_warp_trace *trace, size_t *length)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, length);
    require(file != NULL && sc_warp_trace_write(trace, file) && fclose(file) == 0);
    return text;
}

static void check_written(const struct sc_warp_trace *trace)
{
    struct sc_warp_trace_error error;
    size_t length, again_length;
    char *text = write_all(trace, &length);
    struct sc_warp_trace *back = read_bytes(text, length, 0, &error);
    require(back != NULL);
    char *again = write_all(back, &again_length);
    require(length == again_length && memcmp(text, again, length) == 0);
    require(back->loads == trace->loads && back->instructions == trace->instructions &&
            back->part_count == trace->part_count && back->cta_warps == trace->cta_warps);
    sc_warp_trace_destroy(back);
    free(text);
    free(again);
}

static void check_run(const struct sc_warp_trace *trace, int policy)
{
    struct sc_prefetch s, fitted;
    struct prefetch_result r;
    struct sc_error error;
    const struct sc_sim_options options = { .check = true, .replay = trace };
    sc_scenario_init(&sc_prefetch_system, &s);
    s.policy = policy;
    s.warps = s.max_warps;
    if (trace->instructions + 8 * trace->untold > INSTRUCTIONS)
        return;
    require(prefetch_kernel_fit(&s, trace, &fitted, &error) == SC_OK);
    const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(&fitted);
    require(prefetch_engine_trace(&fitted, &m, sc_sim_rng_make(1, 0, 0), &options, &r) == SC_OK);
    require(r.instructions == trace->instructions + (uint64_t)s.compute * trace->untold);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sc_warp_trace_error error, other;
    if (size < 1 || size > MOST)
        return 0;
    struct sc_warp_trace *trace = read_bytes(data + 1, size - 1, 0, &error);
    struct sc_warp_trace *pieces = read_bytes(data + 1, size - 1, 1 + data[0] % 16U, &other);
    require((trace == NULL) == (pieces == NULL) && error.line == other.line &&
            strcmp(error.column, other.column) == 0 && strcmp(error.reason, other.reason) == 0);
    if (trace != NULL) {
        check_written(trace);
        check_run(trace, data[0] % SC_PREFETCH_POLICIES);
    }
    sc_warp_trace_destroy(trace);
    sc_warp_trace_destroy(pieces);
    return 0;
}
