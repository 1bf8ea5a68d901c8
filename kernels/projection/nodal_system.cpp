#include "kernels/projection/nodal_system.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/projection/nodal_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct StiffnessBody {
  GeometricStiffness<Real> a;
  ISOCLOTH_DEVICE void operator()(Index pair) const { a.stiffness[pair] = pair_stiffness(a, pair); }
};

template <class Real>
struct SystemBody {
  AssembleSystem<Real> a;
  ISOCLOTH_DEVICE void operator()(Index b) const {
    Real block[9];
    system_block(a, b, block);
    for (int i = 0; i < 9; ++i) a.blocks[b * 9 + i] = block[i];
  }
};

template <class Real>
struct RowForceBody {
  AssembleGradient<Real> a;
  ISOCLOTH_DEVICE void operator()(Index row) const { a.row_forces[row] = row_force(a, row); }
};

template <class Real>
struct GradientBody {
  AssembleGradient<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const { a.right_side[i] = gradient(a, i); }
};

template <class Real>
struct CouplingsBody {
  MultiplyCouplings<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    for (Index k = 0; k < a.columns.count; ++k) {
      const Index begin = a.columns.begin[k];
      const ArrayView<const Vec3<Real>> direction{a.direction.data() + begin, a.direction.size()};
      a.product[begin + i] = a.factor_product[begin + i] + coupled(a.couplings, direction, i);
    }
  }
};

template <class Real>
struct CorrectionBody {
  ApplyCorrection<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    a.positions[a.free.nodes[i]] += of_finite_length(a.correction[i]);
  }
};

template <class Real>
struct MultiplierBody {
  UpdateMultipliers<Real> a;
  ISOCLOTH_DEVICE void operator()(Index row) const {
    a.multipliers[row] = next_multiplier(a, row, a.multipliers[row]);
  }
};

template <class Real>
struct MismatchBody {
  FindMismatches<Real> a;
  ISOCLOTH_DEVICE void operator()(Index row) const {
    a.mismatches[row] = mismatch(a.laws, row, a.residuals[row], a.scales[row], a.multipliers[row]);
    a.scaled[row] = scaled_mismatch(a.laws, row, a.residuals[row], a.scales[row], a.multipliers[row]);
  }
};

template <class Real>
struct ImbalanceBody {
  FindImbalances<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const { a.imbalances[i] = imbalance(a, i); }
};

}  // namespace

template <class Real>
void geometric_stiffness(const Queue& queue, const GeometricStiffness<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.stiffness.size()), StiffnessBody<Real>{args});
}
template <class Real>
void assemble_system(const Queue& queue, const AssembleSystem<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.block_rows.size()), SystemBody<Real>{args});
}
template <class Real>
void assemble_gradient(const Queue& queue, const AssembleGradient<Real>& args) {
  if (args.with_rows)
    parallel_for(queue, static_cast<Index>(args.row_forces.size()), RowForceBody<Real>{args});
  parallel_for(queue, static_cast<Index>(args.free.nodes.size()), GradientBody<Real>{args});
}
template <class Real>
void multiply_couplings(const Queue& queue, const MultiplyCouplings<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.couplings.pattern.begin.size()) - 1, CouplingsBody<Real>{args});
}
template <class Real>
void apply_correction(const Queue& queue, const ApplyCorrection<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.nodes.size()), CorrectionBody<Real>{args});
}
template <class Real>
void update_multipliers(const Queue& queue, const UpdateMultipliers<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.multipliers.size()), MultiplierBody<Real>{args});
}
template <class Real>
void find_mismatches(const Queue& queue, const FindMismatches<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.mismatches.size()), MismatchBody<Real>{args});
}

template <class Real>
void find_imbalances(const Queue& queue, const FindImbalances<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.imbalances.size()), ImbalanceBody<Real>{args});
}

template void find_imbalances<float>(const Queue&, const FindImbalances<float>&);
template void find_imbalances<double>(const Queue&, const FindImbalances<double>&);
template void find_mismatches<float>(const Queue&, const FindMismatches<float>&);
template void find_mismatches<double>(const Queue&, const FindMismatches<double>&);
template void geometric_stiffness<float>(const Queue&, const GeometricStiffness<float>&);
template void geometric_stiffness<double>(const Queue&, const GeometricStiffness<double>&);
template void assemble_system<float>(const Queue&, const AssembleSystem<float>&);
template void assemble_system<double>(const Queue&, const AssembleSystem<double>&);
template void assemble_gradient<float>(const Queue&, const AssembleGradient<float>&);
template void assemble_gradient<double>(const Queue&, const AssembleGradient<double>&);
template void multiply_couplings<float>(const Queue&, const MultiplyCouplings<float>&);
template void multiply_couplings<double>(const Queue&, const MultiplyCouplings<double>&);
template void apply_correction<float>(const Queue&, const ApplyCorrection<float>&);
template void apply_correction<double>(const Queue&, const ApplyCorrection<double>&);
template void update_multipliers<float>(const Queue&, const UpdateMultipliers<float>&);
template void update_multipliers<double>(const Queue&, const UpdateMultipliers<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
