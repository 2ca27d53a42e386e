/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws of fault-driven migration: the tree prefetcher under random faults, what
 * each pattern brings in past capacity, and miss-ratio curves. */
#include <math.h>
#include <stdint.h>

#include "uvm_private.h"

/* ---- The tree ----
 *
 * A node more than half resident becomes whole, so that a subtree's state is the
 * unordered pair of its halves' states, or "whole".  Subtrees that are exactly
 * half resident all do the same at the next fault, and are one state.  That
 * leaves few enough states to follow their probabilities exactly. */

enum { STATES_MAX = 32, EXITS_MAX = 12 };

struct exit {
    uint8_t to;
    double leaves; /* non-resident leaves whose fault leads there */
};

struct subtree {
    size_t leaves, count; /* states 0 .. count - 1, the last of them whole */
    uint8_t resident[STATES_MAX];
    uint8_t exit_count[STATES_MAX];
    struct exit exits[STATES_MAX][EXITS_MAX];
};

static void add_exit(struct subtree *node, size_t state, size_t to, double leaves)
{
    for (size_t i = 0; i < node->exit_count[state]; i++)
        if (node->exits[state][i].to == to) {
            node->exits[state][i].leaves += leaves;
            return;
        }
    node->exits[state][node->exit_count[state]++] =
        (struct exit){ .to = (uint8_t)to, .leaves = leaves };
}

/* The node above two subtrees of that kind. */
static void join(const struct subtree *half, struct subtree *node)
{
    uint8_t state_of[STATES_MAX][STATES_MAX] = { { 0 } };
    size_t count = 0;
    *node = (struct subtree){ .leaves = 2 * half->leaves };
    for (size_t a = 0; a < half->count; a++)
        for (size_t b = a; b < half->count; b++) {
            const size_t total = (size_t)half->resident[a] + half->resident[b];
            if (total >= half->leaves)
                continue;
            node->resident[count] = (uint8_t)total;
            state_of[a][b] = state_of[b][a] = (uint8_t)count++;
        }
    const size_t at_half = count++, whole = count++;
    node->count = count;
    node->resident[at_half] = (uint8_t)half->leaves;
    node->resident[whole] = (uint8_t)node->leaves;
    add_exit(node, at_half, whole, (double)half->leaves);
    for (size_t a = 0; a < half->count; a++)
        for (size_t b = 0; b < half->count; b++) {
            /* Both orders of the pair: each side's faults in turn. */
            if ((size_t)half->resident[a] + half->resident[b] >= half->leaves)
                continue;
            for (size_t i = 0; i < half->exit_count[a]; i++) {
                const struct exit *exit = &half->exits[a][i];
                const size_t total = (size_t)half->resident[exit->to] + half->resident[b];
                add_exit(node, state_of[a][b],
                         total < half->leaves    ? state_of[exit->to][b]
                         : total == half->leaves ? at_half
                                                 : whole,
                         a == b ? 2 * exit->leaves : exit->leaves);
            }
        }
}

/* One more fault at the root, whose halves are in states a <= b with probability p[a][b]. */
struct root {
    double p[STATES_MAX][STATES_MAX];
    double at_half, whole;
};

/* Probability of going from one number of resident leaves to another, at some fault. */
struct flow {
    double from_to[SC_UVM_TREE_LEAVES_MAX + 1][SC_UVM_TREE_LEAVES_MAX + 1];
};

