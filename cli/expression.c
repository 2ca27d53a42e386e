/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "expression.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NUMBER_MAX = 64, STEPS_MAX = 4096 };

enum step_kind {
    NUMBER,
    COLUMN,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    NEGATE,
    MIN,
    MAX,
    CEIL,
    FLOOR,
    ROUND
};

/* In the order of evaluation, operands first. */
struct step {
    enum step_kind kind;
    double number;
    char *name;
    size_t column, arguments;
};

struct expression {
    struct step *steps;
    size_t count, capacity, depth; /* depth: of the stack, at most */
    char *text, *what;
};

static const struct {
    const char *name;
    enum step_kind kind;
    bool many;
} functions[] = { { "min", MIN, true },
                  { "max", MAX, true },
                  { "ceil", CEIL, false },
                  { "floor", FLOOR, false },
                  { "round", ROUND, false } };

struct parser {
    struct expression *e;
    const char *at;
    size_t nested, height; /* height: of the stack, here */
    struct problem *problem;
};

static bool fail_at(struct parser *p, const char *expected)
{
    const size_t letter = (size_t)(p->at - p->e->text) + 1;
    if (*p->at == '\0')
        return problem_set(p->problem, "%s: %.200s: expected %s, got the end", p->e->what,
                           p->e->text, expected);
    return problem_set(p->problem, "%s: %.200s: expected %s, got '%c' at letter %zu", p->e->what,
                       p->e->text, expected, *p->at, letter);
}

static bool fail_memory(struct parser *p)
{
    return problem_set(p->problem, "out of memory");
}

static void skip_blanks(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
        p->at++;
}

