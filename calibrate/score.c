/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error metrics of predictions, and Kendall's rank correlation. */
#include "score.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A sum with its rounding errors (Neumaier, Z. angew. Math. Mech. 54, 1974). */
struct sum {
    double total, lost;
};

static void sum_add(struct sum *sum, double x)
{
    const double total = sum->total + x;
    if (fabs(sum->total) >= fabs(x))
        sum->lost += (sum->total - total) + x;
    else
        sum->lost += (x - total) + sum->total;
    sum->total = total;
}

/* NaN for a mean of nothing. */
static double sum_mean(const struct sum *sum, size_t n)
{
    return n > 0 ? (sum->total + sum->lost) / (double)n : (double)NAN;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sc_median(double *values, size_t n)
{
    if (n == 0)
        return (double)NAN;
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

bool sc_are_equal(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] < b[i] || a[i] > b[i] || isnan(a[i]) || isnan(b[i]))
            return false;
    return true;
}

void sc_geometric_mean_add(struct sc_geometric_mean *mean, double log_value)
{
    mean->log_sum += log_value;
    mean->n++;
}

double sc_geometric_mean(const struct sc_geometric_mean *mean)
{
    return mean->n == 0 ? (double)NAN : exp(mean->log_sum / (double)mean->n);
}

/* --- Kendall's tau-b --------------------------------------------------------- */

struct point {
    double x, y;
};

static int compare_points(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    const int by_x = (p->x > q->x) - (p->x < q->x);
    return by_x != 0 ? by_x : (p->y > q->y) - (p->y < q->y);
}

static double pairs_of(size_t n)
{
    return 0.5 * (double)n * ((double)n - 1.0);
}

/* Pairs of equal neighbours' runs in sorted points: in x, or in x and y. */
static double tied_pairs(const struct point *points, size_t n, bool with_y)
{
    double pairs = 0.0;
    for (size_t i = 0, run = 0; i < n; i++) {
        const bool same = i > 0 && points[i].x == points[i - 1].x &&
                          (!with_y || points[i].y == points[i - 1].y);
        run = same ? run + 1 : 0;
        pairs += (double)run;
    }
    return pairs;
}

/* Sorts by y, stably, and returns how many pairs stood the wrong way round. */
static double sort_by_y(struct point *points, struct point *spare, size_t n)
{
    double exchanges = 0.0;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t start = 0; start < n; start += 2 * width) {
            const size_t middle = start + width < n ? start + width : n;
            const size_t end = middle + width < n ? middle + width : n;
            size_t left = start, right = middle;
            for (size_t k = start; k < end; k++) {
                const bool take_left =
                    left < middle && (right >= end || points[left].y <= points[right].y);
                if (!take_left)
                    exchanges += (double)(middle - left);
                spare[k] = take_left ? points[left++] : points[right++];
            }
        }
        for (size_t k = 0; k < n; k++)
            points[k] = spare[k];
    }
    return exchanges;
}

static double tied_in_y(const struct point *points, size_t n)
{
    double pairs = 0.0;
    for (size_t i = 1, run = 0; i < n; i++) {
        run = points[i].y == points[i - 1].y ? run + 1 : 0;
        pairs += (double)run;
    }
    return pairs;
}

enum sc_status sc_kendall_tau(const double *x, const double *y, size_t n, double *tau)
{
    *tau = (double)NAN;
    if (n < 2)
        return SC_OK;
    if (n > SIZE_MAX / 2 / sizeof(struct point))
        return SC_ENOSPACE;
    struct point *points = malloc(2 * n * sizeof *points);
    if (points == NULL)
        return SC_ENOSPACE;
    for (size_t i = 0; i < n; i++)
        points[i] = (struct point){ x[i], y[i] };
    qsort(points, n, sizeof *points, compare_points);

    /* Knight's counts: sorted by x, then y, a pair is discordant exactly when
     * sorting by y exchanges it. */
    const double all = pairs_of(n);
    const double tied_x = tied_pairs(points, n, false), tied_both = tied_pairs(points, n, true);
    const double discordant = sort_by_y(points, points + n, n);
    const double tied_y = tied_in_y(points, n);
    const double concordant = all - tied_x - tied_y + tied_both - discordant;
    if (all > tied_x && all > tied_y)
        *tau = (concordant - discordant) / sqrt((all - tied_x) * (all - tied_y));
    free(points);
    return SC_OK;
}

/* --- Scores ------------------------------------------------------------------ */

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

static bool is_positive(double value)
{
    return isfinite(value) && value > 0.0;
}

static bool has_interval(const double *low, const double *high, size_t i)
{
    return low != NULL && high != NULL && !isnan(low[i]) && !isnan(high[i]);
}

static enum sc_status check(const double *predicted, const double *actual, const double *low,
                            const double *high, size_t n, struct sc_error *error)
{
    static const char positive[] = "is not a finite number above 0";
    for (size_t i = 0; i < n; i++) {
        if (!is_positive(predicted[i]))
            return refuse(error, SC_EDOMAIN, "predicted", predicted[i], positive);
        if (!is_positive(actual[i]))
            return refuse(error, SC_EDOMAIN, "actual", actual[i], positive);
        if (!has_interval(low, high, i))
            continue;
        if (!is_positive(low[i]) || !is_positive(high[i]))
            return refuse(error, SC_EDOMAIN, "interval", is_positive(low[i]) ? high[i] : low[i],
                          positive);
        if (low[i] > high[i])
            return refuse(error, SC_EDOMAIN, "interval", low[i], "lies above its upper end");
    }
    return SC_OK;
}