static void fault_once(const struct subtree *half, const struct root *now, struct root *next,
                       struct flow *flow)
{
    *next = (struct root){ .whole = now->whole + now->at_half };
    flow->from_to[half->leaves][2 * half->leaves] += now->at_half;
    for (size_t a = 0; a < half->count; a++)
        for (size_t b = a; b < half->count; b++) {
            if (now->p[a][b] <= 0.0)
                continue;
            const size_t total = (size_t)half->resident[a] + half->resident[b];
            const double each = now->p[a][b] / (double)(2 * half->leaves - total);
            for (int side = 0; side < 2; side++) {
                const size_t moving = side == 0 ? a : b, other = side == 0 ? b : a;
                for (size_t i = 0; i < half->exit_count[moving]; i++) {
                    const struct exit *exit = &half->exits[moving][i];
                    const size_t after = (size_t)half->resident[exit->to] + half->resident[other];
                    const size_t low = exit->to < other ? exit->to : other;
                    const size_t high = exit->to < other ? other : exit->to;
                    const double p = each * exit->leaves;
                    *(after < half->leaves    ? &next->p[low][high]
                      : after == half->leaves ? &next->at_half
                                              : &next->whole) += p;
                    flow->from_to[total][after <= half->leaves ? after : 2 * half->leaves] += p;
                }
            }
        }
}

static double resident_leaves(const struct subtree *half, const struct root *root)
{
    double sum = root->at_half * (double)half->leaves + root->whole * 2.0 * (double)half->leaves;
    for (size_t a = 0; a < half->count; a++)
        for (size_t b = a; b < half->count; b++)
            sum += root->p[a][b] * (double)((size_t)half->resident[a] + half->resident[b]);
    return sum;
}

/* Follows a root from nothing resident until it is whole, fault by fault; growth may be NULL. */
static size_t follow(size_t leaves, double *growth, struct flow *flow)
{
    struct subtree half = { .leaves = 1, .count = 2, .resident = { 0, 1 } };
    add_exit(&half, 0, 1, 1.0);
    while (2 * half.leaves < leaves) {
        struct subtree node;
        join(&half, &node);
        half = node;
    }
    /* State 0 has nothing resident: pairs are numbered from the empty one on. */
    struct root root = { .p = { { 1.0 } } };
    const size_t most = half.leaves + 1;
    for (size_t j = 0; j < most; j++) {
        struct root next;
        fault_once(&half, &root, &next, flow);
        root = next;
        if (growth != NULL)
            growth[j] = resident_leaves(&half, &root);
    }
    return most;
}

size_t sc_uvm_tree_growth(size_t leaves, double growth[SC_UVM_TREE_LEAVES_MAX])
{
    struct flow flow = { 0 };
    growth[0] = 1.0;
    return leaves < 2 ? 1 : follow(leaves, growth, &flow);
}

/* ---- Random touches ----
 *
 * Characteristic time x of an LRU that is ordered by last fault (Che et al., IEEE
 * JSAC 20, 2002).  In mean times between touches of a region: with r leaves
 * resident it gets another fault within x, at a rate 1 - r / leaves, with
 * probability q_r, and leaves otherwise.  The tree makes it r' leaves with
 * probability t(r, r'), taken over all ways to have r. */

struct life {
    size_t leaves;
    struct flow flow; /* t(r, r'), each row's sum 1 or 0 */
};

static void normalise(struct flow *flow, size_t leaves)
{
    for (size_t r = 0; r <= leaves; r++) {
        double sum = 0.0;
        for (size_t to = 0; to <= leaves; to++)
            sum += flow->from_to[r][to];
        for (size_t to = 0; to <= leaves && sum > 0.0; to++)
            flow->from_to[r][to] /= sum;
    }
}

/* One stay of a region, from its first fault to its eviction. */
struct stay {
    double time, faults, leaves;
};

static struct stay stay_of(const struct life *life, double x)
{
    double visits[SC_UVM_TREE_LEAVES_MAX + 1] = { 0 };
    struct stay stay = { .leaves = 1.0 };
    visits[1] = 1.0;
    for (size_t r = 1; r <= life->leaves; r++) {
        if (visits[r] <= 0.0)
            continue;
        const double missing = 1.0 - (double)r / (double)life->leaves;
        const double q = -expm1(-x * missing);
        stay.faults += visits[r];
        stay.time += visits[r] * (missing > 0.0 ? q / missing : x);
        for (size_t to = r + 1; to <= life->leaves; to++) {
            const double p = visits[r] * q * life->flow.from_to[r][to];
            visits[to] += p;
            stay.leaves += p * (double)(to - r);
        }
    }
    return stay;
}

