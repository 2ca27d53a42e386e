/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies by the names of the paper: a front end and what stands behind it. */
#include "prefetch_private.h"

#define SNAKE .front = SC_PREFETCH_SNAKE, .throttle = true, .zero_cache = true

const struct sc_prefetch_policy sc_prefetch_policies[] = {
    { { "none", "no prefetches" }, { .front = SC_PREFETCH_NONE, .zero_cache = true } },
    { { "sk", "Snake: chains, iterations and warps at all distances, throttled" }, { SNAKE } },
    { { "sk+zf", "Snake with the zero-value filter" }, { SNAKE, .zero_filter = true } },
    { { "sk+scc", "Snake with the distance tuner and score gate" }, { SNAKE, .tuner = true } },
    { { "sk+prt", "Snake with prefetched data in idle registers" }, { SNAKE, .registers = true } },
    { { "sk+zf+scc", "zero filter and distance tuner" },
      { SNAKE, .zero_filter = true, .tuner = true } },
    { { "sk+scc+prt", "distance tuner and idle registers" },
      { SNAKE, .tuner = true, .registers = true } },
    { { "sk+prt+zf", "idle registers and zero filter" },
      { SNAKE, .zero_filter = true, .registers = true } },
    { { "sk+sc", "SnakeCharmer: zero filter, distance tuner and idle registers" },
      { SNAKE, .zero_filter = true, .tuner = true, .registers = true } },
    { { "apg", "APOGEE: fixed offsets and thread-invariant addresses, its own timeliness" },
      { .front = SC_PREFETCH_APOGEE, .own_tuner = true, .zero_cache = true } },
    { { "apg+sc", "APOGEE's predictions behind SnakeCharmer" },
      { .front = SC_PREFETCH_APOGEE, .throttle = true, .zero_cache = true, .zero_filter = true,
        .tuner = true, .registers = true } },
    { { "stride", "the same load of a later iteration, a fixed distance ahead" },
      { .front = SC_PREFETCH_STRIDE, .zero_cache = true } },
    { { "o-zf", "Snake; every zero candidate is known for one" }, { SNAKE, .oracle_zero = true } },
    { { "o-time", "Snake; what it predicts arrives just before its demand" },
      { SNAKE, .oracle_time = true } },
    { { "o-place", "Snake; prefetched data takes no room" },
      { .front = SC_PREFETCH_SNAKE, .zero_cache = true, .oracle_place = true } },
    { { "o-sc", "Snake with the three oracles" },
      { .front = SC_PREFETCH_SNAKE, .zero_cache = true, .oracle_zero = true, .oracle_time = true,
        .oracle_place = true } },
    { { "o-l1", "every load hits in L1" },
      { .front = SC_PREFETCH_NONE, .zero_cache = true, .oracle_l1 = true } },
    { { "known", "every address is known: the same load of a later iteration, a fixed distance ahead" },
      { .front = SC_PREFETCH_KNOWN, .zero_cache = true } },
};

_Static_assert(sizeof sc_prefetch_policies / sizeof sc_prefetch_policies[0] == SC_PREFETCH_POLICIES,
               "one row per policy");

static bool switched(int key, bool own)
{
    return key == SC_PREFETCH_AUTO ? own : key == SC_PREFETCH_ON;
}

struct sc_prefetch_mechanisms sc_prefetch_mechanisms(const struct sc_prefetch *s)
{
    struct sc_prefetch_mechanisms m = sc_prefetch_policies[s->policy].mechanisms;
    m.zero_cache = switched(s->zero_cache, m.zero_cache);
    if (m.front == SC_PREFETCH_NONE)
        return m;
    m.zero_filter = switched(s->zero_filter, m.zero_filter);
    m.tuner = switched(s->tuner, m.tuner);
    m.registers = switched(s->placement, m.registers);
    m.throttle = switched(s->throttle, m.throttle);
    m.own_tuner = m.own_tuner && !m.tuner;
    return m;
}
