/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MQSim: its results as XML, read by expat as it comes, so that a file of any size takes the
 * memory of one element.  Times are whole us; empty queues print 2^63; short runs inf and nan. */
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/import_private.h"

#define US .dimension = SC_SECONDS, .factor = 1e-6

/* clang-format off */
enum { PART, NAME, FIRST_KEY };

static const struct sc_import_column columns[] = {
    [PART] = { .name = "part", .key = "name of the element", .help = "what the row is of" },
    [NAME] = { .name = "name", .key = "Name|Stream_ID|ID", .help = "which one" },
    { .name = "requests", .key = "Request_Count", .help = "of a flow" },
    { .name = "read_requests", .key = "Read_Request_Count", .help = "of them reads" },
    { .name = "write_requests", .key = "Write_Request_Count", .help = "of them writes" },
    { .name = "requests_per_s", .dimension = SC_PER_SECOND, .key = "IOPS", .help = "of a flow" },
    { .name = "read_requests_per_s", .dimension = SC_PER_SECOND, .key = "IOPS_Read", .help = "of them reads" },
    { .name = "write_requests_per_s", .dimension = SC_PER_SECOND, .key = "IOPS_Write", .help = "of them writes" },
    { .name = "transferred_bytes", .dimension = SC_BYTES, .key = "Bytes_Transferred", .help = "of a flow" },
    { .name = "read_bytes", .dimension = SC_BYTES, .key = "Bytes_Transferred_Read",
        .help = "of them read" },
    { .name = "write_bytes", .dimension = SC_BYTES, .key = "Bytes_Transferred_Write",
        .help = "of them written" },
    { .name = "throughput_bytes_per_s", .dimension = SC_BYTES_PER_SECOND, .key = "Bandwidth", .help = "of a flow" },
    { .name = "read_throughput_bytes_per_s", .dimension = SC_BYTES_PER_SECOND, .key = "Bandwidth_Read", .help = "of reads" },
    { .name = "write_throughput_bytes_per_s", .dimension = SC_BYTES_PER_SECOND, .key = "Bandwidth_Write", .help = "of writes" },
    { .name = "response_s", US, .key = "Device_Response_Time", .help = "mean, of the device" },
    { .name = "response_min_s", US, .key = "Min_Device_Response_Time", .help = "smallest" },
    { .name = "response_max_s", US, .key = "Max_Device_Response_Time", .help = "largest" },
    { .name = "delay_s", US, .key = "End_to_End_Request_Delay", .help = "mean, from the host" },
    { .name = "delay_min_s", US, .key = "Min_End_to_End_Request_Delay", .help = "smallest" },
    { .name = "delay_max_s", US, .key = "Max_End_to_End_Request_Delay", .help = "largest" },
    { .name = "read_turnaround_s", US, .key = "Average_Read_Transaction_Turnaround_Time", .help = "of flash, mean" },
    { .name = "read_execution_s", US, .key = "Average_Read_Transaction_Execution_Time", .help = "of it: in the cells" },
    { .name = "read_transfer_s", US, .key = "Average_Read_Transaction_Transfer_Time", .help = "of it: on the bus" },
    { .name = "read_waiting_s", US, .key = "Average_Read_Transaction_Waiting_Time", .help = "of it: in queues" },
    { .name = "write_turnaround_s", US, .key = "Average_Write_Transaction_Turnaround_Time", .help = "of flash, mean" },
    { .name = "write_execution_s", US, .key = "Average_Write_Transaction_Execution_Time", .help = "of it: in the cells" },
    { .name = "write_transfer_s", US, .key = "Average_Write_Transaction_Transfer_Time", .help = "of it: on the bus" },
    { .name = "write_waiting_s", US, .key = "Average_Write_Transaction_Waiting_Time", .help = "of it: in queues" },
    { .name = "flash_reads", .key = "Issued_Flash_Read_CMD", .help = "commands issued" },
    { .name = "flash_programs", .key = "Issued_Flash_Program_CMD", .help = "commands issued" },
    { .name = "flash_erases", .key = "Issued_Flash_Erase_CMD", .help = "commands issued" },
    { .name = "flash_mapping_reads", .key = "Issued_Flash_Read_CMD_For_Mapping", .help = "for the mapping table" },
    { .name = "flash_mapping_programs", .key = "Issued_Flash_Program_CMD_For_Mapping", .help = "for the mapping table" },
    { .name = "mapping_hits", .key = "CMT_Hits", .help = "in the cached mapping table" },
    { .name = "mapping_queries", .key = "Total_CMT_Queries", .help = "of it" },
    { .name = "gc_executions", .key = "Total_GC_Executions", .help = "garbage collections" },
    { .name = "gc_pages", .key = "Average_Page_Movement_For_GC", .help = "pages moved by one, mean" },
    { .name = "wl_executions", .key = "Total_WL_Executions", .help = "wear levellings" },
    { .name = "queue_entered", .key = "No_Of_Transactions_Enqueued", .help = "transactions that entered a queue" },
    { .name = "queue_left", .key = "No_Of_Transactions_Dequeued", .help = "and left it" },
    { .name = "queue_length", .key = "Avg_Queue_Length", .help = "mean" },
    { .name = "queue_length_max", .key = "Max_Queue_Length", .help = "largest" },
    { .name = "queue_waiting_s", US, .key = "Avg_Transaction_Waiting_Time", .help = "mean" },
    { .name = "queue_waiting_max_s", US, .key = "Max_Transaction_Waiting_Time", .help = "largest" },
    { .name = "executing_share", .dimension = SC_SHARE, .key = "Fraction_of_Time_in_Execution", .help = "of a chip's time" },
    { .name = "transferring_share", .dimension = SC_SHARE, .key = "Fraction_of_Time_in_DataXfer", .help = "of a chip's time" },
    { .name = "both_share", .dimension = SC_SHARE, .key = "Fraction_of_Time_in_DataXfer_and_Execution", .help = "of a chip's time" },
    { .name = "idle_share", .dimension = SC_SHARE, .key = "Fraction_of_Time_Idle", .help = "of a chip's time" },
};
/* clang-format on */

