#include "engine/core/shortest.hpp"

#include <array>
#include <charconv>

namespace isocloth {

std::string shortest(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

}  // namespace isocloth
