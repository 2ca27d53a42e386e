/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import_map.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"

/* What a map has against a row: the condition is above 0 there.  What it is about may be given
 * otherwise, and then there is none; NULL: nothing of the kind. */
struct doubt {
    const char *about, *condition, *text;
    const char *unfit; /* why the row is not to be compared with answers, or NULL: it is */
};

struct ready_map {
    const char *name, *items;
    const struct doubt *doubts;
    size_t doubt_count;
};

/* `stream` from a log of GPGPU-Sim, whose other columns are keys as they are.  Counts of threads over 32 lanes are loads of warps; a warp
 * has at least so many loads outstanding as its mean is (Little's law), which is exact for one.
 * An idle load takes the latencies of the configuration and 71 cycles more, as measured with
 * SM7_QV100.  A zero times what must not be empty keeps min and max from leaving it out. */
static const char stream_items[] =
    "sms = min(sms, ctas + 0 * sms);"
    "warps_per_sm = round(min(ceil(ctas / sms), ctas_per_sm_max + 0 * ctas)"
    " * ceil(threads_per_cta / 32));"
    "loads_per_warp = max(1 + 0 * load_thread_instructions * warps_per_sm,"
    " round(load_thread_instructions / 32 / (sms * warps_per_sm)));"
    "bytes_per_load_B = global_read_sectors * sector_bytes / (load_thread_instructions / 32);"
    "outstanding_per_warp ?= max(1, ceil(sectors_in_flight * sector_bytes / bytes_per_load_B"
    " / (sms * warps_per_sm) - 0.05));"
    "latency_cycles = 71 + l2_rop_latency_cycles + dram_latency_cycles";

static const struct doubt stream_doubts[] = {
    { .about = "outstanding_per_warp",
      .condition = "outstanding_per_warp - 1",
      .text = "a warp has more than one load outstanding, and how many a log does not say: "
              "outstanding_per_warp is the least that there can be; give it if you know it",
      .unfit = "outstanding_per_warp is a guess" },
    { .condition = "1 - load_thread_instructions",
      .text = "the kernel loads nothing, so stream does not describe it",
      .unfit = "the kernel loads nothing" },
    { .condition =
          "min(1, 0 * (sms + warps_per_sm + loads_per_warp + bytes_per_load_B + latency_cycles"
          " + bandwidth_bytes_per_s + memory_channels + mshr_entries + launch_cycles + clock_Hz))",
      .text = "the log does not have all that stream asks for: what is empty takes its default "
              "there" },
    { .condition =
          "max(global_read_sectors, l1_accesses - global_write_sectors) * 0.9 - dram_reads",
      .text = "caches serve more than a tenth of the loads, and stream has none",
      .unfit = "caches serve more than a tenth of the loads" },
    { .condition = "store_thread_instructions",
      .text = "the kernel stores, and stream only loads",
      .unfit = "the kernel stores" },
    { .condition = "1 - kernel_whole",
      .text = "the run was stopped within the kernel, so cycles are not all of it",
      .unfit = "the run was stopped within the kernel" },
};

static const struct ready_map ready_maps[] = {
    { "stream", stream_items, stream_doubts, sizeof stream_doubts / sizeof stream_doubts[0] },
};

enum {
    READY_MAPS = sizeof ready_maps / sizeof ready_maps[0],
    DOUBTS_MAX = 16,
    NAME_MAX_BYTES = 200
};

struct item {
    char *name;
    struct expression *expression;
    bool where_empty; /* NAME?=...: what the row has there stays */
    bool given;       /* the row at hand has it */
    size_t at;        /* the column of the answer that it is */
    enum sc_dimension dimension;
    double value; /* in the row at hand */
    struct emit_cell cell;
};

struct raised {
    const struct doubt *doubt;
    struct expression *condition;
    size_t items; /* those after the map's own */
    size_t rows;
    struct problem first; /* where */
};

struct import_map {
    struct item *items;
    size_t count, capacity;
    struct raised doubts[DOUBTS_MAX];
    size_t doubt_count;

