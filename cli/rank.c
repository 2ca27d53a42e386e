/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast rank: which policy wins a scenario, how surely, and where that changes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "crossover.h"
#include "product.h"
#include "ranking.h"
#include "sink.h"

/* Row of a choice that the others are measured against. */
static const char reference[] = "ideal";

/* Columns that no answer has. */
enum own { OWN_RANK, OWN_PROBABILITY, OWN_MARGIN, OWN_CHANGE, OWN_FROM, OWNS };
static const char *const own_names[] = {
    [OWN_RANK] = "rank",     [OWN_PROBABILITY] = "best_probability", [OWN_MARGIN] = "margin",
    [OWN_CHANGE] = "change", [OWN_FROM] = "from",
};
_Static_assert(sizeof own_names / sizeof own_names[0] == OWNS, "every own column has a name");

enum source { FROM_KEY, FROM_OVER, FROM_ANSWER, FROM_OWN };

/* Where the cells of a column come from: which sweep, answer or own column. */
struct origin {
    enum source source;
    size_t which;
};

struct rank {
    const struct options *options;
    struct contest contest;
    const struct sc_field *over;
    struct calibration *calibration;
    struct product product; /* of the other keys */
    size_t *winners;        /* of each point; SIZE_MAX: none */
    size_t crossing_key;    /* sweep along which changes are looked for, or SIZE_MAX */
    struct changes changes;
    struct selection selection; /* of answers */
    struct origin *origins;
    struct emit_column *columns;
    struct emit_cell *cells, *answers;
    char *names, *answer_names;
    size_t column_count, answer_count;
    struct setting *settings;
    struct standing *standings;
    size_t row_count, bad_rows, bad_points, unsolved; /* a bad point has no answer at all */
    size_t ties; /* points where all answers are alike */
    struct problem first_bad, first_unsolved;
    struct extrapolation extrapolation;
};

/* ---- what is ranked ---- */

static bool is_named(const struct sc_field *field)
{
    return field->kind == SC_CHOICE || field->kind == SC_PRESET;
}

static const char *key_at(unsigned long i, const void *context)
{
    const struct sc_system *system = context;
    return system->fields[i].key;
}

static void list_named(const struct sc_system *system, struct text *out)
{
    for (size_t i = 0; i < system->field_count; i++)
        if (is_named(&system->fields[i]))
            text_printf(out, "%s%s", out->length > 0 ? ", " : "", system->fields[i].key);
}

/* The key whose rows are ranked, or NULL with the reason. */
static const struct sc_field *find_over(const struct sc_system *system, const char *key,
                                        struct problem *problem)
{
    const struct sc_field *over = sc_system_field(system, key != NULL ? key : "policy");
    if (over != NULL && is_named(over))
        return over;
    const char *nearest = over == NULL && key != NULL
                              ? problem_nearest(key, key_at, system->field_count, system)
                              : NULL;
    struct text named = { 0 };
    list_named(system, &named);
    const char *names = named.length > 0 && !named.failed ? named.bytes : "none";
    if (nearest != NULL)
        (void)problem_set(problem, "--over: '%.60s' is not a key of %s: did you mean %s?", key,
                          system->name, nearest);
    else if (key == NULL)
        (void)problem_set(problem, "%s has no policies to rank: --over KEY ranks the rows of "
                                   "another key (%s)", system->name, names);
    else
        (void)problem_set(problem, "--over: expected a key whose values have names (%s), got "
                                   "'%.60s'", names, key);
    text_fini(&named);
    return NULL;
}

/* The key that a word key=VALUES sets, or NULL. */
static const struct sc_field *field_of(const struct rank *rank, const char *word)
{
    char key[64];
    struct binding binding;
    const size_t length = strcspn(word, "=");
    if (word[length] == '\0' || length >= sizeof key)
        return NULL;
    memcpy(key, word, length);
    key[length] = '\0';
    return resolver_bind(rank->contest.resolver, key, &binding, NULL) ? binding.field : NULL;
}

