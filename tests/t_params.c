/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calibration file: what is written is read back the same, byte for byte, and
 * whatever else stands in it is refused at its line.
 */
#include "params.h"
#include "tap.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- a system ----------------------------------------------------------------------- */

struct scenario {
    double buffer, latency;
    int policy;
};

static const struct sc_choice policies[] = { { "none", "" }, { "some", "" }, { "all", "" } };

static const struct sc_field fields[] = {
    { .key = "buffer", .kind = SC_REAL, .offset = offsetof(struct scenario, buffer),
      .minimum = 1.0, .maximum = 1e12 },
    { .key = "latency", .aliases = "delay", .kind = SC_REAL,
      .offset = offsetof(struct scenario, latency), .minimum = 0.0, .maximum = 1.0 },
    { .key = "policy", .kind = SC_CHOICE, .offset = offsetof(struct scenario, policy),
      .choices = policies, .choice_count = 3, .choice_size = sizeof policies[0] },
    { .key = "model", .kind = SC_PRESET },
};

static const struct sc_system system_row = {
    .name = "box", .fields = fields, .field_count = sizeof fields / sizeof fields[0],
    .scenario_size = sizeof(struct scenario),
};

/* --- a file ---------------------------------------------------------------------------- */

static const char good[] =
    "record,name,key,value,se,low,high,kind,note\n"
    "meta,format,,1,,,,,\n"
    "meta,system,,box,,,,,\n"
    "meta,seed,,18446744073709551615,,,,,\n"
    "meta,samples,fit,1200,,,,,\n"
    "meta,samples,conformal,400,,,,,\n"
    "meta,samples,holdout,400,,,,,\n"
    "meta,simulator,,\"events, 3f2a\",,,,,\n"
    "meta,tool,,0.1.0,,,,,\n"
    "parameter,gain,,0.1,0.01,0.081,0.123,fitted,\n"
    "parameter,offset,,-2.5,0.5,-3.5,-1.5,prior,\"from the \"\"datasheet\"\"\"\n"
    "parameter,knee,,30,,,,unidentified,the data end before it\n"
    "parameter,limit,,4096,,,,fixed,\n"
    "covariance,gain,gain,0.0001,,,,,\n"
    "covariance,gain,offset,-0.004,,,,,\n"
    "covariance,offset,offset,0.25,,,,,\n"
    "conformal,*,points,400,,,,,\n"
    "conformal,*,0.5,0.02,,,,,\n"
    "conformal,*,0.9,0.1,,,,,\n"
    "conformal,*,0.99,0.25,,,,,\n"
    "conformal,all,points,50,,,,,\n"
    "conformal,all,0.5,0.04,,,,,\n"
    "conformal,all,0.9,0.16,,,,,\n"
    "conformal,none,points,3,,,,,\n"
    "region,buffer,,,,8000000,640000000,,\n"
    "region,latency,,,,3e-06,5e-05,,\n"
    "region,policy,some,,,,,,\n"
    "region,policy,all,,,,,,\n"
    "region,model,llama-8b,,,,,,\n"
    "score,mape,holdout,0.034,,,,,\n"
    "score,coverage,holdout,0.91,,,,,of 0.9\n";

static const char *const names[] = { "gain", "offset", "knee", "limit" };
static const struct sc_params_wanted wanted = { &system_row, NULL, names, 4 };

enum { ROOM = 8192 };

/* FNV-1a, independently of the code under test. */
static unsigned long long fnv(const char *text)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ULL;
    return hash;
}

/* text has ROOM bytes. */
static void append(char *text, const char *row)
{
    const size_t length = strlen(text);
    snprintf(text + length, ROOM - length, "%s", row);
}

static void add_hash(char *text)
{
    const unsigned long long hash = fnv(text);
    snprintf(text + strlen(text), ROOM - strlen(text), "meta,hash,,%016llx,,,,,\n", hash);
}