    const struct sc_import *table;
    size_t table_columns, columns, done; /* done: items that have a value in this row */
    size_t unfit_column; /* of the answer: what makes a row unfit; SIZE_MAX: none */
    struct text unfit;   /* in the row at hand */
    const struct sc_import_cell *row;
    size_t rows, text_rows;
    bool had_text;
    struct problem first_text;
};

size_t import_maps(void)
{
    return READY_MAPS;
}

const char *import_map_name(size_t i)
{
    return ready_maps[i].name;
}

const char *import_map_text(size_t i)
{
    return ready_maps[i].items;
}

/* ---- reading ---- */

static const char *ready_at(unsigned long i, const void *context)
{
    (void)context;
    return ready_maps[i].name;
}

/* NOLINTBEGIN(misc-no-recursion): one deep, maps that come with the program name no others */
static bool add_items(struct import_map *map, const char *text, struct problem *problem);

static bool add_ready(struct import_map *map, const char *name, struct problem *problem)
{
    for (size_t i = 0; i < READY_MAPS; i++) {
        if (strcmp(ready_maps[i].name, name) != 0)
            continue;
        if (map->doubt_count + ready_maps[i].doubt_count > DOUBTS_MAX)
            return problem_set(problem, "--map: %s is given too often", name);
        for (size_t d = 0; d < ready_maps[i].doubt_count; d++) {
            struct raised *const raised = &map->doubts[map->doubt_count++];
            const char *const condition = ready_maps[i].doubts[d].condition;
            raised->doubt = &ready_maps[i].doubts[d];
            raised->condition = expression_parse(condition, strlen(condition), "--map", problem);
            if (raised->condition == NULL)
                return false;
        }
        const size_t first = map->doubt_count - ready_maps[i].doubt_count;
        const bool fine = add_items(map, ready_maps[i].items, problem);
        for (size_t d = first; d < map->doubt_count; d++)
            map->doubts[d].items = map->count;
        return fine;
    }
    const char *const nearest = problem_nearest(name, ready_at, READY_MAPS, NULL);
    return problem_set(problem,
                       "--map: expected NAME=EXPRESSION or the name of a map, got '%.60s'%s%s%s",
                       name, nearest != NULL ? ": did you mean " : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

/* Room for one item more, all zero and counted; NULL with the reason. */
static struct item *new_item(struct import_map *map, struct problem *problem)
{
    if (map->items == NULL || map->count == map->capacity) {
        const size_t capacity = map->capacity == 0 ? 16 : 2 * map->capacity;
        struct item *items = realloc(map->items, capacity * sizeof *items);
        if (items == NULL) {
            (void)problem_set(problem, "out of memory");
            return NULL;
        }
        map->items = items;
        map->capacity = capacity;
    }
    struct item *const item = &map->items[map->count++];
    *item = (struct item){ .where_empty = false };
    return item;
}

/* The unit at the end of a name tells the dimension, for tables. */
static enum sc_dimension dimension_of(const char *name)
{
    static const struct {
        const char *end;
        enum sc_dimension dimension;
    } ends[] = { { "_bytes_per_s", SC_BYTES_PER_SECOND },
                 { "_bytes", SC_BYTES },
                 { "_B", SC_BYTES },
                 { "_cycles", SC_CYCLES },
                 { "_s", SC_SECONDS },
                 { "_Hz", SC_HERTZ } };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t length = strlen(name), end = strlen(ends[i].end);
        if (length > end && strcmp(name + length - end, ends[i].end) == 0)
            return ends[i].dimension;
    }
    return SC_NUMBER;
}

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && strchr(" \t\n", **text) != NULL) {
        ++*text;
        --*length;
    }
    while (*length > 0 && strchr(" \t\n", (*text)[*length - 1]) != NULL)
        --*length;
}