/* Pearson's correlation of the logarithms. */
static double pearson_of_logs(const double *x, const double *y, size_t n)
{
    struct sum sum_x = { 0 }, sum_y = { 0 }, xx = { 0 }, yy = { 0 }, xy = { 0 };
    for (size_t i = 0; i < n; i++) {
        sum_add(&sum_x, log(x[i]));
        sum_add(&sum_y, log(y[i]));
    }
    const double mean_x = sum_mean(&sum_x, n), mean_y = sum_mean(&sum_y, n);
    bool x_varies = false, y_varies = false;
    for (size_t i = 0; i < n; i++) {
        const double dx = log(x[i]) - mean_x, dy = log(y[i]) - mean_y;
        sum_add(&xx, dx * dx);
        sum_add(&yy, dy * dy);
        sum_add(&xy, dx * dy);
        x_varies = x_varies || x[i] != x[0];
        y_varies = y_varies || y[i] != y[0];
    }
    if (!x_varies || !y_varies)
        return (double)NAN;
    const double r = sum_mean(&xy, n) / sqrt(sum_mean(&xx, n)) / sqrt(sum_mean(&yy, n));
    return fmax(-1.0, fmin(1.0, r));
}

static void score_errors(struct sc_score *score, const double *predicted, const double *actual,
                         size_t n, double *relative)
{
    struct sum mape = { 0 }, logs = { 0 }, bias = { 0 }, squares = { 0 }, mean = { 0 };
    score->max_index = n;
    score->max_error = (double)NAN;
    for (size_t i = 0; i < n; i++) {
        const double log_ratio = log(predicted[i] / actual[i]);
        const double difference = predicted[i] - actual[i];
        relative[i] = fabs(difference) / actual[i];
        sum_add(&mape, relative[i]);
        sum_add(&logs, fabs(log_ratio));
        sum_add(&bias, log_ratio);
        sum_add(&squares, difference * difference);
        sum_add(&mean, actual[i]);
        if (i == 0 || relative[i] > score->max_error) {
            score->max_error = relative[i];
            score->max_index = i;
        }
    }
    score->mape = sum_mean(&mape, n);
    score->geometric_error = exp(sum_mean(&logs, n));
    score->bias = sum_mean(&bias, n);
    score->nrmse = sqrt(sum_mean(&squares, n)) / sum_mean(&mean, n);
    score->median_error = sc_median(relative, n);
}

static void score_intervals(struct sc_score *score, const double *actual, const double *low,
                            const double *high, size_t n)
{
    struct sum inside = { 0 }, width = { 0 };
    for (size_t i = 0; i < n; i++) {
        if (!has_interval(low, high, i))
            continue;
        score->interval_n++;
        sum_add(&inside, low[i] <= actual[i] && actual[i] <= high[i] ? 1.0 : 0.0);
        sum_add(&width, log(high[i] / low[i]));
    }
    score->coverage = sum_mean(&inside, score->interval_n);
    score->interval_ratio = exp(sum_mean(&width, score->interval_n));
}

enum sc_status sc_score_compute(struct sc_score *score, const double *predicted,
                                const double *actual, const double *low, const double *high,
                                size_t n, struct sc_error *error)
{
    enum sc_status status = check(predicted, actual, low, high, n, error);
    if (status != SC_OK)
        return status;
    double *relative = calloc(n + 1, sizeof *relative);
    struct sc_score s = { .n = n };
    if (relative == NULL) {
        status = refuse(error, SC_ENOSPACE, "predicted", (double)n,
                        "need more memory than there is");
        goto done;
    }
    status = sc_kendall_tau(predicted, actual, n, &s.kendall_tau);
    if (status != SC_OK) {
        status = refuse(error, status, "predicted", (double)n, "need more memory than there is");
        goto done;
    }
    s.pearson_log = pearson_of_logs(predicted, actual, n);
    score_errors(&s, predicted, actual, n, relative);
    score_intervals(&s, actual, low, high, n);
    *score = s;
done:
    free(relative);
    return status;
}

enum sc_status sc_score_points(struct sc_point_score *score, const double *predicted,
                               const double *actual, size_t n)
{
    struct sum errors = { 0 }, bias = { 0 };
    *score = (struct sc_point_score){ .n = n, .max_error = n > 0 ? 0.0 : (double)NAN };
    for (size_t i = 0; i < n; i++) {
        const double difference = predicted[i] - actual[i];
        sum_add(&errors, fabs(difference));
        sum_add(&bias, difference);
        score->max_error = fmax(score->max_error, fabs(difference));
    }
    score->mean_error = sum_mean(&errors, n);
    score->bias = sum_mean(&bias, n);
    return sc_kendall_tau(predicted, actual, n, &score->kendall_tau);
}
