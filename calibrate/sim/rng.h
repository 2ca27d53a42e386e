/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random numbers that can be had again.
 *
 * A generator is a value: 32 bytes, copied freely, never shared.  It is made
 * from three numbers (master seed, run, stream), so that run 1234 of a
 * calibration can be replayed alone, and so that within a run the arrivals,
 * say, do not change when something else draws more numbers.  Any seed is as
 * good as any other, 0 included.
 *
 * Apart from sc_sim_rng_below, every function draws exactly once and is
 * monotone in what it drew: two runs with the same seed stay in step, which
 * makes their difference less noisy than either.
 *
 * The bytes do not depend on the C library: nothing but IEEE 754 arithmetic
 * and square roots is used, and logarithms are our own (within 1e-15,
 * relative).
 *
 * Sources: xoshiro256** (Blackman & Vigna, ACM Trans. Math. Softw. 47, 2021),
 * splitmix64 (Steele, Lea & Flood, OOPSLA 2014), integers below n (Lemire,
 * ACM Trans. Model. Comput. Simul. 29, 2019), the normal quantile (Wichura,
 * algorithm AS 241, Appl. Statist. 37, 1988).
 */
#ifndef SC_SIM_RNG_H
#define SC_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct sc_sim_rng {
    uint64_t state[4]; /* not all zero */
};

/* The generator of one stream of one run. */
struct sc_sim_rng sc_sim_rng_make(uint64_t master, uint64_t run, uint64_t stream);

/* The 64 bits that the three are hashed to. */
uint64_t sc_sim_rng_hash(uint64_t master, uint64_t run, uint64_t stream);

/* One step of splitmix64, a bijection of the 2^64 states with full period. */
uint64_t sc_sim_splitmix64(uint64_t *state);

/* 64 random bits. */
static inline uint64_t sc_sim_rng_next(struct sc_sim_rng *rng)
{
    uint64_t *const s = rng->state;
    const uint64_t fives = s[1] * 5;
    const uint64_t result = ((fives << 7) | (fives >> 57)) * 9;
    const uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform in [0, 1): one of 2^53 multiples of 2^-53. */
static inline double sc_sim_rng_uniform(struct sc_sim_rng *rng)
{
    return (double)(sc_sim_rng_next(rng) >> 11) * 0x1p-53;
}

/* Uniform among 0 .. n - 1, n > 0, without bias; draws again very rarely. */
uint64_t sc_sim_rng_below(struct sc_sim_rng *rng, uint64_t n);

/* True with probability p; never for p <= 0, always for p >= 1. */
static inline bool sc_sim_rng_bernoulli(struct sc_sim_rng *rng, double p)
{
    return sc_sim_rng_uniform(rng) < p;
}

/* Exponential with the given mean >= 0, at most 36.8 times the mean. */
double sc_sim_rng_exponential(struct sc_sim_rng *rng, double mean);

/* Normal with mean 0 and standard deviation 1, within 8.3 of 0. */
double sc_sim_rng_normal(struct sc_sim_rng *rng);

/*
 * Failures before the first success, each trial succeeding with probability
 * p, 0 < p <= 1: mean (1 - p)/p.  UINT64_MAX when it is more than that.
 */
uint64_t sc_sim_rng_geometric(struct sc_sim_rng *rng, double p);

/*
 * The z below which a standard normal variable falls with probability p:
 * within 1e-15 relative.  -INFINITY below 2^-1022, INFINITY at 1, NaN outside [0, 1].
 */
double sc_sim_normal_quantile(double p);

#endif