/* "NAME=EXPRESSION", or the name of a map. */
static bool add_item(struct import_map *map, const char *text, size_t length,
                     struct problem *problem)
{
    char name[NAME_MAX_BYTES + 1], what[NAME_MAX_BYTES + 16];
    trim(&text, &length);
    if (length == 0)
        return true;
    const char *const equals = memchr(text, '=', length);
    size_t name_length = equals != NULL ? (size_t)(equals - text) : length;
    const char *start = text;
    const bool where_empty = equals != NULL && name_length > 0 && equals[-1] == '?';
    name_length -= where_empty;
    trim(&start, &name_length);
    if (name_length == 0 || name_length > NAME_MAX_BYTES)
        return problem_set(problem, "--map: expected NAME=EXPRESSION, got '%.*s'",
                           length < 60 ? (int)length : 60, text);
    memcpy(name, start, name_length);
    name[name_length] = '\0';
    if (equals == NULL)
        return add_ready(map, name, problem);
    struct item *const item = new_item(map, problem);
    if (item == NULL)
        return false;
    (void)snprintf(what, sizeof what, "--map: %s", name);
    item->dimension = dimension_of(name);
    item->where_empty = where_empty;
    item->name = malloc(name_length + 1);
    if (item->name == NULL)
        return problem_set(problem, "out of memory");
    memcpy(item->name, name, name_length + 1);
    item->expression = expression_parse(equals + 1, length - (size_t)(equals + 1 - text), what,
                                        problem);
    return item->expression != NULL;
}

/* Items stand between semicolons or line ends that are not within a quoted name. */
static bool add_items(struct import_map *map, const char *text, struct problem *problem)
{
    while (*text != '\0') {
        size_t length = 0;
        for (bool quoted = false; text[length] != '\0'; length++) {
            quoted = quoted != (text[length] == '"');
            if (!quoted && (text[length] == ';' || text[length] == '\n'))
                break;
        }
        if (!add_item(map, text, length, problem))
            return false;
        text += length + (text[length] != '\0');
    }
    return true;
}

/* NOLINTEND(misc-no-recursion) */

struct import_map *import_map_create(const char *const *items, size_t most, struct problem *problem)
{
    struct import_map *map = calloc(1, sizeof *map);
    if (map == NULL) {
        (void)problem_set(problem, "out of memory");
        return NULL;
    }
    bool fine = true;
    for (size_t i = 0; fine && i < most && items[i] != NULL; i++)
        fine = add_items(map, items[i], problem);
    if (fine)
        return map;
    import_map_destroy(map);
    return NULL;
}

void import_map_destroy(struct import_map *map)
{
    if (map == NULL)
        return;
    for (size_t i = 0; i < map->count; i++) {
        free(map->items[i].name);
        expression_destroy(map->items[i].expression);
    }
    for (size_t i = 0; i < map->doubt_count; i++)
        expression_destroy(map->doubts[i].condition);
    free(map->items);
    text_fini(&map->unfit);
    free(map);
}

/* ---- columns ---- */

/* Columns of expressions: those of the table, then items, by number. */
struct scope {
    const struct import_map *map;
    size_t items; /* only those before this one can be named */
};

static size_t find_column(void *context, const char *name)
{
    const struct scope *const scope = context;
    for (size_t i = scope->items; i-- > 0;)
        if (strcmp(scope->map->items[i].name, name) == 0)
            return scope->map->table_columns + i;
    for (size_t i = 0; i < scope->map->table_columns; i++)
        if (strcmp(sc_import_column_name(scope->map->table, i), name) == 0)
            return i;
    return SIZE_MAX;
}

static const char *name_at(unsigned long i, const void *context)
{
    return sc_import_column_name(context, i);
}

static bool bind(struct import_map *map, struct expression *expression, size_t items,
                 struct problem *problem)
{
    struct scope scope = { map, items };
    if (expression_bind(expression, find_column, &scope, problem))
        return true;
    /* The name stands between the last two quotes of the message. */
    const struct problem said = *problem;
    char name[100] = "";
    const char *const start = strstr(said.text, "no column '");
    if (start != NULL)
        (void)snprintf(name, sizeof name, "%s", start + strlen("no column '"));
    name[strcspn(name, "'")] = '\0';
    const char *const nearest = problem_nearest(name, name_at, map->table_columns, map->table);
    if (nearest != NULL)
        (void)problem_set(problem, "%s: did you mean %s?", said.text, nearest);
    return false;
}

