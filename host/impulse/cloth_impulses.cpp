#include "host/impulse/cloth_impulses.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/contact/contact_law.hpp"
#include "kernels/core/divergence.hpp"

namespace isocloth {
namespace {

using Law = cpu::ContactLaw<double>;

/// Forces of keys that are in both are added up, or those of `newer` take their place.
void merge(const ContactWarmStart& newer, bool adds, double factor, ContactWarmStart& kept) {
  ContactWarmStart all;
  const auto put = [&all](std::uint64_t key, const Vec3d& force) {
    if (force == Vec3d{}) return;
    all.keys.push_back(key);
    all.forces.push_back(force);
  };
  std::size_t k = 0;
  for (std::size_t c = 0; c < newer.keys.size(); ++c) {
    const std::uint64_t key = newer.keys[c];
    Vec3d force = factor * newer.forces[c];
    for (; k < kept.keys.size() && kept.keys[k] < key; ++k) put(kept.keys[k], kept.forces[k]);
    if (k < kept.keys.size() && kept.keys[k] == key) {
      const Vec3d& own = kept.forces[k++];
      // Of two nodes the key does not tell which is the first; contacts push.
      if (adds) force = own + (dot(own, force) < 0 ? -1.0 : 1.0) * force;
    }
    put(key, force);
  }
  for (; k < kept.keys.size(); ++k) put(kept.keys[k], kept.forces[k]);
  kept = std::move(all);
}

}  // namespace

template <class Real>
ClothImpulses<Real>::ClothImpulses(const Device& device, const Scene& scene,
                                   const std::vector<const Garment*>& garments, const Garments& solvers)
    : ClothPairs(device, scene, garments), friction_(friction_classes(scene, garments)), solvers_(solvers) {
  const SurfaceFeatures& features = pairs_.features();
  for (std::size_t g = 0; g < garments.size(); ++g)
    first_nodes_.push_back(static_cast<std::size_t>(features.node_begin[g]));
  const auto nodes = static_cast<std::size_t>(features.node_count());
  for (std::vector<Vec3d>* vectors : {&host_from_, &host_to_, &moves_, &pushes_}) vectors->resize(nodes);
  host_inverse_.resize(nodes);
  are_pushed_.resize(garments.size());
  are_astray_.resize(garments.size());
  for (std::size_t e = 0; e < features.edges.size(); ++e) {
    const auto& [a, b] = features.edges[e];
    const auto g = static_cast<std::size_t>(features.node_surfaces[static_cast<std::size_t>(a)]);
    const std::vector<Vec3d>& rest = garments[g]->mesh.positions;
    const Vec3d edge = rest[static_cast<std::size_t>(a) - first_nodes_[g]] -
                       rest[static_cast<std::size_t>(b) - first_nodes_[g]];
    largest_squares_.push_back((1 + largest_strain) * (1 + largest_strain) * dot(edge, edge));
  }
}

template <class Real>
template <class Visit>
void ClothImpulses<Real>::for_each_moving(const Visit& visit) const {
  for (std::size_t g = 0; g < solvers_.size(); ++g)
    if (!solvers_[g]->frozen()) visit(g, *solvers_[g], first_nodes_[g]);
}

template <class Real>
const ImpulseSolver<Real>& ClothImpulses<Real>::mover() const {
  return **std::ranges::find_if(solvers_,
                                [](const ImpulseSolver<Real>* solver) { return !solver->frozen(); });
}

template <class Real>
void ClothImpulses<Real>::begin_step() {
  ClothPairs::begin_step();
  work_ = {};
  deepest_ = 0;
  const double parts = mover().parts();
  sums_ = state_;
  sums_.scale(1 / (parts * parts));
}

template <class Real>
void ClothImpulses<Real>::begin_substep() {
  for (std::size_t g = 0; g < solvers_.size(); ++g) {
    solvers_[g]->read_positions(host_from_.data() + first_nodes_[g]);
    solvers_[g]->read_inverse_inertia(host_inverse_.data() + first_nodes_[g]);
  }
  from_.upload(host_from_);
  inverse_inertia_.upload(host_inverse_);
  ClothPairs::begin_substep();
  speeds_.clear();
  std::fill(are_pushed_.begin(), are_pushed_.end(), 0);
  guesses_.clear();
  if (sums_.keys.empty()) return;
  // What an impact took is none to begin with: no more than bears so many times what the contact's nodes
  // weigh.
  constexpr double most_weights = 10;
  double fall = 0;
  for_each_moving([&](std::size_t, const ImpulseSolver<Real>& solver, std::size_t) {
    fall = std::max(fall, solver.fall() * solver.part() * solver.part());
  });
  read_moves();
  ContactWarmStart steady;
  for (std::size_t c = 0; c < sums_.keys.size(); ++c) {
    const Load load = load_of(sums_.keys[c], sums_.forces[c], host_from_);
    double inverse = 0;
    for (std::size_t i = 0; i < 4; ++i)
      inverse += load.weights[i] * load.weights[i] * host_inverse_[static_cast<std::size_t>(load.nodes[i])];
    if (norm(load.force) * inverse > std::max(tolerance_, most_weights * fall)) continue;
    steady.keys.push_back(sums_.keys[c]);
    steady.forces.push_back(load.force);
    guesses_.push_back(load);
    exert(load.nodes, load.weights, load.force);
  }
  sums_ = std::move(steady);
  if (!guesses_.empty()) write_moves();
}

template <class Real>
void ClothImpulses<Real>::read_moves() {
  for (std::size_t g = 0; g < solvers_.size(); ++g) solvers_[g]->read_moves(moves_.data() + first_nodes_[g]);
}

template <class Real>
template <class Nodes>
void ClothImpulses<Real>::exert(const Nodes& nodes, const std::array<double, 4>& weights,
                                const Vec3d& impulse) {
  for (std::size_t i = 0; i < 4; ++i) {
    const auto node = static_cast<std::size_t>(nodes[i]);
    moves_[node] += (weights[i] * host_inverse_[node]) * impulse;
    pushes_[node] += weights[i] * impulse;
  }
}

template <class Real>
void ClothImpulses<Real>::take_back() {
  if (guesses_.empty()) return;
  ContactWarmStart found;
  for (std::size_t c = 0, k = 0; c < sums_.keys.size(); ++c) {
    while (k < keys_.size() && keys_[k] < sums_.keys[c]) ++k;
    if (k < keys_.size() && keys_[k] == sums_.keys[c]) {
      found.keys.push_back(sums_.keys[c]);
      found.forces.push_back(sums_.forces[c]);
    } else {
      exert(guesses_[c].nodes, guesses_[c].weights, -1.0 * guesses_[c].force);
    }
  }
  sums_ = std::move(found);
  guesses_.clear();
}

template <class Real>
void ClothImpulses<Real>::look_at_moves() {
  read_moves();
  for (std::size_t i = 0; i < moves_.size(); ++i) host_to_[i] = host_from_[i] + moves_[i];
  to_.upload(host_to_);
  within_memory([&] { detect_contacts(); });
}

template <class Real>
void ClothImpulses<Real>::write_moves() {
  for_each_moving([&](std::size_t, ImpulseSolver<Real>& solver, std::size_t first) {
    solver.write_moves(moves_.data() + first);
    solver.add_to_loads(pushes_.data() + first);
  });
  std::fill(pushes_.begin(), pushes_.end(), Vec3d{});
}

template <class Real>
bool ClothImpulses<Real>::find_astray() {
  read_moves();
  const SurfaceFeatures& features = pairs_.features();
  bool any = false;
  for_each_moving([&](std::size_t g, ImpulseSolver<Real>&, std::size_t) {
    bool is_astray = false;
    for (Index e = features.edge_begin[g]; e < features.edge_begin[g + 1] && !is_astray; ++e) {
      const auto& [a, b] = features.edges[static_cast<std::size_t>(e)];
      const Vec3d edge = (host_from_[a] + moves_[a]) - (host_from_[b] + moves_[b]);
      is_astray = !(dot(edge, edge) < largest_squares_[static_cast<std::size_t>(e)]);
    }
    are_astray_[g] = is_astray;
    any = any || is_astray;
  });
  return any;
}

template <class Real>
bool ClothImpulses<Real>::has_contact() {
  if (find_astray()) return false;
  constexpr int last_rounds = 8;
  const int most_rounds = mover().converges() ? 60 : 4;
  bool are_held = true;
  for (int round = 0;; ++round) {
    look_at_moves();
    const bool is_open = !guesses_.empty() || this->is_open(round == 0);
    const bool is_over = round >= most_rounds;  // what is left is of the rows: cloth must stay apart
    if (!(is_open || (!are_held && !is_over)) || round == most_rounds + last_rounds) break;
    if (is_open) push(mover().converges() && round > 0 && !is_over);
    if (!is_over) are_held = hold_rows();
  }
  deepest_ = std::max(deepest_, depth_);
  if (may_penetrate()) apply_ccd_limits();
  const double parts = mover().parts();
  merge(sums_, true, parts, work_);
  return true;
}

template <class Real>
bool ClothImpulses<Real>::hold_rows() {
  constexpr int sweeps = Relaxation::window;
  std::vector<ImpulseSolver<Real>*> moving;
  std::vector<std::size_t> widths;
  for_each_moving([&](std::size_t g, ImpulseSolver<Real>& solver, std::size_t) {
    if (are_pushed_[g] == 0) return;
    moving.push_back(&solver);
    widths.push_back(solver.threads());
  });
  std::vector<char> are_held(moving.size(), 0);
  side_by_side(device_.queue().pool, widths,
               [&](std::size_t g) { are_held[g] = moving[g]->hold_rows_again(sweeps); });
  return std::ranges::all_of(are_held, [](char is_held) { return is_held != 0; });
}

template <class Real>
bool ClothImpulses<Real>::is_open(bool of_any_depth) {
  if (!of_any_depth && depth_ > tolerance_) return true;
  return std::ranges::any_of(host_chosen_, [&](Index index) {
    const FoundContact& contact = touching()[static_cast<std::size_t>(index)];
    const bool counts = contact.status == PairStatus::passing || (of_any_depth && contact.gap < 0);
    return counts && can_part(contact, host_inverse_.data());
  });
}

template <class Real>
std::vector<typename ClothImpulses<Real>::Contact> ClothImpulses<Real>::contacts() const {
  const ClothFriction friction{friction_.of_garments, friction_.between, friction_.with_self,
                               1 + std::ranges::max(friction_.of_garments)};
  const std::vector<Index>& garments = pairs_.features().node_surfaces;
  std::vector<Contact> contacts;
  std::size_t k = 0;
  for (std::size_t c = 0; c < keys_.size(); ++c) {
    const FoundContact& found = touching()[static_cast<std::size_t>(host_chosen_[c])];
    Contact contact;
    const std::array<Index, 4> nodes = pairs_.features().nodes_of(chosen_pair(host_chosen_[c]));
    double inverse = 0, moved = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      contact.nodes[i] = static_cast<std::size_t>(nodes[i]);
      contact.weights[i] = found.weights[i];
      inverse += found.weights[i] * found.weights[i] * host_inverse_[contact.nodes[i]];
      moved += found.weights[i] * dot(found.normal, moves_[contact.nodes[i]]);
    }
    contact.normal = found.normal;
    contact.gap = found.gap - moved;
    contact.before = found.before;
    contact.inertia = can_part(found, host_inverse_.data()) ? 1 / inverse : 0;
    contact.friction = friction.of(garments[contact.nodes.front()], garments[contact.nodes.back()]);
    while (k < sums_.keys.size() && sums_.keys[k] < keys_[c]) ++k;
    if (k < sums_.keys.size() && sums_.keys[k] == keys_[c]) contact.sum = sums_.forces[k];
    // Of two nodes the key does not tell which is the first; contacts push. What has turned begins anew.
    if (dot(contact.sum, contact.normal) < 0)
      contact.sum = (ContactKey::of(keys_[c]).kind == ContactKey::two_nodes ? -1.0 : 0.0) * contact.sum;
    contacts.push_back(contact);
  }
  return contacts;
}

