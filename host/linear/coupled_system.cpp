#include "host/linear/coupled_system.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <bit>
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

Columns columns_at(const std::vector<std::size_t>& begins) {
  Columns columns{.count = static_cast<Index>(begins.size())};
  std::ranges::transform(begins, columns.begin, [](std::size_t begin) { return static_cast<Index>(begin); });
  return columns;
}

// What of kernels' arguments tells one from another.
void note(double number, std::vector<std::uint64_t>& to) {
  to.push_back(std::bit_cast<std::uint64_t>(number));
}
void note(const void* pointer, std::vector<std::uint64_t>& to) {
  to.push_back(reinterpret_cast<std::uintptr_t>(pointer));
}
template <class T>
void note(ArrayView<T> view, std::vector<std::uint64_t>& to) {
  note(view.data(), to);
  to.push_back(view.size());
}

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
void CoupledSystem<Real>::clear(ArrayView<Vec3<Real>> values) const {
  if (values.size() == 0) return;
  const ArrayView<Real> numbers{&values.data()->x, 3 * values.size()};
  kernels().scale_values(device_->queue(), {.from = numbers, .factor = Real(0), .to = numbers});
}

template <class Real>
void CoupledSystem<Real>::multiply(const Members& members, const Contacts& contacts,
                                   const std::vector<std::size_t>& begins, ArrayView<const Vec3<Real>> x,
                                   ArrayView<Vec3<Real>> y) const {
  const Columns columns = columns_at(begins);
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto own = [&](auto all) { return slice(all, begin_[m], all.size()); };
    if (members[m].factor == nullptr) {
      for (const std::size_t begin : begins) clear(slice(y, begin + begin_[m], begin + begin_[m + 1]));
      continue;
    }
    kernels().block_product(device_->queue(),
                            {.matrix = members[m].matrix, .x = own(x), .y = own(y), .columns = columns});
    if (members[m].couplings.exist())
      kernels().multiply_couplings(device_->queue(), {.couplings = members[m].couplings,
                                                      .direction = own(x),
                                                      .factor_product = own(y),
                                                      .product = own(y),
                                                      .columns = columns});
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
    if (active.empty()) return {};
    of.kernels().partial_dots(queue(), {.a = a.view(),
                                        .b = b.view(),
                                        .size = static_cast<Index>(of.size()),
                                        .partials = slice(of.partials_.view(), 0, active.size() * count),
                                        .columns = columns_at(begins(0))});
    Numbers sums;
    const double* next = std::as_const(of.partials_).read(0, active.size() * count, partials);
    for (const std::size_t k : active)
      for (std::size_t i = 0; i < count; ++i) sums[k] += *next++;
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
    ArrayCopies copies(*of.device_);
    for (const std::size_t k : active)
      for (const ArrayView<Vec3<Real>> vectors : {of.direction_.view(), solutions})
        copies.add(column(std::as_const(of.preconditioned_).view(), k), column(vectors, k));
    copies.launch();
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
int CoupledSystem<Real>::iterate(const Members& members, const Contacts& contacts, std::size_t count,
                                 bool has_solved, ArrayView<Vec3<Real>> solutions, double rtol,
                                 Downloads* more) {
  if (std::ranges::all_of(members, [](const CoupledMember<Real>& member) {
        return member.factor == nullptr || member.factor->is_recordable();
      }))
    return iterate_on_device(members, contacts, count, has_solved, solutions, rtol, more);
  std::vector<std::size_t> columns(count);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  Iteration iteration{*this, members, contacts, has_solved, solutions, std::move(columns)};
  const int iterations = cpu::conjugate_gradients<Numbers>(iteration, rtol);
  return iteration.solved ? iterations : -1;
}

template <class Real>
int CoupledSystem<Real>::iterate_on_device(const Members& members, const Contacts& contacts,
                                           std::size_t count, bool has_solved,
                                           ArrayView<Vec3<Real>> solutions, double rtol, Downloads* more) {
  using Phase = AdvanceCg::Phase;
  const Queue& queue = device_->queue();
  const Index rows = static_cast<Index>(size());
  const std::vector<std::size_t> begins = column_begins(count, size());
  const Columns columns = columns_at(begins);
  if (numbers_.size() == 0) {
    numbers_ = {*device_, most_columns};
    progress_ = {*device_, 1};
  }
  const auto precondition = [&] {
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (members[m].factor == nullptr) continue;
      std::vector<std::size_t> own = begins;
      for (std::size_t& begin : own) begin += begin_[m];
      members[m].factor->solve_block(residual_, preconditioned_, begin_[m + 1] - begin_[m], own);
    }
  };
  const auto advance = [&](Phase phase, const Buffer<Vec3<Real>>& a, const Buffer<Vec3<Real>>& b) {
    const auto partials = slice(partials_.view(), 0, count * static_cast<std::size_t>(dot_count(rows)));
    kernels().partial_dots(
        queue, {.a = a.view(), .b = b.view(), .size = rows, .partials = partials, .columns = columns});
    kernels().advance_cg(queue, {.phase = phase,
                                 .count = columns.count,
                                 .goal_factor = rtol * rtol,
                                 .most_iterations = most_cg_iterations,
                                 .partials = partials,
                                 .columns = numbers_.view(),
                                 .progress = progress_.view()});
  };
  const CgVectors<Real> vectors{.size = rows,
                                .columns = columns,
                                .numbers = std::as_const(numbers_).view(),
                                .solution = solutions,
                                .residual = residual_.view(),
                                .preconditioned = preconditioned_.view(),
                                .direction = direction_.view(),
                                .product = product_.view()};
  if (!has_solved) precondition();
  advance(Phase::begin, residual_, preconditioned_);
  kernels().begin_cg(queue, vectors);

  auto& repeated = repeated_[count];
  if (repeated == nullptr) repeated = std::make_unique<Repeated>(*device_);
  const Index* const repeat_while =
      repeated->recording.can_repeat() ? &progress_.view().data()->goes_on : nullptr;
  const int together = repeat_while != nullptr ? 1 : 2;  // iterations of a recording
  const auto iterations = [&](const Queue&) {
    for (int i = 0; i < together; ++i) {
      multiply(members, contacts, begins, std::as_const(direction_).view(), product_.view());
      advance(Phase::curvature, direction_, product_);
      kernels().descend_cg(queue, vectors);
      precondition();
      advance(Phase::energy, residual_, preconditioned_);
      kernels().turn_cg(queue, vectors);
    }
  };
  std::vector<std::uint64_t> arguments = arguments_of(members, contacts);
  note(solutions, arguments);
  note(residual_.view(), arguments);
  note(rtol, arguments);
  if (arguments != repeated->arguments) repeated->recording.forget_arguments();
  repeated->arguments = std::move(arguments);
  // A recording that repeats is all of them. Of another as many as the solve before needed are sent before
  // the host asks for the first time. With the answer comes what is to follow.
  Downloads own_downloads(*device_);
  Downloads& downloads = more != nullptr ? *more : own_downloads;
  std::vector<CgProgress> staging;
  const CgProgress* progress = nullptr;
  for (int sent = 0;;) {
    do {
      repeated->recording.run(iterations, repeat_while);
      sent += together;
    } while (repeat_while == nullptr && sent + together <= repeated->iterations);
    downloads.add(std::as_const(progress_).view(), staging, progress);
    if (are_modes_new_) fetch_products(count, downloads);
    downloads.run();
    if (progress->goes_on != 0) continue;
    has_products_ = are_modes_new_;
    return repeated->iterations = static_cast<int>(progress->iterations);
  }
}

