#include "host/linear/coupled_system.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "kernels/launch/side_by_side.hpp"
#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth {
namespace {

/// A value for each column of right sides.
template <class T>
struct PerColumn {
  std::array<T, most_columns> values{};

  PerColumn() = default;
  explicit PerColumn(T all) { values.fill(all); }
  T& operator[](std::size_t k) { return values[k]; }
  T operator[](std::size_t k) const { return values[k]; }
  template <class Operation, class... Operands>
  static PerColumn of(const Operation& operation, const Operands&... operands) {
    PerColumn result;
    for (std::size_t k = 0; k < most_columns; ++k) result[k] = operation(operands[k]...);
    return result;
  }
};
// What conjugate_gradients() does with them.
using Numbers = PerColumn<double>;
using Mask = PerColumn<bool>;
Numbers operator-(const Numbers& a, const Numbers& b) { return Numbers::of(std::minus(), a, b); }
Numbers operator*(const Numbers& a, const Numbers& b) { return Numbers::of(std::multiplies(), a, b); }
Numbers operator/(const Numbers& a, const Numbers& b) { return Numbers::of(std::divides(), a, b); }
Mask operator>(const Numbers& a, const Numbers& b) { return Mask::of(std::greater(), a, b); }
Mask operator<=(const Numbers& a, const Numbers& b) { return Mask::of(std::less_equal(), a, b); }
Mask operator!(const Mask& a) { return Mask::of(std::logical_not(), a); }
Mask operator&(const Mask& a, const Mask& b) { return Mask::of(std::logical_and(), a, b); }
Numbers select(const Mask& mask, const Numbers& a, const Numbers& b) {
  return Numbers::of([](bool first, double x, double y) { return first ? x : y; }, mask, a, b);
}
bool any(const Mask& mask) { return std::ranges::find(mask.values, true) != mask.values.end(); }

}  // namespace

template <>
struct cpu::Lanes<Numbers> {
  using Scalar = double;
};

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
  solution_ = {device, size()};
  reserve(1);
}

template <class Real>
void CoupledSystem<Real>::reserve(std::size_t columns) {
  if (columns * size() <= residual_.size()) return;
  for (auto* vectors : {&residual_, &preconditioned_, &direction_, &product_})
    *vectors = {*device_, columns * size()};
  partials_ = {*device_, columns * static_cast<std::size_t>(dot_count(static_cast<Index>(size())))};
}

template <class Real>
void CoupledSystem<Real>::copy(ArrayView<const Vec3<Real>> from, ArrayView<Vec3<Real>> to) const {
  if (to.size() == 0) return;  // of a garment without free nodes
  kernels().scale_values(
      device_->queue(),
      {.from = {&from.data()->x, 3 * from.size()}, .factor = Real(1), .to = {&to.data()->x, 3 * to.size()}});
}

template <class Real>
void CoupledSystem<Real>::clear(ArrayView<Vec3<Real>> values) const {
  if (values.size() == 0) return;
  const ArrayView<Real> numbers{&values.data()->x, 3 * values.size()};
  kernels().scale_values(device_->queue(), {.from = numbers, .factor = Real(0), .to = numbers});
}

template <class Real>
void CoupledSystem<Real>::multiply(const Members& members, const Contacts& contacts,
                                   const std::vector<std::size_t>& begins, ArrayView<const Vec3<Real>> x,
                                   ArrayView<Vec3<Real>> y) const {
  Columns columns{.count = static_cast<Index>(begins.size())};
  std::ranges::transform(begins, columns.begin, [](std::size_t begin) { return static_cast<Index>(begin); });
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto own = [&](auto all) { return slice(all, begin_[m], all.size()); };
    if (members[m].factor == nullptr) {
      for (const std::size_t begin : begins) clear(slice(y, begin + begin_[m], begin + begin_[m + 1]));
      continue;
    }
    kernels().block_product(device_->queue(),
                            {.matrix = members[m].matrix, .x = own(x), .y = own(y), .columns = columns});
    for (const std::size_t begin : begins) {
      if (!members[m].couplings.exist()) break;
      const auto column = [&](auto all) { return slice(all, begin + begin_[m], begin + begin_[m + 1]); };
      kernels().multiply_couplings(device_->queue(), {.couplings = members[m].couplings,
                                                      .direction = column(x),
                                                      .factor_product = column(y),
                                                      .product = column(y)});
    }
  }
  if (!contacts) return;
  MultiplyClothContacts<Real> all = *contacts;
  all.direction = x;
  all.product = y;
  all.columns = columns;
  kernels().multiply_cloth_contacts(device_->queue(), all);
}

/// What conjugate_gradients() asks for. A column that it gives no weight any more is done, and left out.
template <class Real>
struct CoupledSystem<Real>::Iteration {
  using Vectors = Buffer<Vec3<Real>>;
  CoupledSystem& of;
  const Members& members;
  const Contacts& contacts;
  bool has_solved;  ///< preconditioned before the first iteration, with the factorisation
  ArrayView<Vec3<Real>> solutions;
  std::vector<std::size_t> active;  ///< numbers of the columns that are still solved for
  bool solved = true;
  std::vector<double> partials{};

