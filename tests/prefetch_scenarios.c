/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch_scenarios.h"

#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 512, SETTINGS_MAX = 32 };

void prefetch_world_init(struct prefetch_world *world)
{
    struct problem problem = { "" };
    *world = (struct prefetch_world){ .catalog = catalog_create(NULL) };
    if (world->catalog == NULL)
        bail("out of memory");
    world->resolver = resolver_create(&sc_prefetch_system, world->catalog, &problem);
    const struct catalog_table *kernels =
        catalog_table(world->catalog, "prefetch-kernels", &problem);
    if (world->resolver == NULL || kernels == NULL || kernels->row_count > PREFETCH_KERNELS_MAX)
        bail("%s", problem.text);
    for (size_t i = 0; i < kernels->row_count; i++)
        world->kernels[world->kernel_count++] = catalog_cell(kernels, i, 0);
}

void prefetch_world_fini(struct prefetch_world *world)
{
    resolver_destroy(world->resolver);
    catalog_destroy(world->catalog);
}

/* Cuts the text into words. */
static struct sc_prefetch build(const struct prefetch_world *world, char *text)
{
    struct setting settings[SETTINGS_MAX];
    size_t count = 0;
    struct problem problem = { "" };
    struct sc_prefetch s;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        struct sweep sweep;
        if (count == SETTINGS_MAX || !sweep_parse(world->resolver, word, &sweep, &problem))
            bail("%s: %s", word, problem.text);
        settings[count++] = sweep.values[0];
        sweep_fini(&sweep);
    }
    if (!resolver_build(world->resolver, settings, count, &s, &problem))
        bail("%s", problem.text);
    return s;
}

struct sc_prefetch prefetch_scenario(const struct prefetch_world *world, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text)
        bail("too long: %s", text);
    return build(world, text);
}
