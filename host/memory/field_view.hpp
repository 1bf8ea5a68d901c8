// Arrays in the memory of a device as the public face shows them.
#pragma once

#include "host/memory/device.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/garment_field.hpp"

namespace isocloth {

/// `cloths` of them, `lanes` side by side; each has `size` values in its array, of which `items` of
/// `components` values are shown from `data` on, the first of the first cloth. FieldView::garments are the
/// members.
template <class Real>
FieldView field_view(const Device& device, Real* data, std::size_t cloths, std::size_t lanes,
                     std::size_t size, std::size_t items, std::size_t components) {
  const auto number = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  FieldView view{
      .data = data,
      .precision = sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64,
      .backend = device.backend().name,
      .device = device.queue().device,
      .shape = {number((cloths + lanes - 1) / lanes), number(lanes), number(items), number(components)},
      .strides = {number(size * lanes), 1, number(components * lanes), number(lanes)},
      .garments = {}};
  for (std::size_t member = 0; member < cloths; ++member) view.garments.push_back(member);
  return view;
}

}  // namespace isocloth