static bool add_step(struct parser *p, struct step step)
{
    struct expression *const e = p->e;
    if (e->count == e->capacity) {
        const size_t capacity = e->capacity == 0 ? 16 : 2 * e->capacity;
        struct step *steps = e->count < STEPS_MAX ? realloc(e->steps, capacity * sizeof *steps)
                                                  : NULL;
        if (steps == NULL) {
            free(step.name);
            return e->count < STEPS_MAX ? fail_memory(p) : fail_at(p, "a shorter expression");
        }
        e->steps = steps;
        e->capacity = capacity;
    }
    e->steps[e->count++] = step;
    p->height = p->height + 1 - step.arguments;
    e->depth = p->height > e->depth ? p->height : e->depth;
    return e->depth < DEPTH_MAX || fail_at(p, "less in between");
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* NOLINTBEGIN(misc-no-recursion): parse_factor() ends it at DEPTH_MAX */
static bool parse_sum(struct parser *p);

/* "(a, b, ...)" behind the name of a function. */
static bool parse_call(struct parser *p, enum step_kind kind, bool many)
{
    size_t arguments = 0;
    do {
        p->at++;
        if (!parse_sum(p))
            return false;
        arguments++;
        skip_blanks(p);
    } while (many && *p->at == ',');
    if (*p->at != ')')
        return fail_at(p, many ? "',' or ')'" : "')'");
    p->at++;
    return add_step(p, (struct step){ .kind = kind, .arguments = arguments });
}

static char *copy_of(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static bool add_name(struct parser *p, const char *name, size_t length)
{
    struct step step = { .kind = COLUMN, .column = SIZE_MAX };
    step.name = copy_of(name, length);
    return step.name != NULL ? add_step(p, step) : fail_memory(p);
}

static bool parse_name(struct parser *p)
{
    const char *const start = p->at;
    while (is_letter(*p->at) || is_digit(*p->at))
        p->at++;
    const size_t length = (size_t)(p->at - start);
    skip_blanks(p);
    if (*p->at != '(')
        return add_name(p, start, length);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strlen(functions[i].name) == length && strncmp(functions[i].name, start, length) == 0)
            return parse_call(p, functions[i].kind, functions[i].many);
    p->at = start;
    return fail_at(p, "one of min max ceil floor round before '('");
}

static bool parse_quoted(struct parser *p)
{
    const char *const start = p->at + 1;
    const char *const end = strchr(start, '"');
    if (end == NULL || end == start)
        return fail_at(p, "a name between two '\"'");
    p->at = end + 1;
    return add_name(p, start, (size_t)(end - start));
}

static bool parse_number(struct parser *p)
{
    char *end = NULL;
    char text[NUMBER_MAX];
    size_t length = strspn(p->at, "0123456789.");
    if (p->at[length] == 'e' || p->at[length] == 'E') {
        const size_t sign = p->at[length + 1] == '-' || p->at[length + 1] == '+';
        const size_t digits = strspn(p->at + length + 1 + sign, "0123456789");
        length += digits > 0 ? 1 + sign + digits : 0;
    }
    if (length >= sizeof text)
        return fail_at(p, "a shorter number");
    memcpy(text, p->at, length);
    text[length] = '\0';
    errno = 0;
    const double number = strtod(text, &end);
    if (end != text + length)
        return fail_at(p, "a number");
    if (errno == ERANGE)
        return fail_at(p, "a number neither too large nor too small");
    p->at += length;
    return add_step(p, (struct step){ .kind = NUMBER, .number = number });
}

/* A number, a column, a call, a sign, or something in parentheses. */
static bool parse_factor(struct parser *p)
{
    skip_blanks(p);
    if (++p->nested > DEPTH_MAX)
        return fail_at(p, "less within each other");
    bool fine = true;
    if (*p->at == '-' || *p->at == '+') {
        const bool minus = *p->at++ == '-';
        fine = parse_factor(p) &&
               (!minus || add_step(p, (struct step){ .kind = NEGATE, .arguments = 1 }));
    } else if (*p->at == '(') {
        p->at++;
        fine = parse_sum(p);
        if (fine && *p->at != ')')
            fine = fail_at(p, "an operator or ')'");
        p->at += fine;
    } else if (*p->at == '"') {
        fine = parse_quoted(p);
    } else if (is_letter(*p->at)) {
        fine = parse_name(p);
    } else if (is_digit(*p->at) || *p->at == '.') {
        fine = parse_number(p);
    } else {
        fine = fail_at(p, "a number, a column or '('");
    }
    p->nested--;
    skip_blanks(p);
    return fine;
}

static bool parse_product(struct parser *p)
{
    if (!parse_factor(p))
        return false;
    while (*p->at == '*' || *p->at == '/') {
        const enum step_kind kind = *p->at++ == '*' ? MULTIPLY : DIVIDE;
        if (!parse_factor(p) || !add_step(p, (struct step){ .kind = kind, .arguments = 2 }))
            return false;
    }
    return true;
}

static bool parse_sum(struct parser *p)
{
    if (!parse_product(p))
        return false;
    while (*p->at == '+' || *p->at == '-') {
        const enum step_kind kind = *p->at++ == '+' ? ADD : SUBTRACT;
        if (!parse_product(p) || !add_step(p, (struct step){ .kind = kind, .arguments = 2 }))
            return false;
    }
    return true;
}

/* NOLINTEND(misc-no-recursion) */

struct expression *expression_parse(const char *text, size_t length, const char *what,
                                    struct problem *problem)
{
    struct expression *e = calloc(1, sizeof *e);
    if (e != NULL) {
        e->text = copy_of(text, length);
        e->what = copy_of(what, strlen(what));
    }
    if (e == NULL || e->text == NULL || e->what == NULL) {
        (void)problem_set(problem, "out of memory");
        expression_destroy(e);
        return NULL;
    }
    struct parser parser = { .e = e, .at = e->text, .problem = problem };
    bool fine = parse_sum(&parser);
    if (fine && *parser.at != '\0')
        fine = fail_at(&parser, "an operator or the end");
    if (fine)
        return e;
    expression_destroy(e);
    return NULL;
}

void expression_destroy(struct expression *e)
{
    if (e == NULL)
        return;
    for (size_t i = 0; i < e->count; i++)
        free(e->steps[i].name);
    free(e->steps);
    free(e->text);
    free(e->what);
    free(e);
}

bool expression_bind(struct expression *e, size_t (*find)(void *context, const char *name),
                     void *context, struct problem *problem)
{
    for (size_t i = 0; i < e->count; i++) {
        struct step *const step = &e->steps[i];
        if (step->kind != COLUMN)
            continue;
        step->column = find(context, step->name);
        if (step->column == SIZE_MAX)
            return problem_set(problem, "%s: %.200s: no column '%.80s'", e->what, e->text,
                               step->name);
    }
    return true;
}

size_t expression_column(const struct expression *e)
{
    return e->count == 1 && e->steps[0].kind == COLUMN ? e->steps[0].column : SIZE_MAX;
}

/* fmin and fmax take the other where one is NaN. */
static double apply(const struct step *step, const double *operand)
{
    double result = operand[0];
    switch (step->kind) {
    case ADD:
        return operand[0] + operand[1];
    case SUBTRACT:
        return operand[0] - operand[1];
    case MULTIPLY:
        return operand[0] * operand[1];
    case DIVIDE:
        return operand[1] != 0.0 ? operand[0] / operand[1] : (double)NAN;
    case NEGATE:
        return -operand[0];
    case MIN:
        for (size_t i = 1; i < step->arguments; i++)
            result = fmin(result, operand[i]);
        return result;
    case MAX:
        for (size_t i = 1; i < step->arguments; i++)
            result = fmax(result, operand[i]);
        return result;
    case CEIL:
        return ceil(operand[0]);
    case FLOOR:
        return floor(operand[0]);
    case ROUND:
        return round(operand[0]);
    case NUMBER:
    case COLUMN:
        break;
    }
    return (double)NAN;
}

double expression_value(const struct expression *e, double (*value)(void *context, size_t column),
                        void *context)
{
    double stack[DEPTH_MAX + 1] = { 0 };
    size_t height = 0;
    for (size_t i = 0; i < e->count; i++) {
        const struct step *const step = &e->steps[i];
        double result = step->number;
        if (step->kind == COLUMN)
            result = value(context, step->column);
        else if (step->kind != NUMBER) {
            height -= step->arguments;
            result = apply(step, stack + height);
        }
        stack[height++] = result;
    }
    return isfinite(stack[0]) ? stack[0] : (double)NAN;
}