template <class Real>
std::vector<std::uint64_t> CoupledSystem<Real>::arguments_of(const Members& members,
                                                             const Contacts& contacts) {
  std::vector<std::uint64_t> all;
  const auto add = [&](const auto&... values) { (note(values, all), ...); };
  for (const CoupledMember<Real>& own : members) {
    const void* const factor = own.factor;
    const void* const work = own.factor == nullptr ? nullptr : own.factor->recorded_work();
    add(factor, work, own.matrix.row_begin, own.matrix.columns, own.matrix.blocks, own.matrix.values,
        own.couplings.pattern.begin, own.couplings.pattern.columns,
        static_cast<double>(own.couplings.stiffness), own.couplings.values);
  }
  if (contacts)
    add(contacts->responses, contacts->node_begin, contacts->node_entries, contacts->free_number,
        contacts->free_nodes, contacts->pulls);
  return all;
}

template <class Real>
int CoupledSystem<Real>::solve(const Members& members, const Contacts& contacts, double rtol,
                               Downloads* more) {
  has_products_ = false;
  ArrayCopies copies(*device_);
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto own = [&](Buffer<Vec3<Real>>& all) { return slice(all.view(), begin_[m], begin_[m + 1]); };
    for (auto* vector : {&residual_, &preconditioned_})
      if (members[m].factor == nullptr) clear(own(*vector));
    if (members[m].factor == nullptr) continue;
    copies.add(std::as_const(*members[m].right_side).view(), own(residual_));
    copies.add(std::as_const(*members[m].solution).view(), own(preconditioned_));
  }
  copies.launch();
  const int count = iterate(members, contacts, 1, true, solution_.view(), rtol, more);
  scatter(members);
  return count;
}

