#include "host/projection/body_coupling.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "host/surroundings/shape_views.hpp"
#include "kernels/contact/contact_law.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

template <class Real>
struct BodyCoupling<Real>::System {
  MatrixXd matrix;
  VectorXd right;
};

/// A garment, or all of them where they touch each other.
template <class Real>
struct BodyCoupling<Real>::Cloths {
  std::vector<ProjectionSolver<Real>*> garments;
  ClothContacts<Real>* contacts;  ///< contacts between the garments; null: one garment alone

  const void* owner() const {
    return contacts != nullptr ? static_cast<const void*>(contacts) : garments.front();
  }
  Buffer<Vec3<Real>>& corrections() const {
    return contacts != nullptr ? contacts->corrections() : garments.front()->system().correction();
  }
  std::size_t free_count() const { return corrections().size(); }
  std::size_t first_free(const ProjectionSolver<Real>& garment) const {
    return contacts != nullptr ? static_cast<std::size_t>(contacts->first_free(garment)) : 0;
  }
  bool solve_block(const Buffer<Vec3<Real>>& columns, Buffer<Vec3<Real>>& solutions,
                   std::size_t count) const {
    return contacts != nullptr ? contacts->solve_block(columns, solutions, count)
                               : garments.front()->system().nodal_solver().solve_block(
                                     columns, solutions, free_count(), column_begins(count, free_count()));
  }
};

template <class Real>
BodyCoupling<Real>::BodyCoupling(const Device& device, std::shared_ptr<const ObstacleShapes<Real>> shapes)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      shapes_(std::move(shapes)),
      contacts_(*shapes_),
      external_(shapes_->scene) {
  const Scene& scene = shapes_->scene;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const RigidBody& body = scene.bodies[b];
    Body own;
    own.properties = mass_properties(body.shape);
    own.is_external = body.is_external;
    own.mass = body.mass;
    for (std::size_t i = 0; i < 3; ++i) own.inertia[i] = body.mass * own.properties.inertia[i];
    own.inverse_inertia = inverse(own.properties.inertia);
    for (Vec3d& row : own.inverse_inertia) row = (1 / body.mass) * row;
    states_.push_back(start_state(body, own.properties));
    own.pose = states_.back().pose;
    bodies_.push_back(own);
  }
  const std::size_t count = bodies_.size();
  found_moves_.resize(count);
  wrenches_.resize(count);
  centers_ = {device, count};
  groups_ = {device, count};
  sums_ = {device, count * static_cast<std::size_t>(body_terms)};
  moves_ = {device, 6 * count};
  contacts_.require_apart(solids());
}

template <class Real>
std::vector<SolidState> BodyCoupling<Real>::solids() const {
  std::vector<SolidState> all;
  for (const Obstacle& obstacle : shapes_->scene.obstacles) {
    const Pose end = obstacle_pose(obstacle, Garment::every_world, to_);
    all.push_back(
        {.begin = obstacle_pose(obstacle, Garment::every_world, from_), .end = end, .center = end.center});
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Body& body = bodies_[b];
    all.push_back({.begin = shape_pose(states_[b].pose, body.properties),
                   .end = shape_pose(body.pose, body.properties),
                   .center = body.pose.center});
  }
  return all;
}

template <class Real>
ParticipantFit BodyCoupling<Real>::assess(Step&, int) {
  const double depth = contacts_.find(solids());
  return {.met = depth <= shapes_->scene.contact.tolerance && contacts_.settled(), .depth = depth};
}

template <class Real>
void BodyCoupling<Real>::begin_step(Step&) {
  external_.begin_step(states_);
  external_.forget_deviations();
  states_before_ = states_;
  impulses_.assign(bodies_.size(), {});
}

