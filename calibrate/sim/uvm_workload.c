/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/uvm_workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the source ---- */

/* Runs lie on a grid, so that none goes across the end of a block; the first and
 * the last of a range may be cut. */
static uint32_t runs_of(const struct uvm_step *step)
{
    const uint32_t first = step->first_leaf / step->run_leaves;
    return (step->first_leaf + (step->leaves - 1)) / step->run_leaves - first + 1;
}

double uvm_step_visits(const struct uvm_step *step)
{
    return fmax(1.0, floor(step->passes * runs_of(step) + 0.5));
}

double uvm_visits(const struct uvm_step *steps, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += uvm_step_visits(&steps[i]) * (1.0 + steps[i].side_visits);
    return sum;
}

static bool is_sound(const struct uvm_step *step)
{
    return step->leaves > 0 && step->run_leaves > 0 && step->streams > 0 && step->stride > 0 &&
           step->passes > 0.0 && step->first_leaf <= UINT32_MAX - step->leaves && step->leaf_bytes > 0 && step->random_bytes > 0 &&
           step->side_visits >= 0.0 &&
           (step->side_visits == 0.0 || (step->side_leaves > 0 && step->side_bytes > 0));
}

static void begin_step(struct uvm_source *source)
{
    const struct uvm_step *step = &source->steps[source->at];
    source->left = (uint64_t)uvm_step_visits(step);
    source->unit = source->part = source->side_at = 0;
    source->side_left = 0.0;
    if (source->positions != NULL && step->side_streams > 0)
        memset(source->positions, 0, step->side_streams * sizeof *source->positions);
}

enum sc_status uvm_source_init(struct uvm_source *source, const struct uvm_step *steps,
                               size_t count, uint32_t block_leaves, struct sc_sim_rng rng)
{
    uint32_t parts = 0;
    *source = (struct uvm_source){ .steps = steps, .count = count, .rng = rng };
    if (count == 0)
        return SC_EDOMAIN;
    for (size_t i = 0; i < count; i++) {
        if (!is_sound(&steps[i]) || block_leaves % steps[i].run_leaves != 0)
            return SC_EDOMAIN;
        if (steps[i].side_visits > 0.0 && steps[i].side_streams > parts)
            parts = steps[i].side_streams;
    }
    if (!(uvm_visits(steps, count) <= UVM_VISITS_MAX))
        return SC_ERANGE;
    if (parts > 0 && (source->positions = calloc(parts, sizeof *source->positions)) == NULL)
        return SC_ENOSPACE;
    begin_step(source);
    return SC_OK;
}

void uvm_source_fini(struct uvm_source *source)
{
    free(source->positions);
    *source = (struct uvm_source){ 0 };
}

static uint32_t part_first(uint32_t units, uint32_t parts, uint32_t part)
{
    return (uint32_t)((uint64_t)units * part / parts);
}

/* The next run in order: the parts in turn, each in order of address. */
static uint32_t linear_unit(struct uvm_source *source, const struct uvm_step *step, uint32_t runs)
{
    const uint32_t parts = step->streams < runs ? step->streams : runs;
    if (parts == 1) {
        const uint32_t unit = source->unit;
        source->unit = unit + 1 < runs ? unit + 1 : 0;
        return unit;
    }
    for (;;) {
        const uint32_t first = part_first(runs, parts, source->part);
        const uint32_t end = part_first(runs, parts, source->part + 1);
        const uint32_t unit = first + source->unit;
        if (++source->part == parts) {
            source->part = 0;
            source->unit++;
            /* Parts differ by one run at most. */
            if (source->unit > (runs - 1) / parts)
                source->unit = 0;
        }
        if (unit < end)
            return unit;
    }
}

/* Runs i and i + stride in turn, in groups of two strides. */
static uint32_t strided_unit(struct uvm_source *source, const struct uvm_step *step, uint32_t runs)
{
    const uint64_t stride = step->stride, groups = (runs - 1) / (2 * stride) + 1;
    for (;;) {
        const uint64_t pair = source->unit / 2, half = source->unit % 2;
        const uint64_t unit = pair / stride * 2 * stride + pair % stride + half * stride;
        source->unit = source->unit + 1 < groups * 2 * stride ? source->unit + 1 : 0;
        if (unit < runs)
            return (uint32_t)unit;
    }
}

