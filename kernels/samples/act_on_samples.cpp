#include "kernels/samples/act_on_samples.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/samples/body_terms.hpp"
#include "kernels/samples/sample_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct BeginBody {
  ActOnSamples<Real> a;
  ISOCLOTH_DEVICE void operator()(Index sample) const { SampleTerms<Real>(a).begin(sample); }
};

template <class Real>
struct PlaceBody {
  PlaceHeld<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const { SampleTerms<Real>(a.samples).place(node, a.positions); }
};

constexpr int most_list_threads = 128;

template <class Real>
struct NearBody {
  static constexpr int most_block_threads = most_list_threads;
  ActOnSamples<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index) const {
    Box<Real>* boxes = block.template shared<Box<Real>>();
    const SampleTerms<Real> terms(a);
    Box<Real> box{a.positions.start.vector(0), a.positions.start.vector(0)};
    for (Index i = block.rank(); i < a.pattern.node_count; i += block.size()) {
      box.add(a.positions.start.vector(i));
      box.add(a.positions.iterate.vector(i));
      terms.note_way(i);
    }
    boxes[block.rank()] = box;
    block.sync();
    if (block.rank() != 0) return;
    for (int i = 1; i < block.size(); ++i) box.add(boxes[i]);
    terms.list_near(box.least, box.most);
  }
};

template <class Real>
struct ActBody {
  ActOnSamples<Real> a;
  ISOCLOTH_DEVICE void operator()(Index sample) const { SampleTerms<Real>(a).act(sample); }
};

template <class Real>
struct UpdateBody {
  UpdateSamples<Real> a;
  ISOCLOTH_DEVICE void operator()(Index sample) const {
    const ActOnSamples<Real>& all = a.samples;
    if (all.grippers.size() == 0 && !ContactTerms<Real>::touches(all.pattern, all.contacts, sample)) return;
    const auto correction = [&](Index node) {
      const Index i = a.free.number[node];
      return i < 0 ? Vec3<Real>{} : a.correction[i];
    };
    const auto move = [&](Index obstacle, Index at) {
      if (obstacle < a.first_body) return Vec3<Real>{};
      const Index body = obstacle - a.first_body;
      const Vec3<Real> r =
          sample_point(a.samples.pattern, a.samples.positions, a.samples.contacts, at) - a.centers[body];
      const Real* const b = a.moves.data() + 6 * body;
      return Vec3<Real>{b[0], b[1], b[2]} + cross(Vec3<Real>{b[3], b[4], b[5]}, r);
    };
    SampleTerms<Real>(a.samples).update(sample, correction, move);
  }
};

}  // namespace

template <class Real>
void begin_samples(const Queue& queue, const ActOnSamples<Real>& args) {
  parallel_for(queue, args.begin_count(), BeginBody<Real>{args});
}
template <class Real>
void place_held(const Queue& queue, const PlaceHeld<Real>& args) {
  parallel_for(queue, args.samples.pattern.node_count, PlaceBody<Real>{args});
}
template <class Real>
void list_near_obstacles(const Queue& queue, const ActOnSamples<Real>& args) {
  for_each_block(queue, 1, most_list_threads * sizeof(Box<Real>), NearBody<Real>{args});
}
template <class Real>
void act_on_samples(const Queue& queue, const ActOnSamples<Real>& args) {
  // Further contacts of an element are found with its first one.
  const Index count = args.without_contacts ? args.pattern.sample_count()
                                            : args.pattern.node_count + args.pattern.element_count();
  parallel_for(queue, count, ActBody<Real>{args});
}
template <class Real>
void update_samples(const Queue& queue, const UpdateSamples<Real>& args) {
  parallel_for(queue, args.samples.pattern.sample_count(), UpdateBody<Real>{args});
}

template void begin_samples<float>(const Queue&, const ActOnSamples<float>&);
template void begin_samples<double>(const Queue&, const ActOnSamples<double>&);
template void place_held<float>(const Queue&, const PlaceHeld<float>&);
template void place_held<double>(const Queue&, const PlaceHeld<double>&);
template void list_near_obstacles<float>(const Queue&, const ActOnSamples<float>&);
template void list_near_obstacles<double>(const Queue&, const ActOnSamples<double>&);
template void act_on_samples<float>(const Queue&, const ActOnSamples<float>&);
template void act_on_samples<double>(const Queue&, const ActOnSamples<double>&);
template void update_samples<float>(const Queue&, const UpdateSamples<float>&);
template void update_samples<double>(const Queue&, const UpdateSamples<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
