// What a scene comes to: its recipe looked up, and the numbers that follow from it and from the settings.
#pragma once

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// How much energy the mismatch of rows may stand for at the end of a step of h, sum K c^2 / 2 <= rate h^2 +
/// rounding: a ten thousandth of what weight w gives to cloth that falls for the step from rest, A (w h)^2 /
/// (2 rho), and what mismatches of the size of rounding have in the stiffest direction of the fabric.
struct MismatchEnergy {
  double rate = 0;      ///< [J/s^2]
  double rounding = 0;  ///< [J]
};

/// See ResolvedScene::integrator.
Integrator integrator_of(const Recipe& recipe, const ProjectionSettings& settings, bool has_bodies = false);

/// Made of a scene once and handed on to all that step, count or judge it. What commands may change between
/// steps (fabrics, motions, gravity, wind) is in the scene alone.
struct ResolvedScene {
  /// The scene must outlive it. Throws SceneError for an unknown recipe. Not explicit: it is the scene.
  ResolvedScene(const Scene& scene);

  const Scene& scene;
  const Recipe& recipe;
  const bool projects;     ///< steps are projected (ProjectionSettings); else impulses hold the rows
  const bool is_newton;    ///< projected by proximal_newton, not by fast_projection
  const bool holds_edges;  ///< every row is the length of an edge
  /// The inner product of the steps; impulses are weighed by the masses alone.
  const Metric metric;
  /// Integrator of steps that are projected: what the settings say, or BDF2 where rows are strains of elastic
  /// triangles and the metric is B. Other recipes are as they were published, by backward Euler; so is cloth
  /// beside rigid bodies, which are stepped by it: what one gives the other takes in the same step.
  const Integrator integrator;
  const double tolerance;          ///< bound on the largest |scaled row| at the end of a step
  const OnViolation on_violation;  ///< what happens when `tolerance` is missed

  /// Relative softness of the rows at the start of a step: what the settings say, or 1e-6 (proximal_newton),
  /// 1e-7 (fast_projection), 1e-4 in single precision, whose factor does not survive less.
  double start_eps(bool is_single) const;
  /// The largest strain |sqrt(1 + c) - 1| that a row may have whose residual |c| is at most `residual`; where
  /// the rows are lengths, as in impulses on edges, it is the residual itself.
  double row_strain(double residual) const;
  /// The scene's impulse settings without a 0 or `automatic`. Parts of a step: so short that explicit forces
  /// of the fastest rate `force_rate` [1/s] stay stable (step * force_rate / parts <= 1), at most 0.5 ms in
  /// mode `substeps` and 1 ms for systems; sweeps that converge take one part where the forces allow it. A
  /// given number of parts stays.
  ImpulseSettings impulse(double force_rate) const;
  /// Greatest number of iterations of a step of the projection or of a part of it: what the settings say, or
  /// 50, 12 where cloth meets cloth: what does not converge soon is a step that is too long. With a budget of
  /// solves that is the number.
  int max_iterations() const;
  /// Greatest number of parts of a step of the projection: what the settings say, or 16 where cloth meets
  /// cloth, else 8 beside rigid bodies, else 1; 1 with a budget.
  int max_substeps() const;
  /// What of the matrix of a garment's steps is factorised: what the settings say, or the pattern of its rows
  /// where they are elastic and bending is soft beside inertia, h^2 kappa + h beta <= c (rho + h alpha) dx^4
  /// with dx^2 the mean area of a node and c = 0.3 node_count, at least 300; else the whole. By the garment's
  /// own numbers at the start: what commands change later does not change it.
  FactorPattern factor(const Garment& garment) const;
  /// What imbalances are measured by: weight per area of a garment, or where it has none rho times 9.81 m/s^2
  /// [N/m^2].
  double weight(const Garment& garment) const;
  /// Mismatch energy of a garment; infinite where rows are no strains of elastic triangles, and where the
  /// settings say how well forces balance.
  MismatchEnergy mismatch_energy(const Garment& garment, bool is_single) const;
  /// What the force of a contact that a state keeps is per unit of, in steps of h [s]: rho + h alpha where
  /// the mass alone is the metric of a projection [kg/m^2], else 1.
  double contact_unit(const Fabric& fabric, double h) const;
};

}  // namespace isocloth