template <class Real>
void BodyCoupling<Real>::begin_substep(const Part& part) {
  const double h = part.h;
  const Vec3d gravity{0, 0, -shapes_->scene.gravity};
  const Moment step = clock_.moment(h * part.parts, part.number);
  from_ = {step.of_garment + h * part.done, step.of_simulation + h * part.done};
  to_ = {from_.of_garment + h, from_.of_simulation + h};
  from_share_ = static_cast<double>(part.done) / part.parts;
  to_share_ = static_cast<double>(part.done + 1) / part.parts;
  contacts_.forget();
  coordinates_ = found_coordinates_ = VectorXd::Zero(external_.coordinate_count());
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    Body& body = bodies_[b];
    if (body.is_external) {
      body.pose = external_.flight(b, states_[b].pose, h, from_share_, to_share_);
      body.flight = {.pose = body.pose, .velocity = {}, .angular_momentum = {}};
      body.offset = body.turn = {};
      continue;
    }
    body.flight = free_flight(states_[b], body.inverse_inertia, gravity, h);
    body.flight_inertia = turned_inertia(body.inertia, body.flight.pose.axes);
    // As the cloth's first iterate, without this step's forces: what rests begins where it is.
    body.pose = {.center = states_[b].pose.center + h * states_[b].velocity, .axes = body.flight.pose.axes};
    body.offset = -(h * h) * gravity;
    body.turn = {};
  }
}

template <class Real>
void BodyCoupling<Real>::place(const Step& step, const Part& part) const {
  std::vector<Placement<Real>> places;
  const std::size_t first = shapes_->scene.obstacles.size();
  for (std::size_t b = 0; b < bodies_.size(); ++b)
    places.push_back(shapes_->placement(first + b, shape_pose(states_[b].pose, bodies_[b].properties),
                                        shape_pose(bodies_[b].pose, bodies_[b].properties)));
  for (ProjectionSolver<Real>* garment : step.garments)
    garment->obstacles().set_bodies(0, part.number, places);
}

template <class Real>
typename BodyCoupling<Real>::Columns& BodyCoupling<Real>::columns_of(const Cloths& cloths) {
  for (auto& [owner, columns] : columns_)
    if (owner == cloths.owner()) return columns;
  const std::size_t count = 6 * bodies_.size(), free_count = cloths.free_count();
  columns_.push_back({cloths.owner(), Columns{.columns = {device_, count * free_count},
                                              .solutions = {device_, count * free_count},
                                              .products = {device_, count * (count + 1)},
                                              .moves = {device_, count},
                                              .touched = {}}});
  return columns_.back().second;
}

template <class Real>
std::vector<Real> BodyCoupling<Real>::contact_sums(const ProjectionSolver<Real>& garment,
                                                   bool of_kept_forces) {
  kernels_.sum_bodies(device_.queue(), {.samples = garment.contacts().sample_arguments(),
                                        .first_body = static_cast<Index>(shapes_->scene.obstacles.size()),
                                        .centers = std::as_const(centers_).view(),
                                        .sums = sums_.view(),
                                        .of_kept_forces = of_kept_forces});
  return sums_.download();
}

template <class Real>
void BodyCoupling<Real>::add_contacts(const ProjectionSolver<Real>& garment, System& system,
                                      std::vector<char>& touched) {
  const std::vector<Real> sums = contact_sums(garment, false);
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Real* const sum = sums.data() + b * static_cast<std::size_t>(body_terms);
    if (!(sum[body_terms - 1] > 0)) continue;
    touched[b] = 1;
    const Eigen::Index at = 6 * static_cast<Eigen::Index>(b);
    int entry = 0;
    for (int i = 0; i < 6; ++i)
      for (int j = i; j < 6; ++j, ++entry) {
        system.matrix(at + i, at + j) += static_cast<double>(sum[entry]);
        if (j > i) system.matrix(at + j, at + i) += static_cast<double>(sum[entry]);
      }
    for (int i = 0; i < 6; ++i, ++entry) system.right(at + i) -= static_cast<double>(sum[entry]);
  }
}

