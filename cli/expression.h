/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions over the columns of a row: numbers, names, + - * /, parentheses, and
 * min(...), max(...), ceil(x), floor(x), round(x).
 *
 * A name is a letter or _ and then letters, digits and _; any other name stands in
 * double quotes.  What a row has nothing in makes the result nothing too, but min and
 * max leave it out.
 */
#ifndef SC_EXPRESSION_H
#define SC_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"

struct expression;

/* NULL with the reason and the letter at which it is.  `what` is what it is for, in the message. */
struct expression *expression_parse(const char *text, size_t length, const char *what,
                                    struct problem *problem);
void expression_destroy(struct expression *expression);

/* Finds the column of each name, once: find(context, name) is its index, or SIZE_MAX.  False with
 * the reason: there is none. */
bool expression_bind(struct expression *expression, size_t (*find)(void *context, const char *name),
                     void *context, struct problem *problem);
/* The value; value(context, column) is NaN where the row has nothing.  NaN: nothing. */
double expression_value(const struct expression *expression,
                        double (*value)(void *context, size_t column), void *context);

/* The column that the expression is, as it stands, or SIZE_MAX when it is more than a name. */
size_t expression_column(const struct expression *expression);

#endif
