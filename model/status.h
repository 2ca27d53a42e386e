/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the library says that something could not be done.
 *
 * A function that can fail returns `enum sc_status` and, when the caller
 * passes a non-NULL `struct sc_error`, says there which input was at fault.
 * The strings are static and never freed.  The library makes no message of
 * them: that is done where the user is, with the units the user wrote.
 */
#ifndef SC_STATUS_H
#define SC_STATUS_H

enum sc_status {
    SC_OK = 0,
    SC_EDOMAIN,    /* an input lies where the formula has no meaning */
    SC_ERANGE,     /* meaningful, but outside what is supported */
    SC_EMISSING,   /* a required input was not given */
    SC_ESATURATED, /* the offered load is at or above capacity */
    SC_ENOSPACE,   /* the caller's storage is too small */
};

struct sc_error {
    const char *field;  /* name of the input at fault */
    double value;       /* what it was, NaN when it has no number */
    const char *reason; /* what was expected of it */
};

#define SC_MUST_CHECK __attribute__((warn_unused_result))

#endif
