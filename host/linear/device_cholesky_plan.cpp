#include "host/linear/device_cholesky_plan.hpp"

namespace isocloth {
namespace {

struct PlanArray {
  std::vector<Index> CholeskyPlan::*values;
  ArrayView<const Index> CholeskyPlanView::*view;
};
#define PLAN_ARRAY(name) \
  PlanArray { &CholeskyPlan::name, &CholeskyPlanView::name }
constexpr std::array plan_arrays{
    PLAN_ARRAY(column_begin),   PLAN_ARRAY(block_rows),    PLAN_ARRAY(block_columns),
    PLAN_ARRAY(pair_begin),     PLAN_ARRAY(pairs),         PLAN_ARRAY(is_twin),
    PLAN_ARRAY(twin_updates),   PLAN_ARRAY(row_begin),     PLAN_ARRAY(row_blocks),
    PLAN_ARRAY(level_begin),    PLAN_ARRAY(level_columns), PLAN_ARRAY(level_block_begin),
    PLAN_ARRAY(level_blocks),   PLAN_ARRAY(update_begin),  PLAN_ARRAY(update_runs),
    PLAN_ARRAY(forward_begin),  PLAN_ARRAY(forward_runs),  PLAN_ARRAY(backward_begin),
    PLAN_ARRAY(backward_blocks)};
#undef PLAN_ARRAY

}  // namespace

DeviceCholeskyPlan::DeviceCholeskyPlan(const Device& device, const CholeskyPlan& plan)
    : system_blocks_(device, plan.system_blocks) {
  static_assert(plan_arrays.size() == array_count);
  for (std::size_t i = 0; i < array_count; ++i) arrays_[i] = {device, plan.*plan_arrays[i].values};
}

CholeskyPlanView DeviceCholeskyPlan::view() const {
  CholeskyPlanView view;
  for (std::size_t i = 0; i < array_count; ++i) view.*plan_arrays[i].view = arrays_[i].view();
  return view;
}

std::size_t DeviceCholeskyPlan::bytes() const {
  std::size_t bytes = system_blocks_.bytes();
  for (const Buffer<Index>& array : arrays_) bytes += array.bytes();
  return bytes;
}

}  // namespace isocloth
