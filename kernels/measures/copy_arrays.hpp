// Several arrays copied by one launch.
#pragma once

#include <cstdint>

#include "engine/core/array_view.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// Copies pieces of arrays word by word; no piece overlaps what another is copied to.
struct CopyArrays {
  static constexpr Index most = 16;  ///< pieces of a launch
  struct Piece {
    const std::uint32_t* from = nullptr;
    std::uint32_t* to = nullptr;
    Index words = 0;
  };
  Piece pieces[most] = {};
  Index count = 0;  ///< pieces that there are
};

namespace ISOCLOTH_BACKEND {
/// One item per word.
void copy_arrays(const Queue& queue, const CopyArrays& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
