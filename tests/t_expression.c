/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions over columns: values, what is missing, and what is said of what is not one. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "expression.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct {
    const char *name;
    double value; /* NaN: the row has nothing there */
} columns[] = { { "a", 6 }, { "b_2", 4 }, { "_c", 0.5 }, { "none", (double)NAN },
                { "x y (MB)", 7 }, { "zero", 0 }, { "min", 9 } };

static size_t find(void *context, const char *name)
{
    (void)context;
    for (size_t i = 0; i < COUNT(columns); i++)
        if (strcmp(columns[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

static double value_at(void *context, size_t column)
{
    (void)context;
    return columns[column].value;
}

static void test_values(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        { "1", 1 }, { " 1.5e3 ", 1500 }, { ".5", 0.5 }, { "2e-3", 0.002 }, { "a", 6 },
        { "a+b_2*2", 14 }, { "(a+b_2)*2", 20 }, { "a-b_2-1", 1 }, { "a/b_2/2", 0.75 },
        { "-a", -6 }, { "--a", 6 }, { "+a", 6 }, { "-a*-b_2", 24 }, { "2-3*4", -10 },
        { "a*_c", 3 }, { "\"x y (MB)\" + 1", 8 }, { "min(a, b_2)", 4 }, { "max(a,b_2,10)", 10 },
        { "min(3)", 3 }, { "ceil(1.2)", 2 }, { "floor(-1.2)", -2 }, { "round(2.5)", 3 },
        { "min(a, max(1, 2)) * (b_2 - 1)", 6 }, { "min", 9 }, { "min + 1", 10 },
        { "none", (double)NAN }, { "none + 1", (double)NAN }, { "min(none, 3)", 3 },
        { "max(none, none)", (double)NAN }, { "ceil(none)", (double)NAN },
        { "a / zero", (double)NAN }, { "zero / zero", (double)NAN },
        { "1e308 * 1e308", (double)NAN }, { "1e3", 1000 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct problem problem;
        struct expression *e =
            expression_parse(cases[i].text, strlen(cases[i].text), "--map", &problem);
        const bool bound = e != NULL && expression_bind(e, find, NULL, &problem);
        near(bound ? expression_value(e, value_at, NULL) : -1e300, cases[i].value, 1e-15, 0.0, "%s",
             cases[i].text);
        expression_destroy(e);
    }
}

static void test_columns(void)
{
    static const struct {
        const char *text;
        size_t column;
    } cases[] = { { "a", 0 }, { " \"x y (MB)\" ", 4 }, { "a+0", SIZE_MAX }, { "1", SIZE_MAX },
                  { "-a", SIZE_MAX } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct problem problem;
        struct expression *e =
            expression_parse(cases[i].text, strlen(cases[i].text), "--map", &problem);
        ok(e != NULL && expression_bind(e, find, NULL, &problem) &&
               expression_column(e) == cases[i].column,
           "whether '%s' is a column", cases[i].text);
        expression_destroy(e);
    }
}

static void test_faults(void)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        { "", "--map: : expected a number, a column or '(', got the end" },
        { "a+", "--map: a+: expected a number, a column or '(', got the end" },
        { "a*/b", "--map: a*/b: expected a number, a column or '(', got '/' at letter 3" },
        { "(a", "--map: (a: expected an operator or ')', got the end" },
        { "a)", "--map: a): expected an operator or the end, got ')' at letter 2" },
        { "a b_2", "--map: a b_2: expected an operator or the end, got 'b' at letter 3" },
        { "2x", "--map: 2x: expected an operator or the end, got 'x' at letter 2" },
        { "1.2.3", "--map: 1.2.3: expected a number, got '1' at letter 1" },
        { "1e999", "--map: 1e999: expected a number neither too large nor too small, got '1' at "
                   "letter 1" },
        { "a*1e-999", "--map: a*1e-999: expected a number neither too large nor too small, got '1' at "
                      "letter 3" },
        { "1e", "--map: 1e: expected an operator or the end, got 'e' at letter 2" },
        { "mean(a)", "--map: mean(a): expected one of min max ceil floor round before '(', got 'm' at "
                     "letter 1" },
        { "min(a;b)", "--map: min(a;b): expected ',' or ')', got ';' at letter 6" },
        { "ceil(a, b_2)", "--map: ceil(a, b_2): expected ')', got ',' at letter 7" },
        { "min()", "--map: min(): expected a number, a column or '(', got ')' at letter 5" },
        { "\"a", "--map: \"a: expected a name between two '\"', got '\"' at letter 1" },
        { "\"\"", "--map: \"\": expected a name between two '\"', got '\"' at letter 1" },
        { "0x10", "--map: 0x10: expected an operator or the end, got 'x' at letter 2" },
        { "$", "--map: $: expected a number, a column or '(', got '$' at letter 1" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct problem problem = { "" };
        struct expression *e =
            expression_parse(cases[i].text, strlen(cases[i].text), "--map", &problem);
        ok(e == NULL, "'%s' is refused", cases[i].text);
        is_str(problem.text, cases[i].reason, "why '%s' is", cases[i].text);
        expression_destroy(e);
    }
    struct problem problem = { "" };
    struct expression *e = expression_parse("a + missing", 11, "--map: z", &problem);
    ok(e != NULL && !expression_bind(e, find, NULL, &problem), "a column that is not there");
    is_str(problem.text, "--map: z: a + missing: no column 'missing'", "is named");
    expression_destroy(e);
}

/* Nesting and width end in a message, not in the stack. */
static void test_depth(void)
{
    char text[20000];
    struct problem problem;
    memset(text, '(', 5000);
    struct expression *e = expression_parse(text, 5000, "--map", &problem);
    ok(e == NULL && strstr(problem.text, "less within each other") != NULL, "5000 parentheses");
    memset(text, '-', 5000);
    e = expression_parse(text, 5000, "--map", &problem);
    ok(e == NULL, "5000 signs");
    expression_destroy(e);
    memcpy(text, "max(", 4);
    for (size_t i = 0; i < 200; i++)
        memcpy(text + 4 + 2 * i, i < 199 ? "1," : "1)", 2);
    e = expression_parse(text, 404, "--map", &problem);
    ok(e == NULL && strstr(problem.text, "less in between") != NULL, "200 arguments");
    for (size_t i = 0; i < 9999; i++)
        memcpy(text + 2 * i, i < 9998 ? "1+" : "1 ", 2);
    e = expression_parse(text, 19998, "--map", &problem);
    ok(e == NULL && strstr(problem.text, "a shorter expression") != NULL, "10000 terms");
    for (size_t i = 0; i < 1000; i++)
        memcpy(text + 2 * i, i < 999 ? "1+" : "1 ", 2);
    e = expression_parse(text, 2000, "--map", &problem);
    near(e != NULL ? expression_value(e, value_at, NULL) : 0, 1000, 0, 0, "1000 terms are fine");
    expression_destroy(e);
}

int main(void)
{
    plan(84);
    test_values();
    test_columns();
    test_faults();
    test_depth();
    return done();
}
