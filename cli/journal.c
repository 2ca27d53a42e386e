/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the first line of any journal begins with. */
static const char opening[] = "stallcast runs";

enum { LINE_MAX_BYTES = 256, HASH_DIGITS = 16 };

static bool refuse(const struct journal *j, struct problem *problem)
{
    return problem_set(problem, "%s: %s", j->path.bytes, strerror(errno));
}

/* 64-bit FNV-1a (Fowler, Noll, Vo), of one text and then another. */
static uint64_t add_to_hash(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_of(const struct journal *j, const char *row, size_t length)
{
    const uint64_t hash = add_to_hash(UINT64_C(0xcbf29ce484222325), j->heading, strlen(j->heading));
    return add_to_hash(hash, row, length);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The last line, without its end: whoever wrote it was stopped. */
static bool is_cut_off(const char *line, FILE *file)
{
    return strchr(line, '\n') == NULL && feof(file);
}

/* Released by the system when the process ends, however it does. */
static bool lock(const struct journal *j, struct problem *problem)
{
    struct flock wanted = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    struct flock held = wanted;
    if (fcntl(fileno(j->file), F_SETLK, &wanted) == 0)
        return true;
    if (errno != EACCES && errno != EAGAIN)
        return problem_set(problem, "%s: cannot be locked: %s", j->path.bytes, strerror(errno));
    if (fcntl(fileno(j->file), F_GETLK, &held) == 0 && held.l_type != F_UNLCK && held.l_pid > 0)
        return problem_set(problem, "%s: another calibrate (process %ld) is at work on it: let it "
                                    "end, or give another -o", j->path.bytes, (long)held.l_pid);
    return problem_set(problem, "%s: another calibrate is at work on it: let it end, or give "
                                "another -o", j->path.bytes);
}

/* A first line that is not the heading.  The file is someone's: it stays. */
static bool refuse_heading(const struct journal *j, char *line, struct problem *problem)
{
    const size_t length = strcspn(line, "\r\n");
    const bool carriage = strcmp(line + length, "\r\n") == 0 || strcmp(line + length, "\r") == 0;
    line[length] = '\0';
    if (carriage && strcmp(line, j->heading) == 0)
        return problem_set(problem, "%s:1: expected lines that end in LF, as calibrate writes them, "
                                    "got CRLF: undo that, or give another -o", j->path.bytes);
    if (strncmp(line, opening, sizeof opening - 1) == 0)
        return problem_set(problem, "%s:1: expected the runs of these scenarios, '%s', got '%.100s': "
                                    "give the keys, seed and samples of those, or another -o",
                           j->path.bytes, j->heading, line);
    return problem_set(problem, "%s:1: expected '%s', since calibrate keeps its finished runs there, "
                                "got '%.60s': it is some other file, give another -o",
                       j->path.bytes, j->heading, line);
}

/* "sample,slowdown,hash\n" */
static bool read_row(const struct journal *j, const char *line, size_t count, size_t *sample,
                     double *value)
{
    char *end;
    errno = 0;
    const unsigned long i = strtoul(line, &end, 10);
    if (!is_digit(line[0]) || errno != 0 || i >= count || *end != ',' || !is_digit(end[1]))
        return false;
    *sample = i;
    *value = strtod(end + 1, &end);
    const char *hash = end + 1;
    if (*end != ',' || !(*value >= 0.0) || !isfinite(*value) ||
        strspn(hash, "0123456789abcdef") != HASH_DIGITS || strcmp(hash + HASH_DIGITS, "\n") != 0)
        return false;
    return strtoull(hash, NULL, 16) == hash_of(j, line, (size_t)(end - line));
}

static bool read_rows(struct journal *j, double *values, size_t count, struct problem *problem)
{
    char line[LINE_MAX_BYTES];
    long whole = ftell(j->file);
    for (size_t number = 2;
         fgets(line, sizeof line, j->file) != NULL && !is_cut_off(line, j->file); number++) {
        size_t sample = 0;
        double value = 0.0;
        if (!read_row(j, line, count, &sample, &value))
            return problem_set(problem, "%s:%zu: expected sample,slowdown,hash as calibrate wrote it, "
                                        "got '%.*s': without that line the sample is run again",
                               j->path.bytes, number, (int)strcspn(line, "\r\n"), line);
        values[sample] = value;
        whole = ftell(j->file);
    }
    if (ferror(j->file) || fflush(j->file) != 0 || ftruncate(fileno(j->file), whole) != 0)
        return refuse(j, problem);
    return true;
}

/* Takes over what the file holds, and leaves it ready for more. */
static bool read_all(struct journal *j, double *values, size_t count, struct problem *problem)
{
    char line[LINE_MAX_BYTES];
    const size_t length = strlen(j->heading);
    const bool empty = fgets(line, sizeof line, j->file) == NULL;
    if (empty && ferror(j->file))
        return refuse(j, problem);
    const bool cut_off = !empty && is_cut_off(line, j->file) &&
                         ftell(j->file) == (long)strlen(line) &&
                         strncmp(line, j->heading, strlen(line)) == 0;
    if (cut_off && ftruncate(fileno(j->file), 0) != 0)
        return refuse(j, problem);
    if (empty || cut_off)
        return (fseek(j->file, 0, SEEK_END) == 0 && fprintf(j->file, "%s\n", j->heading) >= 0 &&
                fflush(j->file) == 0) || refuse(j, problem);
    if (strncmp(line, j->heading, length) != 0 || strcmp(line + length, "\n") != 0)
        return refuse_heading(j, line, problem);
    return read_rows(j, values, count, problem) &&
           (fseek(j->file, 0, SEEK_END) == 0 || refuse(j, problem));
}

bool journal_open(struct journal *j, const char *output, const char *heading, double *values,
                  size_t count, struct problem *problem)
{
    *j = (struct journal){ 0 };
    text_printf(&j->path, "%s.runs", output);
    if (j->path.failed || snprintf(j->heading, sizeof j->heading, "%s 2,%s", opening, heading) >=
                              (int)sizeof j->heading)
        return problem_set(problem, "out of memory");
    j->file = fopen(j->path.bytes, "a+");
    if (j->file == NULL)
        return refuse(j, problem);
    return lock(j, problem) &&
           (fseek(j->file, 0, SEEK_SET) == 0 ? read_all(j, values, count, problem)
                                             : refuse(j, problem));
}

bool journal_add(struct journal *j, size_t sample, double value, struct problem *problem)
{
    char row[64];
    if (j->file == NULL)
        return true;
    const int length = snprintf(row, sizeof row, "%zu,%.17g", sample, value);
    if (length > 0 && length < (int)sizeof row &&
        fprintf(j->file, "%s,%016" PRIx64 "\n", row, hash_of(j, row, (size_t)length)) >= 0 &&
        fflush(j->file) == 0)
        return true;
    return problem_set(problem, "cannot write %s: %s", j->path.bytes, strerror(errno));
}

void journal_close(struct journal *j)
{
    if (j->file != NULL)
        (void)fclose(j->file);
    text_fini(&j->path);
    *j = (struct journal){ 0 };
}
