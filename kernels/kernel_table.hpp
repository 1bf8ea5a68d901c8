// Every kernel of a backend as a plain function: all that the host knows of it.
#pragma once

#include "kernels/batch/solve_blocks.hpp"
#include "kernels/batch/step_cloths.hpp"
#include "kernels/cloth_contact/cloth_contact.hpp"
#include "kernels/cloth_contact/search_pairs.hpp"
#include "kernels/cloth_contact/selections.hpp"
#include "kernels/forces/build_bending.hpp"
#include "kernels/forces/stitches.hpp"
#include "kernels/impulse/impulse_kernels.hpp"
#include "kernels/impulse/step_impulse.hpp"
#include "kernels/linear/cg_columns.hpp"
#include "kernels/linear/front_factor.hpp"
#include "kernels/linear/front_solve.hpp"
#include "kernels/linear/pcg.hpp"
#include "kernels/measures/cloth_measures.hpp"
#include "kernels/measures/copy_arrays.hpp"
#include "kernels/measures/measures.hpp"
#include "kernels/measures/strains.hpp"
#include "kernels/projection/body_system.hpp"
#include "kernels/projection/excess.hpp"
#include "kernels/projection/metric.hpp"
#include "kernels/projection/nodal_system.hpp"
#include "kernels/projection/place_pins.hpp"
#include "kernels/samples/act_on_samples.hpp"
#include "kernels/tensors/build_tensors.hpp"
#include "kernels/tensors/evaluate_rows.hpp"
#include "kernels/tensors/keep_memory.hpp"

