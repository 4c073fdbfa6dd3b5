/* wavewright as a C library: the bytes of a thread-trace buffer in, columns out.
 *
 * One buffer is what one shader engine wrote: a file `*.att` without its container, or a buffer of the driver. A
 * program is the code that ran, as listings. Any bytes are safe: they give rows, and rows of the table `losses` that
 * say what is missing. Functions may be called from several threads; one object must not be changed by one while
 * another uses it.
 *
 * What is declared here stays as it is within one WAVEWRIGHT_API_VERSION. Tables and columns are found by name; later
 * versions may add some. docs/how-to/use-the-c-library.md shows how to build against it.
 */
#ifndef WAVEWRIGHT_H
#define WAVEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WAVEWRIGHT_PUBLIC __attribute__((visibility("default")))
#else
#define WAVEWRIGHT_PUBLIC
#endif

#define WAVEWRIGHT_API_VERSION 1

typedef enum wavewright_result {
    WAVEWRIGHT_OK = 0,
    WAVEWRIGHT_INVALID_ARGUMENT = 1, /* a null pointer, or a call in the wrong order */
    WAVEWRIGHT_OUT_OF_MEMORY = 2,
    WAVEWRIGHT_NOT_A_TRACE = 3, /* the header is not one of a thread trace that is known */
} wavewright_result;

/* Bits of the flags of wavewright_decode. */
enum {
    /* Repairs what AMD's decoder gets plainly wrong instead of being equal to it: docs/explanation/differences.md. */
    WAVEWRIGHT_CORRECTED = 1,
};

typedef enum wavewright_type {
    WAVEWRIGHT_UINT8 = 1,
    WAVEWRIGHT_UINT16 = 2,
    WAVEWRIGHT_UINT32 = 3,
    WAVEWRIGHT_UINT64 = 4,
    WAVEWRIGHT_INT32 = 5,
    WAVEWRIGHT_INT64 = 6,
} wavewright_type;

typedef struct wavewright_column {
    const char* name; /* as in docs/reference/tables.md: time_cycles, row, ... */
    wavewright_type type;
    const void* values; /* one per row of the table; NULL where it has none */
} wavewright_column;

typedef struct wavewright_table {
    const char* name; /* waves, instructions, states, occupancy, losses, ... */
    size_t row_count;
    size_t column_count;
    const wavewright_column* columns;
} wavewright_table;

typedef struct wavewright_facts {
    uint32_t gfxip;          /* 9, 10, 11 or 12 */
    uint32_t stream_version; /* of the header */
    uint32_t target_cu;      /* the CU, or WGP from gfx10 on, whose waves have instructions */
    uint32_t target_simd;    /* gfx10 on */
    uint64_t realtime_hz;    /* of the column realtime_ticks; 0 = not recorded */
    uint64_t token_count;
    uint64_t stopped_at_byte; /* where decoding stopped; the number of bytes where it did not */
} wavewright_facts;

typedef struct wavewright_line {
    uint64_t code_object; /* 0 = the address is one of memory */
    uint64_t address;
    const char* text; /* not ended by a zero; NULL at a place without a line */
    size_t text_size;
} wavewright_line;

typedef struct wavewright_program wavewright_program;
typedef struct wavewright_trace wavewright_trace;

/* The version of the functions, WAVEWRIGHT_API_VERSION when the library was built. */
WAVEWRIGHT_PUBLIC uint32_t wavewright_api_version(void);
/* A sentence of English for a result; for an unknown number too. */
WAVEWRIGHT_PUBLIC const char* wavewright_result_text(wavewright_result result);

/* A program without code; free it with wavewright_program_free. */
WAVEWRIGHT_PUBLIC wavewright_result wavewright_program_create(wavewright_program** program);
/* Adds a code object as text: a line per instruction, "address<TAB>size in bytes<TAB>text", numbers decimal or 0x.
 * `load_address` is where it was in memory, or NULL. `unreadable_count`, if not NULL, is set to the number of lines
 * that could not be read and were left out. */
WAVEWRIGHT_PUBLIC wavewright_result wavewright_program_add_listing(wavewright_program* program, uint64_t code_object,
                                                                   const uint64_t* load_address, const char* text,
                                                                   size_t text_size, size_t* unreadable_count);
/* Call it once after the last listing; from then on the program can be used and not changed. */
WAVEWRIGHT_PUBLIC wavewright_result wavewright_program_link(wavewright_program* program);
/* The line at a row, as the column `row` of instructions has it. The text is valid as long as the program. */
WAVEWRIGHT_PUBLIC wavewright_result wavewright_program_line(const wavewright_program* program, int32_t row,
                                                            wavewright_line* line);
WAVEWRIGHT_PUBLIC void wavewright_program_free(wavewright_program* program);

/* Decodes one buffer. `program` may be NULL: then no instruction has a row. With WAVEWRIGHT_NOT_A_TRACE there is no
 * trace; a stream that breaks off gives one, with its losses. Free it with wavewright_trace_free; it does not need the
 * bytes. */
WAVEWRIGHT_PUBLIC wavewright_result wavewright_decode(const void* bytes, size_t byte_count,
                                                      const wavewright_program* program, uint32_t flags,
                                                      wavewright_trace** trace);
WAVEWRIGHT_PUBLIC wavewright_result wavewright_trace_facts(const wavewright_trace* trace, wavewright_facts* facts);
WAVEWRIGHT_PUBLIC size_t wavewright_trace_table_count(const wavewright_trace* trace);
/* A table by number or by name, valid as long as the trace; NULL = there is none. */
WAVEWRIGHT_PUBLIC const wavewright_table* wavewright_trace_table_at(const wavewright_trace* trace, size_t number);
WAVEWRIGHT_PUBLIC const wavewright_table* wavewright_trace_table(const wavewright_trace* trace, const char* name);
/* A column by name; NULL = there is none. */
WAVEWRIGHT_PUBLIC const wavewright_column* wavewright_table_column(const wavewright_table* table, const char* name);
WAVEWRIGHT_PUBLIC void wavewright_trace_free(wavewright_trace* trace);

#ifdef __cplusplus
}
#endif

#endif
