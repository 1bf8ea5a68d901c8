#include "kernels/contact/find_contacts.hpp"

#include "kernels/contact/body_terms.hpp"
#include "kernels/contact/contact_terms.hpp"
#include "kernels/grasp/external_terms.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
ISOCLOTH_DEVICE ContactTerms<Real> terms_of(const FindContacts<Real>& a) {
  return {a.pattern, a.obstacles, a.control, a.places, a.near, a.arrays};
}

template <class Real>
ISOCLOTH_DEVICE ExternalTerms<Real> external_of(const FindContacts<Real>& a) {
  return {a.external, a.control, a.places, a.arrays};
}

template <class Real>
struct GraspBody {
  FindContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const { external_of(a).grasp(node); }
};

template <class Real>
struct PlaceBody {
  PlaceHeld<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const { external_of(a.found).place(node, a.positions); }
};

template <class Real>
struct ActBody {
  FindContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index sample) const {
    terms_of(a).pass(sample);
    if (sample < a.pattern.node_count) external_of(a).act(sample, true);
  }
};

constexpr int most_list_threads = 128;

template <class Real>
struct NearBody {
  static constexpr int most_block_threads = most_list_threads;
  FindContacts<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index) const {
    Box<Real>* boxes = block.template shared<Box<Real>>();
    Box<Real> box{a.places.start.vector(0), a.places.start.vector(0)};
    for (Index i = block.rank(); i < a.pattern.node_count; i += block.size()) {
      box.add(a.places.start.vector(i));
      box.add(a.places.iterate.vector(i));
    }
    boxes[block.rank()] = box;
    block.sync();
    if (block.rank() != 0) return;
    for (int i = 1; i < block.size(); ++i) box.add(boxes[i]);
    terms_of(a).list_near(box.least, box.most);
  }
};

template <class Real>
struct FindBody {
  FindContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index sample) const {
    terms_of(a).find(sample);
    if (sample < a.pattern.node_count) external_of(a).act(sample, a.control.keeps_forces);
  }
};

template <class Real>
struct UpdateBody {
  UpdateContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index sample) const {
    const auto correction = [&](Index node) {
      const Index i = a.free.number[node];
      return i < 0 ? Vec3<Real>{} : a.correction[i];
    };
    const auto move = [&](Index obstacle, Index at) {
      if (obstacle < a.first_body) return Vec3<Real>{};
      const Index body = obstacle - a.first_body;
      const Vec3<Real> r =
          sample_point(a.found.pattern, a.found.places, a.found.arrays, at) - a.centers[body];
      const Real* const b = a.moves.data() + 6 * body;
      return Vec3<Real>{b[0], b[1], b[2]} + cross(Vec3<Real>{b[3], b[4], b[5]}, r);
    };
    terms_of(a.found).update(sample, correction, move);
    if (sample < a.found.pattern.node_count) external_of(a.found).update(sample, correction(sample));
  }
};

}  // namespace

template <class Real>
void grasp_nodes(const Queue& queue, const FindContacts<Real>& args) {
  parallel_for(queue, args.pattern.node_count, GraspBody<Real>{args});
}
template <class Real>
void place_held(const Queue& queue, const PlaceHeld<Real>& args) {
  parallel_for(queue, args.found.pattern.node_count, PlaceBody<Real>{args});
}
template <class Real>
void act_without_contacts(const Queue& queue, const FindContacts<Real>& args) {
  parallel_for(queue, args.pattern.sample_count(), ActBody<Real>{args});
}
template <class Real>
void list_near_obstacles(const Queue& queue, const FindContacts<Real>& args) {
  for_each_block(queue, 1, most_list_threads * sizeof(Box<Real>), NearBody<Real>{args});
}
template <class Real>
void find_contacts(const Queue& queue, const FindContacts<Real>& args) {
  parallel_for(queue, args.pattern.sample_count(), FindBody<Real>{args});
}
template <class Real>
void update_contacts(const Queue& queue, const UpdateContacts<Real>& args) {
  parallel_for(queue, args.found.pattern.sample_count(), UpdateBody<Real>{args});
}

template void grasp_nodes<float>(const Queue&, const FindContacts<float>&);
template void place_held<float>(const Queue&, const PlaceHeld<float>&);
template void act_without_contacts<float>(const Queue&, const FindContacts<float>&);
template void list_near_obstacles<float>(const Queue&, const FindContacts<float>&);
template void grasp_nodes<double>(const Queue&, const FindContacts<double>&);
template void place_held<double>(const Queue&, const PlaceHeld<double>&);
template void act_without_contacts<double>(const Queue&, const FindContacts<double>&);
template void list_near_obstacles<double>(const Queue&, const FindContacts<double>&);
template void find_contacts<float>(const Queue&, const FindContacts<float>&);
template void find_contacts<double>(const Queue&, const FindContacts<double>&);
template void update_contacts<float>(const Queue&, const UpdateContacts<float>&);
template void update_contacts<double>(const Queue&, const UpdateContacts<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