namespace isocloth {

/// Kernels of what is built once per mesh, in double whatever the precision of the steps.
struct SetupKernels {
  Kernel<LumpMasses> lump_masses;
  Kernel<BuildTensors> build_tensors;
  Kernel<BuildCurvature> build_curvature;
  Kernel<BuildBending> build_bending;
};

/// Kernels of contacts between cloths, in double whatever the precision of the steps.
struct ClothContactKernels {
  Kernel<CountStrays> count_strays;
  Kernel<FitBoxes> fit_boxes;
  Kernel<CountPairs> count_pairs;
  Kernel<WritePairs> write_pairs;
  Kernel<MeasurePairs> measure_pairs;
  Kernel<CullCandidates> cull_candidates;
  Kernel<FindClothContacts> find_contacts;
  Kernel<CarryForces> carry_forces;
  Kernel<RespondClothContacts> respond_contacts;
};

/// Libraries' work, see kernels/cloth_contact/selections.hpp. Functions return false when they failed;
/// Memory::last_error() says why.
struct SelectionKernels {
  bool (*work_bytes)(const Queue& queue, Index count, std::size_t* bytes);
  bool (*running_sums)(const Queue& queue, const RunningSums& args);
  bool (*list_flagged)(const Queue& queue, const ListFlagged& args);
  bool (*select_contacts)(const Queue& queue, const SelectContacts& args);
};

/// Run every step.
template <class Real>
struct StepKernels {
  Kernel<EvaluateRows<Real>> evaluate_rows;
  Kernel<QuadraticMultipliers<Real>> quadratic_multipliers;
  Kernel<KeepMemory<Real>> keep_memory;
  Kernel<AssembleMomentum<Real>> assemble_momentum;
  Kernel<StartIteration<Real>> start_iteration;
  Kernel<ExtrapolateNodes<Real>> extrapolate_nodes;
  Kernel<PredictPositions<Real>> predict_positions;
  Kernel<BeginStitches<Real>> begin_stitches;
  Kernel<GeometricStiffness<Real>> geometric_stiffness;
  Kernel<AssembleSystem<Real>> assemble_system;
  Kernel<AssembleGradient<Real>> assemble_gradient;
  Kernel<MultiplyCouplings<Real>> multiply_couplings;
  Kernel<BlockProduct<Real>> block_product;
  Kernel<PartialDots<Real>> partial_dots;
  Kernel<DescendAlong<Real>> update_solution;
  Kernel<TurnDirection<Real>> update_direction;
  Kernel<AdvanceCg> advance_cg;
  Kernel<CgVectors<Real>> begin_cg, descend_cg, turn_cg;
  Kernel<ApplyCorrection<Real>> apply_correction;
  Kernel<UpdateMultipliers<Real>> update_multipliers;
  Kernel<FindMismatches<Real>> find_mismatches;
  Kernel<FindImbalances<Real>> find_imbalances;
  Kernel<ActOnSamples<Real>> begin_samples, list_near_obstacles, act_on_samples;
  Kernel<PlaceHeld<Real>> place_held;
  Kernel<UpdateSamples<Real>> update_samples;
  Kernel<SumBodies<Real>> sum_bodies;
  Kernel<AssembleBodyColumns<Real>> assemble_body_columns;
  Kernel<MultiplyColumns<Real>> multiply_columns;
  Kernel<AddColumns<Real>> add_columns;
  Kernel<GatherClothNodes<Real>> gather_cloth_nodes;
  Kernel<WriteRigidModes<Real>> write_rigid_modes;
  Kernel<AddClothContacts<Real>> add_cloth_contacts;
  Kernel<MultiplyClothContacts<Real>> multiply_cloth_contacts;
  Kernel<UpdateClothContacts<Real>> update_cloth_contacts;
  Kernel<PlacePins<Real>> place_pins;
  Kernel<StepCloths<Real>> step_cloths;
  Kernel<SolveBlocks<Real>> solve_blocks;
  int (*lane_width)();  ///< cloths or systems side by side in a tile of these two; pairs in a packet
  Kernel<FactorFronts<Real>> factor_fronts;
  Kernel<FindFailure> find_failure;
  Kernel<SolveFronts<Real>> forward_fronts, backward_fronts;
  Kernel<StepImpulse<Real>> step_impulse;
  ImpulseKernels<Real> impulse;
  /// Kernels of a model beside the core (kernels/models), a struct that the model knows, by the name of its
  /// recipe; null: the build of this backend has none of that name.
  const void* (*model_kernels)(const char* recipe);
  Kernel<FindExcess<Real>> find_excess;
  Kernel<UpdateVelocities<Real>> update_velocities;
  Kernel<ScaleValues<Real>> scale_values;
  Kernel<MeasureAreas<Real>> measure_areas;
  Kernel<MeasureStrains<Real>> measure_strains;
  Kernel<MeasureCloths<Real>> measure_cloths;
  Kernel<Reduce<Real>> reduce;
};

/// Memory and queues of a backend. Functions return false when they failed; last_error() says why.
struct Memory {
  bool host_accessible;  ///< the host may read and write the pointers itself
  bool (*allocate)(int device, std::size_t bytes, void** pointer);
  void (*release)(int device, void* pointer);
  bool (*upload)(const Queue& queue, void* to, const void* from, std::size_t bytes);
  bool (*download)(const Queue& queue, void* to, const void* from,
                   std::size_t bytes);  ///< waits for the queue
  /// Bytes of a device; false: not known.
  bool (*available)(int device, std::size_t* free, std::size_t* total);
  bool (*open_queue)(Queue* queue);   ///< a stream of its device, and what the device has; rest as it was
  void (*close_queue)(Queue* queue);  ///< waits for it first
  bool (*wait)(const Queue& queue);   ///< until everything is done that was asked of the queue
  const char* (*last_error)();
  // Copies that do not wait, of memory of the host that is locked in its place; null where there is none.
  bool (*allocate_locked)(int device, std::size_t bytes, void** pointer);
  void (*release_locked)(int device, void* pointer);
  bool (*begin_upload)(const Queue& queue, void* to, const void* from,
                       std::size_t bytes);  ///< `from`, locked, stays as it is until the queue was waited for
  bool (*begin_download)(const Queue& queue, void* to, const void* from,
                         std::size_t bytes);  ///< into `to`, locked, which is there when it was waited for
  /// Launches of a queue may wait for more of them until somebody waits or copies: after this they do not,
  /// and others may wait for the queue in ways of their own. Null: they never do.
  void (*send)(const Queue& queue);
  // Recordings, as CUDA graphs are; null where there are none.
  bool (*begin_recording)(const Queue& queue);  ///< launches from here on are noted, not done; no copies
  /// repeat_while: where it can_repeat(), replay() does all launches again and again, at least once, until
  /// they leave 0 there; null: once.
  bool (*end_recording)(const Queue& queue, const Index* repeat_while, void** recording);
  bool (*can_repeat)();
  bool (*replay)(const Queue& queue, void* recording);  ///< all launches again, with the same arguments
  void (*release_recording)(const Queue& queue, void* recording);  ///< when no queue runs it any more
};

/// A backend. `abi` changes whenever this struct or an argument struct does: a plugin of another build is
/// refused.
struct Backend {
  int abi;
  const char* name;
  Memory memory;
  SetupKernels setup;
  Kernel<CopyArrays> copy_arrays;
  ClothContactKernels cloth_contact;
  SelectionKernels selection;
  StepKernels<float> float32;
  StepKernels<double> float64;
};
constexpr int backend_abi = 32;

template <class Real>
const StepKernels<Real>& step_kernels(const Backend& backend) {
  if constexpr (sizeof(Real) == sizeof(float))
    return backend.float32;
  else
    return backend.float64;
}

namespace ISOCLOTH_BACKEND {
/// See StepKernels::model_kernels: the list of kernels/models/lists, or kernels/without_models where there is
/// none.
template <class Real>
const void* model_kernels(const char* recipe);
/// The kernels of this compilation; memory comes from the backend's own file.
Backend make_backend(const char* name, const Memory& memory);
}  // namespace ISOCLOTH_BACKEND

/// Vector instructions of a CPU backend: those that every machine of its kind has, or wider ones.
enum class Simd { baseline, avx2, avx512 };
const char* to_string(Simd simd);

/// The CPU backend with these instructions; null where the machine or this build lacks them.
const Backend* cpu_backend(Simd simd);
/// The widest that there is.
Simd widest_simd();
/// Whether the CPU backends run emulated blocks (Queue::emulated_block), too: in builds with tests.
bool emulates_blocks();

}  // namespace isocloth
