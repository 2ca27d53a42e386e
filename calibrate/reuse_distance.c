/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reuse_distance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS = 16,                        /* of a sample, for its error */
    OCTAVE_BITS = 7,                   /* bins per factor of two: 2^7 */
    FIRST_BINS = 2 << OCTAVE_BITS,     /* one number each; wider ones follow */
    BINS = FIRST_BINS + (64 - OCTAVE_BITS - 1) * (1 << OCTAVE_BITS)
};
static const double two_to_64 = 18446744073709551616.0;

/* Weight by logarithmic bin: what lies within one, and what is spread over several, as the
 * change of the density from the bin before.  All densities are whole numbers. */
struct spread {
    double whole[BINS];
    double change[BINS + 1];
};

struct part {
    struct spread distances;
    double times[BINS];
    double cold;
};

/* A block of a sample of fixed size. */
struct member {
    uint64_t hash, block;
};

/* Hashes of a whole batch. */
typedef void hash_batch(const uint64_t *block, uint64_t seed, uint64_t *hash);

struct sc_reuse_meter {
    struct sc_reuse_options options;
    struct sc_recency *set;
    hash_batch *hash_blocks;
    unsigned shift; /* of the divisor, or 64 when it is no power of two */
    bool sampled;
    uint64_t threshold; /* of the hash: blocks up to it are followed */
    double weight;      /* of an access: 1 / rate */
    uint64_t accesses, followed;
    uint64_t last_block; /* exact, without times: an access to it again has distance 0 */
    bool any;

    /* exact */
    double *distances; /* by distance */
    size_t distance_room, distance_most;
    double cold;

    /* a time per access is kept in these bins, exact or not; [0] alone when exact */
    struct part *parts;

    struct member *heap; /* the highest hash first */
    size_t heap_count, heap_room;

    /* what a histogram points to, and what is taken away from for an error */
    double edges[BINS + 1], bins[BINS];

    uint64_t blocks[SC_RECENCY_BATCH], times[SC_RECENCY_BATCH], now[SC_RECENCY_BATCH];
    uint64_t hashes[SC_RECENCY_BATCH];
    /* of a whole batch, of which a sample is taken */
    uint64_t all_blocks[SC_RECENCY_BATCH], all_hashes[SC_RECENCY_BATCH];
    uint16_t index[SC_RECENCY_BATCH];
    uint32_t batch_distances[SC_RECENCY_BATCH];
};

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

static enum sc_status refuse_memory(struct sc_error *error)
{
    return refuse(error, SC_ENOSPACE, "blocks", (double)NAN, "need more memory than there is");
}

/* ---- bins ---- */

static double bin_edge(size_t i)
{
    if (i <= FIRST_BINS)
        return (double)i;
    const size_t octave = (i - FIRST_BINS) >> OCTAVE_BITS, step = i & ((1U << OCTAVE_BITS) - 1);
    return ldexp((double)((1U << OCTAVE_BITS) + step), (int)octave + 1);
}

static size_t bin_of(uint64_t value)
{
    if (value < FIRST_BINS)
        return value;
    const unsigned shift = 63U - OCTAVE_BITS - (unsigned)__builtin_clzll(value);
    return ((size_t)shift << OCTAVE_BITS) + (size_t)(value >> shift);
}

/* Weight over the values from low to high, evenly, one for each: they are as many as the weight. */
static void spread_add(const double *edges, struct spread *s, double low, double high)
{
    static const double most = 0x1p63;
    const size_t first = bin_of((uint64_t)fmin(low, most));
    if (high <= edges[first + 1] || high > most) {
        s->whole[first] += high - low;
        return;
    }
    const size_t last = bin_of((uint64_t)high);
    s->whole[first] += edges[first + 1] - low;
    s->change[first + 1] += 1.0;
    s->change[last] -= 1.0;
    s->whole[last] += high - edges[last];
}

/* ---- hashes ---- */

typedef uint64_t many_64 __attribute__((vector_size(64), aligned(8), may_alias));

static inline __attribute__((always_inline)) void hash_all(const uint64_t *block, uint64_t seed,
                                                           uint64_t *hash)
{
    enum { MANY = sizeof(many_64) / sizeof *block };
    for (size_t i = 0; i < SC_RECENCY_BATCH; i += MANY) {
        many_64 key = *(const many_64 *)(block + i) ^ seed; /* see sc_recency_hash */
        key = (key ^ (key >> 30U)) * 0xbf58476d1ce4e5b9U;
        key = (key ^ (key >> 27U)) * 0x94d049bb133111ebU;
        *(many_64 *)(hash + i) = key ^ (key >> 31U);
    }
}

