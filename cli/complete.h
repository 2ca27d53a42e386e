/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may come next on a command line, from the tables that --help and `list` read. */
#ifndef SC_COMPLETE_H
#define SC_COMPLETE_H

#include "command.h"
#include "text.h"

/* Appends a line for each word that the last of words[0 .. count), the words behind the program's
 * name, may become: the word, and behind a tab what it means.  A word that ends in '=' goes on.
 * The line ":files" says that it may be the name of a file, too. */
void complete_words(const struct command *const *commands, size_t command_count,
                    const char *const *words, size_t count, const char *data_directory,
                    struct text *out);

#endif
