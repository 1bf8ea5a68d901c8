// What is measured of a garment at one instant.
#pragma once

#include <string>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"
#include "host/state/quantity.hpp"

namespace isocloth {

/// Energies, momenta and errors of area of one garment at one instant. Numbers in brackets are equations of
/// Coltraro 2022.
struct Measures {
  double residual = 0;
  double area_error_total = 0, area_error_mean = 0, area_error_dispersion = 0, area_error_element_max = 0;
  double kinetic_energy = 0, potential_energy = 0, bending_energy = 0, elastic_energy = 0,
         hourglass_energy = 0;
  double seam_opening = 0;
  Vec3d linear_momentum, angular_momentum;
  bool operator==(const Measures&) const = default;

  static constexpr auto fields() {
    using enum Rule;
    constexpr const char *exactness = "Exactness", *area = "Area error", *energy = "Energy";
    return std::tuple{
        Quantity("residual", &Measures::residual, most, "", "largest scaled row"),
        Quantity("area_error_total", &Measures::area_error_total, most, "1",
                 "total area error, Coltraro 2022 (19)", {"area_error_total_max"},
                 {"total area error (19)", area, exactness}),
        Quantity("area_error_mean", &Measures::area_error_mean, most, "1",
                 "mean of the elements' area error, Coltraro 2022 (20)", {"area_error_element_mean_max"},
                 {"mean area error (20)", area, exactness}),
        Quantity("area_error_dispersion", &Measures::area_error_dispersion, most, "1",
                 "its dispersion, Coltraro 2022 (21)", {}, {"dispersion (21)", area}),
        Quantity("area_error_element_max", &Measures::area_error_element_max, most, "1",
                 "largest area error of an element, Coltraro 2022 (22)", {"area_error_element_max"},
                 {"area of an element (22)", "Elements", exactness}),
        Quantity("kinetic_energy", &Measures::kinetic_energy, end_sum, "J", "``1/2 density v^T M v``", {},
                 {"kinetic", energy}),
        Quantity("potential_energy", &Measures::potential_energy, end_sum, "J",
                 "of gravity and bending, ``gravity_density g M z + 1/2 bending_stiffness phi^T K phi``", {},
                 {"potential", energy}),
        Quantity("bending_energy", &Measures::bending_energy, end_sum, "J", "that of bending alone",
                 {nullptr, ""}),
        Quantity("elastic_energy", &Measures::elastic_energy, end_sum, "J",
                 "energy of rows that are not rigid", {}, {"elastic", energy}),
        Quantity("hourglass_energy", &Measures::hourglass_energy, end_sum, "J",
                 "of it that of differences of strain in pairs of triangles, no energy of the cloth",
                 {nullptr, nullptr, true}),
        Quantity("seam_opening", &Measures::seam_opening, end_most, "m",
                 "largest distance of nodes sewn together, of a button beyond its length; not of studs",
                 {"seam_opening"}, {"widest seam opening", "Seam opening", exactness}),
        Quantity("linear_momentum", &Measures::linear_momentum, none, "kg m/s", "linear momentum"),
        Quantity("angular_momentum", &Measures::angular_momentum, none, "kg m^2/s",
                 "angular momentum about the origin")};
  }
};

/// Contacts of one garment with the obstacles and bodies at the end of its last step.
struct ContactMeasures {
  Index count = 0;
  Vec3d force;
  Index rubbing = 0, sticking = 0;
  std::vector<Vec3d> forces;

  static constexpr auto fields() {
    using enum Rule;
    using Own = ContactMeasures;
    constexpr const char* nodes = "Nodes in contact";
    return std::tuple{
        Quantity("count", &Own::count, most, "",
                 "nodes, edges and faces that are pushed, a node once by each obstacle or body",
                 {"contact_count_max", "contact_count"},
                 {"contacts of a garment, most", nodes, "Contact and grippers"}),
        Quantity("force", &Own::force, none, "N", "on the garment, friction included",
                 {nullptr, "contact_force"}, {"contact", "Forces on a garment"}),
        Quantity("rubbing", &Own::rubbing, most, "", "contacts that feel friction",
                 {nullptr, "rubbing_count"}),
        Quantity("sticking", &Own::sticking, most, "", "contacts that friction holds in place",
                 {nullptr, "sticking_count"}, {"sticking", nodes}),
        Quantity("forces", &Own::forces, none, "N",
                 "by each obstacle, then by each body, shape (obstacles and bodies, 3)", {nullptr, ""})};
  }
};

/// A point of a garment that an obstacle or body pushes, at the end of the last step.
struct ContactPoint {
  Index body = -1;      ///< number of the obstacle, bodies counted after the obstacles
  Vec3d position;       ///< of the point of the cloth's middle surface [m]
  Vec3d normal;         ///< out of the obstacle, of unit length
  Vec3d force;          ///< on the garment, friction included [N]
  double slip = 0;      ///< way that it has slid since it last stuck [m]
  double pressure = 0;  ///< normal force over the area that the point stands for [Pa]
  bool is_sticking = false;
};

/// What grippers hold of one garment at the end of its last step.
struct HoldMeasures {
  Index count = 0;
  Vec3d force;
  std::vector<Vec3d> forces;

  static constexpr auto fields() {
    using enum Rule;
    return std::tuple{Quantity("count", &HoldMeasures::count, most, "", "nodes that grippers hold",
                               {"held_count_max", "held_count"},
                               {"nodes in grippers, most", "Nodes in contact", "Contact and grippers"}),
                      Quantity("force", &HoldMeasures::force, none, "N", "on the garment",
                               {nullptr, "gripper_force"}, {"grippers", "Forces on a garment"}),
                      Quantity("forces", &HoldMeasures::forces, none, "N",
                               "by each gripper, shape (grippers, 3)", {nullptr, ""})};
  }
};

/// What contacts between cloths do to one garment at the end of its last step.
struct ClothLoads {
  std::vector<Vec3d> forces;  ///< on its nodes, friction included [N], shape [node_count]
  /// Sums of the sizes of what `forces` adds up [N], same shape: a layer between two others is pressed by
  /// both, and the forces on it cancel.
  std::vector<double> loads;
};

/// Sizes of one garment's problem.
struct GarmentInfo {
  Index node_count = 0, face_count = 0, row_count = 0, free_node_count = 0;
  std::size_t memory_bytes = 0;  ///< arrays and matrix factor, estimated from their sizes; a batch's part
  std::string solver;            ///< what solves its nodal system
};

}  // namespace isocloth