template <class Real>
bool BodyCoupling<Real>::add(const Cloths& cloths, System& system) {
  const Queue& queue = device_.queue();
  Columns& own = columns_of(cloths);
  std::vector<char> touched(bodies_.size(), 0);
  for (const ProjectionSolver<Real>* garment : cloths.garments) add_contacts(*garment, system, touched);
  std::vector<Index> groups(bodies_.size(), -1);
  own.touched.clear();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (touched[b] == 0) continue;
    groups[b] = static_cast<Index>(own.touched.size());
    own.touched.push_back(static_cast<Index>(b));
  }
  const std::size_t count = 6 * own.touched.size(), free_count = cloths.free_count();
  if (count == 0 || free_count == 0) return true;
  groups_.upload(groups);
  for (const ProjectionSolver<Real>* garment : cloths.garments)
    kernels_.assemble_body_columns(
        queue, {.samples = garment->contacts().sample_arguments(),
                .first_body = static_cast<Index>(shapes_->scene.obstacles.size()),
                .centers = std::as_const(centers_).view(),
                .node_slots = garment->contacts().samples().node_slots.view(),
                .groups = std::as_const(groups_).view(),
                .free_count = garment->pattern().free_count(),
                .column_count = static_cast<Index>(count),
                .stride = static_cast<Index>(free_count),
                .columns = slice(own.columns.view(), cloths.first_free(*garment), own.columns.size())});
  if (!cloths.solve_block(own.columns, own.solutions, count)) return false;
  const auto first_columns = [&](auto& buffer) { return slice(buffer.view(), 0, count * free_count); };
  const auto multiply = [&](ArrayView<const Vec3<Real>> right, std::size_t right_count, std::size_t at) {
    kernels_.multiply_columns(queue, {.left = first_columns(std::as_const(own.columns)),
                                      .right = right,
                                      .free_count = static_cast<Index>(free_count),
                                      .stride = static_cast<Index>(free_count),
                                      .right_count = static_cast<Index>(right_count),
                                      .products = slice(own.products.view(), at, at + count * right_count)});
  };
  multiply(first_columns(std::as_const(own.solutions)), count, 0);
  multiply(std::as_const(cloths.corrections()).view(), 1, count * count);
  const std::vector<Real> products = own.products.download();
  const auto row = [&](std::size_t k) {
    return static_cast<Eigen::Index>(6 * static_cast<std::size_t>(own.touched[k / 6]) + k % 6);
  };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j)
      system.matrix(row(i), row(j)) -= static_cast<double>(products[i * count + j]);
    system.right(row(i)) += static_cast<double>(products[count * count + i]);
  }
  return true;
}

template <class Real>
void BodyCoupling<Real>::add_masses(System& system) const {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Body& body = bodies_[b];
    if (body.is_external) continue;  // their coordinates have them
    const Eigen::Index at = 6 * static_cast<Eigen::Index>(b);
    const Vec3d torque = product(body.flight_inertia, body.turn);
    const double offsets[] = {body.offset.x, body.offset.y, body.offset.z},
                 torques[] = {torque.x, torque.y, torque.z};
    for (Eigen::Index i = 0; i < 3; ++i) {
      const Vec3d& inertia = body.flight_inertia[static_cast<std::size_t>(i)];
      system.matrix(at + i, at + i) = body.mass;
      system.matrix.row(at + 3 + i).segment(at + 3, 3) << inertia.x, inertia.y, inertia.z;
      system.right(at + i) = -body.mass * offsets[i];
      system.right(at + 3 + i) = -torques[i];
    }
  }
}

