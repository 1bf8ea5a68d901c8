#include "host/linear/coupled_system.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <utility>

#include "kernels/launch/side_by_side.hpp"
#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth {

MatrixRows::MatrixRows(const Device& device, const BlockPattern& pattern) {
  const SymmetricRows rows = symmetric_rows(pattern);
  begin = {device, rows.begin};
  columns = {device, rows.columns};
  blocks = {device, rows.blocks};
}

template <class Real>
CoupledSystem<Real>::CoupledSystem(const Device& device, const std::vector<std::size_t>& sizes)
    : device_(&device), begin_{0} {
  for (const std::size_t size : sizes) {
    begin_.push_back(begin_.back() + size);
    widths_.push_back(threads_for(size));
  }
  partials_ = {device, static_cast<std::size_t>(dot_count(static_cast<Index>(size())))};
  for (auto* vector : {&residual_, &preconditioned_, &direction_, &product_, &solution_})
    *vector = {device, size()};
}

template <class Real>
void CoupledSystem<Real>::copy(ArrayView<const Vec3<Real>> from, ArrayView<Vec3<Real>> to) const {
  if (to.size() == 0) return;  // of a garment without free nodes
  kernels().scale_values(
      device_->queue(),
      {.from = {&from.data()->x, 3 * from.size()}, .factor = Real(1), .to = {&to.data()->x, 3 * to.size()}});
}

template <class Real>
void CoupledSystem<Real>::multiply(const Members& members, const Contacts& contacts,
                                   ArrayView<const Vec3<Real>> x, ArrayView<Vec3<Real>> y) const {
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto own = [&](auto all) { return slice(all, begin_[m], begin_[m + 1]); };
    if (members[m].factor == nullptr) {
      clear(own(y));
      continue;
    }
    kernels().block_product(device_->queue(), {.matrix = members[m].matrix, .x = own(x), .y = own(y)});
    if (members[m].couplings.exist())
      kernels().multiply_couplings(device_->queue(), {.couplings = members[m].couplings,
                                                      .direction = own(x),
                                                      .factor_product = own(y),
                                                      .product = own(y)});
  }
  if (!contacts) return;
  MultiplyClothContacts<Real> all = *contacts;
  all.direction = x;
  all.product = y;
  kernels().multiply_cloth_contacts(device_->queue(), all);
}

/// What conjugate_gradients() asks for.
template <class Real>
struct CoupledSystem<Real>::Iteration {
  using Vector = Buffer<Vec3<Real>>;
  CoupledSystem& of;
  const Members& members;
  const Contacts& contacts;
  bool has_solved;  ///< preconditioned before the first iteration, with the factorisation
  bool solved = true;
  std::vector<double> partials{};

  const Queue& queue() const { return of.device_->queue(); }
  void combine(const Vector& start, Real weight, Vector& direction) const {
    of.kernels().turn_direction(queue(),
                                {.weight = weight, .start = start.view(), .direction = direction.view()});
  }
  double dot(const Vector& a, const Vector& b) {
    of.kernels().partial_dots(queue(), {.a = a.view(), .b = b.view(), .partials = of.partials_.view()});
    double sum = 0;
    const double* const all = std::as_const(of.partials_).read(partials);
    for (std::size_t i = 0; i < of.partials_.size(); ++i) sum += all[i];
    return sum;
  }

  void precondition() {
    std::vector<char> failed(members.size(), 0);
    side_by_side(of.size() >= least_range ? queue().pool : nullptr, of.widths_, [&](std::size_t m) {
      const CoupledMember<Real>& member = members[m];
      if (member.factor == nullptr) return;
      const std::size_t first = of.begin_[m], end = of.begin_[m + 1];
      if (!has_solved) {
        of.copy(slice(std::as_const(of.residual_).view(), first, end), member.right_side->view());
        failed[m] = !member.factor->solve_more(*member.right_side, *member.solution, end - first, 1);
      }
      of.copy(std::as_const(*member.solution).view(), slice(of.preconditioned_.view(), first, end));
    });
    solved = solved && std::ranges::find(failed, 1) == failed.end();
    has_solved = false;
  }
  double energy() { return dot(of.residual_, of.preconditioned_); }
  void begin() const {
    of.copy(std::as_const(of.preconditioned_).view(), of.direction_.view());
    of.copy(std::as_const(of.preconditioned_).view(), of.solution_.view());
    combine(of.preconditioned_, -1, of.solution_);
  }
  double curvature() {
    of.multiply(members, contacts, std::as_const(of.direction_).view(), of.product_.view());
    return dot(of.direction_, of.product_);
  }
  void descend(double alpha) const {
    of.kernels().descend_along(queue(), {.length = static_cast<Real>(alpha),
                                         .direction = std::as_const(of.direction_).view(),
                                         .product = std::as_const(of.product_).view(),
                                         .solution = of.solution_.view(),
                                         .residual = of.residual_.view()});
  }
  void turn(double beta) const { combine(of.preconditioned_, static_cast<Real>(beta), of.direction_); }
};

template <class Real>
void CoupledSystem<Real>::clear(ArrayView<Vec3<Real>> values) const {
  if (values.size() == 0) return;
  const ArrayView<Real> numbers{&values.data()->x, 3 * values.size()};
  kernels().scale_values(device_->queue(), {.from = numbers, .factor = Real(0), .to = numbers});
}

template <class Real>
int CoupledSystem<Real>::solve(const Members& members, const Contacts& contacts, double rtol) {
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto own = [&](Buffer<Vec3<Real>>& all) { return slice(all.view(), begin_[m], begin_[m + 1]); };
    if (members[m].factor != nullptr) {
      copy(std::as_const(*members[m].right_side).view(), own(residual_));
      continue;
    }
    for (auto* vector : {&residual_, &preconditioned_}) clear(own(*vector));
  }
  Iteration iteration{*this, members, contacts, true};
  const int count = cpu::conjugate_gradients<double>(iteration, rtol);
  give_back(members);
  return iteration.solved ? count : -1;
}

