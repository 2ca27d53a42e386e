/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The constants of `uvm` in mode=fitted, fitted to run times, and what a fit makes of
 * runs that it has not seen.
 *
 * Runs of one GPU share its rates (link, migration, faults, speed), runs of one
 * application its constants (device rate, link passes, hot share, refetches, host
 * passes), and all runs the four of the driver.  Which of them are free follows from
 * the scenarios: an application has a hot share to fit if its pattern has a hot part,
 * and host passes if its row has any.
 *
 * A run that was stopped says only that it takes that long or longer: it is censored in
 * the fit (fit.h), and a prediction above it is no error.
 *
 * As for fit.h: one thread at a time.
 */
#ifndef SC_UVM_CONSTANTS_H
#define SC_UVM_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"
#include "uvm.h"

/* A run that was timed. */
struct sc_uvm_run {
    struct sc_uvm scenario; /* mode=fitted, with the constants as they are stored */
    const char *gpu, *app;  /* whose constants it has */
    double time_s;          /* finite, above 0 */
    bool stopped;           /* then: it takes at least that long */
    bool counted;           /* in means; else only shown */
};

enum sc_uvm_owner { SC_UVM_OF_GPU, SC_UVM_OF_APP, SC_UVM_OWNERS };

struct sc_uvm_constants;

/* runs must outlive what is made.  NULL with the error: SC_EDOMAIN, a run that makes no
 * sense (field and value say what); SC_EMISSING, no run, or one without device_rate or
 * link_passes; SC_ENOSPACE. */
struct sc_uvm_constants *sc_uvm_constants_create(const struct sc_uvm_run *runs, size_t count,
                                                 struct sc_error *error);
void sc_uvm_constants_destroy(struct sc_uvm_constants *constants);

/* The GPUs or applications of the runs, in the order in which they first come. */
size_t sc_uvm_owner_count(const struct sc_uvm_constants *constants, enum sc_uvm_owner owner);
const char *sc_uvm_owner_name(const struct sc_uvm_constants *constants, enum sc_uvm_owner owner,
                              size_t which);

/*
 * Fits all constants to all runs; afresh: from what was known before any fit, else from
 * what is stored.  Errors as of sc_fit_solve.
 */
enum sc_status sc_uvm_constants_fit(struct sc_uvm_constants *constants, bool afresh,
                                    struct sc_error *error) SC_MUST_CHECK;

/* The run's scenario with the constants of the last fit, and its time by the closed form. */
struct sc_uvm sc_uvm_constants_apply(const struct sc_uvm_constants *constants,
                                     const struct sc_uvm_run *run);
double sc_uvm_constants_time_s(const struct sc_uvm_constants *constants,
                               const struct sc_uvm_run *run);

/* Whether the footprint does not fit. */
bool sc_uvm_run_is_past(const struct sc_uvm_run *run);

/* |log(predicted / timed)|, 0 where a run that was stopped is predicted to take longer. */
double sc_uvm_run_log_error(const struct sc_uvm_run *run, double predicted_s);

/* Errors of runs that have a rival; the geometric error is exp(log_sum / runs). */
struct sc_uvm_errors {
    size_t runs, stopped;
    double log_sum;       /* of the closed form */
    double naive_log_sum; /* of the rival */
};

struct sc_uvm_left_out {
    struct sc_uvm_errors counted, shown; /* of runs that are, and are not, in means */
};

/*
 * Fits afresh without the runs of one GPU, or without those of one application that are
 * past capacity, and predicts these.
 *
 * A GPU has then the mean rates of the others, its speed scaled by that of its FP32
 * throughput; an application its rates from where it fits, and the law of its pattern
 * past that.  The rival knows the times alone: of a GPU the geometric mean of what the
 * others take for the same; of an application its time with half the footprint times the
 * mean ratio of the others on that GPU.
 *
 * A few rounds of weights, since nothing is kept of such a fit but its errors.  Errors as
 * of sc_fit_solve; SC_EMISSING "gpu" or "app": there is no other.
 */
enum sc_status sc_uvm_leave_out(struct sc_uvm_constants *c, enum sc_uvm_owner owner, size_t which,
                                struct sc_uvm_left_out *result,
                                struct sc_error *error) SC_MUST_CHECK;

#endif