static void hash_portable(const uint64_t *block, uint64_t seed, uint64_t *hash)
{
    for (size_t i = 0; i < SC_RECENCY_BATCH; i++)
        hash[i] = sc_recency_hash(block[i] ^ seed);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f,avx512dq"))) static void
hash_avx512(const uint64_t *block, uint64_t seed, uint64_t *hash)
{
    hash_all(block, seed, hash);
}

static hash_batch *choose_hash(enum sc_recency_code code)
{
    return code == SC_RECENCY_FASTEST && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512dq")
               ? hash_avx512
               : hash_portable;
}
#else
static hash_batch *choose_hash(enum sc_recency_code code)
{
    (void)code;
    return hash_portable;
}
#endif

/* ---- making and unmaking ---- */

static enum sc_status check(const struct sc_reuse_options *options, struct sc_error *error)
{
    if (options->divisor == 0)
        return refuse(error, SC_EDOMAIN, "divisor", 0.0, "expected at least 1");
    if (options->rate != 0.0 && !(options->rate >= 1e-6 && options->rate < 1.0))
        return refuse(error, SC_EDOMAIN, "rate", options->rate,
                      "expected a share from 1e-6 to below 1");
    if (options->rate != 0.0 && options->sample_blocks != 0)
        return refuse(error, SC_EDOMAIN, "sample_blocks", (double)options->sample_blocks,
                      "expected none beside a rate");
    if (options->sample_blocks > SC_RECENCY_MOST / 2)
        return refuse(error, SC_ENOSPACE, "sample_blocks", (double)options->sample_blocks,
                      "are too many");
    return SC_OK;
}

static unsigned shift_of(uint64_t divisor)
{
    return (divisor & (divisor - 1)) == 0 ? (unsigned)__builtin_ctzll(divisor) : 64U;
}

void sc_reuse_meter_destroy(struct sc_reuse_meter *meter)
{
    if (meter == NULL)
        return;
    sc_recency_destroy(meter->set);
    free(meter->distances);
    free(meter->parts);
    free(meter->heap);
    free(meter);
}

enum sc_status sc_reuse_meter_create(struct sc_reuse_meter **meter,
                                     const struct sc_reuse_options *options,
                                     struct sc_error *error)
{
    *meter = NULL;
    const enum sc_status status = check(options, error);
    if (status != SC_OK)
        return status;
    struct sc_reuse_meter *m = calloc(1, sizeof *m);
    if (m == NULL)
        return refuse_memory(error);
    m->options = *options;
    m->shift = shift_of(options->divisor);
    m->sampled = options->rate > 0.0 || options->sample_blocks > 0;
    m->threshold = options->rate > 0.0 ? (uint64_t)(options->rate * two_to_64) : UINT64_MAX;
    m->weight = options->rate > 0.0 ? 1.0 / options->rate : 1.0;
    for (size_t i = 0; i <= BINS; i++)
        m->edges[i] = bin_edge(i);
    m->hash_blocks = choose_hash(options->code);
    m->set = sc_recency_create(options->times, options->code);
    if (m->sampled || options->times)
        m->parts = calloc(m->sampled ? PARTS : 1, sizeof *m->parts);
    if (m->set == NULL || ((m->sampled || options->times) && m->parts == NULL)) {
        sc_reuse_meter_destroy(m);
        return refuse_memory(error);
    }
    *meter = m;
    return SC_OK;
}

/* ---- every access ---- */

static inline uint64_t block_of(const struct sc_reuse_meter *m, uint64_t number)
{
    return m->shift < 64 ? number >> m->shift : number / m->options.divisor;
}

/* Room for any distance that one more batch can have. */
static bool make_distances(struct sc_reuse_meter *m)
{
    const size_t wanted = sc_recency_count(m->set) + SC_RECENCY_BATCH;
    size_t room = m->distance_room == 0 ? 4 * (size_t)SC_RECENCY_BATCH : m->distance_room;
    if (wanted <= m->distance_room)
        return true;
    while (room < wanted)
        room += room / 2;
    double *distances = realloc(m->distances, room * sizeof *distances);
    if (distances == NULL)
        return false;
    for (size_t i = m->distance_room; i < room; i++)
        distances[i] = 0.0;
    m->distances = distances;
    m->distance_room = room;
    return true;
}

static enum sc_status count_exact(struct sc_reuse_meter *m, size_t n, struct sc_error *error)
{
    uint64_t *const times = m->options.times ? m->times : NULL;
    if (times != NULL)
        memcpy(m->now, m->times, n * sizeof *m->now);
    if (sc_recency_access(m->set, m->blocks, n, m->batch_distances, times) != SC_OK)
        return refuse_memory(error);
    for (size_t i = 0; i < n; i++) {
        const uint32_t distance = m->batch_distances[i];
        if (distance == SC_RECENCY_COLD) {
            m->cold += 1.0;
            continue;
        }
        m->distances[distance] += 1.0;
        m->distance_most = distance >= m->distance_most ? distance + 1 : m->distance_most;
        if (times != NULL)
            m->parts->times[bin_of(m->now[i] - times[i])] += 1.0;
    }
    return SC_OK;
}

/* Accesses to the same block in a row change no order: they are counted and left out. */
static size_t take_changes(struct sc_reuse_meter *m, const uint64_t *number, size_t n)
{
    uint64_t last = m->last_block;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t block = block_of(m, number[i]);
        m->blocks[kept] = block;
        kept += block != last || (i == 0 && !m->any);
        last = block;
    }
    if (kept < n && m->distance_most == 0)
        m->distance_most = 1;
    m->distances[0] += (double)(n - kept);
    m->last_block = last;
    return kept;
}

