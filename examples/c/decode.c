/* decode TRACE.att [LISTING.tsv]: the tables of one thread-trace buffer, and the costliest line of code.
 *
 * A listing has a line per instruction: address, size in bytes and text, separated by tabs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "wavewright.h"

static char* read_file(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    char* bytes = NULL;
    size_t room = 0;
    *size = 0;
    if (!file) return NULL;
    for (;;) {
        if (*size == room) {
            char* grown = realloc(bytes, room = room ? 2 * room : 65536);
            if (!grown) break;
            bytes = grown;
        }
        const size_t count = fread(bytes + *size, 1, room - *size, file);
        if (count == 0) break;
        *size += count;
    }
    fclose(file);
    return bytes;
}

static void print_costliest_line(const wavewright_trace* trace, const wavewright_program* program) {
    const wavewright_table* table = wavewright_trace_table(trace, "instructions");
    const int32_t* rows = wavewright_table_column(table, "row")->values;
    const int32_t* cycles = wavewright_table_column(table, "duration_cycles")->values;
    int32_t row_count = 0;
    wavewright_line line;
    while (wavewright_program_line(program, row_count, &line) == WAVEWRIGHT_OK) ++row_count;
    int64_t* sums = calloc((size_t)row_count + 1, sizeof *sums);
    int32_t costliest = -1;
    if (!sums) return;
    for (size_t i = 0; i < table->row_count; ++i) {
        if (rows[i] < 0) continue; /* its place in the code is not known */
        sums[rows[i]] += cycles[i];
        if (costliest < 0 || sums[rows[i]] > sums[costliest]) costliest = rows[i];
    }
    if (costliest >= 0 && wavewright_program_line(program, costliest, &line) == WAVEWRIGHT_OK) {
        printf("most cycles: %" PRId64 " at 0x%" PRIx64 "  %.*s\n", sums[costliest], line.address, (int)line.text_size,
               line.text ? line.text : "");
    }
    free(sums);
}

int main(int argc, char** argv) {
    size_t trace_size = 0, listing_size = 0;
    wavewright_program* program = NULL;
    wavewright_trace* trace = NULL;
    char* listing = NULL;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: decode TRACE.att [LISTING.tsv]\n");
        return 2;
    }
    char* bytes = read_file(argv[1], &trace_size);
    if (!bytes || (argc == 3 && !(listing = read_file(argv[2], &listing_size)))) {
        fprintf(stderr, "cannot read %s\n", argv[bytes ? 2 : 1]);
        return 1;
    }
    wavewright_result result = wavewright_program_create(&program);
    if (!result && listing) result = wavewright_program_add_listing(program, 1, NULL, listing, listing_size, NULL);
    if (!result) result = wavewright_program_link(program);
    if (!result) result = wavewright_decode(bytes, trace_size, program, 0, &trace);
    if (result) {
        fprintf(stderr, "%s: %s\n", argv[1], wavewright_result_text(result));
    } else {
        for (size_t i = 0; i < wavewright_trace_table_count(trace); ++i) {
            const wavewright_table* table = wavewright_trace_table_at(trace, i);
            printf("%-13s %zu\n", table->name, table->row_count);
        }
        print_costliest_line(trace, program);
    }
    wavewright_trace_free(trace);
    wavewright_program_free(program);
    free(listing);
    free(bytes);
    return result ? 1 : 0;
}