static enum sc_status read_text(struct sc_params *params, char *text,
                                const struct sc_params_wanted *what, struct sc_params_error *error)
{
    FILE *file = fmemopen(text, strlen(text), "r");
    if (file == NULL)
        bail("no file in memory");
    const enum sc_status status = sc_params_read(params, file, "test", what, error);
    fclose(file);
    return status;
}

static struct sc_params read_good(char *text)
{
    struct sc_params params;
    struct sc_params_error error;
    memcpy(text, good, sizeof good);
    add_hash(text);
    if (read_text(&params, text, &wanted, &error) != SC_OK)
        bail("the good file: line %zu %s: %s: %s", error.line,
             error.column != NULL ? error.column : "", error.found, error.reason);
    return params;
}

static char *write_text(const struct sc_params *params, struct sc_params_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (file == NULL)
        bail("no file in memory");
    const enum sc_status status = sc_params_write(params, file, error);
    fclose(file);
    if (status == SC_OK)
        return text;
    ok(length == 0, "a refused write writes nothing");
    free(text);
    return NULL;
}

static void test_read(void)
{
    char text[ROOM];
    struct sc_params p = read_good(text);
    is_str(p.system, "box", "system");
    is_str(p.simulator, "events, 3f2a", "simulator, quoted");
    is_str(p.tool, "0.1.0", "tool");
    ok(p.seed == UINT64_MAX, "seed, all 64 bits");
    ok(p.samples[SC_SET_FIT] == 1200 && p.samples[SC_SET_CONFORMAL] == 400 &&
           p.samples[SC_SET_HOLDOUT] == 400, "samples");
    is_int((long long)p.parameter_count, 4, "parameters");
    const struct sc_params_parameter *q = sc_params_find(&p, "offset");
    ok(q != NULL && q->value == -2.5 && q->std_error == 0.5 && q->low == -3.5 && q->high == -1.5 &&
           q->kind == SC_PARAMS_PRIOR, "a parameter");
    is_str(q->note, "from the \"datasheet\"", "its note, quoted");
    ok(isnan(p.parameters[2].std_error) && p.parameters[2].kind == SC_PARAMS_UNIDENTIFIED,
       "an unidentified one has no error");
    ok(sc_params_find(&p, "nothing") == NULL, "an unknown one is not there");
    ok(p.covariance[1] == -0.004 && p.covariance[4] == -0.004 && p.covariance[5] == 0.25 &&
           p.covariance[2] == 0.0 && p.covariance[15] == 0.0, "covariance, both halves");
    ok(p.group_count == 3 && p.quantile_count == 5 && p.groups[1].points == 50 &&
           p.groups[2].count == 0, "conformal groups");
    ok(p.region_count == 5 && p.regions[0].high == 640e6 && p.regions[0].choice == NULL &&
           strcmp(p.regions[3].choice, "all") == 0, "region");
    ok(p.score_count == 2 && p.scores[0].value == 0.034 && strcmp(p.scores[1].note, "of 0.9") == 0,
       "scores");
    sc_params_fini(&p);
    ok(p.parameters == NULL && p.text.rows == NULL, "released");
}