template <class Real>
int CoupledSystem<Real>::solve_more(const Members& members, const Contacts& contacts,
                                    ArrayView<const Vec3<Real>> right_side, double rtol) {
  copy(right_side, residual_.view());
  for (std::size_t m = 0; m < members.size(); ++m)
    if (members[m].factor == nullptr) clear(slice(residual_.view(), begin_[m], begin_[m + 1]));
  Iteration iteration{*this, members, contacts, false};
  const int count = cpu::conjugate_gradients<double>(iteration, rtol);
  return iteration.solved ? count : -1;
}

template <class Real>
void CoupledSystem<Real>::give_back(const Members& members) {
  for (std::size_t m = 0; m < members.size(); ++m)
    if (members[m].factor != nullptr)
      copy(slice(std::as_const(solution_).view(), begin_[m], begin_[m + 1]), members[m].solution->view());
}

template <class Real>
std::vector<std::vector<double>> CoupledSystem<Real>::island_products(const Buffer<Vec3<Real>>& columns,
                                                                      const Buffer<Vec3<Real>>& right) {
  const std::size_t rows = columns.size() / size(), right_count = right.size() / size(),
                    count = rows * right_count;
  for (std::size_t m = 0; m < islands_.size(); ++m)
    if (islands_[m] >= 0)
      kernels().multiply_columns(device_->queue(),
                                 {.left = slice(columns.view(), begin_[m], columns.size()),
                                  .right = slice(right.view(), begin_[m], right.size()),
                                  .free_count = static_cast<Index>(begin_[m + 1] - begin_[m]),
                                  .stride = static_cast<Index>(size()),
                                  .right_count = static_cast<Index>(right_count),
                                  .products = slice(column_products_.view(), m * count, (m + 1) * count)});
  const std::vector<Real> products = column_products_.download();
  std::vector<std::vector<double>> sums(inverses_.size(), std::vector<double>(count, 0.0));
  for (std::size_t m = 0; m < islands_.size(); ++m)
    for (std::size_t i = 0; islands_[m] >= 0 && i < count; ++i)
      sums[static_cast<std::size_t>(islands_[m])][i] += static_cast<double>(products[m * count + i]);
  return sums;
}

template <class Real>
void CoupledSystem<Real>::set_modes(const Members& members, const Contacts& contacts,
                                    const Buffer<Vec3<Real>>& columns, int column_count,
                                    const std::vector<int>& islands) {
  const std::size_t count = static_cast<std::size_t>(column_count), all = size();
  if (images_.size() != columns.size()) {
    images_ = {*device_, columns.size()};
    column_products_ = {*device_, members.size() * count * count};
    moves_ = {*device_, count};
  }
  islands_ = islands;
  inverses_.assign(static_cast<std::size_t>(1 + *std::ranges::max_element(islands)), {});
  const auto column = [&](auto view, std::size_t k) { return slice(view, k * all, (k + 1) * all); };
  for (std::size_t k = 0; k < count; ++k)
    multiply(members, contacts, column(columns.view(), k), column(images_.view(), k));
  const std::vector<std::vector<double>> products = island_products(columns, images_);
  const Eigen::Index n = column_count;
  for (std::size_t i = 0; i < inverses_.size(); ++i) {
    const Eigen::Map<const Eigen::MatrixXd> matrix(products[i].data(), n, n);
    const Eigen::LLT<Eigen::MatrixXd> factor((matrix + matrix.transpose()) / 2);
    if (factor.info() != Eigen::Success) continue;
    inverses_[i].resize(count * count);
    Eigen::Map<Eigen::MatrixXd>(inverses_[i].data(), n, n) = factor.solve(Eigen::MatrixXd::Identity(n, n));
  }
}

template <class Real>
void CoupledSystem<Real>::correct(const Members& members, const Buffer<Vec3<Real>>& columns) {
  const std::vector<std::vector<double>> products = island_products(columns, residual_);
  for (std::size_t i = 0; i < inverses_.size(); ++i) {
    if (inverses_[i].empty()) continue;
    const Eigen::Index n = static_cast<Eigen::Index>(products[i].size());
    const Eigen::VectorXd moves = Eigen::Map<const Eigen::MatrixXd>(inverses_[i].data(), n, n) *
                                  Eigen::Map<const Eigen::VectorXd>(products[i].data(), n);
    if (!moves.allFinite()) continue;
    std::vector<Real> narrowed;
    for (const double move : moves) narrowed.push_back(static_cast<Real>(move));
    moves_.upload(narrowed);
    for (std::size_t m = 0; m < members.size(); ++m)
      if (islands_[m] == static_cast<int>(i))
        kernels().add_columns(device_->queue(),
                              {.columns = slice(columns.view(), begin_[m], columns.size()),
                               .stride = static_cast<Index>(size()),
                               .moves = std::as_const(moves_).view(),
                               .correction = slice(solution_.view(), begin_[m], begin_[m + 1])});
  }
  give_back(members);
}

template <class Real>
std::size_t CoupledSystem<Real>::memory_bytes() const {
  std::size_t bytes = partials_.bytes() + column_products_.bytes() + moves_.bytes();
  for (const auto* vector : {&residual_, &preconditioned_, &direction_, &product_, &solution_, &images_})
    bytes += vector->bytes();
  return bytes;
}

template class CoupledSystem<float>;
template class CoupledSystem<double>;

}  // namespace isocloth