static bool is_reference(const struct setting *setting)
{
    return strcmp(setting_name(setting), reference) == 0;
}

static void drop_reference(struct sweep *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (!is_reference(&rows->values[i]))
            rows->values[kept++] = rows->values[i];
    rows->count = kept;
}

static bool check_rows(const struct rank *rank, const char *word, struct problem *problem)
{
    const struct sweep *rows = &rank->contest.rows;
    bool found = false;
    for (size_t i = 0; i < rows->count; i++) {
        const struct setting *a = &rows->values[i];
        found = found || is_reference(a);
        for (const struct setting *b = rows->values; b < a; b++)
            if (a->preset == b->preset && a->value == b->value)
                return problem_set(problem, "%s: %s is given twice", word, setting_name(a));
    }
    if (!found && rank->options->with_ideal != NULL)
        return problem_set(problem, "--with-ideal: %s has no %s", word, reference);
    return rows->count > 0 ||
           problem_set(problem, "%s: expected something to rank beside %s", word, reference);
}

/* All rows unless some are named; the reference only where it was asked for by name. */
static bool read_rows(struct rank *rank, const char *word, struct problem *problem)
{
    struct text all = { 0 };
    if (word == NULL && rank->over->curve != NULL)
        return problem_set(problem, "--over %s: expected the files to rank: %s=FILE,FILE",
                           rank->over->key, rank->over->key);
    text_printf(&all, "%s=all", rank->over->key);
    bool fine = !all.failed || problem_set(problem, "out of memory");
    const char *given = word != NULL ? word : all.bytes;
    fine = fine && sweep_parse(rank->contest.resolver, given, &rank->contest.rows, problem);
    const bool every = fine && strcmp(strchr(given, '=') + 1, "all") == 0;
    if (every && rank->options->with_ideal == NULL)
        drop_reference(&rank->contest.rows);
    fine = fine && check_rows(rank, given, problem);
    text_fini(&all);
    return fine;
}

/* Takes the word about the ranked key out of words. */
static bool read_words(struct rank *rank, const char **words, size_t *count,
                       struct problem *problem)
{
    const char *over = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        const struct sc_field *field = field_of(rank, words[i]);
        if (field == NULL || field != rank->over) {
            words[kept++] = words[i];
            continue;
        }
        if (over != NULL)
            return problem_set(problem, "%s: %s is given twice", words[i], field->key);
        over = words[i];
    }
    *count = kept;
    return read_rows(rank, over, problem) &&
           product_make(rank->contest.resolver, words, kept, &rank->product, problem);
}

/* ---- along which key the winner changes ---- */

static bool is_swept_number(const struct sweep *sweep)
{
    return sweep->count > 1 && !is_named(sweep->field);
}

static bool is_range(const char *word)
{
    const char *const values = strchr(word, '=');
    return values != NULL && strchr(values, ':') != NULL;
}

/* By default one key given a range; if asked for, one given a list will do. */
static bool find_crossing_key(struct rank *rank, const char *const *words, struct problem *problem)
{
    const bool wanted = rank->options->crossover != NULL;
    size_t ranges = 0, numbers = 0, range = SIZE_MAX, number = SIZE_MAX;
    rank->crossing_key = SIZE_MAX;
    if (rank->options->no_crossover != NULL)
        return !wanted || problem_set(problem, "--crossover and --no-crossover contradict each "
                                               "other");
    for (size_t i = 0; i < rank->product.count; i++) {
        if (!is_swept_number(&rank->product.sweeps[i]))
            continue;
        numbers++;
        number = i;
        if (is_range(words[i])) {
            ranges++;
            range = i;
        }
    }
    if (ranges == 1)
        rank->crossing_key = range;
    else if (wanted && numbers == 1)
        rank->crossing_key = number;
    else if (wanted)
        return problem_set(problem, "--crossover: expected one number given as a range "
                                    "low:high:step, got %zu", numbers);
    return true;
}

/* ---- columns ---- */

static bool is_key(const char *name, const void *context)
{
    const struct rank *rank = context;
    struct binding binding;
    return resolver_bind(rank->contest.resolver, name, &binding, NULL);
}