static void visit_in_order(struct uvm_source *source, const struct uvm_step *step,
                           struct uvm_visit *visit)
{
    visit->leaf_bytes = step->leaf_bytes;
    const uint32_t runs = runs_of(step);
    const uint32_t unit = step->order == UVM_STRIDED ? strided_unit(source, step, runs)
                                                     : linear_unit(source, step, runs);
    const uint32_t from = (step->first_leaf / step->run_leaves + unit) * step->run_leaves;
    const uint32_t end = step->first_leaf + step->leaves;
    visit->leaf = from > step->first_leaf ? from : step->first_leaf;
    visit->leaves = (end - from < step->run_leaves ? end : from + step->run_leaves) - visit->leaf;
}

/* The leaf that an output stream drawn at random has come to. */
static uint32_t scattered_leaf(struct uvm_source *source, const struct uvm_step *step)
{
    const uint32_t parts =
        step->side_streams < step->side_leaves ? step->side_streams : step->side_leaves;
    const uint32_t part = (uint32_t)sc_sim_rng_below(&source->rng, parts);
    const uint32_t first = part_first(step->side_leaves, parts, part);
    const uint32_t length = part_first(step->side_leaves, parts, part + 1) - first;
    const uint32_t pieces = step->leaf_bytes > step->side_bytes ? step->leaf_bytes / step->side_bytes : 1;
    return first + source->positions[part]++ / pieces % length;
}

static void visit_side(struct uvm_source *source, const struct uvm_step *step,
                       struct uvm_visit *visit)
{
    uint32_t leaf = source->side_at;
    if (step->side_streams > 0)
        leaf = scattered_leaf(source, step);
    else
        source->side_at = leaf + 1 < step->side_leaves ? leaf + 1 : 0;
    *visit = (struct uvm_visit){ .leaf = step->side_first + leaf, .leaves = 1,
                                 .leaf_bytes = step->side_bytes, .write = step->side_write };
    source->side_left -= 1.0;
}

bool uvm_source_next(struct uvm_source *source, struct uvm_visit *visit)
{
    const struct uvm_step *step = &source->steps[source->at];
    if (source->side_left >= 1.0) {
        visit_side(source, step, visit);
        return true;
    }
    if (source->left == 0) {
        if (step->barrier || source->at + 1 == source->count)
            return false;
        source->at++;
        begin_step(source);
        step = &source->steps[source->at];
    }
    source->left--;
    source->side_left += step->side_visits;
    visit->random = step->random_share > 0.0 &&
                    sc_sim_rng_bernoulli(&source->rng, step->random_share);
    visit->write = step->write_share > 0.0 &&
                   sc_sim_rng_bernoulli(&source->rng, step->write_share);
    visit_in_order(source, step, visit);
    if (visit->random) { /* instead of that one */
        visit->leaf = step->first_leaf + (uint32_t)sc_sim_rng_below(&source->rng, step->leaves);
        visit->leaves = 1;
        visit->leaf_bytes = step->random_bytes;
    }
    return true;
}

bool uvm_source_advance(struct uvm_source *source)
{
    if (source->at + 1 >= source->count)
        return false;
    source->at++;
    begin_step(source);
    return true;
}

/* ---- workloads ---- */

struct uvm_step uvm_sweep(const struct uvm_shape *shape, double passes)
{
    return (struct uvm_step){ .order = UVM_LINEAR, .leaves = shape->leaves,
                              .run_leaves = shape->run_leaves, .streams = shape->streams,
                              .stride = 1, .passes = passes, .leaf_bytes = shape->leaf_bytes,
                              .random_bytes = shape->random_bytes,
                              .write_share = shape->write_share };
}

struct uvm_step uvm_random(const struct uvm_shape *shape, double touches)
{
    struct uvm_step step = uvm_sweep(shape, touches / shape->leaves);
    step.run_leaves = 1;
    step.random_share = 1.0;
    return step;
}

struct uvm_step uvm_mixed(const struct uvm_shape *shape, double passes, double random_share)
{
    struct uvm_step step = uvm_sweep(shape, passes);
    step.run_leaves = 1;
    step.random_share = random_share;
    return step;
}

size_t uvm_steps_hot_prefix(const struct uvm_shape *shape, double passes, uint32_t hot_leaves,
                            struct uvm_step *steps, size_t room)
{
    if (room < 2 || hot_leaves == 0)
        return 0;
    steps[0] = uvm_sweep(shape, 1.0);
    if (!(passes > 1.0))
        return 1;
    steps[1] = uvm_sweep(shape, passes - 1.0);
    steps[1].leaves = hot_leaves < shape->leaves ? hot_leaves : shape->leaves;
    return 2;
}

size_t uvm_steps_hot_stream(const struct uvm_shape *shape, double passes, uint32_t hot_leaves,
                            double hot_visits, struct uvm_step *steps, size_t room)
{
    if (room < 1 || hot_leaves == 0 || hot_leaves >= shape->leaves)
        return 0;
    steps[0] = uvm_sweep(shape, passes);
    steps[0].first_leaf = hot_leaves;
    steps[0].leaves = shape->leaves - hot_leaves;
    steps[0].side_leaves = hot_leaves;
    steps[0].side_visits = hot_visits;
    steps[0].side_bytes = steps[0].leaf_bytes;
    return 1;
}