/* What a row is of; of queues only those that something entered. */
static const struct {
    const char *start;
    bool queue;
} parts[] = { { "Host.IO_Flow", false },
              { "SSDDevice.IO_Stream", false },
              { "SSDDevice.FTL", false },
              { "SSDDevice.FlashChips", false },
              { "SSDDevice.TSU.", true } };

enum { TEXT_MAX = 512, CHUNK = 64 * 1024 };

#define UNSET_TIME 9223372036854775808.0 /* what a nan becomes as a whole number */

struct reader {
    struct sc_import *import;
    XML_Parser parser;
    unsigned depth, row_depth; /* row_depth: of the element that is the row, 0 when there is none */
    size_t line;
    bool queue, entered, in_results;
    char text[TEXT_MAX]; /* of the innermost element */
    size_t length;
};

static void set_value(struct reader *r, struct sc_piece key, struct sc_piece value)
{
    double number = 0.0;
    if (sc_piece_is_one_of(key, columns[NAME].key))
        sc_import_set_text(r->import, NAME, value);
    const bool numeric = sc_piece_number(value, &number, NULL) && number < UNSET_TIME;
    for (size_t i = FIRST_KEY; numeric && i < SC_IMPORT_COUNT(columns); i++)
        if (sc_piece_is(key, columns[i].key)) {
            const double factor = columns[i].factor > 0.0 ? columns[i].factor : 1.0;
            sc_import_set(r->import, i, sc_scaled(number, factor));
        }
    if (sc_piece_is(key, "No_Of_Transactions_Enqueued"))
        r->entered = numeric && number > 0.0;
    if (sc_import_keeps(r->import, key) && (numeric || !sc_piece_number(value, &number, NULL)))
        sc_import_set_kept(r->import, key, value);
}

static void XMLCALL start_element(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct reader *const r = context;
    r->depth++;
    r->length = 0;
    r->in_results = r->in_results || strcmp(name, "MQSim_Results") == 0;
    for (size_t i = 0; r->row_depth == 0 && i < SC_IMPORT_COUNT(parts); i++)
        if (sc_piece_starts(sc_piece_of(name), parts[i].start)) {
            r->row_depth = r->depth;
            r->queue = parts[i].queue;
            r->entered = false;
            r->line = XML_GetCurrentLineNumber(r->parser);
            sc_import_set_text(r->import, PART, sc_piece_of(name));
        }
    for (size_t i = 0; r->row_depth > 0 && attributes[i] != NULL; i += 2)
        set_value(r, sc_piece_of(attributes[i]), sc_piece_of(attributes[i + 1]));
    if (sc_import_failed(r->import))
        (void)XML_StopParser(r->parser, XML_FALSE);
}

