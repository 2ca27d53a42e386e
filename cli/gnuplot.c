/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded.h"
#include "output.h"
#include "text.h"

static const char program[] = "gnuplot";
static const char data_name[] = "data.csv", style_name[] = "style.gp", log_name[] = "log";

const char *gnuplot_format(const char *option, const char *path, struct problem *problem)
{
    static const char *const formats[] = { "svg", "png", "pdf" };
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && dot != name && i < sizeof formats / sizeof formats[0]; i++)
        if (strcasecmp(dot + 1, formats[i]) == 0)
            return formats[i];
    (void)problem_set(
        problem, "--%s: expected a name that ends in .svg, .png or .pdf, got '%.60s'", option,
        path);
    return NULL;
}

/* Runs gnuplot in a directory (NULL: this one), its talk in the directory's log or
 * nowhere, and returns its wait status; -1 with errno when it cannot be started. */
static int run_gnuplot(const char *directory, char *const *arguments)
{
    int report[2], reason = 0, status = 0;
    if (pipe(report) != 0)
        return -1;
    (void)fcntl(report[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(report[1], F_SETFD, FD_CLOEXEC);
    const pid_t child = fork();
    if (child == 0) {
        int talk = -1;
        /* gnuplot may not look at what its writes return. */
        (void)signal(SIGPIPE, SIG_DFL);
        (void)signal(SIGXFSZ, SIG_DFL);
        if (directory == NULL || chdir(directory) == 0)
            talk = open(directory == NULL ? "/dev/null" : log_name, O_WRONLY | O_CREAT | O_TRUNC,
                        0600);
        if (talk >= 0 && dup2(talk, STDOUT_FILENO) >= 0 && dup2(talk, STDERR_FILENO) >= 0)
            (void)execvp(program, arguments);
        reason = errno;
        (void)!write(report[1], &reason, sizeof reason);
        _exit(127);
    }
    const int forked = errno;
    (void)close(report[1]);
    ssize_t got = 0;
    while (child > 0 && (got = read(report[0], &reason, sizeof reason)) < 0 && errno == EINTR)
        continue;
    const bool started = child > 0 && got != sizeof reason;
    (void)close(report[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    errno = child < 0 ? forked : reason;
    return started ? status : -1;
}

static bool refuse_gnuplot(const struct gnuplot_user *user, struct problem *problem)
{
    if (errno == ENOENT)
        return problem_set(problem, "%s needs gnuplot, which is not in PATH (Debian: the package "
                                    "gnuplot-nox)%s%s", user->name,
                           user->otherwise != NULL ? "; " : "",
                           user->otherwise != NULL ? user->otherwise : "");
    return problem_set(problem, "cannot run gnuplot: %s", strerror(errno));
}

bool gnuplot_find(const struct gnuplot_user *user, struct problem *problem)
{
    char name[] = "gnuplot", version[] = "--version";
    char *const arguments[] = { name, version, NULL };
    return run_gnuplot(NULL, arguments) != -1 || refuse_gnuplot(user, problem);
}

static bool in_directory(const char *directory, const char *name, struct text *path)
{
    text_clear(path);
    text_printf(path, "%s/%s", directory, name);
    return !path->failed;
}

/* A file of the program, which stands there under its path from data/. */
static const struct sc_embedded *find_script(const char *name)
{
    static const char folder[] = "../plots/";
    const size_t length = sizeof folder - 1;
    for (size_t i = 0; i < sc_embedded_count; i++)
        if (strncmp(sc_embedded_files[i].name, folder, length) == 0 &&
            strcmp(sc_embedded_files[i].name + length, name) == 0)
            return &sc_embedded_files[i];
    return NULL;
}

static bool put_script(const char *directory, const char *name, struct text *path,
                       struct problem *problem)
{
    const struct sc_embedded *script = find_script(name);
    if (script == NULL)
        return problem_set(problem, "plot: %s is not part of this program", name);
    if (!in_directory(directory, name, path))
        return problem_set(problem, "out of memory");
    FILE *file = fopen(path->bytes, "wb");
    bool fine = file != NULL && fwrite(script->bytes, 1, script->size, file) == script->size;
    fine = (file == NULL || fclose(file) == 0) && fine;
    return fine || problem_set(problem, "cannot write %s: %s", path->bytes, strerror(errno));
}

/* The last line in which gnuplot names a line of the script: that is the error. */
static bool explain_failure(const char *directory, struct text *path, struct problem *problem)
{
    char line[256], said[256] = "";
    FILE *file = in_directory(directory, log_name, path) ? fopen(path->bytes, "rb") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strstr(line, " line ") != NULL && strstr(line, "warning:") == NULL)
            memcpy(said, line, sizeof said);
    if (file != NULL)
        (void)fclose(file);
    said[strcspn(said, "\n")] = '\0';
    return problem_set(problem, "gnuplot failed%s%s", *said != '\0' ? ": " : "", said);
}

/* The finished picture to where it is wanted. */
static bool deliver(const char *directory, const char *name, const char *to, struct text *path,
                    struct problem *problem)
{
    char block[65536];
    struct output output;
    FILE *file = in_directory(directory, name, path) ? fopen(path->bytes, "rb") : NULL;
    if (file == NULL)
        return problem_set(problem, "gnuplot wrote no picture");
    bool fine = output_open(&output, to, problem);
    size_t length = 0, all = 0;
    while (fine && (length = fread(block, 1, sizeof block, file)) > 0) {
        all += length;
        fine = output_write(&output, block, length, problem);
    }
    if (fine && (ferror(file) || all == 0))
        fine = problem_set(problem, "gnuplot wrote no picture");
    (void)fclose(file);
    if (fine)
        return output_commit(&output, problem);
    output_abandon(&output);
    return false;
}

static bool draw_in(const char *directory, const struct gnuplot *figure, const char *to,
                    struct text *path, struct problem *problem)
{
    char name[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
    char script[64], picture[32], assignment[32];
    char *const arguments[] = { name, defaults, execute, assignment, script, NULL };
    (void)snprintf(script, sizeof script, "%s.gp", figure->name);
    (void)snprintf(picture, sizeof picture, "figure.%s", figure->format);
    (void)snprintf(assignment, sizeof assignment, "format='%s'", figure->format);
    if (!put_script(directory, style_name, path, problem) ||
        !put_script(directory, script, path, problem))
        return false;
    if (!in_directory(directory, data_name, path))
        return problem_set(problem, "out of memory");
    if (!figure->write(figure->context, path->bytes, problem))
        return false;
    const int status = run_gnuplot(directory, arguments);
    if (status == -1)
        return refuse_gnuplot(figure->user, problem);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return explain_failure(directory, path, problem);
    return deliver(directory, picture, to, path, problem);
}

static void remove_directory(const char *directory, const struct gnuplot *figure,
                             struct text *path)
{
    char script[64], picture[32];
    const char *const names[] = { data_name, style_name, log_name, script, picture };
    (void)snprintf(script, sizeof script, "%s.gp", figure->name);
    (void)snprintf(picture, sizeof picture, "figure.%s", figure->format);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (in_directory(directory, names[i], path))
            (void)unlink(path->bytes);
    (void)rmdir(directory);
}

bool gnuplot_draw(const struct gnuplot *figure, const char *to, struct problem *problem)
{
    const char *parent = getenv("TMPDIR");
    struct text directory = { 0 }, path = { 0 };
    text_printf(&directory, "%s/stallcast-XXXXXX",
                parent != NULL && *parent != '\0' ? parent : "/tmp");
    bool fine = !directory.failed || problem_set(problem, "out of memory");
    if (fine && mkdtemp(directory.bytes) == NULL)
        fine = problem_set(problem, "cannot make a directory in %s: %s",
                           parent != NULL && *parent != '\0' ? parent : "/tmp", strerror(errno));
    else if (fine) {
        fine = draw_in(directory.bytes, figure, to, &path, problem);
        remove_directory(directory.bytes, figure, &path);
    }
    text_fini(&directory);
    text_fini(&path);
    return fine;
}