static enum sc_status add_exact(struct sc_reuse_meter *m, const uint64_t *number, size_t n,
                                struct sc_error *error)
{
    size_t kept = n;
    if (!make_distances(m))
        return refuse_memory(error);
    if (!m->options.times) {
        kept = take_changes(m, number, n);
    } else {
        for (size_t i = 0; i < n; i++) {
            m->blocks[i] = block_of(m, number[i]);
            m->times[i] = m->accesses + i;
        }
    }
    m->any = true;
    m->accesses += n;
    m->followed += n;
    return count_exact(m, kept, error);
}

/* ---- a sample ---- */

/* The accesses to blocks of the sample. */
static size_t filter(struct sc_reuse_meter *m, const uint64_t *number, size_t n)
{
    const uint64_t threshold = m->threshold;
    const uint64_t *block = number;
    uint16_t *const index = m->index;
    size_t kept = 0;
    if (m->shift != 0 || n < SC_RECENCY_BATCH) {
        for (size_t i = 0; i < n; i++)
            m->all_blocks[i] = block_of(m, number[i]);
        block = m->all_blocks;
    }
    m->hash_blocks(block, m->options.seed, m->all_hashes);
    for (size_t i = 0; i < n; i++) {
        index[kept] = (uint16_t)i;
        kept += m->all_hashes[i] <= threshold;
    }
    for (size_t k = 0; k < kept; k++) {
        m->blocks[k] = block[index[k]];
        m->hashes[k] = m->all_hashes[index[k]];
        m->times[k] = m->accesses + index[k];
    }
    return kept;
}

static void count_sampled(struct sc_reuse_meter *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct part *const part = &m->parts[(m->hashes[i] >> 8U) % PARTS];
        const double distance = (double)m->batch_distances[i];
        if (m->batch_distances[i] == SC_RECENCY_COLD) {
            part->cold += m->weight;
            continue;
        }
        spread_add(m->edges, &part->distances, distance * m->weight, (distance + 1.0) * m->weight);
        if (m->options.times)
            part->times[bin_of(m->now[i] - m->times[i])] += m->weight;
    }
}

static enum sc_status add_followed(struct sc_reuse_meter *m, size_t n, struct sc_error *error)
{
    memcpy(m->now, m->times, n * sizeof *m->now);
    if (sc_recency_access(m->set, m->blocks, n, m->batch_distances,
                          m->options.times ? m->times : NULL) != SC_OK)
        return refuse_memory(error);
    m->followed += n;
    count_sampled(m, n);
    return SC_OK;
}

static bool heap_push(struct sc_reuse_meter *m, struct member member)
{
    if (m->heap_count == m->heap_room) {
        const size_t room = m->heap_room == 0 ? 1024 : 2 * m->heap_room;
        struct member *heap = realloc(m->heap, room * sizeof *heap);
        if (heap == NULL)
            return false;
        m->heap = heap;
        m->heap_room = room;
    }
    size_t at = m->heap_count++;
    for (; at > 0 && m->heap[(at - 1) / 2].hash < member.hash; at = (at - 1) / 2)
        m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = member;
    return true;
}

