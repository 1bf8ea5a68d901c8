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
    : device_(device),
      collision_(device, scene, garments),
      friction_(friction_classes(scene, garments)),
      solvers_(solvers),
      stopped_(garments.size()) {
  const SurfaceFeatures& features = collision_.features();
  NodalTrajectories& ways = collision_.nodes();
  const auto nodes = static_cast<std::size_t>(features.node_count());
  for (std::vector<Vec3d>* vectors : {&ways.from, &ways.to, &moves_, &pushes_}) vectors->resize(nodes);
  inverse_inertia_.resize(nodes);
  are_pushed_.resize(garments.size());
  are_astray_.resize(garments.size());
  for (std::size_t e = 0; e < features.edges.size(); ++e) {
    const auto& [a, b] = features.edges[e];
    const auto g = static_cast<std::size_t>(features.node_surfaces[a]);
    const std::vector<Vec3d>& rest = garments[g]->mesh.positions;
    const Vec3d edge = rest[a - first_node(g)] - rest[b - first_node(g)];
    largest_squares_.push_back((1 + largest_strain) * (1 + largest_strain) * dot(edge, edge));
  }
}

template <class Real>
template <class Visit>
void ClothImpulses<Real>::for_each_moving(const Visit& visit) const {
  for (std::size_t g = 0; g < solvers_.size(); ++g)
    if (!solvers_[g]->frozen()) visit(g, *solvers_[g], first_node(g));
}

template <class Real>
const ImpulseSolver<Real>& ClothImpulses<Real>::mover() const {
  return **std::ranges::find_if(solvers_,
                                [](const ImpulseSolver<Real>* solver) { return !solver->frozen(); });
}

template <class Real>
void ClothImpulses<Real>::begin_step() {
  collision_.begin_step();
  work_ = {};
  stopped_.clear();
  deepest_ = 0;
  const double parts = mover().parts();
  sums_ = collision_.kept();
  sums_.scale(1 / (parts * parts));
}

template <class Real>
void ClothImpulses<Real>::begin_substep() {
  NodalTrajectories& ways = collision_.nodes();
  for (std::size_t g = 0; g < solvers_.size(); ++g) {
    solvers_[g]->read_positions(ways.from.data() + first_node(g));
    solvers_[g]->read_inverse_inertia(inverse_inertia_.data() + first_node(g));
  }
  ways.device_from.upload(ways.from);
  ways.inverse_inertia.upload(inverse_inertia_);
  ways.begin_substep();
  collision_.begin_substep();
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
    const ContactLoad load = contact_load(collision_.features(), sums_.keys[c], sums_.forces[c], ways.from);
    double inverse = 0;
    for (std::size_t i = 0; i < 4; ++i)
      inverse += load.weights[i] * load.weights[i] * inverse_inertia_[load.nodes[i]];
    if (norm(load.force) * inverse > std::max(collision_.geometry().tolerance(), most_weights * fall))
      continue;
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
  for (std::size_t g = 0; g < solvers_.size(); ++g) solvers_[g]->read_moves(moves_.data() + first_node(g));
}

template <class Real>
template <class Nodes>
void ClothImpulses<Real>::exert(const Nodes& nodes, const std::array<double, 4>& weights,
                                const Vec3d& impulse) {
  for (std::size_t i = 0; i < 4; ++i) {
    const auto node = static_cast<std::size_t>(nodes[i]);
    moves_[node] += (weights[i] * inverse_inertia_[node]) * impulse;
    pushes_[node] += weights[i] * impulse;
  }
}