template <class Real>
int CoupledSystem<Real>::solve_block(const Members& members, const Contacts& contacts,
                                     const Buffer<Vec3<Real>>& right_sides, Buffer<Vec3<Real>>& solutions,
                                     std::size_t count, double rtol, bool is_deflated) {
  int most = 0;
  for (std::size_t first = 0; first < count; first += most_columns) {
    const std::size_t own = std::min<std::size_t>(count - first, most_columns), begin = first * size(),
                      end = begin + own * size();
    reserve(own);
    ArrayCopies copies(*device_);
    copies.add(slice(right_sides.view(), begin, end), slice(residual_.view(), 0, end - begin));
    copies.launch();
    for (std::size_t m = 0; m < members.size(); ++m)
      for (std::size_t k = 0; members[m].factor == nullptr && k < own; ++k)
        for (auto* vectors : {&residual_, &preconditioned_})
          clear(slice(vectors->view(), k * size() + begin_[m], k * size() + begin_[m + 1]));
    const ArrayView<Vec3<Real>> own_solutions = slice(solutions.view(), begin, end);
    const int iterations = iterate(members, contacts, own, false, own_solutions, rtol, nullptr);
    if (iterations < 0) return -1;
    most = std::max(most, iterations);
    if (is_deflated) deflate(own, own_solutions);
  }
  return most;
}

template <class Real>
void CoupledSystem<Real>::scatter(const Members& members) {
  ArrayCopies copies(*device_);
  for (std::size_t m = 0; m < members.size(); ++m)
    if (members[m].factor != nullptr)
      copies.add(slice(std::as_const(solution_).view(), begin_[m], begin_[m + 1]),
                 members[m].solution->view());
  copies.launch();
}

template <class Real>
void CoupledSystem<Real>::launch_products(IslandProducts& products, const Buffer<Vec3<Real>>& right,
                                          std::size_t right_count, Downloads& downloads) {
  const std::size_t rows = modes_->size() / size(), count = rows * right_count, all = islands_.size() * count;
  products.count = count;
  if (products.on_device.size() < all) products.on_device = {*device_, all};
  for (std::size_t m = 0; m < islands_.size(); ++m)
    if (islands_[m] >= 0)
      kernels().multiply_columns(device_->queue(),
                                 {.left = slice(modes_->view(), begin_[m], modes_->size()),
                                  .right = slice(right.view(), begin_[m], right.size()),
                                  .free_count = static_cast<Index>(begin_[m + 1] - begin_[m]),
                                  .stride = static_cast<Index>(size()),
                                  .right_count = static_cast<Index>(right_count),
                                  .products = slice(products.on_device.view(), m * count, (m + 1) * count)});
  downloads.add(slice(std::as_const(products.on_device).view(), 0, all), products.staging, products.at);
}

template <class Real>
std::vector<std::vector<double>> CoupledSystem<Real>::sums(const IslandProducts& products) const {
  std::vector<std::vector<double>> all(inverses_.size(), std::vector<double>(products.count, 0.0));
  for (std::size_t m = 0; m < islands_.size(); ++m)
    for (std::size_t i = 0; islands_[m] >= 0 && i < products.count; ++i)
      all[static_cast<std::size_t>(islands_[m])][i] +=
          static_cast<double>(products.at[m * products.count + i]);
  return all;
}