static struct member heap_pop(struct sc_reuse_meter *m)
{
    const struct member top = m->heap[0], moved = m->heap[--m->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < m->heap_count; at = child) {
        if (child + 1 < m->heap_count && m->heap[child + 1].hash > m->heap[child].hash)
            child++;
        if (m->heap[child].hash <= moved.hash)
            break;
        m->heap[at] = m->heap[child];
    }
    m->heap[at] = moved;
    return top;
}

/* The block with the highest hash goes, and no other like it will come.  Hashes are a bijection
 * of blocks, so there is one of each. */
static void forget_highest(struct sc_reuse_meter *m)
{
    const struct member top = heap_pop(m);
    (void)sc_recency_remove(m->set, top.block);
    m->threshold = top.hash - 1;
    m->weight = two_to_64 / ((double)m->threshold + 1.0);
}

/* One access at a time: each may lower the threshold. */
static enum sc_status add_fixed_size(struct sc_reuse_meter *m, uint64_t number,
                                     struct sc_error *error)
{
    const size_t before = sc_recency_count(m->set);
    m->blocks[0] = block_of(m, number);
    m->hashes[0] = sc_recency_hash(m->blocks[0] ^ m->options.seed);
    m->times[0] = m->accesses;
    if (m->hashes[0] > m->threshold)
        return SC_OK;
    const enum sc_status status = add_followed(m, 1, error);
    if (status != SC_OK || sc_recency_count(m->set) == before)
        return status;
    if (!heap_push(m, (struct member){ m->hashes[0], m->blocks[0] }))
        return refuse_memory(error);
    if (m->heap_count > m->options.sample_blocks)
        forget_highest(m);
    return SC_OK;
}

static enum sc_status add_sampled(struct sc_reuse_meter *m, const uint64_t *number, size_t n,
                                  struct sc_error *error)
{
    enum sc_status status = SC_OK;
    if (m->options.sample_blocks > 0) {
        for (size_t i = 0; status == SC_OK && i < n; i++) {
            status = add_fixed_size(m, number[i], error);
            m->accesses++;
        }
        return status;
    }
    const size_t kept = filter(m, number, n);
    m->accesses += n;
    return add_followed(m, kept, error);
}

enum sc_status sc_reuse_meter_add(struct sc_reuse_meter *meter, const uint64_t *number, size_t n,
                                  struct sc_error *error)
{
    enum sc_status status = SC_OK;
    for (size_t done = 0; status == SC_OK && done < n;) {
        const size_t left = n - done;
        const size_t batch = left < SC_RECENCY_BATCH ? left : SC_RECENCY_BATCH;
        status = (meter->sampled ? add_sampled : add_exact)(meter, number + done, batch, error);
        done += batch;
    }
    return status;
}

/* ---- what was seen ---- */

/* Weight per bin of the parts from first to last but one, times `scale`.  Returns the cold. */
static double sum_parts(struct sc_reuse_meter *m, bool times, size_t without, double scale)
{
    const size_t parts = m->sampled ? PARTS : 1;
    double cold = 0.0;
    memset(m->bins, 0, sizeof m->bins);
    for (size_t p = 0; p < parts; p++) {
        double density = 0.0;
        const struct part *const part = &m->parts[p];
        if (p == without)
            continue;
        cold += part->cold;
        for (size_t i = 0; i < BINS; i++) {
            density += part->distances.change[i];
            m->bins[i] += times ? part->times[i]
                                : part->distances.whole[i] +
                                      density * (m->edges[i + 1] - m->edges[i]);
        }
    }
    for (size_t i = 0; i < BINS; i++)
        m->bins[i] *= scale;
    return scale * cold;
}

/* Bins up to the last that holds something. */
static size_t bins_used(const double *bins, size_t count)
{
    while (count > 0 && bins[count - 1] <= 0.0)
        count--;
    return count;
}

static struct sc_reuse_histogram binned(struct sc_reuse_meter *m, bool times, size_t without,
                                        double scale)
{
    struct sc_reuse_histogram h = { .edge = m->edges, .count = m->bins,
                                    .accesses = (double)m->accesses };
    h.cold = sum_parts(m, times, without, scale);
    if (!m->sampled)
        h.cold = m->cold;
    h.bins = bins_used(m->bins, BINS);
    return h;
}