static const char unfit_name[] = "not_counted";

/* Only a map that comes with the program knows; a column of that name stays as it is. */
static size_t place_unfit(const struct import_map *map)
{
    bool knows = false;
    for (size_t i = 0; i < map->doubt_count; i++)
        knows = knows || map->doubts[i].doubt->unfit != NULL;
    for (size_t i = 0; i < map->table_columns; i++)
        knows = knows && strcmp(sc_import_column_name(map->table, i), unfit_name) != 0;
    for (size_t i = 0; i < map->count; i++)
        knows = knows && strcmp(map->items[i].name, unfit_name) != 0;
    return knows ? map->columns : SIZE_MAX;
}

/* Where the item goes: the column of its name, or one more. */
static size_t place_of(const struct import_map *map, size_t item)
{
    const char *const name = map->items[item].name;
    for (size_t i = 0; i < map->table_columns; i++)
        if (strcmp(sc_import_column_name(map->table, i), name) == 0)
            return i;
    for (size_t i = 0; i < item; i++)
        if (strcmp(map->items[i].name, name) == 0)
            return map->items[i].at;
    return map->columns;
}

bool import_map_bind(struct import_map *map, const struct sc_import *table, struct problem *problem)
{
    map->table = table;
    map->columns = map->table_columns = sc_import_column_count(table);
    for (size_t i = 0; i < map->count; i++) {
        if (!bind(map, map->items[i].expression, i, problem))
            return false;
        map->items[i].at = place_of(map, i);
        map->columns += map->items[i].at == map->columns;
    }
    for (size_t i = 0; i < map->doubt_count; i++)
        if (!bind(map, map->doubts[i].condition, map->count, problem))
            return false;
    map->unfit_column = place_unfit(map);
    map->columns += map->unfit_column != SIZE_MAX;
    return true;
}

size_t import_map_columns(const struct import_map *map)
{
    return map->columns;
}

struct emit_column import_map_column(const struct import_map *map, size_t i)
{
    if (i < map->table_columns)
        return (struct emit_column){ .name = sc_import_column_name(map->table, i),
                                     .dimension = sc_import_column_dimension(map->table, i) };
    if (i == map->unfit_column)
        return (struct emit_column){ .name = unfit_name };
    size_t item = 0;
    while (map->items[item].at != i)
        item++;
    return (struct emit_column){ .name = map->items[item].name,
                                 .dimension = map->items[item].dimension };
}

/* ---- rows ---- */

static struct emit_cell shown(const struct sc_import_cell *cell)
{
    switch (cell->kind) {
    case SC_IMPORT_NUMBER:
        return emit_number(cell->number);
    case SC_IMPORT_TEXT:
        return (struct emit_cell){ .kind = EMIT_TEXT, .text = cell->text, .length = cell->length };
    case SC_IMPORT_NOTHING:
        break;
    }
    return (struct emit_cell){ .kind = EMIT_EMPTY };
}

static void place(const struct import_map *map, struct problem *where)
{
    const struct sc_import_cell *const file = &map->row[SC_IMPORT_FILE];
    const struct sc_import_cell *const line = &map->row[SC_IMPORT_LINE];
    if (line->kind == SC_IMPORT_NUMBER)
        (void)problem_set(where, "%.*s:%.0f", (int)file->length, file->text, line->number);
    else
        (void)problem_set(where, "%.*s", (int)file->length, file->text);
}

