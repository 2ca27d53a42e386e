/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* One row per way of packing. */
static const struct packing {
    const char *ending, *program, *package;
} packings[] = {
    { ".gz", "gzip", "gzip" },
    { ".zst", "zstd", "zstd" },
};

static const struct packing *find_packing(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        const size_t ending = strlen(packings[i].ending);
        if (length > ending && strcasecmp(name + length - ending, packings[i].ending) == 0)
            return &packings[i];
    }
    return NULL;
}

size_t sc_packed_stem(const char *name)
{
    const struct packing *const packing = find_packing(name);
    return strlen(name) - (packing != NULL ? strlen(packing->ending) : 0);
}

/* Standard input from the file, output into the pipe, talk to nowhere; a reader that went away
 * ends it. */
static int spawn(const struct packing *packing, int from, int to, pid_t *child)
{
    char program[16], unpack[] = "-dc";
    char *const arguments[] = { program, unpack, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    (void)snprintf(program, sizeof program, "%s", packing->program);
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0)
        return failure;
    failure = posix_spawnattr_init(&attributes);
    if (failure != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return failure;
    }
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    failure = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (failure == 0)
        failure = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (failure == 0)
        failure = posix_spawnp(child, program, &actions, &attributes, arguments, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static bool refuse(char reason[static 256], const char *what, int why)
{
    (void)snprintf(reason, 256, "%s%s", what, strerror(why));
    return false;
}

static bool start_unpacking(struct sc_packed *packed, const struct packing *packing,
                            char reason[static 256])
{
    int ends[2];
    if (pipe(ends) != 0)
        return refuse(reason, "cannot make a pipe: ", errno);
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const int failure = spawn(packing, packed->descriptor, ends[1], &packed->child);
    (void)close(ends[1]);
    if (failure == 0)
        packed->file = fdopen(ends[0], "rb");
    if (packed->file != NULL) {
        packed->program = packing->program;
        return true;
    }
    (void)close(ends[0]);
    if (failure == ENOENT)
        (void)snprintf(reason, 256, "is read through %s, which is not in PATH (Debian: the package %s)",
                       packing->program, packing->package);
    else
        (void)snprintf(reason, 256, "is read through %s, which cannot be run: %s",
                       packing->program, strerror(failure != 0 ? failure : errno));
    return false;
}

/* So that a directory is told from an empty file. */
static bool look_at(struct sc_packed *packed, char reason[static 256])
{
    struct stat status;
    if (fstat(packed->descriptor, &status) != 0)
        return refuse(reason, "", errno);
    if (S_ISDIR(status.st_mode))
        return refuse(reason, "", EISDIR);
    if (S_ISREG(status.st_mode) && status.st_size > 0)
        packed->size_bytes = (uint64_t)status.st_size;
    return true;
}

bool sc_packed_open(struct sc_packed *packed, const char *name, char reason[static 256])
{
    *packed = (struct sc_packed){ .file = NULL, .descriptor = STDIN_FILENO };
    if (strcmp(name, "-") == 0) {
        packed->file = stdin;
        return look_at(packed, reason);
    }
    packed->descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (packed->descriptor < 0)
        return refuse(reason, "", errno);
    const struct packing *const packing = find_packing(name);
    bool fine = look_at(packed, reason);
    if (fine && packing != NULL) {
        fine = start_unpacking(packed, packing, reason);
    } else if (fine) {
        packed->file = fdopen(packed->descriptor, "rb");
        fine = packed->file != NULL || refuse(reason, "", errno);
    }
    if (!fine)
        (void)close(packed->descriptor);
    return fine;
}

uint64_t sc_packed_position(const struct sc_packed *packed)
{
    /* A child reads from the same place. */
    const off_t position = lseek(packed->descriptor, 0, SEEK_CUR);
    return position > 0 ? (uint64_t)position : 0;
}

bool sc_packed_close(struct sc_packed *packed, char reason[static 256])
{
    int status = 0;
    if (packed->file == NULL || packed->file == stdin)
        return true;
    const bool all = feof(packed->file) != 0;
    (void)fclose(packed->file);
    packed->file = NULL;
    if (packed->program == NULL)
        return true;
    (void)close(packed->descriptor);
    if (!all)
        (void)kill(packed->child, SIGTERM);
    while (waitpid(packed->child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!all || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return true;
    if (WIFEXITED(status))
        (void)snprintf(reason, 256, "cannot be unpacked: %s ends with exit code %d",
                       packed->program, WEXITSTATUS(status));
    else
        (void)snprintf(reason, 256, "cannot be unpacked: %s was ended by signal %d",
                       packed->program, WTERMSIG(status));
    return false;
}
