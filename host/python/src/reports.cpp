// What steps and states are measured to be.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "host/energy/energy_sums.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/state/measures.hpp"
#include "host/state/step_report.hpp"
#include "host/state/strain.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

std::string words(const Vec3d& v) { return text("[", v.x, ", ", v.y, ", ", v.z, "]"); }

}  // namespace

void bind_reports(nb::module_& module) {
  nb::class_<Strain> strain(module, "Strain",
                            "How far a cloth is stretched against its rest shape, measured from positions on "
                            "every edge and in every element.");
  strain.def_ro("max", &Strain::max, "largest ``|l / l0 - 1|`` of all edges")
      .def_ro("p95", &Strain::p95, "95th percentile of the same")
      .def_ro("mean", &Strain::mean, "mean of the same")
      .def_ro("stretch_max", &Strain::stretch_max, "largest ``s1 - 1`` of the elements' principal stretches")
      .def_ro("stretch_p95", &Strain::stretch_p95, "95th percentile of ``max(|s1 - 1|, |s2 - 1|)``")
      .def_ro("compression_max", &Strain::compression_max, "largest ``1 - s2``")
      .def_ro("thread_max", &Strain::thread_max,
              "largest ``|stretch - 1|`` along warp and weft of the elements")
      .def_ro("thread_p95", &Strain::thread_p95, "95th percentile of the larger of both")
      .def_ro("shear_max", &Strain::shear_max,
              "largest sine of the angle by which warp and weft are off a right one")
      .def_ro("shear_p95", &Strain::shear_p95, "95th percentile of the same")
      .def_ro("pinned_max", &Strain::pinned_max,
              "largest ``|l^2 / l0^2 - 1|`` of edges between two pinned nodes")
      .def("__repr__", [](const Strain& s) {
        return text("Strain(max=", s.max, ", p95=", s.p95, ", stretch_max=", s.stretch_max,
                    ", compression_max=", s.compression_max, ")");
      });

  nb::class_<StepReport>(module, "StepReport", "What one step, or several, of one garment did.")
      .def_prop_ro(
          "status", [](const StepReport& r) { return to_string(r.status); },
          "``converged``; ``stalled``: missed its tolerance, but counts; ``non_finite`` or ``diverged``: the "
          "garment keeps the state before it and is frozen")
      .def_ro("iterations", &StepReport::iterations, "linear solves and sweeps")
      .def_ro("substeps", &StepReport::substeps)
      .def_ro("fallbacks", &StepReport::fallbacks, "substeps that no linear system could hold")
      .def_ro("residual", &StepReport::residual, "largest scaled row at the end")
      .def_ro("penetration", &StepReport::penetration,
              "how far the cloth was pressed below its core, or is nearer to cloth than it must be [m]")
      .def_ro("compression", &StepReport::compression,
              "largest 1 - t / T of the thickness t of the cloth at an obstacle or body")
      .def_ro("eased_depth", &StepReport::eased_depth,
              "depth left to what started inside of obstacles and is eased out [m]")
      .def_ro("strain", &StepReport::strain)
      .def_ro("cloth_contacts", &StepReport::cloth_contacts, "contacts of all cloths that meet")
      .def_ro("cloth_loaded", &StepReport::cloth_loaded, "those that carry a force")
      .def_ro("cloth_force", &StepReport::cloth_force, "greatest force of one of them [N]")
      .def_ro("cloth_gap", &StepReport::cloth_gap,
              "least distance of cloth from cloth over the thickness, 1: none is nearer")
      .def_ro("cg_iterations", &StepReport::cg_iterations,
              "most conjugate gradient iterations of a solve of all cloths that meet")
      .def_ro("held_back", &StepReport::held_back, "nodes held back from passing through cloth")
      .def_ro("blocked", &StepReport::blocked,
              "of them those that pins and grippers drive against each other")
      .def_ro("wall_seconds", &StepReport::wall_seconds)
      .def("__repr__", [](const StepReport& r) {
        return text("StepReport(status='", to_string(r.status), "', iterations=", r.iterations,
                    ", residual=", r.residual, ")");
      });

  nb::class_<Measures>(module, "Measures", "Energies, momenta and errors of area of one garment.")
      .def_ro("residual", &Measures::residual, "largest scaled row")
      .def_ro("area_error_total", &Measures::area_error_total, "Coltraro 2022, (19)")
      .def_ro("area_error_mean", &Measures::area_error_mean, "(20)")
      .def_ro("area_error_dispersion", &Measures::area_error_dispersion, "(21)")
      .def_ro("area_error_element_max", &Measures::area_error_element_max, "largest |(22)|")
      .def_ro("kinetic_energy", &Measures::kinetic_energy, "[J]")
      .def_ro("potential_energy", &Measures::potential_energy, "of gravity and bending [J]")
      .def_ro("elastic_energy", &Measures::elastic_energy, "of rows that are not rigid [J]")
      .def_ro("hourglass_energy", &Measures::hourglass_energy,
              "of it that of differences of strain in pairs of triangles, no energy of the cloth [J]")
      .def_ro("seam_opening", &Measures::seam_opening,
              "largest distance of two nodes that are sewn together, of a button beyond its length [m]")
      .def_prop_ro(
          "linear_momentum", [](const Measures& m) { return to_array(m.linear_momentum); },
          nb::rv_policy::automatic, "[kg m/s], shape (3,)")
      .def_prop_ro(
          "angular_momentum", [](const Measures& m) { return to_array(m.angular_momentum); },
          nb::rv_policy::automatic, "about the origin [kg m^2/s], shape (3,)")
      .def("__repr__", [](const Measures& m) {
        return text("Measures(residual=", m.residual, ", kinetic_energy=", m.kinetic_energy,
                    ", potential_energy=", m.potential_energy, ", elastic_energy=", m.elastic_energy, ")");
      });

  nb::class_<EnergySums> sums(module, "EnergySums",
                              "Where the energy of a garment came from and went to since the run began [J]: "
                              "kinetic + bending + stretch + shear energy = that of the start + works - "
                              "losses + ``energy_error``. Columns of the same names are in results of "
                              ":func:`run` with ``energy_balance``.");
  sums.def_ro("gravity_energy", &EnergySums::gravity_energy, "``delta g sum m z``")
      .def_ro("bending_energy", &EnergySums::bending_energy, "of bending, and of flexion springs")
      .def_ro("stretch_energy", &EnergySums::stretch_energy, "of threads, springs and elastic bands")
      .def_ro("shear_energy", &EnergySums::shear_energy)
      .def_ro("unbalanced_force", &EnergySums::unbalanced_force,
              "of the last step: largest force on a node that nothing balances, over the node's weight")
      .def_ro("work_gravity", &EnergySums::work_gravity)
      .def_ro("work_pins", &EnergySums::work_pins)
      .def_ro("work_grippers", &EnergySums::work_grippers)
      .def_ro("work_obstacles", &EnergySums::work_obstacles, "of obstacles and bodies that move")
      .def_ro("work_cloth", &EnergySums::work_cloth, "of contacts with cloth")
      .def_ro("work_air", &EnergySums::work_air)
      .def_ro("work_forces", &EnergySums::work_forces, "of :meth:`Simulation.set_forces` and ``add_force``")
      .def_ro("work_seams", &EnergySums::work_seams, "of threads of seams, buttons and press studs")
      .def_ro("work_commands", &EnergySums::work_commands,
              "changes between steps: ``write``, ``set_fabric``, ``reset``, ``restore``")
      .def_ro("loss_contact", &EnergySums::loss_contact, "friction and impact")
      .def_ro("loss_damping", &EnergySums::loss_damping)
      .def_ro("loss_integrator", &EnergySums::loss_integrator, "of the step's length")
      .def_ro("loss_rows", &EnergySums::loss_rows, "of the tolerance")
      .def_ro("energy_error", &EnergySums::energy_error, "what is left")
      .def_ro("energy_scale", &EnergySums::energy_scale,
              "largest so far of kinetic energy + sum of the sizes of works and losses")
      .def_prop_ro("works", &EnergySums::works, "their sum")
      .def_prop_ro("losses", &EnergySums::losses, "their sum")
      .def("__repr__", [](const EnergySums& e) {
        return text("EnergySums(works=", e.works(), ", losses=", e.losses(),
                    ", energy_error=", e.energy_error, ")");
      });

  nb::class_<ContactMeasures>(module, "ContactMeasures", "Contacts of a garment with obstacles and bodies.")
      .def_ro("count", &ContactMeasures::count, "nodes, edges and faces that are pushed")
      .def_ro("rubbing", &ContactMeasures::rubbing, "those that feel friction")
      .def_ro("sticking", &ContactMeasures::sticking, "those that friction holds in place")
      .def_prop_ro(
          "force", [](const ContactMeasures& m) { return to_array(m.force); }, nb::rv_policy::automatic,
          "on the garment [N], shape (3,)")
      .def_prop_ro(
          "forces", [](const ContactMeasures& m) { return to_array(m.forces); }, nb::rv_policy::automatic,
          "by each obstacle, then by each body [N], shape (obstacles and bodies, 3)")
      .def("__repr__", [](const ContactMeasures& m) {
        return text("ContactMeasures(count=", m.count, ", rubbing=", m.rubbing, ", sticking=", m.sticking,
                    ", force=", words(m.force), ")");
      });

  nb::class_<HoldMeasures>(module, "HoldMeasures", "What grippers hold of a garment.")
      .def_ro("count", &HoldMeasures::count, "held nodes")
      .def_prop_ro(
          "force", [](const HoldMeasures& m) { return to_array(m.force); }, nb::rv_policy::automatic,
          "[N], shape (3,)")
      .def_prop_ro(
          "forces", [](const HoldMeasures& m) { return to_array(m.forces); }, nb::rv_policy::automatic,
          "by each gripper [N], shape (grippers, 3)")
      .def("__repr__", [](const HoldMeasures& m) {
        return text("HoldMeasures(count=", m.count, ", force=", words(m.force), ")");
      });

  nb::class_<GarmentInfo>(module, "GarmentInfo", "Sizes of one garment's problem.")
      .def_ro("node_count", &GarmentInfo::node_count)
      .def_ro("face_count", &GarmentInfo::face_count)
      .def_ro("row_count", &GarmentInfo::row_count)
      .def_ro("free_node_count", &GarmentInfo::free_node_count)
      .def_ro("memory_bytes", &GarmentInfo::memory_bytes, "estimated")
      .def_ro("solver", &GarmentInfo::solver)
      .def("__repr__", [](const GarmentInfo& g) {
        return text("GarmentInfo(node_count=", g.node_count, ", face_count=", g.face_count,
                    ", row_count=", g.row_count, ", solver='", g.solver, "')");
      });
}

}  // namespace isocloth::python
