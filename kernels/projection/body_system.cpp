#include "kernels/projection/body_system.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/samples/body_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// Sums are over so many lanes first, however many threads a block has.
constexpr int sum_lanes = 32;

template <class Real>
struct SumBody {
  static constexpr int most_block_threads = sum_lanes;
  SumBodies<Real> a;

  /// The number of the body that a contact pushes, -1: none.
  static ISOCLOTH_DEVICE Index body_of(const ContactArrays<Real>& arrays, Index contact, Index first_body) {
    const Index obstacle = static_cast<Index>(arrays.obstacles[static_cast<std::size_t>(contact)]);
    return obstacle < first_body || !acts(arrays, contact) ? -1 : obstacle - first_body;
  }
  ISOCLOTH_DEVICE void add(Index body, Index sample, Real* sums) const {
    const SamplePattern& p = a.samples.pattern;
    const Index first = p.first_contact(sample), count = p.contacts_of(sample);
    for (Index c = first; c < first + count; ++c) {
      if (body_of(a.samples.contacts, c, a.first_body) != body) continue;
      const Vec3<Real> r = sample_point(p, a.samples.positions, a.samples.contacts, sample) - a.centers[body];
      const ContactResponse<Real> response = kept_response(a.samples.contacts, c);
      Vec3<Real> directions[6], pulled[6];
      for (int i = 0; i < 6; ++i) {
        directions[i] = body_direction(i, r);
        pulled[i] = response.times(directions[i]);
      }
      int entry = 0;
      for (int i = 0; i < 6; ++i)
        for (int j = i; j < 6; ++j, ++entry) sums[entry] += dot(pulled[i], directions[j]);
      const Vec3<Real> force = a.of_kept_forces ? a.samples.contacts.forces.vector(c) : response.pull;
      for (int i = 0; i < 6; ++i, ++entry) sums[entry] += dot(force, directions[i]);
      sums[entry] += 1;
    }
  }

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index body) const {
    Real* const partial = block.template shared<Real>();
    for (int lane = block.rank(); lane < sum_lanes; lane += block.size()) {
      Real* const own = partial + lane * body_terms;
      for (Index i = 0; i < body_terms; ++i) own[i] = 0;
      for (Index sample = lane; sample < a.samples.pattern.sample_count(); sample += sum_lanes)
        add(body, sample, own);
    }
    block.sync();
    for (Index i = block.rank(); i < body_terms; i += block.size()) {
      Real sum = 0;
      for (int lane = 0; lane < sum_lanes; ++lane) sum += partial[lane * body_terms + i];
      a.sums[body * body_terms + i] = sum;
    }
  }
};

template <class Real>
struct ColumnsBody {
  AssembleBodyColumns<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    const SamplePattern& p = a.samples.pattern;
    const ContactArrays<Real>& arrays = a.samples.contacts;
    for (Index k = 0; k < a.column_count; ++k) a.columns[k * a.stride + node] = {};
    for (Index entry = a.node_slots.begin[node]; entry < a.node_slots.begin[node + 1]; ++entry) {
      const Index slot = a.node_slots.first[entry], sample = a.node_slots.second[entry];
      const Index first = p.first_contact(sample), count = p.contacts_of(sample);
      for (Index c = first; c < first + count; ++c) {
        const Index body = SumBody<Real>::body_of(arrays, c, a.first_body);
        if (body < 0 || a.groups[body] < 0) continue;
        const Vec3<Real> r = sample_point(p, a.samples.positions, arrays, sample) - a.centers[body];
        const ContactResponse<Real> response = kept_response(arrays, c);
        const Real weight = arrays.weights[static_cast<std::size_t>(slot)];
        for (int k = 0; k < 6; ++k)
          a.columns[(6 * a.groups[body] + k) * a.stride + node] +=
              weight * response.times(body_direction(k, r));
      }
    }
  }
};

template <class Real>
struct ProductBody {
  static constexpr int most_block_threads = sum_lanes;
  MultiplyColumns<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index item) const {
    Real* const partial = block.template shared<Real>();
    const Index left = item / a.right_count * a.stride, right = item % a.right_count * a.stride;
    for (int lane = block.rank(); lane < sum_lanes; lane += block.size()) {
      Real sum = 0;
      for (Index i = lane; i < a.free_count; i += sum_lanes) sum += dot(a.left[left + i], a.right[right + i]);
      partial[lane] = sum;
    }
    block.sync();
    if (block.rank() != 0) return;
    Real sum = 0;
    for (int lane = 0; lane < sum_lanes; ++lane) sum += partial[lane];
    a.products[item] = sum;
  }
};

template <class Real>
struct AddBody {
  AddColumns<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    Vec3<Real> d = a.correction[node];
    for (Index k = 0; k < static_cast<Index>(a.moves.size()); ++k)
      d += a.moves[k] * a.columns[k * a.stride + node];
    for (Index k = 0; k < a.few_count; ++k) d += a.few[k] * a.columns[k * a.stride + node];
    a.correction[node] = d;
  }
};

}  // namespace

template <class Real>
void sum_bodies(const Queue& queue, const SumBodies<Real>& args) {
  for_each_block(queue, static_cast<Index>(args.centers.size()), sizeof(Real) * sum_lanes * body_terms,
                 SumBody<Real>{args});
}
template <class Real>
void assemble_body_columns(const Queue& queue, const AssembleBodyColumns<Real>& args) {
  parallel_for(queue, args.free_count, ColumnsBody<Real>{args});
}
template <class Real>
void multiply_columns(const Queue& queue, const MultiplyColumns<Real>& args) {
  for_each_block(queue, static_cast<Index>(args.products.size()), sizeof(Real) * sum_lanes,
                 ProductBody<Real>{args});
}
template <class Real>
void add_columns(const Queue& queue, const AddColumns<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.correction.size()), AddBody<Real>{args});
}

template void sum_bodies<float>(const Queue&, const SumBodies<float>&);
template void sum_bodies<double>(const Queue&, const SumBodies<double>&);
template void assemble_body_columns<float>(const Queue&, const AssembleBodyColumns<float>&);
template void assemble_body_columns<double>(const Queue&, const AssembleBodyColumns<double>&);
template void multiply_columns<float>(const Queue&, const MultiplyColumns<float>&);
template void multiply_columns<double>(const Queue&, const MultiplyColumns<double>&);
template void add_columns<float>(const Queue&, const AddColumns<float>&);
template void add_columns<double>(const Queue&, const AddColumns<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
