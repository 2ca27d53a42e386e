/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For realpath.  NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#define _XOPEN_SOURCE 700

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(struct output *output, struct problem *problem)
{
    const int reason = errno;
    output->failed = true;
    return problem_set(problem, "cannot write %s: %s",
                       output->path != NULL ? output->path : "standard output", strerror(reason));
}

/* Mode of the file that stands there, or what a new one gets. */
static mode_t mode_of(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return status.st_mode & 0777;
    const mode_t mask = umask(0);
    (void)umask(mask);
    return 0666 & ~mask;
}

/* A device or a pipe cannot be renamed onto; it is written directly. */
static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* A link is to stay one: what it points to is replaced. */
static char *target_of(const char *path)
{
    char *target = realpath(path, NULL);
    return target != NULL ? target : strdup(path);
}

static void forget(struct output *output)
{
    free(output->target);
    free(output->temporary);
    output->target = output->temporary = NULL;
}

static bool open_temporary(struct output *output, struct problem *problem)
{
    static const char ending[] = ".XXXXXX";
    output->target = target_of(output->path);
    const size_t length = output->target != NULL ? strlen(output->target) : 0;
    output->temporary = malloc(length + sizeof ending);
    if (output->target == NULL || output->temporary == NULL) {
        forget(output);
        return refuse(output, problem);
    }
    memcpy(output->temporary, output->target, length);
    memcpy(output->temporary + length, ending, sizeof ending);
    const int descriptor = mkstemp(output->temporary);
    if (descriptor < 0) {
        const bool refused = refuse(output, problem);
        forget(output);
        return refused;
    }
    /* mkstemp makes files private. */
    (void)fchmod(descriptor, mode_of(output->target));
    output->file = fdopen(descriptor, "wb");
    if (output->file == NULL) {
        const bool refused = refuse(output, problem);
        (void)close(descriptor);
        (void)unlink(output->temporary);
        forget(output);
        return refused;
    }
    return true;
}

bool output_open(struct output *output, const char *path, struct problem *problem)
{
    *output = (struct output){ .path = path != NULL && strcmp(path, "-") != 0 ? path : NULL };
    if (output->path == NULL) {
        output->file = stdout;
        return true;
    }
    if (!is_special(output->path))
        return open_temporary(output, problem);
    output->file = fopen(output->path, "wb");
    return output->file != NULL || refuse(output, problem);
}

/* Nothing to a device or a pipe: a full one says so already then. */
static bool check_special(struct output *output, struct problem *problem)
{
    struct stat status;
    if (output->path != NULL && access(output->path, W_OK) != 0)
        return refuse(output, problem);
    /* Whoever reads a named pipe would take a writer that goes away for the end. */
    if (output->path != NULL && stat(output->path, &status) == 0 && S_ISFIFO(status.st_mode))
        return true;
    const int descriptor = output->path == NULL ? STDOUT_FILENO
                                                : open(output->path, O_WRONLY | O_NOCTTY);
    if (descriptor < 0)
        return refuse(output, problem);
    const bool fine = write(descriptor, "", 0) == 0 || refuse(output, problem);
    if (output->path != NULL)
        (void)close(descriptor);
    return fine;
}

bool output_is_file(const char *path)
{
    return path != NULL && strcmp(path, "-") != 0 && !is_special(path);
}

bool output_is_input(const char *path, const char *input)
{
    struct stat out, in;
    return path != NULL && stat(path, &out) == 0 && stat(input, &in) == 0 &&
           S_ISREG(out.st_mode) && out.st_dev == in.st_dev && out.st_ino == in.st_ino;
}

bool output_check(const char *path, struct problem *problem)
{
    struct output output = { .path = path != NULL && strcmp(path, "-") != 0 ? path : NULL };
    if (output.path == NULL || is_special(output.path))
        return check_special(&output, problem);
    if (!open_temporary(&output, problem))
        return false;
    output_abandon(&output);
    return true;
}

bool output_write(struct output *output, const char *bytes, size_t length, struct problem *problem)
{
    if (output->failed)
        return false;
    if (length > 0 && fwrite(bytes, 1, length, output->file) != length)
        return refuse(output, problem);
    return true;
}

bool output_commit(struct output *output, struct problem *problem)
{
    bool fine = !output->failed;
    if (fine && fflush(output->file) != 0)
        fine = refuse(output, problem);
    if (output->path != NULL && output->file != NULL) {
        const int closed = fclose(output->file);
        output->file = NULL;
        if (fine && closed != 0)
            fine = refuse(output, problem);
    }
    if (fine && output->temporary != NULL && rename(output->temporary, output->target) != 0)
        fine = refuse(output, problem);
    if (!fine && output->temporary != NULL)
        (void)unlink(output->temporary);
    forget(output);
    return fine;
}

void output_abandon(struct output *output)
{
    if (output->path != NULL && output->file != NULL)
        (void)fclose(output->file);
    if (output->temporary != NULL)
        (void)unlink(output->temporary);
    forget(output);
    *output = (struct output){ .failed = true };
}
