#include "kernels/cloth_contact/cloth_contact.hpp"

#include "kernels/cloth_contact/pair_nodes.hpp"
#include "kernels/contact/contact_law.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

ISOCLOTH_DEVICE const FoundContact& found_of(const ClothContactList& list, Index contact) {
  return list.contacts[list.chosen[contact]];
}
ISOCLOTH_DEVICE const FeaturePair& pair_of(const ClothContactList& list, Index contact) {
  return list.pairs[found_of(list, contact).pair];
}
ISOCLOTH_DEVICE PairNodes nodes_of(const ClothContactList& list, Index contact) {
  return {list.features, pair_of(list, contact)};
}

ISOCLOTH_DEVICE double square(double x) { return x * x; }
ISOCLOTH_DEVICE Vec3d product(const double* k, const Vec3d& v) {
  return {k[0] * v.x + k[1] * v.y + k[2] * v.z, k[1] * v.x + k[3] * v.y + k[4] * v.z,
          k[2] * v.x + k[4] * v.y + k[5] * v.z};
}
template <class Real>
ISOCLOTH_DEVICE Vec3d widened(const Vec3<Real>& v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}
template <class Real>
ISOCLOTH_DEVICE Vec3<Real> narrow(const Vec3d& v) {
  return {static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)};
}
template <class Real>
ISOCLOTH_DEVICE void add(const Vec3d& v, Vec3<Real>& to) {
  to = {static_cast<Real>(static_cast<double>(to.x) + v.x),
        static_cast<Real>(static_cast<double>(to.y) + v.y),
        static_cast<Real>(static_cast<double>(to.z) + v.z)};
}

ISOCLOTH_DEVICE ContactLaw<double> law_of(const RespondClothContacts& a) {
  ContactLaw<double> law;
  law.tolerance = a.tolerance;
  law.stiffening = a.stiffening;
  return law;
}
ISOCLOTH_DEVICE FrictionView<double> friction_of(const ClothFriction& friction,
                                                 ArrayView<const Index> node_garments, const Index* nodes) {
  return friction.of(node_garments[nodes[0]], node_garments[nodes[3]]);
}

struct CarryBody {
  CarryForces a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    const std::uint64_t key = found_of(a.list, c).key;
    Index begin = 0, end = static_cast<Index>(a.keys_before.size());
    while (begin < end) {
      const Index middle = begin + (end - begin) / 2;
      if (a.keys_before[middle] < key)
        begin = middle + 1;
      else
        end = middle;
    }
    const bool was = begin < static_cast<Index>(a.keys_before.size()) && a.keys_before[begin] == key;
    a.forces[c] = was ? a.forces_before[begin] : Vec3d{};
    a.keys[c] = key;
  }
};

struct ActivateBody {
  RespondClothContacts a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    const FoundContact& found = found_of(a.list, c);
    const PairNodes nodes = nodes_of(a.list, c);
    double inverse[4];
    for (int i = 0; i < 4; ++i) inverse[i] = a.inverse_inertia[nodes.nodes[i]];
    const ContactLaw<double> law = law_of(a);
    a.active[c] =
        points_can_part(found.weights, inverse) &&
        law.is_active(law.wanted_gap(found.gap, found.before), dot(a.forces[c], found.normal) > 0, a.reach);
  }
};

struct ShareBody {
  RespondClothContacts a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    Index count = 0;
    for (Index e = a.list.node_begin[node]; e < a.list.node_begin[node + 1]; ++e)
      count += a.active[a.list.node_entries[e] / 4];
    a.sharing[node] = static_cast<double>(count);
  }
};