template <class Real>
void ClothImpulses<Real>::take_back() {
  if (guesses_.empty()) return;
  const std::vector<std::uint64_t>& keys = collision_.contacts().keys;
  ContactWarmStart found;
  for (std::size_t c = 0, k = 0; c < sums_.keys.size(); ++c) {
    while (k < keys.size() && keys[k] < sums_.keys[c]) ++k;
    if (k < keys.size() && keys[k] == sums_.keys[c]) {
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
  NodalTrajectories& ways = collision_.nodes();
  for (std::size_t i = 0; i < moves_.size(); ++i) ways.to[i] = ways.from[i] + moves_[i];
  ways.device_to.upload(ways.to);
  collision_.detect_contacts();
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
  const SurfaceFeatures& features = collision_.features();
  const std::vector<Vec3d>& from = collision_.nodes().from;
  bool any = false;
  for_each_moving([&](std::size_t g, ImpulseSolver<Real>&, std::size_t) {
    bool is_astray = false;
    for (Index e = features.edge_begin[g]; e < features.edge_begin[g + 1] && !is_astray; ++e) {
      const auto& [a, b] = features.edges[e];
      const Vec3d edge = (from[a] + moves_[a]) - (from[b] + moves_[b]);
      is_astray = !(dot(edge, edge) < largest_squares_[e]);
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
  deepest_ = std::max(deepest_, collision_.contacts().depth);
  if (collision_.contacts().may_penetrate()) apply_ccd_limits();
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
  const Contacts& contacts = collision_.contacts();
  if (!of_any_depth && contacts.depth > collision_.geometry().tolerance()) return true;
  for (std::size_t c = 0; c < contacts.keys.size(); ++c) {
    const bool counts = contacts[c].status == PairStatus::passing || (of_any_depth && contacts[c].gap < 0);
    if (counts && can_part(collision_.features(), contacts.pairs[c], contacts[c], inverse_inertia_.data()))
      return true;
  }
  return false;
}

template <class Real>
std::vector<typename ClothImpulses<Real>::Contact> ClothImpulses<Real>::contacts_on_moves() const {
  const ClothFriction friction{friction_.of_garments, friction_.between, friction_.with_self,
                               1 + std::ranges::max(friction_.of_garments)};
  const SurfaceFeatures& features = collision_.features();
  const Contacts& all = collision_.contacts();
  const std::vector<Vec3d> sums = sums_.forces_of(all.keys);
  std::vector<Contact> contacts;
  for (std::size_t c = 0; c < all.keys.size(); ++c) {
    const FoundContact& found = all[c];
    Contact contact;
    const std::array<Index, 4> nodes = features.nodes_of(all.pairs[c]);
    double inverse = 0, moved = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      contact.nodes[i] = static_cast<std::size_t>(nodes[i]);
      contact.weights[i] = found.weights[i];
      inverse += found.weights[i] * found.weights[i] * inverse_inertia_[contact.nodes[i]];
      moved += found.weights[i] * dot(found.normal, moves_[contact.nodes[i]]);
    }
    contact.normal = found.normal;
    contact.gap = found.gap - moved;
    contact.before = found.before;
    contact.inertia = can_part(features, all.pairs[c], found, inverse_inertia_.data()) ? 1 / inverse : 0;
    const auto [one, other] = features.surfaces_of(all.pairs[c]);
    contact.friction = friction.of(static_cast<Index>(one), static_cast<Index>(other));
    contact.sum = sums[c];
    // Of two nodes the key does not tell which is the first; contacts push. What has turned begins anew.
    if (dot(contact.sum, contact.normal) < 0)
      contact.sum = (ContactKey::of(all.keys[c]).kind == ContactKey::two_nodes ? -1.0 : 0.0) * contact.sum;
    contacts.push_back(contact);
  }
  return contacts;
}

template <class Real>
void ClothImpulses<Real>::push(bool is_again) {
  constexpr int most_sweeps = 200;
  constexpr double settled = 1e-2, excess = 0.8;  // in tolerances, in gaps
  Law law;
  const double tolerance = law.tolerance = collision_.geometry().tolerance();
  law.parts = mover().parts();
  take_back();
  std::vector<Contact> contacts = contacts_on_moves();
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
        are_pushed_[collision_.features().node_surfaces[node]] = 1;
      farthest = std::max(farthest, norm(change) / contact.inertia);
      exert(contact.nodes, contact.weights, change);
    }
    if (!(farthest > settled * tolerance)) break;
  }
  ContactWarmStart sums{collision_.contacts().keys, {}};
  for (const Contact& contact : contacts) sums.forces.push_back(contact.sum);
  merge(sums, false, 1, sums_);
  write_moves();
}

template <class Real>
void ClothImpulses<Real>::apply_ccd_limits() {
  const double part = mover().part();
  std::vector<Vec3d> velocities(moves_.size());
  for (std::size_t i = 0; i < moves_.size(); ++i) velocities[i] = (1 / part) * moves_[i];
  const auto [shares, met] = collision_.ccd_limits(collision_.nodes().to, inverse_inertia_, velocities);
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    const bool is_held = shares[i] < 1;
    if (is_held || std::binary_search(met.begin(), met.end(), static_cast<Index>(i)))
      speeds_.emplace_back(i, part * velocities[i]);
    if (!is_held) continue;
    const Index garment = collision_.features().node_surfaces[i];
    moves_[i] = shares[i] * moves_[i];
    ++stopped_.held_back[garment];
    if (!(inverse_inertia_[i] > 0)) ++stopped_.blocked[garment];
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
  return deepest_ > collision_.geometry().tolerance() ||
         std::ranges::any_of(stopped_.held_back, [](Index count) { return count > 0; });
}

template <class Real>
void ClothImpulses<Real>::tell(std::size_t garment, StepReport& report) const {
  const double step = mover().parts() * mover().part();
  report.cloth_contacts = collision_.contacts().count();
  report.cloth_loaded = static_cast<Index>(collision_.kept().keys.size());
  report.cloth_force = collision_.kept().largest() / (step * step);
  report.cloth_gap = collision_.least_gap();
  report.penetration = std::max(report.penetration, deepest_);
  report.held_back = stopped_.held_back[garment];
  report.blocked = stopped_.blocked[garment];
  if (misses()) report.status = std::max(report.status, StepStatus::stalled);
}

template <class Real>
std::size_t ClothImpulses<Real>::memory_bytes() const {
  return collision_.memory_bytes() + (moves_.size() + pushes_.size()) * sizeof(Vec3d) +
         inverse_inertia_.size() * sizeof(double);
}

template class ClothImpulses<float>;
template class ClothImpulses<double>;

}  // namespace isocloth
