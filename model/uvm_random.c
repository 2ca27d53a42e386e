/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree prefetcher under random faults, and what a random touch costs. */
#include <math.h>
#include <stdint.h>

#include "uvm.h"

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

static size_t resident_of_pair(const struct subtree *half, size_t a, size_t b)
{
    return (size_t)half->resident[a] + half->resident[b];
}

/* States of the node above two such subtrees, by the states of its halves. */
struct pairs {
    uint8_t state[STATES_MAX][STATES_MAX];
};

static void number_pairs(const struct subtree *half, struct subtree *node, struct pairs *pairs)
{
    *node = (struct subtree){ .leaves = 2 * half->leaves };
    for (size_t a = 0; a < half->count; a++)
        for (size_t b = a; b < half->count; b++) {
            const size_t total = resident_of_pair(half, a, b);
            if (total >= half->leaves)
                continue;
            node->resident[node->count] = (uint8_t)total;
            pairs->state[a][b] = pairs->state[b][a] = (uint8_t)node->count++;
        }
    node->resident[node->count++] = (uint8_t)half->leaves;
    node->resident[node->count++] = (uint8_t)node->leaves;
}

/* Faults in the half that is in state a, while the other is in state b. */
static void add_side(const struct subtree *half, const struct pairs *pairs, size_t a, size_t b,
                     struct subtree *node)
{
    const size_t at_half = node->count - 2, whole = node->count - 1;
    for (size_t i = 0; i < half->exit_count[a]; i++) {
        const struct exit *exit = &half->exits[a][i];
        const size_t total = resident_of_pair(half, exit->to, b);
        size_t to = whole;
        if (total <= half->leaves)
            to = total < half->leaves ? pairs->state[exit->to][b] : at_half;
        add_exit(node, pairs->state[a][b], to, exit->leaves);
    }
}

/* The node above two subtrees of that kind. */
static void join(const struct subtree *half, struct subtree *node)
{
    struct pairs pairs = { 0 };
    number_pairs(half, node, &pairs);
    add_exit(node, node->count - 2, node->count - 1, (double)half->leaves);
    for (size_t a = 0; a < half->count; a++)
        for (size_t b = a; b < half->count; b++) {
            if (resident_of_pair(half, a, b) >= half->leaves)
                continue;
            add_side(half, &pairs, a, b, node);
            add_side(half, &pairs, b, a, node);
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

/* A fault in the half in state `moving`, each of whose leaves is hit with probability `each`. */
static void fault_side(const struct subtree *half, size_t moving, size_t other, double each,
                       struct root *next, struct flow *flow)
{
    const size_t before = resident_of_pair(half, moving, other);
    for (size_t i = 0; i < half->exit_count[moving]; i++) {
        const size_t to = half->exits[moving][i].to;
        const double p = each * half->exits[moving][i].leaves;
        size_t after = resident_of_pair(half, to, other);
        if (after < half->leaves) {
            *(to < other ? &next->p[to][other] : &next->p[other][to]) += p;
        } else if (after == half->leaves) {
            next->at_half += p;
        } else {
            next->whole += p;
            after = 2 * half->leaves;
        }
        flow->from_to[before][after] += p;
    }
}

static void fault_once(const struct subtree *half, const struct root *now, struct root *next,
                       struct flow *flow)
{
    *next = (struct root){ .whole = now->whole + now->at_half };
    flow->from_to[half->leaves][2 * half->leaves] += now->at_half;
    for (size_t a = 0; a < half->count; a++)
        for (size_t b = a; b < half->count; b++) {
            if (now->p[a][b] <= 0.0)
                continue;
            const double missing = (double)(2 * half->leaves - resident_of_pair(half, a, b));
            fault_side(half, a, b, now->p[a][b] / missing, next, flow);
            fault_side(half, b, a, now->p[a][b] / missing, next, flow);
        }
}

static double resident_leaves(const struct subtree *half, const struct root *root)
{
    double sum = root->at_half * (double)half->leaves + root->whole * 2.0 * (double)half->leaves;
    for (size_t a = 0; a < half->count; a++)
        for (size_t b = a; b < half->count; b++)
            sum += root->p[a][b] * (double)resident_of_pair(half, a, b);
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

/* ---- Random and linear touches together ---- */

/* Leaves that a sweep brings into a region of which it touches each leaf with
 * probability `density`: the tree fills every node that is more than half touched.
 * Distribution of the resident leaves of a subtree from that of its halves. */
static double swept_leaves(size_t leaves, double density)
{
    double p[SC_UVM_TREE_LEAVES_MAX + 1] = { 1.0 - density, density };
    for (size_t half = 1; half < leaves; half *= 2) {
        double joined[SC_UVM_TREE_LEAVES_MAX + 1] = { 0 };
        for (size_t a = 0; a <= half; a++)
            for (size_t b = 0; b <= half; b++)
                joined[a + b > half ? 2 * half : a + b] += p[a] * p[b];
        for (size_t i = 0; i <= 2 * half; i++)
            p[i] = joined[i];
    }
    double sum = 0.0;
    for (size_t i = 1; i <= leaves; i++)
        sum += p[i] * (double)i;
    return sum;
}

double sc_uvm_mixed_leaves(size_t leaves, double kappa, double r, double random_leaves,
                           double scale, double power)
{
    if (r <= 0.0 || kappa >= 1.0)
        return 1.0;
    const double far = swept_leaves(leaves, 1.0 - r) / (double)leaves + r * random_leaves;
    if (r >= 1.0)
        return far;
    const double z = pow(scale * r / (1.0 - r) * (1.0 - kappa) / kappa, power);
    return 1.0 + (far - 1.0) * z / (1.0 + z);
}