template <class Real>
void ClothImpulses<Real>::push(bool is_again) {
  constexpr int most_sweeps = 200;
  constexpr double settled = 1e-2, excess = 0.8;  // in tolerances, in gaps
  Law law;
  law.tolerance = tolerance_;
  law.parts = mover().parts();
  take_back();
  std::vector<Contact> contacts = this->contacts();
  const auto way_of = [this](const Contact& contact) {
    Vec3d way{};
    for (std::size_t i = 0; i < 4; ++i) way += contact.weights[i] * moves_[contact.nodes[i]];
    return way;
  };
  const auto gap_of = [&law](const Contact& contact, const Vec3d& way) {
    return law.wanted_gap(contact.gap + dot(contact.normal, way), contact.before);
  };
  // Rows take part of it back: over-relaxed, as they are, rounds are half as many.
  if (is_again)
    for (Contact& contact : contacts) contact.gap += excess * std::min(0.0, gap_of(contact, way_of(contact)));
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double farthest = 0;
    for (Contact& contact : contacts) {
      if (!(contact.inertia > 0)) continue;
      const Vec3d way = way_of(contact);
      const double gap = gap_of(contact, way);
      if (!Law::is_active(gap, dot(contact.sum, contact.sum) > 0, HUGE_VAL)) continue;
      const Vec3d sum =
          Law::impulse(contact.sum, contact.normal, gap, way, contact.inertia, contact.friction, 0).impulse;
      const Vec3d change = sum - contact.sum;
      contact.sum = sum;
      for (const std::size_t node : {contact.nodes.front(), contact.nodes.back()})
        are_pushed_[static_cast<std::size_t>(pairs_.features().node_surfaces[node])] = 1;
      farthest = std::max(farthest, norm(change) / contact.inertia);
      exert(contact.nodes, contact.weights, change);
    }
    if (!(farthest > settled * tolerance_)) break;
  }
  ContactWarmStart sums{keys_, {}};
  for (const Contact& contact : contacts) sums.forces.push_back(contact.sum);
  merge(sums, false, 1, sums_);
  write_moves();
}

