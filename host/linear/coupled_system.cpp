#include "host/linear/coupled_system.hpp"

#include <Eigen/Dense>
#include <utility>

#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth {

template <class Real>
CoupledSystem<Real>::CoupledSystem(const Device& device, const std::vector<std::size_t>& sizes)
    : device_(&device), begin_{0} {
  for (const std::size_t size : sizes) begin_.push_back(begin_.back() + size);
  partials_ = {device, static_cast<std::size_t>(dot_count(static_cast<Index>(size())))};
  for (auto* vector : {&residual_, &preconditioned_, &direction_, &factor_product_, &product_, &solution_})
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
void CoupledSystem<Real>::add_couplings(const Members& members, const Contacts& contacts,
                                        ArrayView<const Vec3<Real>> x,
                                        ArrayView<const Vec3<Real>> factor_product,
                                        ArrayView<Vec3<Real>> y) const {
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto own = [&](auto all) { return slice(all, begin_[m], begin_[m + 1]); };
    if (members[m].couplings.exist())
      kernels().multiply_couplings(device_->queue(), {.couplings = members[m].couplings,
                                                      .direction = own(x),
                                                      .factor_product = own(factor_product),
                                                      .product = own(y)});
    else if (factor_product.data() != y.data())
      copy(own(factor_product), own(y));
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
  std::vector<double> partials;
  bool is_first = true, solved = true;

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
    const bool has_solved = std::exchange(is_first, false);  // with the factorisation
    for (std::size_t m = 0; m < members.size(); ++m) {
      const CoupledMember<Real>& member = members[m];
      if (member.factor == nullptr) continue;
      const std::size_t first = of.begin_[m], end = of.begin_[m + 1];
      if (!has_solved) {
        of.copy(slice(std::as_const(of.residual_).view(), first, end), member.right_side->view());
        solved = member.factor->solve_more(*member.right_side, *member.solution, end - first, 1) && solved;
      }
      of.copy(std::as_const(*member.solution).view(), slice(of.preconditioned_.view(), first, end));
    }
  }
  double energy() { return dot(of.residual_, of.preconditioned_); }
  void begin() const {
    of.copy(std::as_const(of.preconditioned_).view(), of.direction_.view());
    of.copy(std::as_const(of.residual_).view(), of.factor_product_.view());
    of.copy(std::as_const(of.preconditioned_).view(), of.solution_.view());
    combine(of.preconditioned_, -1, of.solution_);
  }
  double curvature() {
    of.add_couplings(members, contacts, std::as_const(of.direction_).view(),
                     std::as_const(of.factor_product_).view(), of.product_.view());
    return dot(of.direction_, of.product_);
  }
  void descend(double alpha) const {
    of.kernels().descend_along(queue(), {.length = static_cast<Real>(alpha),
                                         .direction = std::as_const(of.direction_).view(),
                                         .product = std::as_const(of.product_).view(),
                                         .solution = of.solution_.view(),
                                         .residual = of.residual_.view()});
  }
  void turn(double beta) const {
    combine(of.preconditioned_, static_cast<Real>(beta), of.direction_);
    combine(of.residual_, static_cast<Real>(beta), of.factor_product_);
  }
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
  Iteration iteration{*this, members, contacts, {}};
  const int count = cpu::conjugate_gradients<double>(iteration, rtol);
  give_back(members);
  return iteration.solved ? count : -1;
}

template <class Real>
void CoupledSystem<Real>::give_back(const Members& members) {
  for (std::size_t m = 0; m < members.size(); ++m)
    if (members[m].factor != nullptr)
      copy(slice(std::as_const(solution_).view(), begin_[m], begin_[m + 1]), members[m].solution->view());
}

template <class Real>
void CoupledSystem<Real>::correct(const Members& members, const Contacts& contacts,
                                  const Buffer<Vec3<Real>>& columns, int column_count) {
  const std::size_t count = static_cast<std::size_t>(column_count), all = size();
  if (images_.size() != columns.size()) {
    images_ = {*device_, columns.size()};
    column_products_ = {*device_, count * (count + 1)};
    moves_ = {*device_, count};
  }
  const auto column = [&](auto view, std::size_t k) { return slice(view, k * all, (k + 1) * all); };
  for (std::size_t k = 0; k < count; ++k) {
    const ArrayView<const Vec3<Real>> z = column(columns.view(), k);
    const ArrayView<Vec3<Real>> image = column(images_.view(), k);
    for (std::size_t m = 0; m < members.size(); ++m)
      if (members[m].factor != nullptr)
        kernels().block_product(device_->queue(), {.matrix = members[m].matrix,
                                                   .x = slice(z, begin_[m], begin_[m + 1]),
                                                   .y = slice(image, begin_[m], begin_[m + 1])});
      else
        clear(slice(image, begin_[m], begin_[m + 1]));
    add_couplings(members, contacts, z, image, image);
  }
  const auto multiply = [&](ArrayView<const Vec3<Real>> right, std::size_t right_count, std::size_t at) {
    kernels().multiply_columns(device_->queue(),
                               {.left = columns.view(),
                                .right = right,
                                .free_count = static_cast<Index>(all),
                                .right_count = static_cast<Index>(right_count),
                                .products = slice(column_products_.view(), at, at + count * right_count)});
  };
  multiply(std::as_const(images_).view(), count, 0);
  multiply(std::as_const(residual_).view(), 1, count * count);
  const std::vector<Real> products = column_products_.download();
  const Eigen::Index n = column_count;
  Eigen::MatrixXd matrix(n, n);
  Eigen::VectorXd right(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    right(i) = static_cast<double>(products[count * count + static_cast<std::size_t>(i)]);
    for (Eigen::Index j = 0; j < n; ++j)
      matrix(i, j) = static_cast<double>(products[static_cast<std::size_t>(i * n + j)]);
  }
  const Eigen::LLT<Eigen::MatrixXd> factor((matrix + matrix.transpose()) / 2);
  if (factor.info() != Eigen::Success) return;
  const Eigen::VectorXd moves = factor.solve(right);
  if (!moves.allFinite()) return;
  std::vector<Real> narrowed(count);
  for (std::size_t k = 0; k < count; ++k)
    narrowed[k] = static_cast<Real>(moves(static_cast<Eigen::Index>(k)));
  moves_.upload(narrowed);
  kernels().add_columns(
      device_->queue(),
      {.columns = columns.view(), .moves = std::as_const(moves_).view(), .correction = solution_.view()});
  give_back(members);
}

template <class Real>
std::size_t CoupledSystem<Real>::memory_bytes() const {
  std::size_t bytes = partials_.bytes() + column_products_.bytes() + moves_.bytes();
  for (const auto* vector :
       {&residual_, &preconditioned_, &direction_, &factor_product_, &product_, &solution_, &images_})
    bytes += vector->bytes();
  return bytes;
}

template class CoupledSystem<float>;
template class CoupledSystem<double>;

}  // namespace isocloth
