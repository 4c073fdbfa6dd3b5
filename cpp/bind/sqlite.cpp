#include "sqlite.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <tuple>

#include "arrow.hpp"
#include "wavewright/sqlite_scan.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// The columns of a piece, with what Arrow wants beside them.
struct Piece {
    SqliteRows rows;
    std::vector<Column<uint8_t>> validity;
};

ArrowColumn exported(const std::string& name, const SqliteColumn& column, const Column<uint8_t>& validity) {
    ArrowColumn made{name, nullptr, nullptr};
    switch (column.type()) {
        case SqliteType::integer:
            made.format = arrow_format<int64_t>();
            made.data = column.integers().data();
            break;
        case SqliteType::real:
            made.format = arrow_format<double>();
            made.data = column.reals().data();
            break;
        case SqliteType::text:
            made.format = "U";
            made.data = column.texts().data();
            made.offsets = column.ends().data();
            break;
        case SqliteType::dictionary:
            made.format = arrow_format<uint32_t>();
            made.data = column.codes().data();
            made.dictionary = {static_cast<int64_t>(column.dictionary().size()), column.dictionary().ends().data(),
                               column.dictionary().texts().data()};
            break;
    }
    made.validity = validity.data();
    made.null_count = static_cast<int64_t>(column.null_count());
    return made;
}

// (name, place in the record, type, whether it is the row id, whether it stores reals, value of older records)
using Wanted = std::tuple<std::string, uint32_t, uint8_t, bool, bool, SqliteValue>;

class Scan {
  public:
    Scan(const std::shared_ptr<const SqliteFile>& file, uint32_t root, const std::vector<Wanted>& columns)
        : scan_(file, root, wanted(columns)), mixed_counts_(columns.size()) {
        for (const Wanted& column : columns) names_.push_back(std::get<0>(column));
    }

    ArrowTable next(size_t most) {
        auto piece = std::make_shared<Piece>();
        {
            nb::gil_scoped_release unlocked;
            const std::lock_guard<std::mutex> alone(mutex_);
            piece->rows = scan_.next(std::min(most, kMostRows));
            for (const SqliteColumn& column : piece->rows.columns) piece->validity.push_back(column.validity());
        }
        ArrowTable table;
        table.length = static_cast<int64_t>(piece->rows.count);
        for (size_t i = 0; i < names_.size(); ++i) {
            table.columns.push_back(exported(names_[i], piece->rows.columns[i], piece->validity[i]));
            mixed_counts_[i] += piece->rows.columns[i].mixed_count();
        }
        table.owner = std::move(piece);
        return table;
    }

    const std::string& damage() const { return scan_.damage(); }
    const std::vector<uint64_t>& mixed_counts() const { return mixed_counts_; }

  private:
    static constexpr size_t kMostRows = size_t{1} << 31;

    static std::vector<SqliteWanted> wanted(const std::vector<Wanted>& columns) {
        std::vector<SqliteWanted> all;
        for (const auto& [name, index, type, is_rowid, stores_reals, missing] : columns) {
            if (type > static_cast<uint8_t>(SqliteType::dictionary)) throw nb::value_error("no such type");
            all.push_back({index, static_cast<SqliteType>(type), is_rowid, stores_reals, missing});
        }
        return all;
    }

    SqliteScan scan_;
    std::mutex mutex_;
    std::vector<std::string> names_;
    std::vector<uint64_t> mixed_counts_;
};

}  // namespace

void bind_sqlite(nb::module_& m) {
    nb::class_<SqliteFile>(m, "SqliteFile")
        .def(nb::new_([](int descriptor) {
                 return std::const_pointer_cast<SqliteFile>(SqliteFile::of_descriptor(descriptor));
             }),
             "descriptor"_a)
        .def_prop_ro("is_readable", &SqliteFile::is_readable)
        .def_prop_ro("page_size", &SqliteFile::page_size)
        .def_prop_ro("page_count", &SqliteFile::page_count)
        .def("is_table", &SqliteFile::is_table, "root"_a, "Whether a b-tree of rows with row ids begins at this page.");
    nb::class_<Scan>(m, "SqliteScan")
        .def(
            "__init__",
            [](Scan* self, const std::shared_ptr<SqliteFile>& file, uint32_t root, const std::vector<Wanted>& columns) {
                new (self) Scan(file, root, columns);
            },
            "file"_a, "root"_a, "columns"_a)
        .def("next", &Scan::next, "most"_a, "The next rows, at most so many; none at the end.")
        .def_prop_ro("damage", &Scan::damage, "Why the rows ended early; empty when they did not.")
        .def_prop_ro("mixed_counts", &Scan::mixed_counts, "Values of each column that did not fit its type.");
}

}  // namespace wavewright::bind