/* Bytes out of what was read, also under a locale with a comma. */
static void test_round_trip(void)
{
    char text[ROOM];
    struct sc_params_error error = { 0 };
    struct sc_params p = read_good(text);
    char *written = write_text(&p, &error);
    is_str(written, text, "what was read is written back byte for byte");
    ok(sc_params_hash(&p) == fnv((strstr(text, "meta,hash")[0] = '\0', text)),
       "the hash is FNV-1a of the rows before");
    free(written);

    static const char *const commas[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
    const char *comma = NULL;
    for (size_t i = 0; i < 4 && comma == NULL; i++)
        comma = setlocale(LC_ALL, commas[i]);
    if (comma == NULL) {
        skip(1, "no locale with a decimal comma");
    } else {
        char again[ROOM];
        struct sc_params q = read_good(again);
        written = write_text(&q, &error);
        is_str(written, again, "the same with a decimal comma");
        free(written);
        sc_params_fini(&q);
        setlocale(LC_ALL, "C");
    }

    /* Numbers that need all their digits. */
    const double hard[] = { 1.0 / 3.0, DBL_MAX, DBL_MIN, 5e-324, 0.1 + 0.2, -1e23, 123456789012345678.0,
                            -0.0 };
    size_t changed = 0;
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        struct sc_params q;
        p.scores[0].value = hard[i];
        written = write_text(&p, &error);
        if (written == NULL || read_text(&q, written, &wanted, &error) != SC_OK)
            bail("number %zu: %s", i, error.reason);
        changed += memcmp(&q.scores[0].value, &hard[i], sizeof hard[i]) != 0;
        sc_params_fini(&q);
        free(written);
    }
    is_int((long long)changed, 0, "every double comes back as it went");
    sc_params_fini(&p);
}

/* --- corruptions --------------------------------------------------------------------------- */

struct corruption {
    const char *from, *to; /* of the first occurrence */
    size_t line;
    const char *column, *reason;
    bool stale; /* the hash is left as it was */
    enum sc_status status;
};

