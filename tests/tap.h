/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A producer of the Test Anything Protocol, version 13, for `prove`.
 *
 *	int main(void)
 *	{
 *		plan(2);
 *		ok(1 + 1 == 2, "integers add");
 *		near(0.1 + 0.2, 0.3, 1e-15, 0.0, "doubles nearly do");
 *		return done();
 *	}
 *
 * Every test ends in a printf-style name.  Each check returns whether it
 * passed.  A failure prints as diagnostics where it stood, what was got and
 * what was wanted.  Standard output is line buffered, so that what a crashing
 * test had said is not lost.
 */
#ifndef SC_TAP_H
#define SC_TAP_H

#include <stdbool.h>

/* Announce how many checks follow; call once and first. */
#define plan(count) tap_plan((count))

/* A condition holds. */
#define ok(condition, ...) tap_ok(__FILE__, __LINE__, (condition), __VA_ARGS__)

/* Two integers are equal. */
#define is_int(got, want, ...) tap_is_int(__FILE__, __LINE__, (got), (want), __VA_ARGS__)

/* Two strings are equal; NULL equals only NULL. */
#define is_str(got, want, ...) tap_is_str(__FILE__, __LINE__, (got), (want), __VA_ARGS__)

/*
 * |got - want| <= max(abs_tol, rel_tol * |want|).  An infinity is near only
 * to itself, NaN only to NaN.
 */
#define near(got, want, rel_tol, abs_tol, ...) \
    tap_near(__FILE__, __LINE__, (got), (want), (rel_tol), (abs_tol), __VA_ARGS__)

/* Count `count` checks as skipped, with the reason. */
#define skip(count, ...) tap_skip((count), __VA_ARGS__)

/* Give up on the whole run: nothing that follows would mean anything. */
#define bail(...) tap_bail(__VA_ARGS__)

/* A line of diagnostics; it needs no newline. */
#define note(...) tap_note(__VA_ARGS__)

/* The exit status: 0 when the plan was met and nothing failed, else 1. */
#define done() tap_done()

#define TAP_PRINTF(text, first) __attribute__((format(printf, text, first)))

void tap_plan(int count);
bool tap_ok(const char *file, int line, bool condition, const char *name, ...) TAP_PRINTF(4, 5);
bool tap_is_int(const char *file, int line, long long got, long long want, const char *name, ...)
    TAP_PRINTF(5, 6);
bool tap_is_str(const char *file, int line, const char *got, const char *want, const char *name,
                ...) TAP_PRINTF(5, 6);
bool tap_near(const char *file, int line, double got, double want, double rel_tol, double abs_tol,
              const char *name, ...) TAP_PRINTF(7, 8);
void tap_skip(int count, const char *reason, ...) TAP_PRINTF(2, 3);
_Noreturn void tap_bail(const char *reason, ...) TAP_PRINTF(1, 2);
void tap_note(const char *format, ...) TAP_PRINTF(1, 2);
int tap_done(void);

#endif