  const Queue& queue() const { return of.device_->queue(); }
  template <class View>
  View column(View all, std::size_t k) const {
    return slice(all, k * of.size(), (k + 1) * of.size());
  }
  /// Where rows from `first` on begin in each column.
  std::vector<std::size_t> begins(std::size_t first) const {
    std::vector<std::size_t> all;
    for (const std::size_t k : active) all.push_back(k * of.size() + first);
    return all;
  }
  void combine(const Vectors& start, const Numbers& weights, ArrayView<Vec3<Real>> directions) const {
    for (const std::size_t k : active)
      of.kernels().update_direction(queue(), {.weight = static_cast<Real>(weights[k]),
                                              .start = column(start.view(), k),
                                              .direction = column(directions, k)});
  }
  Numbers dot(const Vectors& a, const Vectors& b) {
    const std::size_t count = static_cast<std::size_t>(dot_count(static_cast<Index>(of.size())));
    for (const std::size_t k : active)
      of.kernels().partial_dots(queue(),
                                {.a = column(a.view(), k),
                                 .b = column(b.view(), k),
                                 .partials = slice(of.partials_.view(), k * count, (k + 1) * count)});
    Numbers sums;
    const double* const all = std::as_const(of.partials_).read(partials);
    for (const std::size_t k : active)
      for (std::size_t i = k * count; i < (k + 1) * count; ++i) sums[k] += all[i];
    return sums;
  }

  void precondition() {
    if (std::exchange(has_solved, false)) return;
    std::vector<char> failed(members.size(), 0);
    side_by_side(of.size() >= least_range ? queue().pool : nullptr, of.widths_, [&](std::size_t m) {
      if (members[m].factor != nullptr)
        failed[m] = !members[m].factor->solve_block(of.residual_, of.preconditioned_,
                                                    of.begin_[m + 1] - of.begin_[m], begins(of.begin_[m]));
    });
    solved = solved && std::ranges::find(failed, 1) == failed.end();
  }
  Numbers energy() { return dot(of.residual_, of.preconditioned_); }
  void begin() const {
    for (const std::size_t k : active)
      for (const ArrayView<Vec3<Real>> vectors : {of.direction_.view(), solutions})
        of.copy(column(std::as_const(of.preconditioned_).view(), k), column(vectors, k));
    combine(of.preconditioned_, Numbers(-1), solutions);
  }
  Numbers curvature() {
    of.multiply(members, contacts, begins(0), std::as_const(of.direction_).view(), of.product_.view());
    return dot(of.direction_, of.product_);
  }
  void descend(const Numbers& alpha) const {
    for (const std::size_t k : active)
      of.kernels().update_solution(queue(), {.length = static_cast<Real>(alpha[k]),
                                             .direction = column(std::as_const(of.direction_).view(), k),
                                             .product = column(std::as_const(of.product_).view(), k),
                                             .solution = column(solutions, k),
                                             .residual = column(of.residual_.view(), k)});
  }
  void turn(const Numbers& beta) {
    std::erase_if(active, [&](std::size_t k) { return beta[k] == 0; });
    combine(of.preconditioned_, beta, of.direction_.view());
  }
};

template <class Real>
int CoupledSystem<Real>::solve(const Members& members, const Contacts& contacts, double rtol) {
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto own = [&](Buffer<Vec3<Real>>& all) { return slice(all.view(), begin_[m], begin_[m + 1]); };
    for (auto* vector : {&residual_, &preconditioned_})
      if (members[m].factor == nullptr) clear(own(*vector));
    if (members[m].factor == nullptr) continue;
    copy(std::as_const(*members[m].right_side).view(), own(residual_));
    copy(std::as_const(*members[m].solution).view(), own(preconditioned_));
  }
  Iteration iteration{*this, members, contacts, true, solution_.view(), {0}};
  const int count = cpu::conjugate_gradients<Numbers>(iteration, rtol);
  scatter(members);
  return iteration.solved ? count : -1;
}

template <class Real>
int CoupledSystem<Real>::solve_block(const Members& members, const Contacts& contacts,
                                     const Buffer<Vec3<Real>>& right_sides, Buffer<Vec3<Real>>& solutions,
                                     std::size_t count, double rtol, const Buffer<Vec3<Real>>* modes) {
  int most = 0;
  for (std::size_t first = 0; first < count; first += most_columns) {
    const std::size_t own = std::min<std::size_t>(count - first, most_columns), begin = first * size(),
                      end = begin + own * size();
    reserve(own);
    copy(slice(right_sides.view(), begin, end), slice(residual_.view(), 0, end - begin));
    for (std::size_t m = 0; m < members.size(); ++m)
      for (std::size_t k = 0; members[m].factor == nullptr && k < own; ++k)
        for (auto* vectors : {&residual_, &preconditioned_})
          clear(slice(vectors->view(), k * size() + begin_[m], k * size() + begin_[m + 1]));
    std::vector<std::size_t> columns(own);
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    const ArrayView<Vec3<Real>> own_solutions = slice(solutions.view(), begin, end);
    Iteration iteration{*this, members, contacts, false, own_solutions, std::move(columns)};
    most = std::max(most, cpu::conjugate_gradients<Numbers>(iteration, rtol));
    if (!iteration.solved) return -1;
    if (modes != nullptr) deflate(*modes, own, own_solutions);
  }
  return most;
}

