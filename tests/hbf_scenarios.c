/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hbf_scenarios.h"

#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 512, SETTINGS_MAX = 32 };

struct hbf_world world;
uint64_t random_state = 1;

double random_unit(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

size_t random_below(size_t count)
{
    return (size_t)(random_unit() * (double)count);
}

void set_up(void)
{
    struct problem problem = { "" };
    world.catalog = catalog_create(NULL);
    if (world.catalog == NULL)
        bail("out of memory");
    world.resolver = resolver_create(&sc_hbf_system, world.catalog, &problem);
    const struct catalog_table *gpus = catalog_table(world.catalog, "gpus", &problem);
    if (world.resolver == NULL || gpus == NULL || gpus->row_count > GPUS_MAX)
        bail("%s", problem.text);
    for (size_t i = 0; i < gpus->row_count; i++)
        world.gpus[world.gpu_count++] = catalog_cell(gpus, i, 0);
    const struct sc_field *policy = sc_system_field(&sc_hbf_system, "policy");
    if (policy->choice_count > POLICIES_MAX)
        bail("more policies than expected");
    for (size_t i = 0; i < policy->choice_count; i++)
        world.policies[world.policy_count++] = sc_field_choice(policy, i)->name;
}

void tear_down(void)
{
    resolver_destroy(world.resolver);
    catalog_destroy(world.catalog);
}

/* Cuts the text into words. */
static struct sc_hbf build(char *text)
{
    struct setting settings[SETTINGS_MAX];
    size_t count = 0;
    struct problem problem = { "" };
    struct sc_hbf s;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        struct sweep sweep;
        if (count == SETTINGS_MAX || !sweep_parse(world.resolver, word, &sweep, &problem))
            bail("%s: %s", word, problem.text);
        settings[count++] = sweep.values[0];
        sweep_fini(&sweep);
    }
    if (!resolver_build(world.resolver, settings, count, &s, &problem))
        bail("%s", problem.text);
    return s;
}

struct sc_hbf scenario_of(const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text)
        bail("too long: %s", text);
    return build(text);
}

struct sc_hbf scenario(const char *text)
{
    return scenario_of("%s", text);
}
