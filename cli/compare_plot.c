/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare_plot.h"

#include <math.h>
#include <string.h>

#include "gnuplot.h"
#include "sink.h"
#include "text.h"
#include "units.h"

enum { GROUPS_MAX = 8, NAME_SHOWN = 24 };

static const struct gnuplot_user user = { "compare --plot",
                                          "without --plot the rows are written as text" };

bool compare_plot_check(const char *to, struct problem *problem)
{
    return gnuplot_format("plot", to, problem) != NULL && gnuplot_find(&user, problem);
}

struct plotted {
    const struct comparison *c;
    const struct compare_scores *scores;
    const struct sc_unit *unit; /* of both axes, or NULL */
    struct text axis, name;
};

static bool is_drawn(const struct comparison *c, const struct compared_row *row)
{
    const double measured = row->row->measured;
    return row->standing != STANDING_BAD && !isnan(measured) && !isnan(row->predicted) &&
           (c->in_points || (measured > 0.0 && row->predicted > 0.0));
}

bool compare_plot_has_points(const struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (is_drawn(c, &c->rows[i]))
            return true;
    return false;
}

/* "time (us)", in a unit in which the largest reads well. */
static void name_axes(struct plotted *p)
{
    const struct sc_metric *const metric = p->c->observed->metric;
    const bool bare = metric->dimension == SC_NUMBER || metric->dimension == SC_SHARE;
    const size_t stem = emit_stem(metric->column, metric->dimension);
    double largest = 0.0;
    for (size_t i = 0; i < p->c->count; i++)
        if (is_drawn(p->c, &p->c->rows[i]))
            largest = fmax(largest, fmax(p->c->rows[i].row->measured, p->c->rows[i].predicted));
    p->unit = bare ? NULL : sc_unit_for_display(metric->dimension, largest);
    for (size_t i = 0; i < stem; i++)
        text_add_char(&p->axis, metric->column[i] == '_' ? ' ' : metric->column[i]);
    if (p->unit != NULL && strcmp(p->unit->name, metric->column) != 0)
        text_printf(&p->axis, " (%s)", p->unit->name);
    else if (p->c->in_points)
        text_add_string(&p->axis, " (%)");
}

static double on_axis(const struct plotted *p, double value)
{
    if (p->c->in_points)
        return 100.0 * value;
    return p->unit != NULL ? sc_unit_from_si(p->unit, value) : value;
}

/* A cell of the user's as the legend can show it: gnuplot ends a field at any comma, and takes
 * what follows a backslash for something else. */
static const char *group_name(struct plotted *p, size_t row)
{
    text_clear(&p->name);
    if (p->scores->group_of == NULL || p->scores->count - 1 > GROUPS_MAX)
        return "";
    const char *const name = p->scores->groups[p->scores->group_of[row]].name;
    const size_t length = strlen(name);
    size_t shown = 0;
    for (size_t i = 0; i < length && shown < NAME_SHOWN; shown++) {
        const size_t span = text_character(name + i, length - i);
        if (span == 0 || name[i] == '"' || (unsigned char)name[i] < 0x20 || name[i] == 0x7F)
            text_add_char(&p->name, ' ');
        else if (name[i] == ',' || name[i] == '\\')
            text_add_char(&p->name, name[i] == ',' ? ';' : '/');
        else
            text_add(&p->name, name + i, span);
        i += span == 0 ? 1 : span;
    }
    if (shown == NAME_SHOWN && p->name.length < length)
        text_add_string(&p->name, "...");
    return p->name.length > 0 && !p->name.failed ? p->name.bytes : "(empty)";
}

static bool write_point(struct plotted *p, struct sink *sink, size_t i, struct problem *problem)
{
    const struct compared_row *const row = &p->c->rows[i];
    const bool counted = row->standing == STANDING_COUNTED;
    const bool grouped = p->scores->group_of != NULL && p->scores->count - 1 <= GROUPS_MAX;
    const struct emit_cell cells[] = {
        emit_string(p->axis.bytes),
        emit_number(p->c->in_points ? 1.0 : 0.0),
        emit_number(counted ? 1.0 : 0.0),
        emit_number(grouped ? (double)p->scores->group_of[i] + 1.0 : 1.0),
        emit_string(group_name(p, i)),
        emit_number(on_axis(p, row->row->measured)),
        emit_number(on_axis(p, row->predicted)),
        isnan(row->low) ? emit_string("NaN") : emit_number(on_axis(p, row->low)),
        isnan(row->high) ? emit_string("NaN") : emit_number(on_axis(p, row->high)),
    };
    return sink_row(sink, cells, problem);
}

static bool write_points(const void *context, const char *path, struct problem *problem)
{
    static const struct emit_style style = {
        .format = EMIT_CSV, .digits = 9, .delimiter = ',', .decimal = '.'
    };
    static const struct emit_column columns[] = {
        { .name = "axis" },     { .name = "points" },    { .name = "counted" },
        { .name = "group" },    { .name = "series" },    { .name = "measured" },
        { .name = "predicted" }, { .name = "low" },      { .name = "high" }
    };
    const struct plotted *const given = context;
    struct plotted p = *given;
    struct sink sink;
    bool fine = sink_open(&sink, &style, columns, sizeof columns / sizeof columns[0], path, problem);
    if (!fine)
        return false;
    for (size_t i = 0; fine && i < p.c->count; i++)
        if (is_drawn(p.c, &p.c->rows[i]))
            fine = write_point(&p, &sink, i, problem);
    text_fini(&p.name);
    if (fine)
        return sink_close(&sink, problem);
    sink_abandon(&sink);
    return false;
}

bool compare_plot_draw(const struct comparison *c, const struct compare_scores *scores,
                       const char *to, struct problem *problem)
{
    struct plotted p = { .c = c, .scores = scores };
    name_axes(&p);
    const struct gnuplot figure = { .name = "compare-parity",
                                    .format = gnuplot_format("plot", to, problem),
                                    .user = &user, .write = write_points, .context = &p };
    const bool fine = p.axis.failed ? problem_set(problem, "out of memory")
                                    : gnuplot_draw(&figure, to, problem);
    text_fini(&p.axis);
    return fine;
}