template <class Real>
VectorXd BodyCoupling<Real>::solve(const System& system, bool is_exact) {
  const auto solved = [&](const MatrixXd& matrix, const VectorXd& right, const MatrixXd* moves_by_unknowns) {
    // C^T H^-1 C is as symmetric as H^-1 C is exact.
    const MatrixXd symmetric = (matrix + matrix.transpose()) / 2;
    const VectorXd moves = contacts_.solve(symmetric, right, moves_by_unknowns);
    // By conjugate gradients it is not, and the forces found are given to the bodies as they act on the
    // cloth: else momentum would leak between them.
    return is_exact ? moves : VectorXd(matrix.partialPivLu().solve(symmetric * moves));
  };
  if (!external_.exist()) return solved(system.matrix, system.right, nullptr);
  const MatrixXd by_unknowns = external_.moves_by_unknowns();
  if (by_unknowns.cols() == 0) return VectorXd::Zero(system.right.size());
  const Eigen::Index count = external_.coordinate_count();
  MatrixXd matrix = by_unknowns.transpose() * system.matrix * by_unknowns;
  matrix.diagonal().tail(count).array() += 1;
  VectorXd right = by_unknowns.transpose() * system.right;
  right.tail(count) -= coordinates_;
  const VectorXd unknowns = solved(matrix, right, &by_unknowns);
  found_coordinates_ = unknowns.tail(count);
  return by_unknowns * unknowns;
}

template <class Real>
void BodyCoupling<Real>::upload_centers() {
  std::vector<Vec3<Real>> centers;
  for (const Body& body : bodies_) centers.push_back(narrow<Real>(body.pose.center));
  centers_.upload(centers);
}

template <class Real>
bool BodyCoupling<Real>::solve(Step& step) {
  ClothContacts<Real>* const cloth = step.coupled;
  const Eigen::Index size = 6 * static_cast<Eigen::Index>(bodies_.size());
  System system{.matrix = MatrixXd::Zero(size, size), .right = VectorXd::Zero(size)};
  add_masses(system);
  upload_centers();
  std::vector<Cloths> all;
  if (cloth != nullptr)
    all.push_back({step.garments, cloth});
  else
    for (ProjectionSolver<Real>* garment : step.garments) all.push_back({{garment}, nullptr});
  for (const Cloths& cloths : all)
    if (!add(cloths, system)) return false;
  const VectorXd moves = solve(system, cloth == nullptr);
  if (!moves.allFinite()) return false;
  std::vector<Real> narrowed_moves(static_cast<std::size_t>(size));
  for (Eigen::Index i = 0; i < size; ++i) {
    found_moves_[static_cast<std::size_t>(i / 6)][static_cast<std::size_t>(i % 6)] = moves(i);
    narrowed_moves[static_cast<std::size_t>(i)] = static_cast<Real>(moves(i));
  }
  moves_.upload(narrowed_moves);
  for (const Cloths& cloths : all) {
    Columns& own = columns_of(cloths);
    const std::size_t count = 6 * own.touched.size(), free_count = cloths.free_count();
    if (count == 0 || free_count == 0) continue;
    std::vector<Real> of_columns(own.moves.size());
    for (std::size_t k = 0; k < count; ++k)
      of_columns[k] = narrowed_moves[6 * static_cast<std::size_t>(own.touched[k / 6]) + k % 6];
    own.moves.upload(of_columns);
    kernels_.add_columns(device_.queue(),
                         {.columns = slice(std::as_const(own.solutions).view(), 0, count * free_count),
                          .stride = static_cast<Index>(free_count),
                          .moves = slice(std::as_const(own.moves).view(), 0, count),
                          .correction = cloths.corrections().view()});
    if (cloth != nullptr) cloth->scatter();
  }
  step.moves = {.first = static_cast<Index>(shapes_->scene.obstacles.size()),
                .centers = std::as_const(centers_).view(),
                .moves = std::as_const(moves_).view()};
  return true;
}

template <class Real>
void BodyCoupling<Real>::correct() {
  coordinates_ += found_coordinates_;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    Body& body = bodies_[b];
    const std::array<double, 6>& found = found_moves_[b];
    const Vec3d move{found[0], found[1], found[2]}, turn{found[3], found[4], found[5]};
    body.turn += turn;
    // By the sum of all turns: rotations do not commute, and what iterations take back must be gone.
    body.pose = {.center = body.pose.center + move, .axes = turned_axes(body.turn, body.flight.pose.axes)};
    body.offset += move;
  }
}

