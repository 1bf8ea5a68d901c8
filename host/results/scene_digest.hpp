// One number that tells scenes apart.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/scene.hpp"

namespace isocloth {

/// FNV-1a, 64 bits, over what is put in, in order; sizes go in before arrays so that no two contents run
/// together.
class Digest {
 public:
  void add(std::string_view bytes);
  void add(double value);
  void add(std::int64_t value);
  void add(std::span<const double> values);
  std::uint64_t value() const { return value_; }

 private:
  void add_bytes(const void* bytes, std::size_t size);
  std::uint64_t value_ = 14695981039346656037u;
};

/// Digest of all members of a scene and of what it holds but those that its states do not depend on: names of
/// scene and pins, files of motions, duration and on_violation, so that a run may be continued for longer;
/// the seed counts where there are gusts.
std::uint64_t scene_digest(const Scene& scene);

}  // namespace isocloth
