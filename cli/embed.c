/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Build-time program: embed OUT.c FILE...
 *
 * Writes a C source that defines what embedded.h declares: each FILE byte for
 * byte, under the name given here, in the order given here.  Bytes are numbers
 * and not a string, since C17 promises string literals of 4095 bytes only.
 * No FILE at all gives an empty table.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_PER_LINE = 24 };

/* False when the file cannot be read; *size is set otherwise. */
static bool write_bytes(FILE *out, const char *path, int index, size_t *size)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return false;
    *size = 0;
    fprintf(out, "\nstatic const unsigned char file_%d[] = {", index);
    for (int byte = getc(in); byte != EOF; byte = getc(in), ++*size)
        fprintf(out, "%s%d,", *size % BYTES_PER_LINE == 0 ? "\n" : "", byte);
    fprintf(out, "\n0 };\n");
    const bool read = !ferror(in);
    return fclose(in) == 0 && read;
}

static void write_name(FILE *out, const char *name)
{
    putc('"', out);
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            putc('\\', out);
        putc(*name, out);
    }
    putc('"', out);
}

static void write_table(FILE *out, char *const *paths, const size_t *sizes, int count)
{
    fprintf(out, "\nconst struct sc_embedded sc_embedded_files[] = {\n");
    for (int i = 0; i < count; i++) {
        fprintf(out, "    { ");
        write_name(out, paths[i]);
        fprintf(out, ", file_%d, %zu },\n", i, sizes[i]);
    }
    if (count == 0) /* an array has at least one element */
        fprintf(out, "    { 0 },\n");
    fprintf(out, "};\nconst size_t sc_embedded_count = %d;\n", count);
}

static bool fail(const char *path)
{
    fprintf(stderr, "embed: %s: %s\n", path, strerror(errno));
    return false;
}

static bool write_source(FILE *out, char *const *paths, size_t *sizes, int count)
{
    fprintf(out, "/* Written by embed from the files below data/. */\n#include \"embedded.h\"\n");
    for (int i = 0; i < count; i++)
        if (!write_bytes(out, paths[i], i, &sizes[i]))
            return fail(paths[i]);
    write_table(out, paths, sizes, count);
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: embed OUT.c FILE...\n");
        return 2;
    }
    const int count = argc - 2;
    size_t *sizes = calloc((size_t)count + 1, sizeof *sizes);
    FILE *out = fopen(argv[1], "w");
    bool done = false;
    if (sizes == NULL || out == NULL)
        fail(argv[1]);
    else
        done = write_source(out, argv + 2, sizes, count);
    if (out != NULL && (ferror(out) || fclose(out) != 0))
        done = fail(argv[1]);
    free(sizes);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
