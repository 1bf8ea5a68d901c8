// What contacts of one cloth make of rigid bodies: the coupled system of nodes and bodies,
//   [H, -C; -C^T, H_b] [d; b] = [r; r_b],
// b: move of a body in an iteration, translation [m] and rotation vector [rad] about its centre of mass c.
// A contact of stiffness S and pull p at the point x of the cloth sees the displacement W d - J b with
// J = [1, -[x - c]x]: C = sum W^T S J, H_b = M_b + sum J^T S J, and the body feels -p.
#pragma once

#include "kernels/projection/nodal_system.hpp"
#include "kernels/samples/act_on_samples.hpp"

namespace isocloth {

/// Sums over the contacts of one body: the upper triangle of J^T S J, row after row (21), J^T p (6), and how
/// many there are.
constexpr Index body_terms = 28;

template <class Real>
struct SumBodies {
  ActOnSamples<Real> samples;
  Index first_body = 0;                 ///< bodies are the obstacles from this one on
  ArrayView<const Vec3<Real>> centers;  ///< c [m], shape [body]
  ArrayView<Real> sums;                 ///< shape [body, body_terms]
  /// Whether p are the forces that the cloth keeps, which it feels when a step ends; else those that the
  /// iterate is pulled by.
  bool of_kept_forces = false;
};

template <class Real>
struct AssembleBodyColumns {
  ActOnSamples<Real> samples;
  Index first_body = 0;
  ArrayView<const Vec3<Real>> centers;
  GatherView node_slots;          ///< per free node: (slot, its sample)
  ArrayView<const Index> groups;  ///< number of each body's group of six columns, -1: none; shape [body]
  Index free_count = 0;
  Index column_count = 0, stride = 0;  ///< six per group; from a node's place in one to that in the next
  ArrayView<Vec3<Real>> columns;       ///< C from the garment's first free node on
};

/// products[i, j] = left column i . right column j.
template <class Real>
struct MultiplyColumns {
  ArrayView<const Vec3<Real>> left, right;  ///< shape [columns, stride], of which the first free_count count
  Index free_count = 0, stride = 0;
  Index right_count = 0;
  ArrayView<Real> products;  ///< shape [left columns, right_count]
};

/// correction += columns * moves.
template <class Real>
struct AddColumns {
  ArrayView<const Vec3<Real>> columns;  ///< shape [column, stride], of which the first free_count count
  Index stride = 0;
  ArrayView<const Real> moves;       ///< shape [column]; empty: those that come with the arguments
  ArrayView<Vec3<Real>> correction;  ///< shape [free_count]
  Real few[most_columns] = {};       ///< moves of so many columns
  Index few_count = 0;
};

namespace ISOCLOTH_BACKEND {
/// One block per body, O(contacts); the same for any block size.
template <class Real>
void sum_bodies(const Queue& queue, const SumBodies<Real>& args);
/// One item per free node.
template <class Real>
void assemble_body_columns(const Queue& queue, const AssembleBodyColumns<Real>& args);
/// One block per product; the same for any block size.
template <class Real>
void multiply_columns(const Queue& queue, const MultiplyColumns<Real>& args);
/// One item per free node.
template <class Real>
void add_columns(const Queue& queue, const AddColumns<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