/* clang-format off */
static const struct corruption corruptions[] = {
    { "record,name", "model,name", 1, NULL, "is not the header of a calibration file: record,name,key,value,se,low,high,kind,note", false, SC_EDOMAIN },
    { ",kind,note", ",kind", 1, NULL, "is not the header of a calibration file: record,name,key,value,se,low,high,kind,note", false, SC_EDOMAIN },
    { "format,,1", "format,,2", 2, "value", "is a format that this version does not read; it reads 1", false, SC_ERANGE },
    { "format,,1", "format,,1.0", 2, "value", "is not a whole number from 0 to 18446744073709551615", false, SC_EDOMAIN },
    { "meta,format,,1,,,,,\n", "", 2, "name", "comes before meta format, which must be the first row", false, SC_EDOMAIN },
    { "system,,box", "system,,uvm", 3, "value", "is another system than the one that is asked about", false, SC_EDOMAIN },
    { "18446744073709551615", "18446744073709551616", 4, "value", "is not a whole number from 0 to 18446744073709551615", false, SC_EDOMAIN },
    { "18446744073709551615", "-1", 4, "value", "is not a whole number from 0 to 18446744073709551615", false, SC_EDOMAIN },
    { "meta,seed,,18446744073709551615,,,,,\n", "", 0, NULL, "has no meta seed", false, SC_EMISSING },
    { "meta,tool,,0.1.0,,,,,\n", "meta,tool,,0.1.0,,,,,\nmeta,seed,,1,,,,,\n", 10, "name", "is given twice", false, SC_EDOMAIN },
    { "meta,tool,,0.1.0", "meta,tool,,", 9, "value", "is empty", false, SC_EDOMAIN },
    { "meta,tool,,0.1.0", "meta,tools,,0.1.0", 9, "name", "is no meta record", false, SC_EDOMAIN },
    { "meta,tool,,0.1.0", "meta,tool,,0.1.0,", 9, NULL, "does not have the 9 cells of the header", false, SC_EDOMAIN },
    { "meta,tool,,0.1.0,", "meta,tool,,0.1.0,5", 9, "se", "should be empty in this record", false, SC_EDOMAIN },
    { "samples,fit,1200,,,,,\nmeta,samples,conformal,400", "samples,conformal,400,,,,,\nmeta,samples,fit,1200", 6, "name", "stands in the wrong order", false, SC_EDOMAIN },
    { "gain,,0.1,", "gain,,nan,", 10, "value", "is not a finite number", false, SC_EDOMAIN },
    { "gain,,0.1,", "gain,,inf,", 10, "value", "is not a finite number", false, SC_EDOMAIN },
    { "gain,,0.1,", "gain,,1e999,", 10, "value", "is not a finite number", false, SC_EDOMAIN },
    { "gain,,0.1,", "gain,,0x1p3,", 10, "value", "is not a finite number", false, SC_EDOMAIN },
    { "gain,,0.1,", "gain,,0.1 ,", 10, "value", "is not a finite number", false, SC_EDOMAIN },
    { "gain,,0.1,", "gain,,,", 10, "value", "is not a finite number", false, SC_EDOMAIN },
    { "gain,,0.1,0.01", "gain,,0.1,-0.01", 10, "se", "must be above 0", false, SC_EDOMAIN },
    { "gain,,0.1,0.01", "gain,,0.1,0", 10, "se", "must be above 0", false, SC_EDOMAIN },
    { "gain,,0.1,0.01", "gain,,0.1,", 10, "se", "is not a finite number", false, SC_EDOMAIN },
    { "0.081,0.123", "0.11,0.123", 10, "low", "lies above the estimate", false, SC_EDOMAIN },
    { "0.081,0.123", "0.081,0.09", 10, "high", "lies below the estimate", false, SC_EDOMAIN },
    { "fitted", "guessed", 10, "kind", "is none of fitted, prior, unidentified, fixed", false, SC_EDOMAIN },
    { "parameter,offset", "parameter,gain", 11, "name", "is given twice", false, SC_EDOMAIN },
    { "parameter,offset", "parameter,offsets", 11, "name", "is no parameter of this system", false, SC_EDOMAIN },
    { "parameter,offset", "parameter,", 11, "name", "is empty", false, SC_EDOMAIN },
    { "knee,,30,", "knee,,30,1", 12, "se", "should be empty in this record", false, SC_EDOMAIN },
    { "parameter,limit,,4096,,,,fixed,\n", "", 0, "name", "is a parameter that is missing", false, SC_EMISSING },
    { "parameter,limit", "parameters,limit", 13, "record", "is no record of a calibration file", false, SC_EDOMAIN },
    { "gain,gain,0.0001", "gain,gain,0.0002", 14, "value", "is not the square of the standard error", false, SC_EDOMAIN },
    { "gain,offset,-0.004", "gain,offset,-0.006", 15, "value", "is more than the standard errors allow", false, SC_EDOMAIN },
    { "gain,offset,-0.004", "gain,knee,-0.004", 15, "key", "counts as known and has no covariance", false, SC_EDOMAIN },
    { "gain,offset,-0.004", "gain,loss,-0.004", 15, "key", "is no parameter of this file", false, SC_EDOMAIN },
    { "gain,offset,-0.004", "gain,offset,NaN", 15, "value", "is not a finite number", false, SC_EDOMAIN },
    { "offset,offset,0.25,,,,,\n", "offset,gain,-0.004,,,,,\n", 16, "key", "must not come before the other parameter of the pair", false, SC_EDOMAIN },
    { "offset,offset,0.25,,,,,\n", "gain,offset,-0.004,,,,,\n", 16, "key", "is given twice for this parameter", false, SC_EDOMAIN },
    { "covariance,gain,offset,-0.004,,,,,\n", "", 0, "value", "lacks a covariance", false, SC_EMISSING },
    { "covariance,offset,offset,0.25,,,,,\n", "", 0, "value", "lacks a covariance", false, SC_EMISSING },
    { "conformal,*,points,400,,,,,\n", "", 17, "name", "has no row of its number of points before its levels", false, SC_EDOMAIN },
    { "*,points,400", "*,points,4e2", 17, "value", "is not a whole number from 0 on", false, SC_EDOMAIN },
    { "*,points,400", "all,points,400", 17, "name", "comes before *, the group of all points", false, SC_EDOMAIN },
    { "*,0.9,0.1,", "*,0.5,0.1,", 19, "key", "is given twice", false, SC_EDOMAIN },
    { "*,0.9,0.1,", "*,0.4,0.1,", 19, "key", "is below the level before it", false, SC_EDOMAIN },
    { "*,0.9,0.1,", "*,1,0.1,", 19, "key", "is neither points nor a level between 0 and 1", false, SC_EDOMAIN },
    { "*,0.9,0.1,", "*,0.9,0.01,", 19, "value", "is below the quantile of a lower level", false, SC_EDOMAIN },
    { "*,0.5,0.02,", "*,0.5,-0.02,", 18, "value", "must not be below 0", false, SC_EDOMAIN },
    { "*,0.99,0.25,", "*,0.99,inf,", 20, "value", "is not a finite number", false, SC_EDOMAIN },
    { "*,points,400", "*,points,98", 20, "key", "is a level that needs more points", false, SC_EDOMAIN },
    { "conformal,none,", "conformal,all,", 24, "name", "is given twice", false, SC_EDOMAIN },
    { "region,buffer", "region,buffers", 25, "name", "is no field of this system", false, SC_EDOMAIN },
    { "region,latency", "region,delay", 26, "name", "is no field of this system", false, SC_EDOMAIN },
    { "region,latency", "region,buffer", 26, "name", "is given twice", false, SC_EDOMAIN },
    { "8000000,640000000", "8000000,7000000", 25, "low", "lies above the upper end", false, SC_EDOMAIN },
    { "8000000,640000000", "0,640000000", 25, "low", "is outside what the field may be", false, SC_EDOMAIN },
    { "8000000,640000000", "8000000,nan", 25, "high", "is not a finite number", false, SC_EDOMAIN },
    { "policy,some", "policy,most", 27, "key", "is not one of the choices", false, SC_EDOMAIN },
    { "policy,some", "policy,all", 28, "name", "is given twice", false, SC_EDOMAIN },
    { "region,policy,some,,,,,,", "region,policy,,,,1,2,,", 27, "key", "should name a choice", false, SC_EDOMAIN },
    { "region,latency,,,,3e-06,5e-05,,", "region,latency,long,,,,,,", 26, "key", "should be empty: the field is a number", false, SC_EDOMAIN },
    { "score,coverage", "score,mape", 31, "name", "is given twice", false, SC_EDOMAIN },
    { "score,coverage,holdout,0.91", "score,coverage,holdout,-nan", 31, "value", "is not a finite number", false, SC_EDOMAIN },
    { "region,model,llama-8b,,,,,,\n", "parameter,more,,1,,,,fixed,\n", 29, "record", "stands in the wrong order", false, SC_EDOMAIN },
    { "of 0.9", "of\t0.9", 31, "note", "has a control character in it", false, SC_EDOMAIN },
    { "of 0.9", "\"of 0.9", 31, NULL, NULL, false, SC_EDOMAIN },
    { "0.034", "0.0340", 32, "value", "does not fit the rows above: they were changed", false, SC_EDOMAIN },
    { "of 0.9", "of 0.8", 32, "value", "does not fit the rows above: they were changed", true, SC_EDOMAIN },
    { "knee,,30,", "knee,,31,", 32, "value", "does not fit the rows above: they were changed", true, SC_EDOMAIN },
    { "offset,offset,0.25,", "offset,offset,0.25000000000000006,", 32, "value", "does not fit the rows above: they were changed", true, SC_EDOMAIN },
};
/* clang-format on */

