#include "engine/core/errors.hpp"
#include "host/projection/projection_solver.hpp"

namespace isocloth {
namespace {

template <class Real>
std::vector<double> widened(const Buffer<Real>& values) {
  const std::vector<Real> narrow = values.download();
  return {narrow.begin(), narrow.end()};
}

template <class Real>
std::vector<double> widened(const Buffer<Vec3<Real>>& values) {
  std::vector<double> flat;
  for (const Vec3<Real>& v : values.download()) flat.insert(flat.end(), {v.x, v.y, v.z});
  return flat;
}

}  // namespace

template <class Real>
Inspection ProjectionSolver<Real>::inspect(std::size_t, double t, double h) {
  Inspection result{.masses = widened(arrays_.masses),
                    .bending_begin = arrays_.bending_begin.download(),
                    .bending_columns = arrays_.bending_columns.download(),
                    .bending = widened(arrays_.bending),
                    .predicted = {},
                    .start = {},
                    .row_values = {},
                    .row_d = {},
                    .pairs = arrays_.pattern.pairs,
                    .stiffness = {},
                    .free_nodes = arrays_.pattern.free_nodes,
                    .correction = {},
                    .multipliers = {}};
  surroundings_.set({{.offset = t, .steps = 0}}, h, 1);
  set_targets(t + h);
  copy(state_, work_);
  const Substep<double> part{.number = 0, .h = h, .done = 0, .parts = 1};
  is_inspection_ = true;
  const bool predicted = begin_substep(part) && predict(true);
  evaluate_rows(0);
  result.predicted = widened(predicted_);
  result.start = widened(iterate_);
  result.row_values = widened(rows_.residuals);
  for (const double s : widened(rows_.scales)) result.row_d.push_back(s > 0 ? 1 / (eps_ * s * s) : 0);
  find_contacts(0);
  const bool solved = predicted && solve();
  is_inspection_ = false;
  if (!solved)
    throw NumericalError(
        "garment \"" + garment_.name + "\": matrix of the first iteration at t = " + std::to_string(t) +
        " s: found a pivot that is not positive, expected a positive definite matrix; raise projection.eps");
  correct({});
  if (newton_) result.stiffness = widened(stiffness_);
  result.correction = widened(correction_);
  result.multipliers = widened(work_.multipliers);
  return result;
}

template Inspection ProjectionSolver<float>::inspect(std::size_t, double, double);
template Inspection ProjectionSolver<double>::inspect(std::size_t, double, double);

}  // namespace isocloth
