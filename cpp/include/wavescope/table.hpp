// Tables as structs of columns, each declared once as a list: X(type, name) per column.
#pragma once

#include "wavescope/column.hpp"

#define WAVESCOPE_DECLARE_COLUMN(type, name) ::wavescope::Column<type> name;
#define WAVESCOPE_VISIT_COLUMN(type, name) visit(#name, name);
#define WAVESCOPE_PARAMETER(type, name) type name##_value,
#define WAVESCOPE_PUSH(type, name) name.push_back(name##_value);

// `add` takes one value per column in the declared order (its last, unused argument keeps the macro simple).
#define WAVESCOPE_DECLARE_TABLE(Type, member, COLUMNS)                             \
    struct Type {                                                                  \
        COLUMNS(WAVESCOPE_DECLARE_COLUMN)                                          \
        void add(COLUMNS(WAVESCOPE_PARAMETER) int = 0) { COLUMNS(WAVESCOPE_PUSH) } \
        template <class Visitor>                                                   \
        void each_column(Visitor&& visit) {                                        \
            COLUMNS(WAVESCOPE_VISIT_COLUMN)                                        \
        }                                                                          \
    };