static void replace(char *text, const char *from, const char *to)
{
    char *place = strstr(text, from);
    if (place == NULL)
        bail("'%s' is not in the file", from);
    memmove(place + strlen(to), place + strlen(from), strlen(place + strlen(from)) + 1);
    memcpy(place, to, strlen(to));
}

static void check_refused(char *text, const struct sc_params_wanted *what, size_t line,
                          const char *column, const char *reason, enum sc_status status)
{
    struct sc_params params;
    struct sc_params_error error = { 0 };
    const enum sc_status got = read_text(&params, text, what, &error);
    const char *at = error.column != NULL ? error.column : "";
    const bool right = got == status && error.line == line &&
                       strcmp(at, column != NULL ? column : "") == 0 && error.reason != NULL &&
                       (reason == NULL || strcmp(error.reason, reason) == 0) &&
                       params.parameters == NULL && params.text.rows == NULL;
    ok(right, "line %zu: %s: '%s' %s", line, column != NULL ? column : "-", error.found,
       reason != NULL ? reason : "is no CSV");
    if (!right)
        ok(false, "got status %d line %zu: %s: %s", (int)got, error.line, at,
           error.reason != NULL ? error.reason : "-");
}

static void test_corruptions(void)
{
    for (size_t i = 0; i < sizeof corruptions / sizeof corruptions[0]; i++) {
        const struct corruption *c = &corruptions[i];
        char text[ROOM];
        memcpy(text, good, sizeof good);
        if (c->stale)
            add_hash(text);
        replace(text, c->from, c->to);
        if (!c->stale)
            add_hash(text);
        check_refused(text, &wanted, c->line, c->column, c->reason, c->status);
    }
}

