/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws of fault-driven migration: what each pattern brings in past capacity, and
 * miss-ratio curves. */
#include <math.h>

#include "uvm_private.h"

/* ---- Miss-ratio curves ---- */

double sc_uvm_curve_miss_ratio(const struct sc_uvm *s, double capacity_bytes)
{
    const size_t count = (size_t)s->curve_count;
    const double *capacity = s->curve_capacity_bytes, *ratio = s->curve_miss_ratio;
    if (count == 0)
        return (double)NAN;
    if (capacity_bytes <= capacity[0])
        return ratio[0];
    size_t i = 1;
    while (i < count && capacity[i] < capacity_bytes)
        i++;
    if (i == count)
        return ratio[count - 1];
    const double along = log(capacity_bytes / capacity[i - 1]) / log(capacity[i] / capacity[i - 1]);
    return ratio[i - 1] + along * (ratio[i] - ratio[i - 1]);
}

/* ---- Patterns ---- */

static size_t tree_leaves(const struct sc_uvm *s)
{
    return (size_t)(s->region_bytes / s->leaf_bytes + 0.5);
}

/* Faults of a region that is read from end to end: the tree doubles what is there
 * each time that the sweep leaves it. */
static double sweep_faults(const struct uvm_case *c, double bytes)
{
    return bytes / c->scenario->region_bytes * (1.0 + log2((double)tree_leaves(c->scenario)));
}

static struct uvm_traffic swept(const struct uvm_case *c, double bytes)
{
    return (struct uvm_traffic){ .in = bytes, .faults = sweep_faults(c, bytes) };
}

/* The driver evicts what was brought in first, which is what the next pass reads next. */
static struct uvm_traffic law_sweep(const struct uvm_case *c)
{
    return swept(c, c->passes * c->touched);
}

/* Faults of a region that random touches fill: as many as it gets in a stay that does
 * not end, the limit of the law towards kappa = 1. */
static struct sc_uvm_random random_fill(const struct uvm_case *c)
{
    const double kappa = 1.0 - 1e-6;
    const struct sc_uvm_random law = sc_uvm_random_law(tree_leaves(c->scenario), kappa);
    return (struct sc_uvm_random){ law.faults / (1.0 - kappa), law.leaves / (1.0 - kappa) };
}

double sc_uvm_first_faults(const struct uvm_case *c)
{
    const bool random = c->order == UVM_NO_ORDER;
    return random ? c->touched / c->scenario->region_bytes * random_fill(c).faults
                  : sweep_faults(c, c->touched);
}

/* A sweep has one batch and one copy for each fault: that is what fault_rate is about.
 * Fronts that go on side by side share batches.  Random faults fill them, one copy for
 * each and some for what the tree adds. */
double sc_uvm_service_s(const struct uvm_case *c, const struct uvm_traffic *traffic)
{
    const struct sc_uvm *s = c->scenario;
    const double swept_s = traffic->in / c->fault_rate;
    if (c->fitted || swept_s <= 0.0)
        return swept_s;
    if (c->pattern->shares) {
        /* As far as a second front goes beside the first. */
        const double second = c->pattern->has_hot ? fmin(c->hot, c->footprint - c->hot) : c->footprint;
        const double beside = fmin(1.0, 2.5 * second / c->footprint);
        return swept_s * (1.0 - (1.0 - s->shared_service) * beside);
    }
    if (c->order != UVM_NO_ORDER || traffic->faults <= 0.0)
        return swept_s;
    const double leaves = fmax(1.0, traffic->in / s->leaf_bytes / traffic->faults);
    const double batch = fmax(1.0, fmin(s->fault_batch, s->in_flight));
    const double fault_s = s->fault_group_s / batch +
                           s->fault_copy_s * (1.0 + s->random_service * (leaves - 1.0));
    const double region_s = s->region_bytes / c->fault_rate;
    const double scale = region_s / (sweep_faults(c, s->region_bytes) *
                                     (s->fault_group_s + s->fault_copy_s));
    return traffic->faults * fault_s * scale;
}