struct RespondBody {
  RespondClothContacts a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    a.responses[c] = {};
    if (a.active[c] == 0) {
      a.forces[c] = {};
      return;
    }
    const FoundContact& found = found_of(a.list, c);
    const PairNodes nodes = nodes_of(a.list, c);
    double inverse = 0;
    Vec3d displacement{};
    for (int i = 0; i < 4; ++i) {
      const Index node = nodes.nodes[i];
      inverse += square(found.weights[i]) * a.inverse_inertia[node] * a.sharing[node];
      displacement += found.weights[i] * (a.to[node] - a.from[node]);
    }
    const ContactLaw<double> law = law_of(a);
    const ContactResponse<double> r =
        law.response(a.forces[c], found.normal, law.wanted_gap(found.gap, found.before), displacement,
                     1 / inverse, friction_of(a.friction, a.list.features.node_garments, nodes.nodes));
    ClothResponse response;
    response.along = r.along;
    response.across = r.across;
    response.first_count = nodes.first_count;
    response.mode = r.mode;
    response.pull = r.pull;
    response.normal = r.normal;
    for (int i = 0; i < 4; ++i) {
      response.weights[i] = found.weights[i];
      response.nodes[i] = nodes.nodes[i];
    }
    const double n[3] = {r.normal.x, r.normal.y, r.normal.z},
                 s[3] = {r.slip_direction.x, r.slip_direction.y, r.slip_direction.z},
                 free = r.mode == ContactMode::slide_on ? r.across : 0;
    int entry = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++entry)
        response.stiffness[entry] =
            (r.along - r.across) * n[i] * n[j] + (i == j ? r.across : 0) - free * s[i] * s[j];
    a.responses[c] = response;
  }
};

template <class Real>
struct GatherBody {
  GatherClothNodes<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    a.gathered[i] = widened(a.positions[i]);
    a.inverse_inertia[i] = static_cast<double>(a.inverse_masses[i]) / static_cast<double>(a.inertia);
  }
};

template <class Real>
struct ModesBody {
  WriteRigidModes<Real> a;
  ISOCLOTH_DEVICE void operator()(Index number) const {
    const Vec3d arm = a.positions[a.free.nodes[number]] - a.center;
    const Vec3d axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    Vec3<Real>* const modes = a.modes.data() + number;
    for (std::size_t k = 0; k < 3; ++k) {
      modes[k * a.stride] = a.is_zero ? Vec3<Real>{} : narrow<Real>(axes[k]);
      modes[(3 + k) * a.stride] = a.is_zero ? Vec3<Real>{} : narrow<Real>(cross(axes[k], arm));
    }
  }
};

template <class Real>
struct AddBody {
  AddClothContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index number) const {
    const Index own = a.free.nodes[number], node = a.first_node + own;
    Vec3d force{};
    Real* const diagonal = block_at(a.node_blocks[number]);
    Real sums[9];  // in registers: what else is written might be among it, for all that the compiler knows
    for (int i = 0; i < 9; ++i) sums[i] = diagonal[i];
    for (Index e = a.list.node_begin[node]; e < a.list.node_begin[node + 1]; ++e) {
      const Index contact = a.list.node_entries[e] / 4;
      const int corner = a.list.node_entries[e] % 4;
      const ClothResponse& r = a.responses[contact];
      if (!r.acts() || r.weights[corner] == 0) continue;
      force += r.weights[corner] * r.pull;
      add_to(sums, square(r.weights[corner]), r.stiffness);
      for (int other = 0; other < 4; ++other) {
        if (other == corner || r.side(other) != r.side(corner) || r.weights[other] == 0) continue;
        const Index column = a.free.number[r.nodes[other] - a.first_node];
        if (column < 0 || column > number) continue;  // the other node adds it
        const FeaturePair& pair = pair_of(a.list, contact);
        add_to(block_at(a.edge_blocks[side_of(a.list.features, pair, corner, other) - a.first_edge]),
               r.weights[corner] * r.weights[other], r.stiffness);
      }
    }
    for (int i = 0; i < 9; ++i) diagonal[i] = sums[i];
    add(force, a.right_side[number]);
  }

 private:
  ISOCLOTH_DEVICE Real* block_at(Index block) const {
    return a.blocks.data() + static_cast<std::size_t>(block) * 9;
  }
  static ISOCLOTH_DEVICE void add_to(Real* to, double weight, const double* k) {
    const int entries[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (int i = 0; i < 9; ++i)
      to[i] = static_cast<Real>(static_cast<double>(to[i]) + weight * k[entries[i]]);
  }
};