static struct stay steady_stay(const struct life *life, double time)
{
    double low = 0.0, high = time;
    while (stay_of(life, high).time < time)
        high *= 2.0;
    for (int i = 0; i < 60 && high - low > 1e-12 * high; i++) {
        const double middle = 0.5 * (low + high);
        *(stay_of(life, middle).time < time ? &low : &high) = middle;
    }
    return stay_of(life, 0.5 * (low + high));
}

struct sc_uvm_random sc_uvm_random_law(size_t leaves, double kappa)
{
    struct life life = { .leaves = leaves };
    if (!(kappa < 1.0))
        return (struct sc_uvm_random){ 0.0, 0.0 };
    if (leaves > 1) {
        (void)follow(leaves, NULL, &life.flow);
        normalise(&life.flow, leaves);
    }
    /* Away it waits for one touch: kappa = stay / (stay + 1). */
    const struct stay stay = steady_stay(&life, kappa / (1.0 - kappa));
    return (struct sc_uvm_random){ .faults = (1.0 - kappa) * stay.faults,
                                   .leaves = (1.0 - kappa) * stay.leaves };
}

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

/* A share r of the touches in random order, the rest a sweep. */
static struct uvm_traffic touched_at_random(const struct uvm_case *c, double r)
{
    const struct sc_uvm *s = c->scenario;
    const struct sc_uvm_random law = random_touch(c);
    const double touches = c->passes * c->footprint / s->leaf_bytes;
    const double both = s->mixed_scale * pow(r * (1.0 - r), s->mixed_power) * c->usable / c->footprint;
    const double bytes = touches * ((1.0 - r) + r * law.leaves + both) * s->leaf_bytes;
    return (struct uvm_traffic){
        .in = fmax(c->footprint, bytes),
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

/* Within a phase the window is swept passes times; its trail comes in once. */
static struct uvm_traffic law_window(const struct uvm_case *c)
{
    const double all = c->scenario->phases * c->passes * c->hot;
    return swept(c, c->hot > c->usable ? fmax(c->touched, all) : c->touched);
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
    if (!c->scattered && c->usable >= held)
        return law_sweep(c);
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
                         .strides = true, .law = law_sweep, .read = read_sweeps },
    [SC_UVM_RANDOM] = { PATTERN("random", "`passes` touches of each leaf, in random order"),
                        .random = true, .law = law_random, .read = read_sweeps },
    [SC_UVM_MIXED] = { PATTERN("mixed", "`randomness` of the touches random, the rest a sweep"),
                       .law = law_mixed, .read = read_sweeps },
    [SC_UVM_HOT_PREFIX] = { PATTERN("hot-prefix", "one sweep, then `passes` - 1 over the first hot_share"),
                            .has_hot = true, .law = law_hot_prefix, .read = read_hot_prefix },
    [SC_UVM_STREAM_HOT] = { PATTERN("stream-past-hot", "streams `passes` times past a hot set in constant use"),
                            .has_hot = true, .law = law_stream_hot, .read = read_stream_hot },
    [SC_UVM_WINDOW] = { PATTERN("window", "`phases` over a window of hot_share that moves by `drift`"),
                        .has_hot = true, .moves = true, .concurrent = true,
                        .law = law_window, .read = read_window },
    [SC_UVM_LAYERS] = { PATTERN("layers", "LLM generation: every weight is read for every token"),
                        .generates = true, .law = law_sweep, .read = read_sweeps },
    [SC_UVM_SCAN] = { PATTERN("scan", "columns of a query, hot_share of the footprint, `passes` times"),
                      .has_hot = true, .partial = true, .law = law_sweep, .read = read_sweeps },
    [SC_UVM_STREAMS] = { PATTERN("streams", "reads end to end, writes to `streams` places at once"),
                         .doubtful = true, .law = law_streams, .read = read_sweeps },
};
/* clang-format on */
_Static_assert(sizeof sc_uvm_patterns / sizeof sc_uvm_patterns[0] == SC_UVM_PATTERNS,
               "every pattern has its row");