template <class Real>
void CoupledSystem<Real>::set_modes(const Members& members, const Contacts& contacts,
                                    const Buffer<Vec3<Real>>& modes, const std::vector<int>& islands) {
  const std::size_t count = modes.size() / size();
  if (images_.size() != modes.size()) images_ = {*device_, modes.size()};
  modes_ = &modes;
  islands_ = islands;
  inverses_.assign(static_cast<std::size_t>(1 + *std::ranges::max_element(islands)), {});
  multiply(members, contacts, column_begins(count, size()), modes.view(), images_.view());
  are_modes_new_ = true;
  of_modes_.at = nullptr;
}

template <class Real>
void CoupledSystem<Real>::fetch_products(std::size_t count, Downloads& downloads) {
  if (are_modes_new_ && of_modes_.at == nullptr)
    launch_products(of_modes_, images_, modes_->size() / size(), downloads);
  launch_products(of_residuals_, residual_, count, downloads);
}

template <class Real>
void CoupledSystem<Real>::invert_modes() {
  if (!std::exchange(are_modes_new_, false)) return;
  const std::vector<std::vector<double>> products = sums(of_modes_);
  const Eigen::Index n = static_cast<Eigen::Index>(modes_->size() / size());
  for (std::size_t i = 0; i < inverses_.size(); ++i) {
    const Eigen::Map<const Eigen::MatrixXd> matrix(products[i].data(), n, n);
    const Eigen::LLT<Eigen::MatrixXd> factor((matrix + matrix.transpose()) / 2);
    if (factor.info() != Eigen::Success) continue;
    inverses_[i].resize(static_cast<std::size_t>(n * n));
    Eigen::Map<Eigen::MatrixXd>(inverses_[i].data(), n, n) = factor.solve(Eigen::MatrixXd::Identity(n, n));
  }
}

template <class Real>
void CoupledSystem<Real>::deflate(std::size_t count, ArrayView<Vec3<Real>> solutions) {
  if (!std::exchange(has_products_, false)) {
    Downloads downloads(*device_);
    fetch_products(count, downloads);
    downloads.run();
  }
  invert_modes();
  const std::vector<std::vector<double>> products = sums(of_residuals_);
  const Eigen::Index n = static_cast<Eigen::Index>(modes_->size() / size());
  for (std::size_t i = 0; i < inverses_.size(); ++i)
    for (std::size_t k = 0; !inverses_[i].empty() && k < count; ++k) {
      Eigen::VectorXd right(n);
      for (Eigen::Index row = 0; row < n; ++row)
        right(row) = products[i][static_cast<std::size_t>(row) * count + k];
      const Eigen::VectorXd moves = Eigen::Map<const Eigen::MatrixXd>(inverses_[i].data(), n, n) * right;
      if (!moves.allFinite()) continue;
      AddColumns<Real> add{.columns = {},
                           .stride = static_cast<Index>(size()),
                           .moves = {},
                           .correction = {},
                           .few_count = static_cast<Index>(n)};
      std::ranges::transform(moves, add.few, [](double move) { return static_cast<Real>(move); });
      for (std::size_t m = 0; m < islands_.size(); ++m) {
        if (islands_[m] != static_cast<int>(i)) continue;
        add.columns = slice(modes_->view(), begin_[m], modes_->size());
        add.correction = slice(solutions, k * size() + begin_[m], k * size() + begin_[m + 1]);
        kernels().add_columns(device_->queue(), add);
      }
    }
}

template <class Real>
void CoupledSystem<Real>::correct(const Members& members) {
  deflate(1, solution_.view());
  scatter(members);
}

template <class Real>
std::size_t CoupledSystem<Real>::memory_bytes() const {
  std::size_t bytes = partials_.bytes() + of_modes_.on_device.bytes() + of_residuals_.on_device.bytes() +
                      numbers_.bytes() + progress_.bytes();
  for (const auto* vector : {&residual_, &preconditioned_, &direction_, &product_, &solution_, &images_})
    bytes += vector->bytes();
  return bytes;
}

template class CoupledSystem<float>;
template class CoupledSystem<double>;

}  // namespace isocloth
