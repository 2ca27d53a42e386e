/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading and writing the calibration file.
 *
 * There is one description of what is right, the reader's: the writer has what it
 * made read back before the first byte leaves.  Records are kinds of rows in a
 * table; each knows its place in the order, and reads one row at a time.
 */
#include "params.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conformal.h"

enum column { RECORD, NAME, KEY, VALUE, SE, LOW, HIGH, KIND, NOTE, COLUMNS };

static const char *const columns[] = {
    [RECORD] = "record", [NAME] = "name", [KEY] = "key",   [VALUE] = "value", [SE] = "se",
    [LOW] = "low",       [HIGH] = "high", [KIND] = "kind", [NOTE] = "note",
};
_Static_assert(sizeof columns / sizeof columns[0] == COLUMNS, "every column has its name");

static const char *const kinds[] = {
    [SC_PARAMS_FITTED] = "fitted",
    [SC_PARAMS_PRIOR] = "prior",
    [SC_PARAMS_UNIDENTIFIED] = "unidentified",
    [SC_PARAMS_FIXED] = "fixed",
};
_Static_assert(sizeof kinds / sizeof kinds[0] == SC_PARAMS_KINDS, "every kind has its name");

/* The meta records, in their order. */
enum meta {
    META_FORMAT, META_SYSTEM, META_SEED, META_FIT, META_CONFORMAL, META_HOLDOUT, META_SIMULATOR,
    META_TOOL, METAS
};

static const struct {
    const char *name, *key;
    const char *missing; /* reason when it is not there */
} metas[] = {
    [META_FORMAT] = { "format", "", "has no meta format" },
    [META_SYSTEM] = { "system", "", "has no meta system" },
    [META_SEED] = { "seed", "", "has no meta seed" },
    [META_FIT] = { "samples", "fit", "has no meta samples fit" },
    [META_CONFORMAL] = { "samples", "conformal", "has no meta samples conformal" },
    [META_HOLDOUT] = { "samples", "holdout", "has no meta samples holdout" },
    [META_SIMULATOR] = { "simulator", "", "has no meta simulator" },
    [META_TOOL] = { "tool", "", "has no meta tool" },
};
_Static_assert(sizeof metas / sizeof metas[0] == METAS, "every meta record has its name");

enum { TEXT_MAX = 1000, NUMBER_SIZE = 48 };
static const double same_variance = 1e-9; /* relative: se squared and covariance */
static const double definite_slack = 1e-9; /* of a correlation matrix's pivots */
static const double edge_slack = 1e-9;     /* relative: still inside a range */

/* --- Numbers ------------------------------------------------------------------------ */

/*
 * The shortest of 15 to 17 digits that reads back the same.  printf and strtod
 * agree on the locale's decimal point, whatever its bytes; then it becomes '.'.
 */
static const char *number_text(char text[NUMBER_SIZE], double value)
{
    char local[NUMBER_SIZE];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(local, sizeof local, "%.*g", digits, value);
        if (strtod(local, NULL) == value)
            break;
    }
    size_t length = 0;
    for (const char *c = local; *c != '\0'; c++) {
        const bool plain = strchr("0123456789+-einfa", *c) != NULL;
        if (plain)
            text[length++] = *c;
        else if (length == 0 || text[length - 1] != '.')
            text[length++] = '.';
    }
    text[length] = '\0';
    return text;
}

static const char *integer_text(char text[NUMBER_SIZE], uint64_t value)
{
    snprintf(text, NUMBER_SIZE, "%" PRIu64, value);
    return text;
}

/* A finite decimal number and nothing else; under the C locale. */
static bool parse_number(const char *text, double *value)
{
    char *end;
    if (*text == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0')
        return false;
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value);
}

static bool parse_integer(const char *text, uint64_t *value)
{
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    const unsigned long long parsed = strtoull(text, NULL, 10);
    *value = parsed;
    return errno == 0 && parsed <= UINT64_MAX;
}

/* --- Writing ------------------------------------------------------------------------- */

/* Takes rows; counts every byte into the hash, and passes it to `file` unless NULL. */
struct sink {
    FILE *file;
    uint64_t hash;
    bool failed, too_long;
};

static void put(struct sink *sink, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sink->hash = (sink->hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    if (sink->file != NULL && fwrite(bytes, 1, length, sink->file) != length)
        sink->failed = true;
}

static void put_cell(struct sink *sink, const char *text)
{
    char quoted[2 * TEXT_MAX + 2];
    size_t length = text != NULL ? strlen(text) : 0;
    if (length > TEXT_MAX) {
        sink->too_long = true;
        length = TEXT_MAX;
    }
    if (length > 0 && sc_csv_needs_quotes(text, length, ','))
        put(sink, quoted, sc_csv_quote(quoted, text, length));
    else if (length > 0)
        put(sink, text, length);
}

struct row_text {
    const char *cell[COLUMNS]; /* NULL: empty */
};

static void put_row(struct sink *sink, const struct row_text *row)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        if (c > 0)
            put(sink, ",", 1);
        put_cell(sink, row->cell[c]);
    }
    put(sink, "\n", 1);
}

static void put_meta(struct sink *sink, enum meta meta, const char *value)
{
    put_row(sink, &(struct row_text){ { [RECORD] = "meta", [NAME] = metas[meta].name,
                                        [KEY] = metas[meta].key, [VALUE] = value } });
}