static void XMLCALL end_element(void *context, const XML_Char *name)
{
    struct reader *const r = context;
    if (r->row_depth == r->depth) {
        r->row_depth = 0;
        if (!r->queue || r->entered)
            sc_import_row(r->import, r->line);
        else
            sc_import_drop(r->import);
    } else if (r->row_depth > 0) {
        set_value(r, sc_piece_of(name), sc_piece_trim((struct sc_piece){ r->text, r->length }));
    }
    r->length = 0;
    r->depth--;
}

static void XMLCALL add_text(void *context, const XML_Char *text, int length)
{
    struct reader *const r = context;
    const size_t room = sizeof r->text - r->length;
    const size_t count = (size_t)length < room ? (size_t)length : room;
    memcpy(r->text + r->length, text, count);
    r->length += count;
}

/* Results have no entities of their own; to expand any is to let a file blow up. */
static void XMLCALL refuse_entity(void *context, const XML_Char *name, int is_parameter,
                                  const XML_Char *value, int length, const XML_Char *base,
                                  const XML_Char *system, const XML_Char *public,
                                  const XML_Char *notation)
{
    struct reader *const r = context;
    (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public;
    (void)notation;
    (void)sc_import_fail(r->import, XML_GetCurrentLineNumber(r->parser),
                         "expected results, got a declaration of the entity '%.60s'", name);
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static bool describe_error(struct reader *r)
{
    const enum XML_Error code = XML_GetErrorCode(r->parser);
    const size_t line = XML_GetCurrentLineNumber(r->parser);
    const bool cut = code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN;
    if (sc_import_failed(r->import))
        return false;
    if (!r->in_results || !cut)
        return sc_import_fail(r->import, line, "is no XML of results: %s", XML_ErrorString(code));
    if (r->row_depth > 0)
        sc_import_refuse(r->import, r->line, "the element is cut off and left out");
    sc_import_note(r->import, line, "the file is cut: %s", XML_ErrorString(code));
    sc_import_run_ended(r->import, "truncated");
    return true;
}

static bool read_xml(struct sc_import *import)
{
    struct reader r = { .import = import };
    size_t count = 0;
    bool fine = true;
    r.parser = XML_ParserCreate(NULL);
    if (r.parser == NULL)
        return sc_import_fail(import, 0, "out of memory");
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, start_element, end_element);
    XML_SetCharacterDataHandler(r.parser, add_text);
    XML_SetEntityDeclHandler(r.parser, refuse_entity);
    sc_import_run_ended(import, "complete");
    do {
        char *const chunk = XML_GetBuffer(r.parser, CHUNK);
        if (chunk == NULL) {
            fine = sc_import_fail(import, 0, "out of memory");
            break;
        }
        count = sc_import_bytes(import, chunk, CHUNK);
        if (XML_ParseBuffer(r.parser, (int)count, count == 0) != XML_STATUS_OK) {
            fine = describe_error(&r);
            break;
        }
    } while (count > 0);
    XML_ParserFree(r.parser);
    return fine && !sc_import_failed(import);
}

/* What the program printed: no results, but it may say why there are none. */
static bool read_talk(struct sc_import *import)
{
    struct sc_piece line;
    size_t errors = 0;
    bool known = false;
    while (sc_import_line(import, &line)) {
        known = known || sc_piece_starts(line, "MQSim");
        if (sc_piece_starts(line, "ERROR")) {
            errors++;
            sc_import_refuse(import, sc_import_line_number(import), "MQSim ended in '%.*s'",
                             line.length < 200 ? (int)line.length : 200, line.text);
        }
    }
    if (!known && errors == 0)
        return sc_import_fail(import, 0, "expected the element MQSim_Results, got none");
    if (errors == 0)
        sc_import_refuse(import, 0,
                         "is what MQSim printed; its results are in the XML file beside "
                         "the workload");
    return true;
}

static bool read_mqsim(struct sc_import *import)
{
    struct sc_piece first;
    return sc_import_peek(import, &first) && *first.text == '<' ? read_xml(import)
                                                                : read_talk(import);
}

static bool sniff(const char *head, size_t length)
{
    const struct sc_piece text = { head, length };
    return sc_piece_find(text, "<MQSim_Results") != SIZE_MAX ||
           sc_piece_find(text, "MQSim started at") != SIZE_MAX;
}

const struct sc_import_kind sc_import_mqsim = {
    .name = "mqsim",
    .summary = "results of MQSim (XML)",
    .row = "a flow, a stream, the FTL, a chip, a queue that was used",
    .sniff = sniff,
    .columns = { { columns, SC_IMPORT_COUNT(columns) } },
    .more = "--keep takes any attribute or element of these",
    .read = read_mqsim,
};
