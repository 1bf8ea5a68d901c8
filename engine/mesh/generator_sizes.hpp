// How large generated meshes may be.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

/// Throws MeshError for more nodes than numbers of corners of quads are there for.
inline void require_countable(const char* generator, Index rows, Index columns) {
  constexpr double most = 500'000'000;
  const double found = static_cast<double>(rows) * static_cast<double>(columns);
  if (found > most)
    throw MeshError(
        text(generator, ": found ", found, " nodes, expected at most ", most, "; make the mesh coarser"));
}

}  // namespace isocloth