static void put_metas(struct sink *sink, const struct sc_params *p)
{
    char text[NUMBER_SIZE];
    put_meta(sink, META_FORMAT, integer_text(text, SC_PARAMS_FORMAT));
    put_meta(sink, META_SYSTEM, p->system);
    put_meta(sink, META_SEED, integer_text(text, p->seed));
    for (size_t s = 0; s < SC_SETS; s++)
        put_meta(sink, (enum meta)(META_FIT + s), integer_text(text, p->samples[s]));
    put_meta(sink, META_SIMULATOR, p->simulator);
    put_meta(sink, META_TOOL, p->tool);
}
_Static_assert(META_FIT + SC_SET_CONFORMAL == META_CONFORMAL &&
                   META_FIT + SC_SET_HOLDOUT == META_HOLDOUT, "samples are in the order of sets");

static bool has_error(const struct sc_params_parameter *p)
{
    return p->kind == SC_PARAMS_FITTED || p->kind == SC_PARAMS_PRIOR;
}

static double covariance_of(const struct sc_params *p, size_t i, size_t j)
{
    return p->covariance != NULL ? p->covariance[i * p->parameter_count + j] : (double)NAN;
}

static void put_parameters(struct sink *sink, const struct sc_params *p)
{
    char value[NUMBER_SIZE], se[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE];
    for (size_t i = 0; i < p->parameter_count; i++) {
        const struct sc_params_parameter *q = &p->parameters[i];
        const bool known = !has_error(q);
        put_row(sink, &(struct row_text){ {
            [RECORD] = "parameter", [NAME] = q->name, [VALUE] = number_text(value, q->value),
            [SE] = known ? NULL : number_text(se, q->std_error),
            [LOW] = known ? NULL : number_text(low, q->low),
            [HIGH] = known ? NULL : number_text(high, q->high),
            [KIND] = (unsigned)q->kind < SC_PARAMS_KINDS ? kinds[q->kind] : "?",
            [NOTE] = q->note } });
    }
    for (size_t i = 0; i < p->parameter_count; i++)
        for (size_t j = i; j < p->parameter_count; j++)
            if (has_error(&p->parameters[i]) && has_error(&p->parameters[j]))
                put_row(sink, &(struct row_text){ {
                    [RECORD] = "covariance", [NAME] = p->parameters[i].name,
                    [KEY] = p->parameters[j].name,
                    [VALUE] = number_text(value, covariance_of(p, i, j)) } });
}

static const char student[] = "student"; /* kind of such quantiles */

static void put_groups(struct sink *sink, const struct sc_params *p)
{
    char level[NUMBER_SIZE], value[NUMBER_SIZE];
    for (size_t g = 0; g < p->group_count; g++) {
        const struct sc_params_group *group = &p->groups[g];
        put_row(sink, &(struct row_text){ {
            [RECORD] = "conformal", [NAME] = group->name, [KEY] = "points",
            [VALUE] = integer_text(value, group->points) } });
        for (size_t k = group->first; k < group->first + group->count; k++)
            put_row(sink, &(struct row_text){ {
                [RECORD] = "conformal", [NAME] = group->name,
                [KEY] = number_text(level, p->quantiles[k].level),
                [VALUE] = number_text(value, p->quantiles[k].quantile),
                [KIND] = p->quantiles[k].student ? student : NULL } });
    }
}

static void put_rest(struct sink *sink, const struct sc_params *p)
{
    char low[NUMBER_SIZE], high[NUMBER_SIZE];
    for (size_t i = 0; i < p->region_count; i++) {
        const struct sc_params_region *r = &p->regions[i];
        const bool is_range = r->choice == NULL;
        put_row(sink, &(struct row_text){ {
            [RECORD] = "region", [NAME] = r->field, [KEY] = r->choice,
            [LOW] = is_range ? number_text(low, r->low) : NULL,
            [HIGH] = is_range ? number_text(high, r->high) : NULL } });
    }
    for (size_t i = 0; i < p->score_count; i++) {
        const struct sc_params_score *s = &p->scores[i];
        put_row(sink, &(struct row_text){ {
            [RECORD] = "score", [NAME] = s->name, [KEY] = s->key,
            [VALUE] = number_text(low, s->value), [NOTE] = s->note } });
    }
}

static void hash_text(char text[NUMBER_SIZE], uint64_t hash)
{
    snprintf(text, NUMBER_SIZE, "%016" PRIx64, hash);
}

/* All rows but the last. */
static struct sink put_all(const struct sc_params *params, FILE *file)
{
    struct sink sink = { .file = file, .hash = UINT64_C(0xcbf29ce484222325) };
    struct row_text header = { { 0 } };
    memcpy(header.cell, columns, sizeof header.cell);
    put_row(&sink, &header);
    put_metas(&sink, params);
    put_parameters(&sink, params);
    put_groups(&sink, params);
    put_rest(&sink, params);
    return sink;
}

uint64_t sc_params_hash(const struct sc_params *params)
{
    return put_all(params, NULL).hash;
}

/* --- Reading: one row ------------------------------------------------------------------- */

struct reader {
    struct sc_params params;
    const struct sc_params_wanted *wanted;
    struct sc_params_error *error;
    const char *cell[COLUMNS]; /* of the row at hand */
    size_t line;
    bool has_meta[METAS];
    bool *has_covariance; /* parameter_count squared, once covariances begin */
    size_t last_pair, first_covariance_line;
    const char *hash;
    size_t hash_line;
};