static enum sc_status check_histogram(const struct sc_reuse_meter *m, bool times,
                                      struct sc_error *error)
{
    if (m->accesses == 0)
        return refuse(error, SC_EDOMAIN, "accesses", 0.0, "expected at least one");
    if (times && !m->options.times)
        return refuse(error, SC_EMISSING, "times", (double)NAN, "were not asked for");
    return SC_OK;
}

enum sc_status sc_reuse_meter_histogram(struct sc_reuse_meter *meter, bool times,
                                        struct sc_reuse_histogram *histogram,
                                        struct sc_error *error)
{
    const enum sc_status status = check_histogram(meter, times, error);
    if (status != SC_OK)
        return status;
    if (times || meter->sampled)
        *histogram = binned(meter, times, PARTS, 1.0);
    else
        *histogram = (struct sc_reuse_histogram){ .count = meter->distances,
                                                  .bins = meter->distance_most,
                                                  .cold = meter->cold,
                                                  .accesses = (double)meter->accesses };
    return SC_OK;
}

static double most_useful(const struct sc_reuse_meter *m)
{
    double most = 0.0;
    if (!m->sampled)
        return (double)m->distance_most;
    for (size_t p = 0; p < PARTS; p++)
        for (size_t i = BINS; i-- > 0;)
            if (m->parts[p].distances.whole[i] > 0.0) {
                most = fmax(most, m->edges[i + 1]);
                break;
            }
    return most;
}

struct sc_reuse_summary sc_reuse_meter_summary(const struct sc_reuse_meter *meter)
{
    struct sc_reuse_summary summary = { .accesses = meter->accesses,
                                        .blocks = meter->cold,
                                        .cache_most = most_useful(meter),
                                        .sampled = meter->sampled,
                                        .rate = 1.0 / meter->weight,
                                        .followed = meter->followed,
                                        .block_count = sc_recency_count(meter->set) };
    for (size_t p = 0; meter->sampled && p < PARTS; p++)
        summary.blocks += meter->parts[p].cold;
    return summary;
}

/* ---- curves ---- */

static enum sc_status lru(const struct sc_reuse_histogram *histogram, double ways,
                          const double *capacity, size_t n, double *miss_ratio,
                          struct sc_error *error)
{
    return ways > 0.0
               ? sc_reuse_set_associative(histogram, ways, capacity, n, miss_ratio, error)
               : sc_reuse_lru(histogram, capacity, n, miss_ratio, error);
}

static enum sc_status random_replacement(const struct sc_reuse_histogram *histogram, double ways,
                                         const double *capacity, size_t n, double *miss_ratio,
                                         struct sc_error *error)
{
    (void)ways;
    return sc_reuse_random(histogram, capacity, n, miss_ratio, error);
}

static enum sc_status eviction_time(const struct sc_reuse_histogram *histogram, double ways,
                                    const double *capacity, size_t n, double *miss_ratio,
                                    struct sc_error *error)
{
    (void)ways;
    return sc_reuse_eviction_time(histogram, capacity, n, miss_ratio, error);
}

const struct sc_reuse_rule sc_reuse_rules[] = {
    { .name = "lru", .help = "least recently used, from reuse distances",
      .takes_ways = true, .curve = lru },
    { .name = "random", .help = "any block, from reuse times", .times = true,
      .curve = random_replacement },
    { .name = "aet", .help = "LRU again, approximated from reuse times", .times = true,
      .curve = eviction_time },
};
const size_t sc_reuse_rule_count = sizeof sc_reuse_rules / sizeof sc_reuse_rules[0];

const struct sc_reuse_rule *sc_reuse_rule_find(const char *name)
{
    for (size_t i = 0; i < sc_reuse_rule_count; i++)
        if (strcmp(sc_reuse_rules[i].name, name) == 0)
            return &sc_reuse_rules[i];
    return NULL;
}

/* Adds to variance[] the jackknife's: (K - 1) / K times the sum of squared differences from the
 * mean of the K curves that lack one part each; as their mean, the curve itself is taken. */
static enum sc_status add_part_variance(struct sc_reuse_meter *m, const struct sc_reuse_rule *rule,
                                        double ways, const double *capacity, size_t n,
                                        const double *miss_ratio, double *without,
                                        double *variance, struct sc_error *error)
{
    static const double scale = (double)PARTS / (PARTS - 1);
    enum sc_status status = SC_OK;
    for (size_t p = 0; status == SC_OK && p < PARTS; p++) {
        const struct sc_reuse_histogram h = binned(m, rule->times, p, scale);
        status = rule->curve(&h, ways, capacity, n, without, error);
        for (size_t k = 0; status == SC_OK && k < n; k++)
            variance[k] += (without[k] - miss_ratio[k]) * (without[k] - miss_ratio[k]) / scale *
                           (1.0 - 1.0 / m->weight);
    }
    return status;
}

