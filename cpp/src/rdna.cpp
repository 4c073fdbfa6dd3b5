#include "families.hpp"
namespace wavescope {
void decode_rdna(std::span<const uint8_t>, Generation, const Program&, const Options&, Records&) {}
}  // namespace wavescope