size_t uvm_steps_scatter(const struct uvm_shape *shape, uint32_t passes, uint32_t streams,
                         uint32_t pieces, struct uvm_step *steps, size_t room)
{
    const uint32_t half = shape->leaves / 2;
    if (room < passes || half == 0 || streams == 0 || pieces == 0)
        return 0;
    for (uint32_t i = 0; i < passes; i++) {
        steps[i] = uvm_sweep(shape, 1.0);
        steps[i].run_leaves = 1;
        steps[i].leaves = half;
        steps[i].first_leaf = i % 2 == 0 ? 0 : half;
        steps[i].side_first = i % 2 == 0 ? half : 0;
        steps[i].side_leaves = half;
        steps[i].side_streams = streams < half ? streams : half;
        steps[i].side_visits = pieces;
        steps[i].side_bytes = shape->leaf_bytes / pieces > 0 ? shape->leaf_bytes / pieces : 1;
        steps[i].side_write = true;
        steps[i].barrier = true;
    }
    return passes;
}

size_t uvm_steps_drift(const struct uvm_shape *shape, uint32_t window_leaves, double drift,
                       uint32_t phases, double passes, struct uvm_step *steps, size_t room)
{
    if (room < phases || window_leaves == 0 || window_leaves > shape->leaves)
        return 0;
    for (uint32_t i = 0; i < phases; i++) {
        const double shift = floor(drift * i * window_leaves + 0.5);
        const double most = (double)(shape->leaves - window_leaves);
        steps[i] = uvm_sweep(shape, passes);
        steps[i].first_leaf = (uint32_t)fmin(shift, most);
        steps[i].leaves = window_leaves;
        steps[i].barrier = true;
    }
    return phases;
}

size_t uvm_steps_shift(const struct uvm_shape *shape, double passes, struct uvm_step *steps,
                       size_t room)
{
    if (room < 2 || shape->leaves < 2)
        return 0;
    const uint32_t half = shape->leaves / 2;
    steps[0] = steps[1] = uvm_sweep(shape, passes);
    steps[0].leaves = half;
    steps[1].first_leaf = half;
    steps[1].leaves = shape->leaves - half;
    steps[0].barrier = true;
    return 2;
}

size_t uvm_bitonic_count(uint32_t levels)
{
    return (size_t)levels * (levels + 1) / 2 + levels + 1;
}

size_t uvm_steps_bitonic(const struct uvm_shape *shape, uint32_t levels, struct uvm_step *steps,
                         size_t room)
{
    const double runs = floor((double)(shape->leaves - 1) / shape->run_leaves) + 1.0;
    size_t count = 0;
    if (room < uvm_bitonic_count(levels))
        return 0;
    steps[count++] = uvm_sweep(shape, 1.0);
    for (uint32_t merge = 1; merge <= levels; merge++) {
        for (uint32_t distance = merge; distance-- > 0;) {
            /* In runs: partners a tile apart lie in the same run or the next. */
            const double stride = floor(ldexp(runs, (int)distance - (int)levels));
            steps[count] = uvm_sweep(shape, 1.0);
            steps[count].order = stride >= 1.0 ? UVM_STRIDED : UVM_LINEAR;
            steps[count].stride = stride >= 1.0 ? (uint32_t)stride : 1;
            count++;
        }
        steps[count++] = uvm_sweep(shape, 1.0);
    }
    for (size_t i = 0; i + 1 < count; i++)
        steps[i].barrier = true;
    return count;
}

size_t uvm_steps_scan(const struct uvm_shape *shape, uint32_t columns, double share, double passes,
                      struct uvm_step *steps, size_t room)
{
    const uint32_t parts = columns < shape->leaves ? columns : shape->leaves;
    size_t count = 0;
    if (parts == 0 || (double)room < parts * ceil(passes))
        return 0;
    for (double pass = 0.0; pass < passes; pass++)
        for (uint32_t i = 0; i < parts; i++) {
            const uint32_t first = part_first(shape->leaves, parts, i);
            const uint32_t length = part_first(shape->leaves, parts, i + 1) - first;
            steps[count] = uvm_sweep(shape, fmin(1.0, passes - pass));
            steps[count].first_leaf = first;
            steps[count].leaves = (uint32_t)fmin(length, fmax(1.0, floor(length * share + 0.5)));
            count++;
        }
    return count;
}
