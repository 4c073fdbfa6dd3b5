#include "wavewright/file_blocks.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <memory>
#include <thread>

#include "file_blocks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

using View = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>, nb::c_contig>;

View view_of(const std::shared_ptr<MappedFile>& file) {
    auto* const owner = new std::shared_ptr<MappedFile>(file);
    const nb::capsule capsule(owner,
                              [](void* held) noexcept { delete static_cast<std::shared_ptr<MappedFile>*>(held); });
    return View(file->data(), {file->size()}, capsule);
}

[[noreturn]] void bound_pages(uint64_t most_bytes) {
    const nb::gil_scoped_release unlocked;
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (resident_file_bytes() > most_bytes) give_pages_back();
    }
}

}  // namespace

void bind_file_blocks(nb::module_& m) {
    m.def("keep_blocks_in", &keep_blocks_in, "folder"_a, "most_bytes"_a,
          "Make large blocks of memory in files of a folder from now on; an empty name = in memory again.");
    m.def("bytes_in_files", &bytes_in_files, "Bytes of the blocks that lie in files.");
    m.def("resident_file_bytes", &resident_file_bytes, "Bytes of pages of files that this process has in memory.");
    m.def("give_pages_back", &give_pages_back, "Give the pages of blocks in files back to the system.");
    m.def("bound_pages", &bound_pages, "most_bytes"_a,
          "Give pages back whenever more bytes of files are in memory; does not return.");
    nb::class_<MappedFile>(m, "MappedFile")
        .def(nb::init<const std::string&>(), "path"_a)
        .def_prop_ro("is_whole", &MappedFile::is_whole)
        .def("bytes", &view_of, "What is in it, read in place.");
}

}  // namespace wavewright::bind
