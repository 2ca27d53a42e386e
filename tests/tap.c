/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One test program is one TAP stream: its counters are the one global state. */
static struct {
    int planned; /* -1 until plan() */
    int run;
    int failed;
} tap = { .planned = -1 };

/* One line, with no '#' that the reader could take for a directive. */
enum { TEXT_SIZE = 512 };

static void print_text(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '#')
            fputs("\\#", stdout);
        else
            putchar(*c == '\n' || *c == '\r' ? ' ' : *c);
    }
}

TAP_PRINTF(4, 0)
static bool report(const char *file, int line, bool passed, const char *name, va_list args)
{
    char text[TEXT_SIZE];

    if (tap.planned < 0)
        tap_bail("a check ran before plan()");
    tap.run++;
    printf("%s %d - ", passed ? "ok" : "not ok", tap.run);
    vsnprintf(text, sizeof text, name, args);
    print_text(text);
    putchar('\n');
    if (!passed) {
        tap.failed++;
        printf("# %s:%d\n", file, line);
    }
    return passed;
}

void tap_plan(int count)
{
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (tap.planned >= 0)
        tap_bail("plan() was called twice");
    if (count < 0)
        tap_bail("plan() of a negative number");
    tap.planned = count;
    printf("TAP version 13\n1..%d\n", count);
}

bool tap_ok(const char *file, int line, bool condition, const char *name, ...)
{
    va_list args;

    va_start(args, name);
    report(file, line, condition, name, args);
    va_end(args);
    return condition;
}

bool tap_is_int(const char *file, int line, long long got, long long want, const char *name, ...)
{
    const bool passed = got == want;
    va_list args;

    va_start(args, name);
    report(file, line, passed, name, args);
    va_end(args);
    if (!passed)
        printf("#   got:  %lld\n#   want: %lld\n", got, want);
    return passed;
}

static void print_string(const char *label, const char *text)
{
    printf("#   %s ", label);
    if (text == NULL) {
        printf("NULL\n");
        return;
    }
    /* A diagnostic ends at the newline, so escape what would break it. */
    putchar('"');
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;

        if (byte == '\n')
            fputs("\\n", stdout);
        else if (byte < 0x20 || byte == 0x7f)
            printf("\\x%02x", byte);
        else
            putchar(byte);
    }
    printf("\"\n");
}

bool tap_is_str(const char *file, int line, const char *got, const char *want, const char *name,
                ...)
{
    const bool passed = got == NULL || want == NULL ? got == want : strcmp(got, want) == 0;
    va_list args;

    va_start(args, name);
    report(file, line, passed, name, args);
    va_end(args);
    if (!passed) {
        print_string("got: ", got);
        print_string("want:", want);
    }
    return passed;
}

static bool is_near(double got, double want, double rel_tol, double abs_tol)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    /* Without this rel_tol * infinity would let everything pass. */
    if (isinf(got) || isinf(want))
        return isinf(got) && isinf(want) && (signbit(got) != 0) == (signbit(want) != 0);
    return fabs(got - want) <= fmax(abs_tol, rel_tol * fabs(want));
}

bool tap_near(const char *file, int line, double got, double want, double rel_tol, double abs_tol,
              const char *name, ...)
{
    const bool passed = is_near(got, want, rel_tol, abs_tol);
    va_list args;

    va_start(args, name);
    report(file, line, passed, name, args);
    va_end(args);
    if (!passed) {
        printf("#   got:  %.17g\n#   want: %.17g\n", got, want);
        printf("#   relative error: %.3g (allowed %.3g, or %.3g absolute)\n",
               fabs(got - want) / fabs(want), rel_tol, abs_tol);
    }
    return passed;
}

void tap_skip(int count, const char *reason, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, reason);
    vsnprintf(text, sizeof text, reason, args);
    va_end(args);
    for (int i = 0; i < count; i++) {
        tap.run++;
        printf("ok %d # SKIP ", tap.run);
        print_text(text);
        putchar('\n');
    }
}

_Noreturn void tap_bail(const char *reason, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, reason);
    vsnprintf(text, sizeof text, reason, args);
    va_end(args);
    printf("Bail out! ");
    print_text(text);
    putchar('\n');
    exit(255);
}

void tap_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("# ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

int tap_done(void)
{
    if (tap.planned < 0)
        tap_bail("done() without plan()");
    if (tap.run != tap.planned)
        printf("# planned %d checks but ran %d\n", tap.planned, tap.run);
    if (tap.failed > 0)
        printf("# failed %d of %d checks\n", tap.failed, tap.run);
    return tap.run == tap.planned && tap.failed == 0 ? 0 : 1;
}