static bool is_shown_key(const char *name, const void *context)
{
    const struct rank *rank = context;
    for (size_t i = 0; i < rank->column_count; i++)
        if (rank->origins[i].source != FROM_ANSWER && strcmp(rank->columns[i].name, name) == 0)
            return true;
    return false;
}

static bool has_name(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static void add_name(struct text *list, const char *name)
{
    if (!has_name(list->bytes, name))
        text_printf(list, "%s%s", list->length > 0 ? "," : "", name);
}

/* What is shown when nothing is asked for, or everything is. */
static void default_columns(const struct rank *rank, bool all, struct text *list)
{
    static const char *const common[] = { "time_s", "bound" };
    const struct sc_system *system = rank->contest.system;
    add_name(list, system->metrics[0].column);
    for (size_t i = 0; rank->calibration != NULL && i < CALIBRATION_METRICS; i++)
        if (all || calibration_metrics[i].brief)
            add_name(list, calibration_metrics[i].column);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (sc_system_metric(system, common[i]) != NULL)
            add_name(list, common[i]);
    add_name(list, rank->contest.by->column);
    for (size_t i = 0; all && i < system->metric_count; i++)
        add_name(list, system->metrics[i].column);
    if (rank->contest.spreads != NULL)
        add_name(list, own_names[OWN_PROBABILITY]);
    add_name(list, own_names[OWN_MARGIN]);
}

static size_t find_own(const char *name, size_t length)
{
    for (size_t i = 0; i < OWNS; i++)
        if (strncmp(own_names[i], name, length) == 0 && own_names[i][length] == '\0')
            return i;
    return OWNS;
}

static void add_column(struct rank *rank, enum source source, size_t which,
                       struct emit_column column)
{
    rank->origins[rank->column_count] = (struct origin){ source, which };
    rank->columns[rank->column_count++] = column;
}

static bool has_own(const struct rank *rank, size_t own)
{
    for (size_t i = 0; i < rank->column_count; i++)
        if (rank->origins[i].source == FROM_OWN && rank->origins[i].which == own)
            return true;
    return false;
}

static bool check_own(const struct rank *rank, size_t own, struct problem *problem)
{
    if (has_own(rank, own))
        return problem_set(problem, "--columns: %s is there already", own_names[own]);
    if (own == OWN_CHANGE || own == OWN_FROM)
        return problem_set(problem, "--columns: %s comes with --crossover", own_names[own]);
    if (own == OWN_PROBABILITY && rank->contest.spreads == NULL)
        return problem_set(problem, "--columns: best_probability needs a calibration and a "
                                    "ranking by %s, time_s or performance",
                           rank->contest.system->metrics[0].column);
    return true;
}

/* The own columns among those of the list, and where the answers stand between them. */
static bool add_listed(struct rank *rank, const char *list, struct problem *problem)
{
    size_t answer = 0;
    for (const char *name = list;; name++) {
        const size_t length = strcspn(name, ",");
        const size_t own = find_own(name, length);
        if (own == OWNS)
            add_column(rank, FROM_ANSWER, answer++, (struct emit_column){ .name = "" });
        else if (check_own(rank, own, problem))
            add_column(rank, FROM_OWN, own, (struct emit_column){ .name = own_names[own] });
        else
            return false;
        name += length;
        if (*name == '\0')
            return true;
    }
}

/* The list without own columns, as selection_make() takes it; how many are left. */
static size_t list_answers(const char *list, struct text *out)
{
    size_t count = 0;
    for (const char *name = list;; name++) {
        const size_t length = strcspn(name, ",");
        if (find_own(name, length) == OWNS) {
            text_add_string(out, count++ > 0 ? "," : "");
            text_add(out, name, length);
        }
        name += length;
        if (*name == '\0')
            return count;
    }
}

static void add_keys(struct rank *rank, bool table)
{
    for (size_t i = 0; i < rank->product.count; i++) {
        const struct sc_field *field = rank->product.sweeps[i].field;
        /* What is the same in every row only widens a table. */
        if ((table && rank->product.sweeps[i].count == 1) ||
            selection_has(&rank->selection, field))
            continue;
        add_column(rank, FROM_KEY, i,
                   (struct emit_column){
                       .name = field_column(field, rank->names + i * FIELD_COLUMN_MAX),
                       .dimension = field->dimension });
    }
    add_column(rank, FROM_OWN, OWN_RANK, (struct emit_column){ .name = own_names[OWN_RANK] });
    if (!selection_has(&rank->selection, rank->over))
        add_column(rank, FROM_OVER, 0, (struct emit_column){ .name = rank->over->key });
}

/* Answers can be fed back as scenarios: a metric never goes by the name of a key. */
static void name_answers(struct rank *rank, const struct emit_column *answers, bool table)
{
    for (size_t i = 0; i < rank->column_count; i++) {
        if (rank->origins[i].source != FROM_ANSWER)
            continue;
        const size_t which = rank->origins[i].which;
        rank->columns[i] = answers[which];
        if (rank->selection.items[which].metric != NULL)
            rank->columns[i].name =
                answer_name(answers[which].name, table ? is_shown_key : is_key, rank,
                            rank->answer_names + which * ANSWER_NAME_MAX);
    }
}

static bool reserve_columns(struct rank *rank, struct problem *problem)
{
    const size_t keys = rank->product.count, answers = rank->selection.count;
    const size_t most = keys + answers + OWNS + 3;
    rank->names = calloc(keys + 1, FIELD_COLUMN_MAX);
    rank->answer_names = calloc(answers + 1, ANSWER_NAME_MAX);
    rank->origins = calloc(most, sizeof *rank->origins);
    rank->columns = calloc(most, sizeof *rank->columns);
    rank->cells = calloc(most, sizeof *rank->cells);
    rank->answers = calloc(answers + 1, sizeof *rank->answers);
    return (rank->names != NULL && rank->answer_names != NULL && rank->origins != NULL &&
            rank->columns != NULL && rank->cells != NULL && rank->answers != NULL) ||
           problem_set(problem, "out of memory");
}

/* Headers, now that the columns are known. */
static bool head_answers(struct rank *rank, bool table, struct problem *problem)
{
    struct emit_column *headers = calloc(rank->selection.count + 1, sizeof *headers);
    if (headers == NULL)
        return problem_set(problem, "out of memory");
    selection_columns(&rank->selection, headers);
    name_answers(rank, headers, table);
    free(headers);
    return true;
}

/* The columns of a list a,b,c. */
static bool plan_list(struct rank *rank, const char *list, bool table, struct problem *problem)
{
    struct text answers = { 0 };
    const size_t count = list_answers(list, &answers);
    bool fine = !answers.failed || problem_set(problem, "out of memory");
    if (fine && count > 0)
        fine = selection_make(rank->contest.system, answers.length > 0 ? answers.bytes : "", table,
                              extra_of_calibration(rank->calibration), &rank->selection, problem);
    text_fini(&answers);
    if (!fine || !reserve_columns(rank, problem))
        return false;
    add_keys(rank, table);
    return add_listed(rank, list, problem) && head_answers(rank, table, problem);
}

static bool plan_columns(struct rank *rank, bool table, struct problem *problem)
{
    const char *wanted = rank->options->columns;
    if (wanted != NULL && strcmp(wanted, "all") != 0)
        return plan_list(rank, wanted, table, problem);
    struct text list = { 0 };
    default_columns(rank, wanted != NULL, &list);
    const bool fine = list.failed || list.bytes == NULL
                          ? problem_set(problem, "out of memory")
                          : plan_list(rank, list.bytes, table, problem);
    text_fini(&list);
    return fine;
}

/* Columns that depend on what was found: of changes (in a table only if there are any),
 * and of errors, where a row that is shown has one. */
static size_t final_columns(struct rank *rank, bool table)
{
    if (rank->crossing_key != SIZE_MAX && (!table || rank->changes.count > 0)) {
        add_column(rank, FROM_OWN, OWN_CHANGE, (struct emit_column){ .name = "change" });
        add_column(rank, FROM_OWN, OWN_FROM, (struct emit_column){ .name = "from" });
    }
    rank->columns[rank->column_count] = (struct emit_column){ .name = "error" };
    const size_t shown = rank->options->winners != NULL ? rank->bad_points : rank->bad_rows;
    return rank->column_count + (shown > 0 ? 1 : 0);
}

/* ---- rows ---- */

static struct emit_cell key_cell(const struct rank *rank, size_t key, const void *scenario)
{
    const struct setting *setting = &rank->settings[key];
    const char *name = setting_name(setting);
    /* What was counted in cycles is shown in seconds like all else. */
    return name != NULL        ? emit_string(name)
           : setting->deferred ? emit_number(sc_field_get(setting->field, scenario))
                               : emit_number(setting->value);
}

static struct emit_cell own_cell(const struct rank *rank, enum own own,
                                 const struct standing *standing, const struct change *change)
{
    static const char *const kinds[] = { [CHANGE_CROSSOVER] = "crossover", [CHANGE_JUMP] = "jump" };
    const double place = (double)standing->rank;
    switch (own) {
    case OWN_RANK:
        return standing->rank > 0 ? emit_number(place) : emit_string(NULL);
    case OWN_PROBABILITY:
        return emit_number(standing->probability);
    case OWN_MARGIN:
        return emit_number(standing->margin);
    case OWN_CHANGE:
        return emit_string(change != NULL ? kinds[change->kind] : NULL);
    case OWN_FROM:
        return emit_string(change != NULL ? setting_name(&rank->contest.rows.values[change->from])
                                          : NULL);
    case OWNS:
        break;
    }
    return emit_string(NULL);
}

static bool write_row(struct rank *rank, struct sink *sink, const struct standing *standing,
                      const struct change *change, struct problem *problem)
{
    const bool fine = standing->rank > 0;
    if (fine)
        selection_cells(&rank->selection, standing->scenario, &standing->answer, rank->answers);
    for (size_t i = 0; i < rank->column_count; i++) {
        const struct origin *origin = &rank->origins[i];
        switch (origin->source) {
        case FROM_KEY:
            rank->cells[i] = key_cell(rank, origin->which, standing->scenario);
            break;
        case FROM_OVER:
            rank->cells[i] = emit_string(setting_name(&rank->contest.rows.values[standing->row]));
            break;
        case FROM_ANSWER:
            rank->cells[i] = fine ? rank->answers[origin->which] : emit_string(NULL);
            break;
        case FROM_OWN:
            rank->cells[i] = own_cell(rank, (enum own)origin->which, standing, change);
            break;
        }
    }
    rank->cells[rank->column_count] = emit_string(fine ? NULL : standing->problem.text);
    return sink_row(sink, rank->cells, problem);
}

/* The ranking, or the first of it, or who is ahead from a change on. */
static bool write_point(struct rank *rank, struct sink *sink, const struct change *change,
                        struct problem *problem)
{
    size_t answered, first = 0;
    if (!contest_rank(&rank->contest, rank->settings, rank->product.count,
                      has_own(rank, OWN_PROBABILITY), rank->standings, &answered, problem))
        return false;
    while (change != NULL && rank->standings[first].row != change->to)
        first++;
    const bool one = rank->options->winners != NULL || change != NULL;
    const size_t end = one ? first + 1 : rank->contest.rows.count;
    for (size_t i = first; i < end; i++)
        if (!write_row(rank, sink, &rank->standings[i], change, problem))
            return false;
    return true;
}

static bool write_all(struct rank *rank, struct sink *sink, struct problem *problem)
{
    const struct change *change = rank->changes.items;
    const struct change *end = change != NULL ? change + rank->changes.count : NULL;
    for (size_t point = 0; point < rank->product.rows; point++) {
        product_row(&rank->product, point, rank->settings);
        if (!write_point(rank, sink, NULL, problem))
            return false;
        for (; change != end && change->point == point; change++) {
            rank->settings[rank->crossing_key].value = change->value;
            if (!write_point(rank, sink, change, problem))
                return false;
        }
    }
    return true;
}

/* ---- the whole ---- */

static bool find_winners(struct rank *rank, struct problem *problem)
{
    for (size_t point = 0; point < rank->product.rows; point++) {
        size_t answered;
        product_row(&rank->product, point, rank->settings);
        if (!contest_rank(&rank->contest, rank->settings, rank->product.count, false,
                          rank->standings, &answered, problem))
            return false;
        for (size_t i = 0; i < answered; i++)
            extrapolation_add(&rank->extrapolation, rank->calibration,
                              rank->standings[i].scenario, &rank->standings[i].answer);
        rank->winners[point] = answered > 0 ? rank->standings[0].row : SIZE_MAX;
        rank->bad_points += answered > 0 ? 0 : 1;
        rank->ties += answered > 1 && standing_ties(&rank->standings[0],
                                                    &rank->standings[answered - 1]);
        rank->row_count += rank->contest.rows.count;
        if (answered < rank->contest.rows.count && rank->bad_rows == 0)
            rank->first_bad = rank->standings[answered].problem;
        rank->bad_rows += rank->contest.rows.count - answered;
    }
    return true;
}

/* "buffer from 8 MB to 16 MB: REASON" */
static void note_unsolved(struct rank *rank, const struct stretch *stretch,
                          const struct problem *reason)
{
    const struct setting *key = &rank->settings[rank->crossing_key];
    struct text low = { 0 }, high = { 0 };
    const enum sc_dimension dimension = key->deferred ? SC_NUMBER : key->field->dimension;
    emit_quantity(stretch->low, dimension, 6, &low);
    emit_quantity(stretch->high, dimension, 6, &high);
    if (rank->unsolved++ == 0)
        (void)problem_set(&rank->first_unsolved, "%s from %s to %s: %s", key->field->key,
                          low.failed ? "?" : low.bytes, high.failed ? "?" : high.bytes,
                          reason->text);
    text_fini(&low);
    text_fini(&high);
}

/* Between a point, the at-th along the key, and the next one. */
static bool find_change(struct rank *rank, size_t point, size_t next, size_t at,
                        struct problem *problem)
{
    const struct sweep *sweep = &rank->product.sweeps[rank->crossing_key];
    const size_t first = rank->winners[point], last = rank->winners[next];
    struct problem reason;
    if (first == last || first == SIZE_MAX || last == SIZE_MAX)
        return true;
    if (sweep->values[at].deferred != sweep->values[at + 1].deferred)
        return problem_set(problem, "--crossover: expected %s all in cycles, or nothing of it",
                           sweep->field->key);
    product_row(&rank->product, point, rank->settings);
    const struct stretch stretch = {
        .settings = rank->settings, .count = rank->product.count, .key = rank->crossing_key,
        .low = sweep->values[at].value, .high = sweep->values[at + 1].value,
        .first = first, .last = last, .point = point, .scratch = rank->standings,
    };
    if (!crossover_find(&rank->contest, &stretch, &rank->changes, &reason))
        note_unsolved(rank, &stretch, &reason);
    return true;
}

/* In the order of the points. */
static bool find_changes(struct rank *rank, struct problem *problem)
{
    const size_t values = rank->product.sweeps[rank->crossing_key].count;
    size_t stride = 1;
    for (size_t i = rank->crossing_key + 1; i < rank->product.count; i++)
        stride *= rank->product.sweeps[i].count;
    for (size_t block = 0; block < rank->product.rows; block += values * stride)
        for (size_t at = 0; at + 1 < values; at++)
            for (size_t i = 0; i < stride; i++) {
                const size_t point = block + at * stride + i;
                if (!find_change(rank, point, point + stride, at, problem))
                    return false;
            }
    return true;
}

/* Probabilities hang on the intervals too. */
static bool wants_note(const struct rank *rank)
{
    const char *columns = rank->options->columns;
    if (columns != NULL && (strcmp(columns, "all") == 0 || has_name(columns, "extrapolated")))
        return false;
    return has_own(rank, OWN_PROBABILITY) || selection_wants_note(&rank->selection, columns);
}

static void print_ties(const struct rank *rank)
{
    struct problem note;
    if (rank->ties == 0)
        return;
    if (rank->product.rows == 1)
        (void)problem_set(&note, "%s makes no difference here: all answers are alike",
                          rank->over->key);
    else
        (void)problem_set(&note, "%s makes no difference in %zu of %zu scenarios: all answers "
                                 "are alike there", rank->over->key, rank->ties,
                          rank->product.rows);
    problem_print(&note);
}

static int report(const struct rank *rank)
{
    struct problem problem;
    print_ties(rank);
    if (wants_note(rank))
        extrapolation_print(&rank->extrapolation, rank->row_count);
    if (rank->bad_rows > 0) {
        (void)problem_set(&problem, "%zu of %zu scenarios have no answer; the first: %s",
                          rank->bad_rows, rank->row_count, rank->first_bad.text);
        problem_print(&problem);
    }
    if (rank->unsolved > 0) {
        (void)problem_set(&problem, "%zu change%s of the winner %s not found; the first: %s",
                          rank->unsolved, rank->unsolved == 1 ? "" : "s",
                          rank->unsolved == 1 ? "was" : "were", rank->first_unsolved.text);
        problem_print(&problem);
    }
    /* Every point that was asked for may have its answer. */
    const bool fails = rank->unsolved > 0 && rank->options->crossover != NULL;
    return rank->bad_rows > 0 || fails ? EXIT_NO : EXIT_FINE;
}

static int run_rank(struct rank *rank, struct emit_style *style)
{
    struct problem problem;
    struct sink sink;
    const bool table = !sink_streams(style);
    style->bar = false;
    rank->settings = calloc(rank->product.count + 1, sizeof *rank->settings);
    rank->standings = calloc(rank->contest.rows.count, sizeof *rank->standings);
    rank->winners = calloc(rank->product.rows, sizeof *rank->winners);
    if (rank->settings == NULL || rank->standings == NULL || rank->winners == NULL)
        return command_fail((problem_set(&problem, "out of memory"), &problem));
    if (!plan_columns(rank, table, &problem) || !find_winners(rank, &problem))
        return command_fail(&problem);
    if (rank->bad_rows == rank->row_count)
        return command_fail(&rank->first_bad);
    if (rank->crossing_key != SIZE_MAX && !find_changes(rank, &problem))
        return command_fail(&problem);
    const size_t columns = final_columns(rank, table);
    if (!sink_open(&sink, style, rank->columns, columns, rank->options->output, &problem))
        return command_fail(&problem);
    bool fine = write_all(rank, &sink, &problem);
    if (fine)
        fine = sink_close(&sink, &problem);
    else
        sink_abandon(&sink);
    return fine ? report(rank) : command_fail(&problem);
}

static void rank_fini(struct rank *rank)
{
    contest_fini(&rank->contest);
    product_fini(&rank->product);
    selection_fini(&rank->selection);
    free(rank->winners);
    free(rank->changes.items);
    free(rank->origins);
    free(rank->columns);
    free(rank->cells);
    free(rank->answers);
    free(rank->names);
    free(rank->answer_names);
    free(rank->settings);
    free(rank->standings);
    calibration_destroy(rank->calibration);
    resolver_destroy(rank->contest.resolver);
}

/* Everything up to the first scenario. */
static bool prepare(struct rank *rank, const char **words, size_t count, struct catalog *catalog,
                    struct problem *problem)
{
    const struct options *options = rank->options;
    struct contest *contest = &rank->contest;
    rank->over = find_over(contest->system, options->over, problem);
    if (rank->over == NULL)
        return false;
    contest->resolver = resolver_create(contest->system, catalog, problem);
    if (contest->resolver == NULL ||
        !calibration_load(contest->system, catalog, options, &rank->calibration, problem))
        return false;
    calibration_apply(rank->calibration, contest->resolver);
    contest->calibration = rank->calibration;
    const char *by = options->by;
    if (by == NULL)
        by = sc_system_metric(contest->system, "time_s") != NULL
                 ? "time_s"
                 : contest->system->metrics[0].column;
    if (!contest_by(contest, by, problem) || !contest_spreads(contest, problem) ||
        !read_words(rank, words, &count, problem))
        return false;
    product_note_fitted(contest->resolver, &rank->product, &contest->rows);
    return find_crossing_key(rank, words, problem);
}

static int rank_run(const struct command *command, const struct options *options,
                    const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct emit_style style;
    struct rank rank = { .options = options };
    rank.contest.system = command_system(command, words, word_count, &problem);
    if (rank.contest.system == NULL || !sink_style(options, &style, &problem))
        return command_fail(&problem);
    const char **keys = calloc(word_count, sizeof *keys);
    if (keys == NULL)
        return command_fail((problem_set(&problem, "out of memory"), &problem));
    for (size_t i = 1; i < word_count; i++)
        keys[i - 1] = words[i];
    const int code = prepare(&rank, keys, word_count - 1, catalog, &problem)
                         ? run_rank(&rank, &style)
                         : command_fail(&problem);
    free(keys);
    rank_fini(&rank);
    return code;
}

static const struct option_row options[] = {
    OPTION(by, 0, "METRIC", "what decides, or min:METRIC or max:METRIC (default time_s)"),
    OPTION(over, 0, "KEY", "rank the rows of another choice or preset (default policy)"),
    OPTION(winners, 0, NULL, "only the best of each point of a sweep"),
    OPTION(crossover, 0, NULL, "where the winner changes (by itself when one key sweeps a range)"),
    { .name = "no-crossover", .offset = offsetof(struct options, no_crossover),
      .help = "only the points of the sweep" },
    { .name = "with-ideal", .offset = offsetof(struct options, with_ideal),
      .help = "the reference `ideal` too, unless it is named anyway" },
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(columns, 'c', "LIST", "columns behind rank and policy: a,b,c, or all"),
    OPTION(level, 0, "P", "probability that slowdown_lo .. slowdown_hi holds (default 0.9)"),
    OPTION(params, 0, "FILE", "calibration to use instead of the one that comes with the system"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default 6; in table and md 4)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default a point)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_rank = {
    .name = "rank",
    .usage = "SYSTEM [key=value ...] [options]",
    .summary = "which policy wins a scenario, how surely, and where that changes",
    .details =
        "All policies, or those of policy=a,b,c, best first; one ranking for each point when\n"
        "other keys sweep.  Equal ones share a rank.\n\n"
        "  stallcast rank hbf model=llama-70b\n"
        "  stallcast rank hbf model=llama-70b buffer=8MB:64MB:*2 --winners\n"
        "  stallcast rank stream --over gpu --by throughput_bytes_per_s\n\n"
        "margin says how many times worse than the best.  best_probability is the probability\n"
        "that a simulator run would put this one first, from the residuals of the calibration\n"
        "(as slowdown_lo and slowdown_hi are), each policy's taken for independent of the\n"
        "others'; where policies share their errors, the ranking is surer than it says.  Beyond\n"
        "the last level of the calibration, residuals are taken to thin out as they do up to it.\n"
        "The probabilities of a ranking sum to 1.  They promise nothing where a scenario lies\n"
        "outside of what the calibration has sampled; standard error says if one does.\n\n"
        "When one number sweeps a range, a row after a point says where the winner changes before\n"
        "the next: the value of the key from which on the policy of that row is ahead of the one\n"
        "under `from`, solved for, not read off the points.  change is `crossover` where both are\n"
        "equally good there, `jump` where an answer jumps.  What is a tie at a point itself changes\n"
        "there.  A policy that wins only between two\n"
        "points, and is not ahead where the winners at both are equal, is missed: take a closer\n"
        "step.\n\n"
        "--by takes slowdown, time_s, performance, speedup, energies, areas, powers and bandwidths as\n"
        "they are; for any other metric say min: or max:.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = rank_run,
};
