#include "kernels/tensors/build_tensors.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

struct LumpMassesBody {
  LumpMasses a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    double mass = 0;
    for (Index c = a.mesh.node_corner_begin[node]; c < a.mesh.node_corner_begin[node + 1]; ++c) {
      const Index corner = a.mesh.node_corners[c];
      const FaceCorners f = face_corners(a.mesh, a.mesh.corner_faces[corner]);
      double own = 0;
      double& sum = a.factors.empty() ? mass : own;
      for (int q = 0; q < gauss_point_count(f.size); ++q) {
        const auto g = gauss_point<double>(f.size, q);
        sum += g.value[corner - f.first] * surface_point(g, f.p, f.size).area;
      }
      if (!a.factors.empty()) mass += a.factors[a.mesh.corner_faces[corner]] * own;
    }
    a.masses[node] = mass;
  }
};

template <class Rows>
struct TensorBody {
  TensorSetup a;
  ISOCLOTH_DEVICE void operator()(Index i) const { Rows::set_tensors(a, i); }
};

}  // namespace

void lump_masses(const Queue& queue, const LumpMasses& args) {
  parallel_for(queue, static_cast<Index>(args.masses.size()), LumpMassesBody{args});
}
void build_tensors(const Queue& queue, const BuildTensors& args) {
  visit_family(args.family, [&](auto rows) {
    parallel_for(queue, static_cast<Index>(args.setup.places.size()), TensorBody<decltype(rows)>{args.setup});
  });
}

}  // namespace isocloth::ISOCLOTH_BACKEND