/* And that of the distances: C blocks of all are C R in the sample, give or take. */
static enum sc_status add_distance_variance(struct sc_reuse_meter *m,
                                            const struct sc_reuse_rule *rule, double ways,
                                            const double *capacity, size_t n, double *scratch,
                                            double *variance, struct sc_error *error)
{
    const struct sc_reuse_histogram h = binned(m, false, PARTS, 1.0);
    double *const low = scratch, *const high = scratch + n, *const moved = scratch + 2 * n;
    enum sc_status status = SC_OK;
    for (int side = 0; status == SC_OK && side < 2; side++) {
        double floor = 0.0;
        for (size_t k = 0; k < n; k++) {
            const double spread = sqrt(capacity[k] * (m->weight - 1.0));
            moved[k] = fmax(floor, capacity[k] + (side == 0 ? -spread : spread));
            floor = moved[k];
        }
        status = rule->curve(&h, ways, moved, n, side == 0 ? low : high, error);
    }
    for (size_t k = 0; status == SC_OK && k < n; k++)
        variance[k] += 0.25 * (low[k] - high[k]) * (low[k] - high[k]);
    return status;
}

/* Accesses that the sample stands for, over those that there were: what misses where nothing
 * hits, could it be above 1. */
static double sampled_share(struct sc_reuse_meter *m, bool times, size_t without, double scale)
{
    double weight = sum_parts(m, times, without, scale);
    for (size_t i = 0; i < BINS; i++)
        weight += m->bins[i];
    return weight / (double)m->accesses;
}

/* A sample of too many accesses has no ratio above 1, nor do the parts of it: there the spread of
 * the curves says nothing, and that of the accesses is taken. */
static void add_ceiling_variance(struct sc_reuse_meter *m, bool times, size_t n,
                                 const double *miss_ratio, double *variance)
{
    static const double scale = (double)PARTS / (PARTS - 1);
    const double whole = sampled_share(m, times, PARTS, 1.0);
    double sum = 0.0;
    for (size_t p = 0; p < PARTS; p++) {
        const double off = sampled_share(m, times, p, scale) - whole;
        sum += off * off / scale * (1.0 - 1.0 / m->weight);
    }
    for (size_t k = 0; k < n; k++)
        if (miss_ratio[k] + sqrt(sum) >= 1.0)
            variance[k] = fmax(variance[k], sum);
}

static enum sc_status estimate_error(struct sc_reuse_meter *m, const struct sc_reuse_rule *rule,
                                     double ways, const double *capacity, size_t n,
                                     const double *miss_ratio, double *std_error,
                                     struct sc_error *error)
{
    for (size_t k = 0; k < n; k++)
        std_error[k] = 0.0;
    if (!m->sampled || m->weight <= 1.0)
        return SC_OK;
    double *scratch = n <= SIZE_MAX / sizeof *scratch / 3 ? malloc(3 * n * sizeof *scratch) : NULL;
    if (scratch == NULL)
        return refuse_memory(error);
    enum sc_status status = add_part_variance(m, rule, ways, capacity, n, miss_ratio, scratch,
                                              std_error, error);
    if (status == SC_OK && !rule->times)
        status = add_distance_variance(m, rule, ways, capacity, n, scratch, std_error, error);
    if (status == SC_OK)
        add_ceiling_variance(m, rule->times, n, miss_ratio, std_error);
    for (size_t k = 0; k < n; k++)
        std_error[k] = sqrt(std_error[k]);
    free(scratch);
    return status;
}

enum sc_status sc_reuse_meter_curve(struct sc_reuse_meter *meter, const struct sc_reuse_rule *rule,
                                    double ways, const double *capacity, size_t n,
                                    double *miss_ratio, double *std_error, struct sc_error *error)
{
    struct sc_reuse_histogram histogram;
    enum sc_status status = sc_reuse_meter_histogram(meter, rule->times, &histogram, error);
    if (status == SC_OK)
        status = rule->curve(&histogram, ways, capacity, n, miss_ratio, error);
    if (status == SC_OK && std_error != NULL && n > 0)
        status = estimate_error(meter, rule, ways, capacity, n, miss_ratio, std_error, error);
    return status;
}