/// K of each contact times the displacement of each side, for the nodes of the other.
template <class Real>
struct PullBody {
  MultiplyClothContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    const ClothResponse& r = a.responses[c];
    if (!r.acts()) return;
    Index numbers[4];
    for (int i = 0; i < 4; ++i) numbers[i] = a.free_number[r.nodes[i]];
    Vec3d* pulls = a.pulls.data() + 2 * static_cast<std::size_t>(c) * a.columns.count;
    for (Index k = 0; k < a.columns.count; ++k, pulls += 2) {
      Vec3d moved[4];
      for (int i = 0; i < 4; ++i)
        if (numbers[i] >= 0) moved[i] = r.weights[i] * widened(a.direction[a.columns.begin[k] + numbers[i]]);
      const Vec3d one = moved[0] + (r.first_count == 2 ? moved[1] : Vec3d{}),
                  other = (r.first_count == 2 ? Vec3d{} : moved[1]) + moved[2] + moved[3];
      pulls[0] = product(r.stiffness, other);
      pulls[1] = product(r.stiffness, one);
    }
  }
};
template <class Real>
struct GatherPullsBody {
  MultiplyClothContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index number) const { for_columns(a.columns, *this, number); }
  template <int count>
  ISOCLOTH_DEVICE void of(Index first_column, Index number) const {
    const Index node = a.free_nodes[number];
    Vec3d sums[count]{};
    for (Index e = a.node_begin[node]; e < a.node_begin[node + 1]; ++e) {
      const Index contact = a.node_entries[e] / 4;
      const int corner = a.node_entries[e] % 4;
      const ClothResponse& r = a.responses[contact];
      if (!r.acts()) continue;
      const Vec3d* const pulls =
          &a.pulls[2 * (static_cast<std::size_t>(contact) * a.columns.count + first_column) + r.side(corner)];
      for (int k = 0; k < count; ++k) sums[k] += r.weights[corner] * pulls[2 * k];
    }
    for (int k = 0; k < count; ++k) add(sums[k], a.product[a.columns.begin[first_column + k] + number]);
  }
};

template <class Real>
struct UpdateBody {
  UpdateClothContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    const ClothResponse& response = a.responses[c];
    if (!response.acts()) return;
    Vec3d d{};
    for (int i = 0; i < 4; ++i) {
      const Index number = a.free_number[response.nodes[i]];
      if (number >= 0) d += response.weights[i] * widened(a.correction[number]);
    }
    const ContactResponse<double> r{response.mode,  response.normal, response.pull, {},
                                    response.along, response.across};
    a.forces[c] = ContactLaw<double>::force(r, d, friction_of(a.friction, a.node_garments, response.nodes));
  }
};

}  // namespace

void carry_forces(const Queue& queue, const CarryForces& args) {
  parallel_for(queue, args.list.count(), CarryBody{args});
}
void respond_cloth_contacts(const Queue& queue, const RespondClothContacts& args) {
  parallel_for(queue, args.list.count(), ActivateBody{args});
  parallel_for(queue, static_cast<Index>(args.sharing.size()), ShareBody{args});
  parallel_for(queue, args.list.count(), RespondBody{args});
}
template <class Real>
void gather_cloth_nodes(const Queue& queue, const GatherClothNodes<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.gathered.size()), GatherBody<Real>{args});
}
template <class Real>
void write_rigid_modes(const Queue& queue, const WriteRigidModes<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.nodes.size()), ModesBody<Real>{args});
}
template <class Real>
void add_cloth_contacts(const Queue& queue, const AddClothContacts<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.right_side.size()), AddBody<Real>{args});
}
template <class Real>
void multiply_cloth_contacts(const Queue& queue, const MultiplyClothContacts<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.responses.size()), PullBody<Real>{args});
  parallel_for(queue, static_cast<Index>(args.free_nodes.size()), GatherPullsBody<Real>{args});
}
template <class Real>
void update_cloth_contacts(const Queue& queue, const UpdateClothContacts<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.responses.size()), UpdateBody<Real>{args});
}

template void gather_cloth_nodes<float>(const Queue&, const GatherClothNodes<float>&);
template void gather_cloth_nodes<double>(const Queue&, const GatherClothNodes<double>&);
template void write_rigid_modes<float>(const Queue&, const WriteRigidModes<float>&);
template void write_rigid_modes<double>(const Queue&, const WriteRigidModes<double>&);
template void add_cloth_contacts<float>(const Queue&, const AddClothContacts<float>&);
template void add_cloth_contacts<double>(const Queue&, const AddClothContacts<double>&);
template void multiply_cloth_contacts<float>(const Queue&, const MultiplyClothContacts<float>&);
template void multiply_cloth_contacts<double>(const Queue&, const MultiplyClothContacts<double>&);
template void update_cloth_contacts<float>(const Queue&, const UpdateClothContacts<float>&);
template void update_cloth_contacts<double>(const Queue&, const UpdateClothContacts<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
