/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay.h"

#include <errno.h>
#include <string.h>

#include "output.h"
#include "read/packed.h"
#include "read/warp_trace_file.h"

bool replay_read(const char *name, struct sc_warp_trace **trace, struct problem *problem)
{
    const char *const shown = strcmp(name, "-") == 0 ? "standard input" : name;
    char reason[256];
    struct sc_packed packed;
    struct sc_warp_trace_error error;
    *trace = NULL;
    if (!sc_packed_open(&packed, name, reason))
        return problem_set(problem, "%s: %s", shown, reason);
    const bool fine =
        sc_warp_trace_read(trace, packed.file, 0, &error) ||
        problem_set_place(problem, shown, error.line, error.column, error.reason);
    /* What cannot be unpacked is no CSV either: the first cause is told. */
    if (sc_packed_close(&packed, reason))
        return fine;
    sc_warp_trace_destroy(*trace);
    *trace = NULL;
    return problem_set(problem, "%s: %s", shown, reason);
}

bool replay_replaces(const struct sc_replay *replay, const struct sc_field *field)
{
    return strcmp(field->key, replay->preset) == 0 || sc_is_word_of(replay->replaced, field->key);
}

bool replay_check(const struct sc_simulator *simulator, const struct product *product,
                  struct problem *problem)
{
    if (simulator->replay == NULL)
        return problem_set(problem, "--replay: %s has no instructions of warps",
                           simulator->system->name);
    for (size_t i = 0; i < product->count; i++)
        if (replay_replaces(simulator->replay, product->sweeps[i].field))
            return problem_set(problem, "%s: has no effect with --replay: the trace says it",
                               product->sweeps[i].field->key);
    return true;
}

size_t replay_defaults(const struct sc_simulator *simulator, struct setting *settings)
{
    const struct sc_system *system = simulator->system;
    const struct sc_field *preset = sc_system_field(system, simulator->replay->preset);
    size_t count = 0;
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        if (field->source != NULL && strcmp(field->source, preset->table) == 0)
            settings[count++] = (struct setting){ .field = field, .value = field->fallback };
    }
    return count;
}

bool replay_record(const struct sc_simulator *simulator, const void *scenario, const char *name,
                   struct problem *problem)
{
    struct sc_warp_trace *trace = NULL;
    struct sc_error error = { 0 };
    struct output output;
    const enum sc_status status = simulator->replay->record(scenario, &trace, &error);
    if (status != SC_OK) {
        scenario_describe_error(simulator->system, status, &error, problem);
        return false;
    }
    bool fine = output_open(&output, name, problem);
    if (fine && !sc_warp_trace_write(trace, output.file)) {
        fine = problem_set(problem, "cannot write %s: %s",
                           output.path != NULL ? name : "standard output", strerror(errno));
        output_abandon(&output);
    }
    sc_warp_trace_destroy(trace);
    return fine && output_commit(&output, problem);
}