template <class Real>
void ClothImpulses<Real>::apply_ccd_limits() {
  const double part = mover().part();
  std::vector<Vec3d> velocities(moves_.size());
  for (std::size_t i = 0; i < moves_.size(); ++i) velocities[i] = (1 / part) * moves_[i];
  const auto [shares, met] = within_memory([&] { return ccd_limits(host_to_, host_inverse_, velocities); });
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    const bool is_held = shares[i] < 1;
    if (is_held || std::binary_search(met.begin(), met.end(), static_cast<Index>(i)))
      speeds_.emplace_back(i, part * velocities[i]);
    if (!is_held) continue;
    const auto garment = static_cast<std::size_t>(pairs_.features().node_surfaces[i]);
    moves_[i] = shares[i] * moves_[i];
    ++ccd_stopped_nodes_[garment];
    if (!(host_inverse_[i] > 0)) ++blocked_kinematic_nodes_[garment];
  }
  write_moves();
}

template <class Real>
void ClothImpulses<Real>::release() {
  if (speeds_.empty()) return;
  for (const auto& [node, move] : speeds_) moves_[node] = move;
  write_moves();
}

template <class Real>
bool ClothImpulses<Real>::misses() const {
  return deepest_ > tolerance_ ||
         std::ranges::any_of(ccd_stopped_nodes_, [](Index count) { return count > 0; });
}

template <class Real>
void ClothImpulses<Real>::tell(std::size_t garment, StepReport& report) const {
  const double step = mover().parts() * mover().part();
  report.cloth_contacts = count();
  report.cloth_loaded = static_cast<Index>(state_.keys.size());
  report.cloth_force = state_.largest() / (step * step);
  report.cloth_gap = least_gap();
  report.penetration = std::max(report.penetration, deepest_);
  report.held_back = ccd_stopped_nodes_[garment];
  report.blocked = blocked_kinematic_nodes_[garment];
  if (misses()) report.status = std::max(report.status, StepStatus::stalled);
}

template <class Real>
std::size_t ClothImpulses<Real>::memory_bytes() const {
  return pair_bytes() + (moves_.size() + pushes_.size()) * sizeof(Vec3d) +
         host_inverse_.size() * sizeof(double);
}

template class ClothImpulses<float>;
template class ClothImpulses<double>;

}  // namespace isocloth
