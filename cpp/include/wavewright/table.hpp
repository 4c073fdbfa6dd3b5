// Tables as structs of columns, each declared once as a list: X(type, name) per column.
#pragma once

#include "wavewright/column.hpp"

#define WAVEWRIGHT_DECLARE_COLUMN(type, name) ::wavewright::Column<type> name;
#define WAVEWRIGHT_VISIT_COLUMN(type, name) visit(#name, name);
#define WAVEWRIGHT_PARAMETER(type, name) type name##_value,
#define WAVEWRIGHT_PUSH(type, name) name.push_back(name##_value);

// `add` takes one value per column in the declared order (its last, unused argument keeps the macro simple).
#define WAVEWRIGHT_DECLARE_TABLE(Type, member, COLUMNS)                              \
    struct Type {                                                                    \
        COLUMNS(WAVEWRIGHT_DECLARE_COLUMN)                                           \
        void add(COLUMNS(WAVEWRIGHT_PARAMETER) int = 0) { COLUMNS(WAVEWRIGHT_PUSH) } \
        template <class Visitor>                                                     \
        void each_column(Visitor&& visit) {                                          \
            COLUMNS(WAVEWRIGHT_VISIT_COLUMN)                                         \
        }                                                                            \
    };
