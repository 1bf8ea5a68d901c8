// What takes part in a step of garments: what moves with them, or acts between them.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "host/projection/projection_solver.hpp"

namespace isocloth {

template <class Real>
class ClothContacts;

/// How a participant finds the iterate.
struct ParticipantFit {
  bool met = true;             ///< within its tolerances
  double depth = 0;            ///< depth of the deepest contact that it has found [m]
  bool may_penetrate = false;  ///< cloth may go through cloth
  bool moved_nodes = false;  ///< it has put nodes elsewhere: the iterate is another one, to be assessed anew
};

/// How a garment's part of a step goes, and its step.
struct GarmentProgress {
  bool lost = false, thrown = false, done = false;
  double residual = 0, previous = 0, penetration = 0, compression = 0, contact_error = 0;
  StepReport report;

  void start_part() {
    lost = thrown = done = false;
    residual = previous = penetration = compression = 0;
  }
  /// Marks the step as stalled, because the garment's motion was not followed.
  void miss() { report.status = std::max(report.status, StepStatus::stalled); }
  void lose() {
    lost = true;
    residual = std::numeric_limits<double>::infinity();
    penetration = compression = 0;
  }
  /// Adds what a participant found, to whom all belongs that garments touch.
  void add(const ParticipantFit& fit);
  /// missed: what a part is called that ends above tolerance, stalled or cut.
  void end_part(const PartEnd<double, bool>& end, StepStatus missed);
};

/// A step under way, as those see it who take part in it.
template <class Real>
struct StepUnderWay {
  std::vector<ProjectionSolver<Real>*> garments;  ///< all that are not frozen
  StepControl control;                      ///< participants may change the numbers of parts and iterations
  StepBudget budget{};                      ///< milliseconds: of what steps here
  std::vector<GarmentProgress> progress{};  ///< shape [garment_count]
  /// What garments' factorisations are still asked for: couple() may fetch it with more. Null: nothing.
  Downloads* outcomes = nullptr;
  // Of an iteration: what couple() and solve() leave.
  ClothContacts<Real>* coupled = nullptr;  ///< solves for all garments at once; null: each solves for itself
  BodyMoves<Real> moves{};                 ///< moves of bodies that garments touch

  bool has_lost_any() const { return std::ranges::any_of(progress, &GarmentProgress::lost); }
};

/// A participant in the steps of garments: rigid bodies, contacts between cloths. Its hooks do nothing unless
/// it says what they do. StepController decides what follows, CoupledStep (projection_step.cpp) asks garments
/// and participants, these in the order of the list in CoupledSolver. A step, from top to bottom:
///
///    1. begin_step()     Garments are where the last step left them.
///       For each part, the whole step or 2, 4, ... parts of one that stalls:
///    2. begin_substep()  The participant's own first iterate.
///    3. place()          Garments are told where its shapes are.
///       Garments make the unconstrained step, phi~, and their first iterate.
///    4. predicted()      Garments have begun the part.
///       For each iteration:
///    5. place()          Again, at the iterate.
///       Garments evaluate rows, C and J, and find contacts with what is placed.
///       begin_assess()   What that can launch is launched, and asked for with what garments found.
///    6. assess()         Contacts at the iterate of everything, and whether all is met. Where that ends the
///                        part it goes on with 11, perhaps after sum_forces() and forces_on(), by which
///                        garments tell whether forces balance.
///    7. assemble()       Where any participant couples(): matrices and right sides of the garments, which
///                        have been assembled.
///       Garments factorise their matrices and solve for corrections.
///    8. couple()         Corrections of all garments together from those of each.
///    9. solve()          The participant's own correction, and what the garments' are with that.
///       Garments correct multipliers, forces of contacts and the iterate.
///   10. correct()        The participant does.
///   11. end_substep()    The part is accepted, or the step begins anew in more parts; then garments end it,
///                        with forces_on_nodes() in the records of parts.
///   12. end_step()       The step is kept, or all is as before it; garments have ended theirs.
///   13. report()         What is said of it in the report of each garment.
template <class Real>
class StepParticipant {
 public:
  using Step = StepUnderWay<Real>;
  using Part = Substep<double>;
  using Solver = ProjectionSolver<Real>;

  virtual ~StepParticipant() = default;
  virtual std::size_t memory_bytes() const = 0;
  /// Whether steps go on where all garments are frozen.
  virtual bool moves_alone() const { return false; }
  /// A request of steps begins at this clock, for what moves with time.
  virtual void begin_request(const Clock&) {}

  virtual void begin_step(Step&) {}
  virtual void begin_substep(const Part&) {}
  virtual void place(const Step&, const Part&) const {}
  virtual void predicted() {}
  virtual void begin_assess(Step&, int /*iteration*/, Downloads& /*downloads*/) {}
  /// Called whatever the garments are: where some are lost (Step::has_lost_any()), contacts with them are
  /// worth nothing.
  virtual ParticipantFit assess(Step&, int /*iteration*/) { return {}; }
  /// Sums what it exerts, for forces_on(); returns whether its law exerts the same at the iterate, within its
  /// tolerance.
  virtual bool sum_forces() { return true; }
  /// Forces on the free nodes of a garment as they are kept, times h^2 [kg m], after sum_forces(); one
  /// participant at most has any. Empty: none.
  virtual ArrayView<const Vec3<Real>> forces_on(const Solver&) const { return {}; }
  virtual bool couples() const { return false; }
  virtual void assemble() {}
  /// Returns false where the corrections are not finite, as does solve().
  virtual bool couple(Step&) { return true; }
  virtual bool solve(Step&) { return true; }
  virtual void correct() {}
  virtual void end_substep(Step&, const PartEnd<double, bool>&) {}
  /// Forces on all nodes of a garment in the part of h [s] that ends [N], shape [node_count]; empty: none.
  virtual std::vector<Vec3d> forces_on_nodes(const Solver&, double /*h*/) const { return {}; }
  virtual void end_step(bool /*is_kept*/) {}
  virtual void report(const Step&, const Solver&, StepReport&) const {}
};

}  // namespace isocloth