static void test_ends(void)
{
    char text[ROOM];
    memcpy(text, good, sizeof good);
    check_refused(text, &wanted, 0, NULL, "has no meta hash: its end is missing", SC_EMISSING);
    add_hash(text);
    add_hash(text);
    check_refused(text, &wanted, 33, "record", "hash is given twice", SC_EDOMAIN);
    memcpy(text, good, sizeof good);
    add_hash(text);
    append(text, "score,late,,1,,,,,\n");
    check_refused(text, &wanted, 33, "record", "comes after the hash", SC_EDOMAIN);
    memcpy(text, good, sizeof good);
    append(text, "meta,hash,,0123,,,,,\n");
    check_refused(text, &wanted, 32, "value", "is not 16 lower-case hexadecimal digits",
                  SC_EDOMAIN);
    *text = '\0';
    append(text, "record,name,key,value,se,low,high,kind,note\n");
    check_refused(text, &wanted, 0, NULL, "has no meta format", SC_EMISSING);
    memcpy(text, "\n", sizeof "\n");
    check_refused(text, &wanted, 0, NULL, NULL, SC_EDOMAIN);
    memcpy(text, good, sizeof good);
    *strstr(text, "conformal,*") = '\0';
    add_hash(text);
    check_refused(text, &wanted, 0, NULL, "has no conformal group *", SC_EMISSING);

    /* A carriage return at the line ends does no harm. */
    struct sc_params params;
    struct sc_params_error error;
    char dos[2 * ROOM];
    memcpy(text, good, sizeof good);
    add_hash(text);
    size_t length = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n')
            dos[length++] = '\r';
        dos[length++] = *c;
    }
    dos[length] = '\0';
    is_int(read_text(&params, dos, &wanted, &error), SC_OK, "CRLF is read");
    sc_params_fini(&params);
    const struct sc_params_wanted other = { .simulator = "events, 0000" };
    check_refused(text, &other, 8, "value",
                  "is another simulator than the calibration is wanted for", SC_EDOMAIN);
    is_int(read_text(&params, text, NULL, &error), SC_OK, "nothing wanted: any file is read");
    sc_params_fini(&params);
}