/* Near the line many touches are under way at once and share what one of them brings. */
static double crowded(const struct uvm_case *c, double scale)
{
    const struct sc_uvm *s = c->scenario;
    const double short_regions = fmax((c->footprint - c->usable) / s->region_bytes, 1e-9);
    return 1.0 / (1.0 + pow(s->in_flight / short_regions / scale, s->inflight_power));
}

static struct sc_uvm_random random_touch(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    struct sc_uvm_random law = sc_uvm_random_law(tree_leaves(s), c->usable / c->footprint);
    law.faults *= crowded(c, s->inflight_faults);
    law.leaves *= s->random_factor * crowded(c, s->inflight_leaves);
    return law;
}

/* Passes that touch a share r of the leaves in random order, the rest in theirs. */
static struct uvm_traffic touched_at_random(const struct uvm_case *c, double r)
{
    const struct sc_uvm *s = c->scenario;
    const struct sc_uvm_random law = random_touch(c);
    const double touches = c->passes * c->footprint / s->leaf_bytes;
    const double leaves = sc_uvm_mixed_leaves(tree_leaves(s), c->usable / c->footprint, r,
                                              law.leaves, s->mixed_scale, s->mixed_power);
    return (struct uvm_traffic){
        .in = fmax(c->footprint, touches * leaves * s->leaf_bytes),
        .faults = fmax(sweep_faults(c, c->footprint),
                       sweep_faults(c, (1.0 - r) * c->passes * c->footprint) +
                           r * touches * law.faults),
    };
}

static struct uvm_traffic law_random(const struct uvm_case *c)
{
    return touched_at_random(c, 1.0);
}

static struct uvm_traffic law_mixed(const struct uvm_case *c)
{
    return touched_at_random(c, c->scenario->randomness);
}

/* A prefix that fits is still brought in once more: the sweep has pushed it out. */
static struct uvm_traffic law_hot_prefix(const struct uvm_case *c)
{
    const double again = c->passes - 1.0;
    return swept(c, c->footprint + c->hot * (c->hot > c->usable ? again : fmin(again, 1.0)));
}

/* The driver sees no hits: the hot set ages out as the stream goes by, and comes
 * again, as if all of the capacity went round once per C - H of the stream.  No
 * more of it can come again than is touched again. */
static struct uvm_traffic law_stream_hot(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    const double stream = c->passes * (c->footprint - c->hot);
    const double most = fmax(0.0, c->passes * s->touches - 1.0) * c->hot;
    const double room = c->usable - c->hot;
    const double again = room > 0.0 ? s->stream_hot_factor * stream * c->hot / room : most;
    return swept(c, c->hot + stream + fmin(again, most));
}

/* Within a phase the window is swept passes times; its trail comes in once.  Where the
 * window has little room to spare, what makes way for its trail is still part of it: a
 * region is in the window for 1 / drift phases, and comes again window_factor times in each
 * of those after its first.  That goes to nothing, in a straight line, where half as much
 * again as the window is usable. */
static struct uvm_traffic law_window(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    const double all = fmax(c->touched, s->phases * c->passes * c->hot);
    /* Just past the line a part of it survives until the window comes by again. */
    const double lost = c->fitted ? 1.0 : fmin(1.0, 0.4 + 1.6 * (1.0 - c->usable / c->hot));
    if (c->hot > c->usable)
        return swept(c, fmax(c->touched, lost * all));
    if (c->touched <= c->usable || c->fitted || s->drift <= 0.0)
        return swept(c, c->touched);
    const double tight = fmax(0.0, 1.0 - 2.0 * (c->usable / c->hot - 1.0));
    const double again = s->window_factor * (1.0 - s->drift) / s->drift * tight;
    return swept(c, fmin(all, c->touched + again * (c->touched - c->usable)));
}

/* Open output streams each hold a region; while those and what the sweep itself
 * holds fit (16 to 32 regions in a simulator), a scatter brings nothing that is
 * not filled.  Measured runs thrash all the same; at most each segment that a
 * tile leaves in a stream is a random touch, of the half of the passes' bytes
 * that are written. */
