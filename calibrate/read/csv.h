/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading CSV of any length in flat memory, and quoting fields for writing it.
 *
 * A reader takes an open FILE, finds out the dialect, reads the header and
 * then hands out batches of rows.  A batch owns all it points to and knows
 * nothing of the reader: one thread at a time may fill batches (callers put a
 * lock around sc_csv_read), while others work on those filled before.
 *
 * What is accepted: RFC 4180 with LF, CRLF or CR line ends, also mixed; a
 * UTF-8 byte order mark; quoted fields with delimiters, line ends and doubled
 * quotes in them; rows with more or fewer fields than the header.  Fields are
 * passed on byte for byte: nothing is trimmed and no encoding is checked.
 * A line with nothing on it, or nothing but spaces and tabs that are not
 * delimiters, is skipped and still counted.  A row of one empty field has to
 * be written as "" to be a row.
 *
 * What is refused, at the line it stands on: a quote inside a field that does
 * not start with one, anything between a closing quote and the delimiter, a
 * quote that is never closed, a NUL byte, a record above the limit, UTF-16.
 * After the first such fault the rest of the file has no sure meaning, so the
 * reader delivers the rows before it, then the fault, and stays there.
 *
 * Nothing here prints, and no state is kept outside the caller's structs.
 */
#ifndef SC_READ_CSV_H
#define SC_READ_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "status.h" /* SC_MUST_CHECK */

enum sc_csv_status {
    SC_CSV_OK = 0,
    SC_CSV_END,     /* every row has been delivered */
    SC_CSV_EMPTY,   /* not even a header */
    SC_CSV_EOPTION, /* an option has no meaning */
    SC_CSV_ENOMEMORY,
    SC_CSV_EREAD, /* the system could not read the file */
    SC_CSV_EUTF16,
    SC_CSV_ENUL,
    SC_CSV_EQUOTE_OPEN, /* a quote is not closed at the end of the file */
    SC_CSV_EQUOTE_TEXT, /* text after a closing quote */
    SC_CSV_EQUOTE_BARE, /* a quote inside an unquoted field */
    SC_CSV_ELONG,       /* a record above max_record_bytes */
    SC_CSV_STATUSES
};

/* Where a fault is and what it is.  The strings are not to be freed. */
struct sc_csv_error {
    const char *name;   /* of the file, as given by the caller */
    size_t line;        /* 1-based physical line, 0 when it has none; for
			     * SC_CSV_EQUOTE_OPEN where the quote opened, for
			     * SC_CSV_ELONG where the record starts */
    size_t column;      /* 1-based field number, 0 when it has none */
    size_t quote_line;  /* line on which the quoted field at fault opened,
			     * 0 when the field is not quoted.  Text after a
			     * closing quote, or an endless record, often means
			     * that the quote missing is on this line. */
    int system_errno;   /* SC_CSV_EREAD: errno, else 0 */
    const char *reason; /* clear text, as from sc_csv_reason */
};

enum {
    SC_CSV_BLOCK_BYTES = 128 * 1024,       /* default of block_bytes */
    SC_CSV_MAX_RECORD_BYTES = 1024 * 1024, /* default of max_record_bytes */
    SC_CSV_HEAD_BYTES = 64 * 1024,         /* looked at to find the dialect */
    SC_CSV_BATCH_BYTES = 4 * 1024 * 1024   /* text that closes a batch early */
};

/* All zero means: find out the dialect, default sizes. */
struct sc_csv_options {
    char delimiter;          /* one of , ; tab | :  or 0 to find out which of
				  * the first three the header has most of
				  * outside quotes; of equals tab before ;
				  * before , ; none means a comma */
    char decimal;            /* . or , or 0 to find out: a comma when the
				  * delimiter is not one and the head of the
				  * file has numbers like 1,5 and none like
				  * 1.5 (a unit may follow), else a point */
    size_t max_record_bytes; /* most bytes of a record with its line end,
				  * 0 for the default */
    size_t block_bytes;      /* bytes taken in at a time, 0 for the default;
				  * any value gives the same rows and faults */
};

struct sc_csv_field {
    const char *text; /* unquoted, NUL-terminated, has no NUL inside */
    size_t length;    /* bytes before the terminator */
};

struct sc_csv_row {
    size_t first_field; /* index into the fields of the batch */
    size_t field_count; /* at least 1 */
    size_t line;        /* 1-based physical line the record starts on */
};

/*
 * Rows and all they point to.  Start from all zero, reuse for any number of
 * sc_csv_read calls and readers (each replaces what was there and keeps the
 * memory), end with sc_csv_batch_fini.
 */
struct sc_csv_batch {
    struct sc_csv_row *rows;
    size_t row_count;
    struct sc_csv_field *fields; /* of all rows, in order */
    size_t field_count;
    char *text; /* of all fields, each with its NUL */
    size_t text_bytes;
    size_t row_capacity, field_capacity, text_capacity; /* the reader's */
};

struct sc_csv;

/*
 * Start reading `file` from where it stands, through the header.  `file` and
 * `name` (for faults) stay the caller's and must outlive the reader; until
 * then nothing else may read the file.  options NULL means all zero.
 * SC_CSV_OK: *reader is to be destroyed by the caller.  A file with a header
 * and no rows is SC_CSV_OK here and SC_CSV_END at the first sc_csv_read; a
 * file without even a header is SC_CSV_EMPTY.  Whatever else: *reader is NULL
 * and error, unless NULL, is filled.
 */
enum sc_csv_status sc_csv_create(struct sc_csv **reader, FILE *file, const char *name,
                                 const struct sc_csv_options *options,
                                 struct sc_csv_error *error) SC_MUST_CHECK;

/* Frees the reader, not the file; NULL is fine. */
void sc_csv_destroy(struct sc_csv *reader);

/* The header: names as they stand, empty or repeated ones too.  Valid until
 * the reader is destroyed. */
const struct sc_csv_field *sc_csv_columns(const struct sc_csv *reader);
size_t sc_csv_column_count(const struct sc_csv *reader);
size_t sc_csv_header_line(const struct sc_csv *reader);

/* The dialect, found out or told. */
char sc_csv_delimiter(const struct sc_csv *reader);
char sc_csv_decimal(const struct sc_csv *reader);

/*
 * Replace the content of `batch` with the next 1 to max_rows rows.  Fewer come
 * at the end, before a fault, and when their text passes SC_CSV_BATCH_BYTES.
 * SC_CSV_OK: at least one row.  SC_CSV_END, and every fault: no rows, now and
 * on every later call; for a fault error, unless NULL, is filled.
 * max_rows 0 is SC_CSV_EOPTION, and the only fault that does not stay.
 */
enum sc_csv_status sc_csv_read(struct sc_csv *reader, struct sc_csv_batch *batch, size_t max_rows,
                               struct sc_csv_error *error) SC_MUST_CHECK;

/* Frees what the batch owns and leaves it all zero. */
void sc_csv_batch_fini(struct sc_csv_batch *batch);

/* What a status means, in clear text that is never freed. */
const char *sc_csv_reason(enum sc_csv_status status);

/*
 * Whether a field must be quoted to be read back the same: RFC 4180 section 2
 * (delimiter, quote, CR, LF), and blanks at either end, which other readers
 * trim.  An empty field needs none, unless it is the only one of its row.
 */
bool sc_csv_needs_quotes(const char *text, size_t length, char delimiter);

/*
 * Write the field quoted, without a NUL, and return the bytes written, at most
 * 2 * length + 2, for which `out` must have room.  out NULL: only the count.
 */
size_t sc_csv_quote(char *out, const char *text, size_t length);

#endif