/* Three correlations of -0.9 each contradict each other. */
static void test_indefinite(void)
{
    static const char first[] =
        "record,name,key,value,se,low,high,kind,note\n"
        "meta,format,,1,,,,,\nmeta,system,,box,,,,,\nmeta,seed,,1,,,,,\n"
        "meta,samples,fit,1,,,,,\nmeta,samples,conformal,1,,,,,\nmeta,samples,holdout,1,,,,,\n"
        "meta,simulator,,s,,,,,\nmeta,tool,,t,,,,,\n"
        "parameter,a,,0,1,-1,1,fitted,\nparameter,b,,0,1,-1,1,fitted,\n"
        "parameter,c,,0,1,-1,1,fitted,\n"
        "covariance,a,a,1,,,,,\ncovariance,a,b,%s,,,,,\ncovariance,a,c,%s,,,,,\n"
        "covariance,b,b,1,,,,,\ncovariance,b,c,%s,,,,,\ncovariance,c,c,1,,,,,\n"
        "conformal,*,points,0,,,,,\n";
    char text[ROOM];
    struct sc_params params;
    struct sc_params_error error = { 0 };
    snprintf(text, sizeof text, first, "-0.9", "-0.9", "-0.9");
    add_hash(text);
    check_refused(text, NULL, 13, "value",
                  "begins covariances that cannot all be true: not positive semidefinite",
                  SC_EDOMAIN);
    /* -1/2 each is the edge: singular, but possible; so are three alike. */
    snprintf(text, sizeof text, first, "-0.5", "-0.5", "-0.5");
    add_hash(text);
    is_int(read_text(&params, text, NULL, &error), SC_OK, "a singular covariance is possible");
    sc_params_fini(&params);
    snprintf(text, sizeof text, first, "1", "1", "1");
    add_hash(text);
    is_int(read_text(&params, text, NULL, &error), SC_OK, "so is one of rank 1");
    sc_params_fini(&params);
}

/* Every single byte of the file changed: never accepted as it was. */
static void test_every_byte(void)
{
    static const char replacements[] = { '0', '7', ',', 'x', '-', '\n', '"', ' ', '\x01' };
    char text[ROOM];
    size_t accepted = 0, silent = 0, tried = 0;
    memcpy(text, good, sizeof good);
    add_hash(text);
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k < sizeof replacements; k++) {
            struct sc_params params;
            struct sc_params_error error = { 0 };
            const char before = text[i];
            /* A blank line more or less says nothing. */
            if (before == replacements[k] || i + 1 == length)
                continue;
            text[i] = replacements[k];
            tried++;
            if (read_text(&params, text, &wanted, &error) == SC_OK) {
                accepted++;
                sc_params_fini(&params);
            } else {
                silent += error.reason == NULL;
            }
            text[i] = before;
        }
    is_int((long long)accepted, 0, "none of %zu changes of one byte is accepted", tried);
    is_int((long long)silent, 0, "and each is told why");
    for (size_t end = 0; end < length - 1; end++) {
        struct sc_params params;
        struct sc_params_error error = { 0 };
        char cut[ROOM];
        memcpy(cut, text, end);
        memcpy(cut + end, end == 0 ? "\n" : "", end == 0 ? 2 : 1);
        if (read_text(&params, cut, &wanted, &error) == SC_OK) {
            accepted++;
            sc_params_fini(&params);
        }
    }
    is_int((long long)accepted, 0, "nor is any beginning of the file");
}

/* --- writing what is wrong ------------------------------------------------------------------ */

static void check_unwritable(const struct sc_params *params, const char *reason)
{
    struct sc_params_error error = { 0 };
    char *text = write_text(params, &error);
    is_str(error.reason, reason, "not written: '%s' %s", error.found, reason);
    free(text);
}

static void test_write_refused(void)
{
    char text[ROOM], long_text[1200];
    struct sc_params p = read_good(text);
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    p.parameters[0].value = (double)NAN;
    check_unwritable(&p, "is not a finite number");
    p.parameters[0].value = 0.1;
    p.scores[0].value = (double)INFINITY;
    check_unwritable(&p, "is not a finite number");
    p.scores[0].value = 0.034;
    p.parameters[0].note = long_text;
    check_unwritable(&p, "has a text longer than 1000 bytes");
    p.parameters[0].note = "two\nlines";
    check_unwritable(&p, "has a control character in it");
    p.parameters[0].note = "";
    p.tool = NULL;
    check_unwritable(&p, "is empty");
    p.tool = "0.1.0";
    double *covariance = p.covariance;
    p.covariance = NULL;
    check_unwritable(&p, "is not a finite number");
    p.covariance = covariance;
    p.parameters[1].kind = SC_PARAMS_KINDS;
    check_unwritable(&p, "is none of fitted, prior, unidentified, fixed");
    p.parameters[1].kind = SC_PARAMS_PRIOR;

    struct sc_params_error error = { 0 };
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) {
        skip(2, "no /dev/full");
    } else {
        is_int(sc_params_write(&p, full, &error), SC_ENOSPACE, "a full disk is noticed");
        ok(error.system_errno != 0, "with the system's reason");
        fclose(full);
    }
    sc_params_fini(&p);
}