static struct uvm_traffic law_streams(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    const double sweep_regions = 24.0;
    const double held = (s->streams + sweep_regions) * s->region_bytes;
    if (!c->scattered && c->usable >= held) {
        /* What a pass wrote last is what the next one reads first, and is still there. */
        const double kappa = fmin(1.0, c->usable / c->footprint);
        const double kept = c->fitted ? 0.0 : s->streams_kept * kappa * kappa;
        return swept(c, c->touched * (1.0 + (c->passes - 1.0) * (1.0 - fmin(1.0, kept))));
    }
    const double segment = isnan(s->tile_bytes) ? s->leaf_bytes : s->tile_bytes / s->streams;
    struct uvm_case writes = *c;
    writes.passes = 0.5 * c->passes * fmax(1.0, s->leaf_bytes / segment);
    const struct uvm_traffic scatter = law_random(&writes);
    writes.passes = 0.5 * c->passes;
    const struct uvm_traffic reads = law_sweep(&writes);
    return (struct uvm_traffic){ scatter.in + reads.in, scatter.faults + reads.faults };
}

static double read_sweeps(const struct uvm_case *c)
{
    return c->passes * c->scenario->touches * c->touched;
}

static double read_hot_prefix(const struct uvm_case *c)
{
    return c->scenario->touches * (c->footprint + (c->passes - 1.0) * c->hot);
}

static double read_stream_hot(const struct uvm_case *c)
{
    return c->passes * (c->footprint - c->hot + c->scenario->touches * c->hot);
}

static double read_window(const struct uvm_case *c)
{
    return c->scenario->phases * c->passes * c->scenario->touches * c->hot;
}

#define PATTERN(pattern_name, text) .choice = { .name = pattern_name, .help = text }

/* clang-format off */
const struct sc_uvm_pattern sc_uvm_patterns[] = {
    [SC_UVM_SWEEP] = { PATTERN("sweep", "`passes` times from end to end"),
                       .law = law_sweep, .read = read_sweeps },
    [SC_UVM_STRIDED] = { PATTERN("strided", "the same in strides; `tile` gives the passes of a sort"),
                         .strides = true, .order = UVM_MANY_FRONTS, .shares = true,
                         .law = law_sweep, .read = read_sweeps },
    [SC_UVM_RANDOM] = { PATTERN("random", "`passes` touches of each leaf, in random order"),
                        .random = true, .order = UVM_NO_ORDER, .law = law_random, .read = read_sweeps },
    [SC_UVM_MIXED] = { PATTERN("mixed", "`passes` by every leaf, `randomness` of the data in random order"),
                       .order = UVM_NO_ORDER, .law = law_mixed, .read = read_sweeps },
    [SC_UVM_HOT_PREFIX] = { PATTERN("hot-prefix", "one sweep, then `passes` - 1 over the first hot_share"),
                            .has_hot = true, .law = law_hot_prefix, .read = read_hot_prefix },
    [SC_UVM_STREAM_HOT] = { PATTERN("stream-past-hot", "streams `passes` times past a hot set in constant use"),
                            .has_hot = true, .order = UVM_MANY_FRONTS, .shares = true,
                            .law = law_stream_hot, .read = read_stream_hot },
    [SC_UVM_WINDOW] = { PATTERN("window", "`phases` over a window of hot_share that moves by `drift`"),
                        .has_hot = true, .moves = true, .concurrent = true,
                        .order = UVM_MANY_FRONTS,
                        .law = law_window, .read = read_window },
    [SC_UVM_LAYERS] = { PATTERN("layers", "LLM generation: every weight is read for every token"),
                        .generates = true, .law = law_sweep, .read = read_sweeps },
    [SC_UVM_SCAN] = { PATTERN("scan", "columns of a query, hot_share of the footprint, `passes` times"),
                      .has_hot = true, .partial = true, .order = UVM_MANY_FRONTS,
                      .law = law_sweep, .read = read_sweeps },
    [SC_UVM_STREAMS] = { PATTERN("streams", "reads end to end, writes to `streams` places at once"),
                         .doubtful = true, .splits = true, .order = UVM_MANY_FRONTS,
                         .shares = true, .law = law_streams, .read = read_sweeps },
};
/* clang-format on */
_Static_assert(sizeof sc_uvm_patterns / sizeof sc_uvm_patterns[0] == SC_UVM_PATTERNS,
               "every pattern has its row");