static enum sc_status refuse_at(struct sc_params_error *error, enum sc_status status, size_t line,
                                const char *column, const char *found, const char *reason)
{
    if (error != NULL) {
        *error = (struct sc_params_error){ .line = line, .column = column, .reason = reason };
        for (size_t i = 0; i + 1 < sizeof error->found && found != NULL && found[i] != '\0'; i++)
            error->found[i] = isprint((unsigned char)found[i]) ? found[i] : '?';
    }
    return status;
}

/* The row at hand is wrong in a column. */
static enum sc_status refuse(const struct reader *r, enum column column, const char *reason)
{
    return refuse_at(r->error, SC_EDOMAIN, r->line, columns[column], r->cell[column], reason);
}

static enum sc_status no_memory(const struct reader *r)
{
    return refuse_at(r->error, SC_ENOSPACE, 0, NULL, NULL, "needs more memory than there is");
}

static enum sc_status take_number(const struct reader *r, enum column column, double *value)
{
    return parse_number(r->cell[column], value)
               ? SC_OK : refuse(r, column, "is not a finite number");
}

static enum sc_status take_name(const struct reader *r, enum column column)
{
    return *r->cell[column] != '\0' ? SC_OK : refuse(r, column, "is empty");
}

/* Columns that the record has no use for. */
static enum sc_status check_empty(const struct reader *r, unsigned used)
{
    for (unsigned c = NAME; c < COLUMNS; c++)
        if ((used & (1U << c)) == 0 && *r->cell[c] != '\0')
            return refuse(r, (enum column)c, "should be empty in this record");
    return SC_OK;
}

#define BIT(column) (1U << (column))

static enum sc_status take_meta_value(struct reader *r, enum meta meta)
{
    struct sc_params *p = &r->params;
    const char *text = r->cell[VALUE];
    uint64_t integer = 0;
    const bool is_text = meta == META_SYSTEM || meta == META_SIMULATOR || meta == META_TOOL;
    if (is_text && *text == '\0')
        return refuse(r, VALUE, "is empty");
    if (!is_text && !parse_integer(text, &integer))
        return refuse(r, VALUE, "is not a whole number from 0 to 18446744073709551615");
    switch (meta) {
    case META_FORMAT:
        if (integer != SC_PARAMS_FORMAT)
            return refuse_at(r->error, SC_ERANGE, r->line, columns[VALUE], text,
                             "is a format that this version does not read; it reads 1");
        break;
    case META_SYSTEM:
        p->system = text;
        if (r->wanted->system != NULL && strcmp(text, r->wanted->system->name) != 0)
            return refuse(r, VALUE, "is another system than the one that is asked about");
        break;
    case META_SEED:
        p->seed = integer;
        break;
    case META_FIT:
    case META_CONFORMAL:
    case META_HOLDOUT:
        p->samples[meta - META_FIT] = integer;
        break;
    case META_SIMULATOR:
        p->simulator = text;
        if (r->wanted->simulator != NULL && strcmp(text, r->wanted->simulator) != 0)
            return refuse(r, VALUE, "is another simulator than the calibration is wanted for");
        break;
    case META_TOOL:
        p->tool = text;
        break;
    case METAS:
        break;
    }
    return SC_OK;
}
_Static_assert(SC_PARAMS_FORMAT == 1, "the reason names the format");

static enum sc_status read_hash(struct reader *r)
{
    if (strlen(r->cell[VALUE]) != 16 || r->cell[VALUE][strspn(r->cell[VALUE], "0123456789abcdef")])
        return refuse(r, VALUE, "is not 16 lower-case hexadecimal digits");
    r->hash = r->cell[VALUE];
    r->hash_line = r->line;
    return SC_OK;
}

static enum sc_status read_meta(struct reader *r)
{
    enum sc_status status = check_empty(r, BIT(NAME) | BIT(KEY) | BIT(VALUE));
    if (status != SC_OK)
        return status;
    if (strcmp(r->cell[NAME], "hash") == 0 && *r->cell[KEY] == '\0')
        return read_hash(r);
    for (size_t m = 0; m < METAS; m++) {
        if (strcmp(r->cell[NAME], metas[m].name) != 0 || strcmp(r->cell[KEY], metas[m].key) != 0)
            continue;
        if (r->has_meta[m])
            return refuse(r, NAME, "is given twice");
        for (size_t later = m + 1; later < METAS; later++)
            if (r->has_meta[later])
                return refuse(r, NAME, "stands in the wrong order");
        if (m > META_FORMAT && !r->has_meta[META_FORMAT])
            return refuse(r, NAME, "comes before meta format, which must be the first row");
        r->has_meta[m] = true;
        return take_meta_value(r, (enum meta)m);
    }
    return refuse(r, NAME, "is no meta record");
}

