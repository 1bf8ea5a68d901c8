#include "host/cloth_collision/candidates.hpp"

#include <algorithm>

#include "host/memory/growing_buffer.hpp"

namespace isocloth {

void Candidates::measure_all(const std::vector<Vec3d>& from, bool are_on_device) {
  const std::size_t room = count() + packet_padding;
  if (!are_on_device) measured_at_.upload(from);
  if (!are_on_device) reserve(device_, room, device_pairs);
  reserve(device_, room, thicknesses_);
  reserve(device_, room, rooms_);
  reserve(device_, 4 * room, nodes_);
  if (are_on_device)
    measure(0);
  else
    measure_added(0);
}

void Candidates::measure_added(std::size_t first_pair) {
  std::vector<FeaturePair> staging;
  device_pairs.write(first_pair, count() - first_pair, staging, [&](FeaturePair* to) {
    std::copy(pairs.begin() + static_cast<std::ptrdiff_t>(first_pair), pairs.end(), to);
  });
  measure(first_pair);
}

void Candidates::measure(std::size_t first_pair) {
  device_.backend().cloth_contact.measure_pairs(device_.queue(),
                                                {.features = geometry_.device_features(),
                                                 .pairs = on_device(),
                                                 .rest = geometry_.device_rest(),
                                                 .thicknesses = geometry_.device_thicknesses(),
                                                 .references = references(),
                                                 .first = static_cast<Index>(first_pair)});
}

std::size_t Candidates::memory_bytes() const {
  return pairs.capacity() * sizeof(FeaturePair) + device_pairs.bytes() + thicknesses_.bytes() +
         rooms_.bytes() + nodes_.bytes() + measured_at_.bytes();
}

}  // namespace isocloth
