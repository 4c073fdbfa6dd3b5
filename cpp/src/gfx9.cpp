#include "families.hpp"
namespace wavescope {
void decode_gfx9(std::span<const uint8_t>, const Program&, const Options&, Records&) {}
}  // namespace wavescope