/* --- using it --------------------------------------------------------------------------------- */

static void test_quantiles(void)
{
    char text[ROOM];
    struct sc_params p = read_good(text);
    struct sc_error error = { 0 };
    double q = 0.0;
    is_int(sc_params_quantile(&p, NULL, 0.9, &q, &error), SC_OK, "pooled, tabulated");
    near(q, 0.1, 0.0, 0.0, "as it stands");
    is_int(sc_params_quantile(&p, "all", 0.7, &q, &error), SC_OK, "a group, in between");
    near(q, 0.1, 1e-15, 0.0, "half way");
    is_int(sc_params_quantile(&p, "all", 0.99, &q, &error), SC_OK, "above the group's table");
    near(q, 0.25, 0.0, 0.0, "pooled");
    is_int(sc_params_quantile(&p, "none", 0.5, &q, &error), SC_OK, "a group without a table");
    near(q, 0.02, 0.0, 0.0, "pooled");
    is_int(sc_params_quantile(&p, "never", 0.5, &q, &error), SC_OK, "an unknown group");
    near(q, 0.02, 0.0, 0.0, "pooled");
    is_int(sc_params_quantile(&p, NULL, 0.995, &q, &error), SC_ERANGE, "above all");
    is_str(error.reason, "is above what the calibration set aside enough samples for", "why");
    is_int(sc_params_quantile(&p, NULL, 0.4, &q, &error), SC_ERANGE, "below all");
    is_str(error.reason, "is below the levels of the calibration", "why");
    is_int(sc_params_quantile(&p, NULL, (double)NAN, &q, &error), SC_ERANGE, "NaN");
    sc_params_fini(&p);
}

static const char *outside(const struct sc_params *p, double buffer, double latency, int policy)
{
    const struct scenario s = { buffer, latency, policy };
    const struct sc_field *field = sc_params_outside(p, &system_row, &s);
    return field != NULL ? field->key : NULL;
}

static void test_outside(void)
{
    char text[ROOM];
    struct sc_params p = read_good(text);
    is_str(outside(&p, 40e6, 20e-6, 1), NULL, "inside");
    is_str(outside(&p, 640e6, 3e-6, 2), NULL, "at the edge is inside");
    is_str(outside(&p, 641e6, 20e-6, 1), "buffer", "too large");
    is_str(outside(&p, 40e6, 2e-6, 1), "latency", "too small");
    is_str(outside(&p, 40e6, 20e-6, 0), "policy", "a choice that was not sampled");
    is_str(outside(&p, (double)NAN, 20e-6, 1), NULL, "a derived field is not judged");
    const struct scenario s = { 1.0, 1.0, 0 };
    size_t row = 0, found = 0;
    const struct sc_field *outer[4] = { NULL };
    while (found < 4 && (outer[found] = sc_params_outside_next(&p, &system_row, &s, &row)) != NULL)
        found++;
    is_int((long long)found, 3, "one after the other, a choice of two rows once");
    for (size_t i = 0; i < found; i++)
        for (size_t j = 0; j < i; j++)
            ok(outer[i] != outer[j], "each once");
    sc_params_fini(&p);
}

int main(void)
{
    plan(15 + 4 + (int)(sizeof corruptions / sizeof corruptions[0]) + 11 + 3 + 3 + 15 + 15 + 10);
    test_read();
    test_round_trip();
    test_corruptions();
    test_ends();
    test_indefinite();
    test_every_byte();
    test_write_refused();
    test_quantiles();
    test_outside();
    return done();
}