template <class Real>
void CoupledSystem<Real>::scatter(const Members& members) {
  for (std::size_t m = 0; m < members.size(); ++m)
    if (members[m].factor != nullptr)
      copy(slice(std::as_const(solution_).view(), begin_[m], begin_[m + 1]), members[m].solution->view());
}

template <class Real>
std::vector<std::vector<double>> CoupledSystem<Real>::island_products(const Buffer<Vec3<Real>>& modes,
                                                                      const Buffer<Vec3<Real>>& right,
                                                                      std::size_t right_count) {
  const std::size_t rows = modes.size() / size(), count = rows * right_count, all = islands_.size() * count;
  if (column_products_.size() < all) column_products_ = {*device_, all};
  for (std::size_t m = 0; m < islands_.size(); ++m)
    if (islands_[m] >= 0)
      kernels().multiply_columns(device_->queue(),
                                 {.left = slice(modes.view(), begin_[m], modes.size()),
                                  .right = slice(right.view(), begin_[m], right.size()),
                                  .free_count = static_cast<Index>(begin_[m + 1] - begin_[m]),
                                  .stride = static_cast<Index>(size()),
                                  .right_count = static_cast<Index>(right_count),
                                  .products = slice(column_products_.view(), m * count, (m + 1) * count)});
  std::vector<Real> staging;
  const Real* const products = std::as_const(column_products_).read(0, all, staging);
  std::vector<std::vector<double>> sums(inverses_.size(), std::vector<double>(count, 0.0));
  for (std::size_t m = 0; m < islands_.size(); ++m)
    for (std::size_t i = 0; islands_[m] >= 0 && i < count; ++i)
      sums[static_cast<std::size_t>(islands_[m])][i] += static_cast<double>(products[m * count + i]);
  return sums;
}

template <class Real>
void CoupledSystem<Real>::set_modes(const Members& members, const Contacts& contacts,
                                    const Buffer<Vec3<Real>>& modes, const std::vector<int>& islands) {
  const std::size_t count = modes.size() / size();
  if (images_.size() != modes.size()) {
    images_ = {*device_, modes.size()};
    moves_ = {*device_, count};
  }
  islands_ = islands;
  inverses_.assign(static_cast<std::size_t>(1 + *std::ranges::max_element(islands)), {});
  multiply(members, contacts, column_begins(count, size()), modes.view(), images_.view());
  const std::vector<std::vector<double>> products = island_products(modes, images_, count);
  const Eigen::Index n = static_cast<Eigen::Index>(count);
  for (std::size_t i = 0; i < inverses_.size(); ++i) {
    const Eigen::Map<const Eigen::MatrixXd> matrix(products[i].data(), n, n);
    const Eigen::LLT<Eigen::MatrixXd> factor((matrix + matrix.transpose()) / 2);
    if (factor.info() != Eigen::Success) continue;
    inverses_[i].resize(count * count);
    Eigen::Map<Eigen::MatrixXd>(inverses_[i].data(), n, n) = factor.solve(Eigen::MatrixXd::Identity(n, n));
  }
}

template <class Real>
void CoupledSystem<Real>::deflate(const Buffer<Vec3<Real>>& modes, std::size_t count,
                                  ArrayView<Vec3<Real>> solutions) {
  const std::vector<std::vector<double>> products = island_products(modes, residual_, count);
  const Eigen::Index n = static_cast<Eigen::Index>(moves_.size());
  for (std::size_t i = 0; i < inverses_.size(); ++i)
    for (std::size_t k = 0; !inverses_[i].empty() && k < count; ++k) {
      Eigen::VectorXd right(n);
      for (Eigen::Index row = 0; row < n; ++row)
        right(row) = products[i][static_cast<std::size_t>(row) * count + k];
      const Eigen::VectorXd moves = Eigen::Map<const Eigen::MatrixXd>(inverses_[i].data(), n, n) * right;
      if (!moves.allFinite()) continue;
      std::vector<Real> narrowed;
      for (const double move : moves) narrowed.push_back(static_cast<Real>(move));
      moves_.upload(narrowed);
      for (std::size_t m = 0; m < islands_.size(); ++m)
        if (islands_[m] == static_cast<int>(i))
          kernels().add_columns(device_->queue(), {.columns = slice(modes.view(), begin_[m], modes.size()),
                                                   .stride = static_cast<Index>(size()),
                                                   .moves = std::as_const(moves_).view(),
                                                   .correction = slice(solutions, k * size() + begin_[m],
                                                                       k * size() + begin_[m + 1])});
    }
}

template <class Real>
void CoupledSystem<Real>::correct(const Members& members, const Buffer<Vec3<Real>>& modes) {
  deflate(modes, 1, solution_.view());
  scatter(members);
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