/* SIZE_MAX: none. */
static size_t parameter_index(const struct sc_params *p, const char *name)
{
    for (size_t i = 0; i < p->parameter_count; i++)
        if (strcmp(p->parameters[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

const struct sc_params_parameter *sc_params_find(const struct sc_params *params, const char *name)
{
    const size_t i = parameter_index(params, name);
    return i < params->parameter_count ? &params->parameters[i] : NULL;
}

static bool is_wanted_parameter(const struct sc_params_wanted *wanted, const char *name)
{
    if (wanted->parameters == NULL)
        return true;
    for (size_t i = 0; i < wanted->parameter_count; i++)
        if (strcmp(wanted->parameters[i], name) == 0)
            return true;
    return false;
}

static enum sc_status take_error(const struct reader *r, struct sc_params_parameter *q)
{
    enum sc_status status = take_number(r, SE, &q->std_error);
    if (status == SC_OK && !(q->std_error > 0.0))
        status = refuse(r, SE, "must be above 0");
    if (status == SC_OK)
        status = take_number(r, LOW, &q->low);
    if (status == SC_OK)
        status = take_number(r, HIGH, &q->high);
    if (status == SC_OK && q->low > q->value)
        status = refuse(r, LOW, "lies above the estimate");
    if (status == SC_OK && q->high < q->value)
        status = refuse(r, HIGH, "lies below the estimate");
    return status;
}

static enum sc_status read_parameter(struct reader *r)
{
    struct sc_params *p = &r->params;
    struct sc_params_parameter q = { .name = r->cell[NAME], .note = r->cell[NOTE] };
    size_t kind = 0;
    enum sc_status status = take_name(r, NAME);
    if (status == SC_OK && parameter_index(p, q.name) != SIZE_MAX)
        status = refuse(r, NAME, "is given twice");
    if (status == SC_OK && !is_wanted_parameter(r->wanted, q.name))
        status = refuse(r, NAME, "is no parameter of this system");
    if (status == SC_OK && p->parameter_count == SC_PARAMS_PARAMETERS_MAX)
        status = refuse(r, NAME, "is one parameter too many");
    if (status == SC_OK)
        status = take_number(r, VALUE, &q.value);
    if (status != SC_OK)
        return status;
    while (kind < SC_PARAMS_KINDS && strcmp(r->cell[KIND], kinds[kind]) != 0)
        kind++;
    if (kind == SC_PARAMS_KINDS)
        return refuse(r, KIND, "is none of fitted, prior, unidentified, fixed");
    q.kind = (enum sc_params_kind)kind;
    q.std_error = q.low = q.high = (double)NAN;
    status = check_empty(r, BIT(NAME) | BIT(VALUE) | BIT(KIND) | BIT(NOTE) |
                                (has_error(&q) ? BIT(SE) | BIT(LOW) | BIT(HIGH) : 0));
    if (status == SC_OK && has_error(&q))
        status = take_error(r, &q);
    if (status == SC_OK)
        p->parameters[p->parameter_count++] = q;
    return status;
}

static bool start_covariances(struct reader *r)
{
    const size_t m = r->params.parameter_count;
    r->first_covariance_line = r->line;
    if (r->params.covariance == NULL)
        r->params.covariance = calloc(m * m + 1, sizeof *r->params.covariance);
    r->has_covariance = calloc(m * m + 1, sizeof *r->has_covariance);
    return r->params.covariance != NULL && r->has_covariance != NULL;
}

static enum sc_status take_covariance(struct reader *r, size_t i, size_t j)
{
    struct sc_params *p = &r->params;
    const size_t m = p->parameter_count, pair = i * m + j;
    const double limit = p->parameters[i].std_error * p->parameters[j].std_error;
    double value = 0.0;
    const enum sc_status status = take_number(r, VALUE, &value);
    if (status != SC_OK)
        return status;
    if (r->has_covariance[pair])
        return refuse(r, KEY, "is given twice for this parameter");
    if (pair < r->last_pair)
        return refuse(r, KEY, "stands in the wrong order");
    if (i == j && !(fabs(value - limit) <= same_variance * limit))
        return refuse(r, VALUE, "is not the square of the standard error");
    if (!(fabs(value) <= limit * (1.0 + same_variance)))
        return refuse(r, VALUE, "is more than the standard errors allow");
    r->has_covariance[pair] = r->has_covariance[j * m + i] = true;
    r->last_pair = pair;
    p->covariance[pair] = p->covariance[j * m + i] = value;
    return SC_OK;
}

static enum sc_status read_covariance(struct reader *r)
{
    const struct sc_params *p = &r->params;
    const enum sc_status status = check_empty(r, BIT(NAME) | BIT(KEY) | BIT(VALUE));
    if (status != SC_OK)
        return status;
    if (r->has_covariance == NULL && !start_covariances(r))
        return no_memory(r);
    const size_t i = parameter_index(p, r->cell[NAME]), j = parameter_index(p, r->cell[KEY]);
    if (i == SIZE_MAX)
        return refuse(r, NAME, "is no parameter of this file");
    if (j == SIZE_MAX)
        return refuse(r, KEY, "is no parameter of this file");
    if (!has_error(&p->parameters[i]))
        return refuse(r, NAME, "counts as known and has no covariance");
    if (!has_error(&p->parameters[j]))
        return refuse(r, KEY, "counts as known and has no covariance");
    if (i > j)
        return refuse(r, KEY, "must not come before the other parameter of the pair");
    return take_covariance(r, i, j);
}

/* Begins a group; *group is set. */
static enum sc_status begin_group(struct reader *r)
{
    struct sc_params *p = &r->params;
    uint64_t points;
    for (size_t g = 0; g < p->group_count; g++)
        if (strcmp(p->groups[g].name, r->cell[NAME]) == 0)
            return refuse(r, NAME, "is given twice");
    if (p->group_count == 0 && strcmp(r->cell[NAME], SC_PARAMS_POOLED) != 0)
        return refuse(r, NAME, "comes before *, the group of all points");
    if (!parse_integer(r->cell[VALUE], &points) || points > SIZE_MAX)
        return refuse(r, VALUE, "is not a whole number from 0 on");
    p->groups[p->group_count++] = (struct sc_params_group){ .name = r->cell[NAME],
                                                            .points = (size_t)points,
                                                            .first = p->quantile_count };
    return SC_OK;
}

static enum sc_status read_conformal(struct reader *r)
{
    struct sc_params *p = &r->params;
    struct sc_params_quantile q;
    const bool is_head = strcmp(r->cell[KEY], "points") == 0;
    enum sc_status status =
        check_empty(r, BIT(NAME) | BIT(KEY) | BIT(VALUE) | (is_head ? 0 : BIT(KIND)));
    if (status == SC_OK)
        status = take_name(r, NAME);
    if (status != SC_OK)
        return status;
    if (is_head)
        return begin_group(r);
    struct sc_params_group *group = p->group_count > 0 ? &p->groups[p->group_count - 1] : NULL;
    if (group == NULL || strcmp(group->name, r->cell[NAME]) != 0)
        return refuse(r, NAME, "has no row of its number of points before its levels");
    if (!parse_number(r->cell[KEY], &q.level) || !(q.level > 0.0 && q.level < 1.0))
        return refuse(r, KEY, "is neither points nor a level between 0 and 1");
    q.student = strcmp(r->cell[KIND], student) == 0;
    if (!q.student && *r->cell[KIND] != '\0')
        return refuse(r, KIND, "is neither empty nor student");
    if (!q.student && sc_conformal_needed(q.level) > group->points)
        return refuse(r, KEY, "is a level that needs more points");
    status = take_number(r, VALUE, &q.quantile);
    if (status != SC_OK)
        return status;
    if (!(q.quantile >= 0.0))
        return refuse(r, VALUE, "must not be below 0");
    const size_t before = p->quantile_count > 0 ? p->quantile_count - 1 : 0;
    const struct sc_params_quantile *last = &p->quantiles[before];
    if (group->count > 0 && !(q.level > last->level))
        return refuse(r, KEY, q.level < last->level ? "is below the level before it"
                                                    : "is given twice");
    if (group->count > 0 && q.quantile < last->quantile)
        return refuse(r, VALUE, "is below the quantile of a lower level");
    p->quantiles[p->quantile_count++] = q;
    group->count++;
    return SC_OK;
}

static bool is_choice_of(const struct sc_field *field, const char *name)
{
    for (size_t i = 0; i < field->choice_count; i++)
        if (strcmp(sc_field_choice(field, i)->name, name) == 0)
            return true;
    return false;
}

/* Against the field table, when there is one. */
static enum sc_status check_region(const struct reader *r, const struct sc_params_region *region)
{
    if (r->wanted->system == NULL)
        return SC_OK;
    const struct sc_field *field = sc_system_field(r->wanted->system, region->field);
    if (field == NULL || strcmp(field->key, region->field) != 0)
        return refuse(r, NAME, "is no field of this system");
    const bool is_choice = field->kind == SC_CHOICE || field->kind == SC_PRESET;
    if (is_choice && region->choice == NULL)
        return refuse(r, KEY, "should name a choice");
    if (!is_choice && region->choice != NULL)
        return refuse(r, KEY, "should be empty: the field is a number");
    if (field->kind == SC_CHOICE && !is_choice_of(field, region->choice))
        return refuse(r, KEY, "is not one of the choices");
    if (!is_choice && region->low < field->minimum)
        return refuse(r, LOW, "is outside what the field may be");
    if (!is_choice && region->high > field->maximum)
        return refuse(r, HIGH, "is outside what the field may be");
    return SC_OK;
}

static enum sc_status read_region(struct reader *r)
{
    struct sc_params *p = &r->params;
    struct sc_params_region region = { .field = r->cell[NAME], .low = (double)NAN,
                                       .high = (double)NAN };
    const bool is_range = *r->cell[KEY] == '\0';
    enum sc_status status =
        check_empty(r, BIT(NAME) | (is_range ? BIT(LOW) | BIT(HIGH) : BIT(KEY)));
    if (status == SC_OK)
        status = take_name(r, NAME);
    if (status == SC_OK && is_range)
        status = take_number(r, LOW, &region.low);
    if (status == SC_OK && is_range)
        status = take_number(r, HIGH, &region.high);
    if (status != SC_OK)
        return status;
    if (is_range && region.low > region.high)
        return refuse(r, LOW, "lies above the upper end");
    if (!is_range)
        region.choice = r->cell[KEY];
    for (size_t i = 0; i < p->region_count; i++) {
        const struct sc_params_region *other = &p->regions[i];
        if (strcmp(other->field, region.field) == 0 &&
            (is_range || other->choice == NULL || strcmp(other->choice, region.choice) == 0))
            return refuse(r, NAME, "is given twice");
    }
    status = check_region(r, &region);
    if (status != SC_OK)
        return status;
    if (r->wanted->system != NULL)
        region.of = sc_system_field(r->wanted->system, region.field);
    p->regions[p->region_count++] = region;
    return status;
}

static enum sc_status read_score(struct reader *r)
{
    struct sc_params *p = &r->params;
    struct sc_params_score score = { .name = r->cell[NAME], .key = r->cell[KEY],
                                     .note = r->cell[NOTE] };
    enum sc_status status = check_empty(r, BIT(NAME) | BIT(KEY) | BIT(VALUE) | BIT(NOTE));
    if (status == SC_OK)
        status = take_name(r, NAME);
    if (status == SC_OK)
        status = take_number(r, VALUE, &score.value);
    if (status != SC_OK)
        return status;
    for (size_t i = 0; i < p->score_count; i++)
        if (strcmp(p->scores[i].name, score.name) == 0 && strcmp(p->scores[i].key, score.key) == 0)
            return refuse(r, NAME, "is given twice");
    p->scores[p->score_count++] = score;
    return SC_OK;
}

/* In the order in which they stand in the file. */
static const struct {
    const char *name;
    enum sc_status (*read)(struct reader *r);
} records[] = {
    { "meta", read_meta },           { "parameter", read_parameter },
    { "covariance", read_covariance }, { "conformal", read_conformal },
    { "region", read_region },       { "score", read_score },
};
enum { RECORDS = sizeof records / sizeof records[0] };

/* --- Reading: the whole ---------------------------------------------------------------------- */

/* Reads the row in r->cell; *place is that of the record before it. */
static enum sc_status read_record(struct reader *r, size_t *place)
{
    size_t record = 0;
    while (record < RECORDS && strcmp(r->cell[RECORD], records[record].name) != 0)
        record++;
    if (record == RECORDS)
        return refuse(r, RECORD, "is no record of a calibration file");
    if (r->hash != NULL)
        return refuse(r, RECORD, strcmp(r->cell[NAME], "hash") == 0
                                     ? "hash is given twice" : "comes after the hash");
    const bool is_hash = record == 0 && strcmp(r->cell[NAME], "hash") == 0;
    if (record < *place && !is_hash)
        return refuse(r, RECORD, "stands in the wrong order");
    *place = is_hash ? RECORDS : record;
    return records[record].read(r);
}

static enum sc_status read_rows(struct reader *r)
{
    const struct sc_csv_batch *batch = &r->params.text;
    size_t place = 0;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct sc_csv_row *row = &batch->rows[i];
        r->line = row->line;
        if (row->field_count != COLUMNS)
            return refuse_at(r->error, SC_EDOMAIN, row->line, NULL, NULL,
                             "does not have the 9 cells of the header");
        for (size_t c = 0; c < COLUMNS; c++) {
            const struct sc_csv_field *cell = &batch->fields[row->first_field + c];
            r->cell[c] = cell->text;
            if (cell->length > TEXT_MAX)
                return refuse(r, (enum column)c, "is longer than 1000 bytes");
            for (const char *byte = cell->text; *byte != '\0'; byte++)
                if ((unsigned char)*byte < 0x20 || *byte == 0x7f)
                    return refuse(r, (enum column)c, "has a control character in it");
        }
        const enum sc_status status = read_record(r, &place);
        if (status != SC_OK)
            return status;
    }
    return SC_OK;
}
_Static_assert(TEXT_MAX == 1000 && COLUMNS == 9, "the reasons name them");

/* Arrays for as many records as there are rows. */
static bool allocate(struct sc_params *p)
{
    const size_t n = p->text.row_count + 1;
    p->parameters = calloc(n, sizeof *p->parameters);
    p->groups = calloc(n, sizeof *p->groups);
    p->quantiles = calloc(n + 1, sizeof *p->quantiles);
    p->regions = calloc(n, sizeof *p->regions);
    p->scores = calloc(n, sizeof *p->scores);
    return p->parameters != NULL && p->groups != NULL && p->quantiles != NULL &&
           p->regions != NULL && p->scores != NULL;
}

/*
 * Whether the correlations can be those of anything: Cholesky's factor exists, up
 * to rounding (Golub & Van Loan, Matrix Computations, section 4.2).  Overwrites a.
 */
static bool is_semidefinite(double *a, size_t m)
{
    for (size_t j = 0; j < m; j++) {
        double pivot = a[j * m + j] + definite_slack * (double)m;
        for (size_t k = 0; k < j; k++)
            pivot -= a[j * m + k] * a[j * m + k];
        if (!(pivot > 0.0))
            return false;
        a[j * m + j] = sqrt(pivot);
        for (size_t i = j + 1; i < m; i++) {
            for (size_t k = 0; k < j; k++)
                a[i * m + j] -= a[i * m + k] * a[j * m + k];
            a[i * m + j] /= a[j * m + j];
        }
    }
    return true;
}

static enum sc_status check_covariance(struct reader *r)
{
    const struct sc_params *p = &r->params;
    const size_t m = p->parameter_count;
    if (r->has_covariance == NULL && !start_covariances(r))
        return no_memory(r);
    double *correlation = calloc(m * m + 1, sizeof *correlation);
    if (correlation == NULL)
        return no_memory(r);
    enum sc_status status = SC_OK;
    for (size_t i = 0; i < m && status == SC_OK; i++)
        for (size_t j = 0; j < m && status == SC_OK; j++) {
            const struct sc_params_parameter *a = &p->parameters[i], *b = &p->parameters[j];
            correlation[i * m + j] = i == j;
            if (!has_error(a) || !has_error(b))
                continue;
            if (!r->has_covariance[i * m + j])
                status = refuse_at(r->error, SC_EMISSING, 0, columns[VALUE], a->name,
                                   "lacks a covariance");
            correlation[i * m + j] = p->covariance[i * m + j] / a->std_error / b->std_error;
        }
    if (status == SC_OK && !is_semidefinite(correlation, m))
        status = refuse_at(r->error, SC_EDOMAIN, r->first_covariance_line, columns[VALUE], NULL,
                           "begins covariances that cannot all be true: not positive semidefinite");
    free(correlation);
    return status;
}

static enum sc_status check_complete(struct reader *r)
{
    struct sc_params *p = &r->params;
    for (size_t m = 0; m < METAS; m++)
        if (!r->has_meta[m])
            return refuse_at(r->error, SC_EMISSING, 0, NULL, NULL, metas[m].missing);
    for (size_t i = 0; r->wanted->parameters != NULL && i < r->wanted->parameter_count; i++)
        if (parameter_index(p, r->wanted->parameters[i]) == SIZE_MAX)
            return refuse_at(r->error, SC_EMISSING, 0, columns[NAME], r->wanted->parameters[i],
                             "is a parameter that is missing");
    const enum sc_status status = check_covariance(r);
    if (status != SC_OK)
        return status;
    if (p->group_count == 0)
        return refuse_at(r->error, SC_EMISSING, 0, NULL, NULL, "has no conformal group *");
    if (r->hash == NULL)
        return refuse_at(r->error, SC_EMISSING, 0, NULL, NULL,
                         "has no meta hash: its end is missing");
    char hash[NUMBER_SIZE];
    hash_text(hash, sc_params_hash(p));
    if (strcmp(hash, r->hash) != 0)
        return refuse_at(r->error, SC_EDOMAIN, r->hash_line, columns[VALUE], r->hash,
                         "does not fit the rows above: they were changed");
    return SC_OK;
}

static enum sc_status csv_fault(struct reader *r, enum sc_csv_status status,
                                const struct sc_csv_error *fault)
{
    refuse_at(r->error, SC_EDOMAIN, fault->line, NULL, NULL, sc_csv_reason(status));
    if (r->error != NULL)
        r->error->system_errno = fault->system_errno;
    return status == SC_CSV_ENOMEMORY ? SC_ENOSPACE : SC_EDOMAIN;
}

static enum sc_status check_header(struct reader *r, const struct sc_csv *csv)
{
    static const char foreign[] = "is not the header of a calibration file: "
                                  "record,name,key,value,se,low,high,kind,note";
    bool same = sc_csv_column_count(csv) == COLUMNS;
    for (size_t c = 0; c < COLUMNS && same; c++)
        same = strcmp(sc_csv_columns(csv)[c].text, columns[c]) == 0;
    return same ? SC_OK : refuse_at(r->error, SC_EDOMAIN, sc_csv_header_line(csv), NULL,
                                    sc_csv_columns(csv)[0].text, foreign);
}

/* All rows into params.text. */
static enum sc_status read_text(struct reader *r, FILE *file, const char *name)
{
    const struct sc_csv_options options = { .delimiter = ',', .decimal = '.' };
    struct sc_csv *csv = NULL;
    struct sc_csv_error fault = { 0 };
    struct sc_csv_batch rest = { 0 };
    enum sc_csv_status csv_status = sc_csv_create(&csv, file, name, &options, &fault);
    enum sc_status status = SC_OK;
    if (csv_status != SC_CSV_OK) {
        status = csv_fault(r, csv_status, &fault);
        goto done;
    }
    status = check_header(r, csv);
    if (status != SC_OK)
        goto done;
    csv_status = sc_csv_read(csv, &r->params.text, SC_PARAMS_ROWS_MAX, &fault);
    if (csv_status == SC_CSV_OK)
        csv_status = sc_csv_read(csv, &rest, 1, &fault);
    if (csv_status == SC_CSV_OK)
        status = refuse_at(r->error, SC_ENOSPACE, rest.rows[0].line, NULL, NULL,
                           "is more than a calibration file may have");
    else if (csv_status != SC_CSV_END)
        status = csv_fault(r, csv_status, &fault);
done:
    sc_csv_batch_fini(&rest);
    sc_csv_destroy(csv);
    return status;
}

enum sc_status sc_params_read(struct sc_params *params, FILE *file, const char *name,
                              const struct sc_params_wanted *wanted, struct sc_params_error *error)
{
    const struct sc_params_wanted anything = { 0 };
    struct reader r = { .wanted = wanted != NULL ? wanted : &anything, .error = error };
    enum sc_status status = SC_OK;
    locale_t before = (locale_t)0;
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        status = no_memory(&r);
        goto done;
    }
    before = uselocale(c_locale);
    status = read_text(&r, file, name);
    if (status == SC_OK && !allocate(&r.params))
        status = no_memory(&r);
    if (status == SC_OK)
        status = read_rows(&r);
    if (status == SC_OK)
        status = check_complete(&r);
    uselocale(before);
    freelocale(c_locale);
done:
    free(r.has_covariance);
    if (status != SC_OK)
        sc_params_fini(&r.params);
    *params = r.params;
    return status;
}

void sc_params_fini(struct sc_params *params)
{
    free(params->parameters);
    free(params->covariance);
    free(params->groups);
    free(params->quantiles);
    free(params->regions);
    free(params->scores);
    sc_csv_batch_fini(&params->text);
    *params = (struct sc_params){ 0 };
}

/* Reads back what is to be written. */
static enum sc_status check_text(char *text, size_t length, struct sc_params_error *error)
{
    struct sc_params copy;
    FILE *file = fmemopen(text, length, "r");
    if (file == NULL)
        return refuse_at(error, SC_ENOSPACE, 0, NULL, NULL, "needs more memory than there is");
    const enum sc_status status = sc_params_read(&copy, file, "", NULL, error);
    fclose(file);
    if (status == SC_OK)
        sc_params_fini(&copy);
    else if (error != NULL)
        error->line = 0;
    return status;
}

static enum sc_status write_failed(struct sc_params_error *error)
{
    const int system_errno = errno;
    refuse_at(error, SC_ENOSPACE, 0, NULL, NULL, "could not be written");
    if (error != NULL)
        error->system_errno = system_errno;
    return SC_ENOSPACE;
}

enum sc_status sc_params_write(const struct sc_params *params, FILE *file,
                               struct sc_params_error *error)
{
    char *text = NULL, hash[NUMBER_SIZE];
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL)
        return refuse_at(error, SC_ENOSPACE, 0, NULL, NULL, "needs more memory than there is");
    struct sink sink = put_all(params, memory);
    hash_text(hash, sink.hash);
    put_row(&sink, &(struct row_text){ { [RECORD] = "meta", [NAME] = "hash", [VALUE] = hash } });
    enum sc_status status = SC_OK;
    if (fclose(memory) != 0 || sink.failed)
        status = refuse_at(error, SC_ENOSPACE, 0, NULL, NULL, "needs more memory than there is");
    else if (sink.too_long)
        status = refuse_at(error, SC_EDOMAIN, 0, NULL, NULL, "has a text longer than 1000 bytes");
    if (status == SC_OK)
        status = check_text(text, length, error);
    errno = 0;
    if (status == SC_OK && (fwrite(text, 1, length, file) != length || fflush(file) != 0))
        status = write_failed(error);
    free(text);
    return status;
}

/* --- Using it ------------------------------------------------------------------------------- */

static const struct sc_params_group *find_group(const struct sc_params *p, const char *name,
                                                double level)
{
    for (size_t g = 0; name != NULL && g < p->group_count; g++) {
        const struct sc_params_group *group = &p->groups[g];
        if (strcmp(group->name, name) == 0 && group->count > 0 &&
            p->quantiles[group->first].level <= level &&
            p->quantiles[group->first + group->count - 1].level >= level)
            return group;
    }
    return p->group_count > 0 ? &p->groups[0] : NULL;
}

enum sc_status sc_params_quantile(const struct sc_params *params, const char *group, double level,
                                  double *quantile, struct sc_error *error)
{
    const struct sc_params_group *found = find_group(params, group, level);
    const struct sc_params_quantile *q = found != NULL ? &params->quantiles[found->first] : NULL;
    const size_t count = found != NULL ? found->count : 0;
    if (count == 0 || !(level >= q[0].level && level <= q[count - 1].level)) {
        if (error != NULL)
            *error = (struct sc_error){
                "level", level,
                count > 0 && level < q[0].level
                    ? "is below the levels of the calibration"
                    : "is above what the calibration set aside enough samples for" };
        return SC_ERANGE;
    }
    size_t k = 0;
    while (q[k].level < level)
        k++;
    if (q[k].level == level) {
        *quantile = q[k].quantile;
        return SC_OK;
    }
    const double share = (level - q[k - 1].level) / (q[k].level - q[k - 1].level);
    *quantile = q[k - 1].quantile + share * (q[k].quantile - q[k - 1].quantile);
    return SC_OK;
}

/* Whether a region row speaks for the value of its field. */
static bool is_inside(const struct sc_params_region *region, const struct sc_field *field,
                      double value)
{
    if (region->choice != NULL)
        return field->kind != SC_CHOICE ||
               strcmp(sc_field_choice(field, (size_t)value)->name, region->choice) == 0;
    return value >= region->low - edge_slack * fabs(region->low) &&
           value <= region->high + edge_slack * fabs(region->high);
}

static const struct sc_field *field_of(const struct sc_params_region *region,
                                       const struct sc_system *system)
{
    return region->of != NULL ? region->of : sc_system_field(system, region->field);
}

/* Regions of a field need not stand together: one that an earlier row is of has
 * been judged. */
static bool is_judged(const struct sc_params *params, const struct sc_system *system,
                      const struct sc_field *field, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (field_of(&params->regions[i], system) == field)
            return true;
    return false;
}

/* The first region from `row` on whose field the scenario has outside of all regions
 * of that field; region_count: none. */
static size_t outside_from(const struct sc_params *params, const struct sc_system *system,
                           const void *scenario, size_t row)
{
    const struct sc_field *settled = NULL; /* by an earlier row of the same field */
    for (size_t i = row; i < params->region_count; i++) {
        const struct sc_field *field = field_of(&params->regions[i], system);
        if (field == NULL || field == settled || field->kind == SC_PRESET || field->adds_alike)
            continue;
        const double value = sc_field_get(field, scenario);
        bool inside = isnan(value) || is_inside(&params->regions[i], field, value);
        for (size_t j = 0; j < params->region_count && !inside; j++)
            inside = field_of(&params->regions[j], system) == field &&
                     is_inside(&params->regions[j], field, value);
        if (!inside)
            return i;
        settled = field;
    }
    return params->region_count;
}

const struct sc_field *sc_params_outside(const struct sc_params *params,
                                         const struct sc_system *system, const void *scenario)
{
    const size_t row = outside_from(params, system, scenario, 0);
    return row < params->region_count ? field_of(&params->regions[row], system) : NULL;
}

const struct sc_field *sc_params_outside_next(const struct sc_params *params,
                                              const struct sc_system *system,
                                              const void *scenario, size_t *row)
{
    while (*row < params->region_count) {
        const size_t found = outside_from(params, system, scenario, *row);
        if (found == params->region_count)
            break;
        *row = found + 1;
        const struct sc_field *field = field_of(&params->regions[found], system);
        if (!is_judged(params, system, field, found))
            return field;
    }
    *row = params->region_count;
    return NULL;
}