template <class Real>
VectorXd BodyCoupling<Real>::pushes(const Step& step) {
  VectorXd sums = VectorXd::Zero(static_cast<Eigen::Index>(6 * bodies_.size()));
  upload_centers();
  for (const ProjectionSolver<Real>* garment : step.garments) {
    const std::vector<Real> found = contact_sums(*garment, true);
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      const Real* const pull = found.data() + (b + 1) * static_cast<std::size_t>(body_terms) - 7;
      if (!bodies_[b].is_external || !(pull[6] > 0)) continue;
      for (std::size_t i = 0; i < 6; ++i)
        sums(static_cast<Eigen::Index>(6 * b + i)) -= static_cast<double>(pull[i]);
    }
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (!bodies_[b].is_external) continue;
    const auto [f, t] = contacts_.push_on(static_cast<Index>(shapes_->scene.obstacles.size() + b));
    sums.segment<6>(static_cast<Eigen::Index>(6 * b)) +=
        Eigen::Vector<double, 6>{f.x, f.y, f.z, t.x, t.y, t.z};
  }
  return external_.reconciled(sums, coordinates_);
}

template <class Real>
void BodyCoupling<Real>::end_substep(Step& step, const PartEnd<double, bool>& end) {
  if (end.retry) {
    states_ = states_before_;
    external_.forget_deviations();
    impulses_.assign(bodies_.size(), {});
  }
  if (!end.accept) return;
  const double h = end.part.h;
  const VectorXd found = external_.exist() ? pushes(step) : VectorXd();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Body& body = bodies_[b];
    BodyState& state = states_[b];
    if (body.is_external) {
      const double* const push = found.data() + 6 * b;
      impulses_[b].force += (1 / h) * Vec3d{push[0], push[1], push[2]};
      impulses_[b].torque += (1 / h) * Vec3d{push[3], push[4], push[5]};
      external_.deviate(b, body.offset, body.turn, h);
      const Vec3d turn = turn_between(state.pose.axes, body.pose.axes);
      state = {.pose = body.pose,
               .velocity = (1 / h) * (body.pose.center - state.pose.center),
               .angular_momentum = (1 / h) * product(turned_inertia(body.inertia, body.pose.axes), turn)};
      continue;
    }
    // By how far it went, not by the sum of forces, which are as exact as the last iteration: what the body
    // gains the cloth has lost.
    const Vec3d turn = product(body.flight_inertia, body.turn);
    impulses_[b] = {.force = impulses_[b].force + (body.mass / h) * body.offset,
                    .torque = impulses_[b].torque + (1 / h) * turn};
    state = {.pose = body.pose,
             .velocity = body.flight.velocity + (1 / h) * body.offset,
             .angular_momentum = body.flight.angular_momentum + (1 / h) * turn};
  }
}

template <class Real>
void BodyCoupling<Real>::end_step(bool is_kept) {
  if (!is_kept) {
    states_ = states_before_;
    return;
  }
  external_.forget();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Vec3d force = (1 / shapes_->scene.step) * impulses_[b].force;
    const Vec3d arm = states_[b].pose.center - shape_pose(states_[b].pose, bodies_[b].properties).center;
    wrenches_[b] = {.force = force,
                    .torque = (1 / shapes_->scene.step) * impulses_[b].torque + cross(arm, force)};
  }
}

template <class Real>
std::size_t BodyCoupling<Real>::memory_bytes() const {
  std::size_t bytes = centers_.bytes() + groups_.bytes() + sums_.bytes() + moves_.bytes();
  for (const auto& [owner, own] : columns_)
    bytes += own.columns.bytes() + own.solutions.bytes() + own.products.bytes() + own.moves.bytes();
  return bytes;
}

template class BodyCoupling<float>;
template class BodyCoupling<double>;

}  // namespace isocloth