static double value_of(void *context, size_t column)
{
    struct import_map *const map = context;
    if (column >= map->table_columns)
        return map->items[column - map->table_columns].value;
    const struct sc_import_cell *const cell = &map->row[column];
    if (cell->kind == SC_IMPORT_NUMBER)
        return cell->number;
    if (cell->kind == SC_IMPORT_TEXT && !map->had_text) {
        map->had_text = true;
        if (map->text_rows++ == 0) {
            struct problem where;
            place(map, &where);
            (void)problem_set(&map->first_text, "%.200s: %.60s: expected a number, got '%.*s'",
                              where.text, sc_import_column_name(map->table, column),
                              cell->length < 60 ? (int)cell->length : 60, cell->text);
        }
    }
    return (double)NAN;
}

/* A column by another name is taken as it is, text too. */
static void evaluate(struct import_map *map, struct item *item)
{
    const size_t alias = expression_column(item->expression);
    item->given = item->where_empty && item->at < map->table_columns &&
                  map->row[item->at].kind != SC_IMPORT_NOTHING;
    if (item->given) {
        item->cell = shown(&map->row[item->at]);
        item->value = item->cell.kind == EMIT_NUMBER ? item->cell.number : (double)NAN;
    } else if (alias == SIZE_MAX) {
        item->value = expression_value(item->expression, value_of, map);
        item->cell = emit_number(item->value);
    } else if (alias >= map->table_columns) {
        item->value = map->items[alias - map->table_columns].value;
        item->cell = map->items[alias - map->table_columns].cell;
    } else {
        item->cell = shown(&map->row[alias]);
        item->value = item->cell.kind == EMIT_NUMBER ? item->cell.number : (double)NAN;
    }
}

/* Whether the row has what the doubt is about from elsewhere: the table, or a later item. */
static bool is_settled(const struct import_map *map, const struct raised *raised)
{
    for (size_t i = 0; raised->doubt->about != NULL && i < map->count; i++)
        if (strcmp(map->items[i].name, raised->doubt->about) == 0 &&
            (map->items[i].given || i >= raised->items))
            return true;
    return false;
}

/* Counts the doubts that the row raises, and keeps what makes it unfit. */
static void raise_doubts(struct import_map *map)
{
    text_clear(&map->unfit);
    for (size_t i = 0; i < map->doubt_count; i++) {
        struct raised *const raised = &map->doubts[i];
        const char *const unfit = raised->doubt->unfit;
        if (is_settled(map, raised) || !(expression_value(raised->condition, value_of, map) > 0.0))
            continue;
        if (raised->rows++ == 0)
            place(map, &raised->first);
        if (unfit != NULL)
            text_printf(&map->unfit, "%s%s", map->unfit.length > 0 ? "; " : "", unfit);
    }
}

void import_map_row(struct import_map *map, const struct sc_import_cell *row,
                    struct emit_cell *cells)
{
    map->row = row;
    map->rows++;
    map->had_text = false;
    for (size_t i = 0; i < map->table_columns; i++)
        cells[i] = shown(&row[i]);
    for (size_t i = 0; i < map->count; i++) {
        evaluate(map, &map->items[i]);
        cells[map->items[i].at] = map->items[i].cell;
    }
    raise_doubts(map);
    if (map->unfit_column != SIZE_MAX)
        cells[map->unfit_column] = (struct emit_cell){ .kind = map->unfit.length > 0 ? EMIT_TEXT
                                                                                     : EMIT_EMPTY,
                                                       .text = map->unfit.bytes,
                                                       .length = map->unfit.length };
}

void import_map_report(const struct import_map *map)
{
    struct problem line;
    for (size_t i = 0; i < map->doubt_count; i++) {
        const struct raised *const raised = &map->doubts[i];
        if (raised->rows == 0)
            continue;
        (void)problem_set(&line, "%zu of %zu rows, the first %.120s: %s", raised->rows, map->rows,
                          raised->first.text, raised->doubt->text);
        problem_print(&line);
    }
    if (map->text_rows > 0) {
        (void)problem_set(&line,
                          "--map: %zu of %zu rows have text where a number is needed: %.300s",
                          map->text_rows, map->rows, map->first_text.text);
        problem_print(&line);
    }
}
