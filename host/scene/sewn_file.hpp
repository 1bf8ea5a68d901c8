// sewn.h5: garments as they were sewn, each with its rest shape and all that holds it, to begin other scenes.
//
// Datasets: garments/name; of garment i, garments/i/rest_positions float64 [node, 3] (m; the flat pattern),
// positions float64 [node, 3] (m; as sewn), face_begin int32 [face + 1] and face_nodes int32 [corner], as
// Mesh has them, corner_uvs float64 [corner or 0, 2] (m), stitch_nodes int32 [stitch, 2] and stitch_lengths
// float64 [stitch] (m), button_nodes int32 [button, 2] and button_numbers float64 [button, 4] (distance m,
// stiffness N/m, force N, strength N), band_nodes int32 [band, 2] and band_numbers float64 [band, 2] (length
// m, stiffness N), seam_names [seam], seam_orders int32 [seam] and stitch_seams int32 [stitch or 0].
// Attributes format and version say who can read it.
#pragma once

#include <filesystem>
#include <string>

#include "engine/model/sewing_plan.hpp"

namespace isocloth {

/// Writes the garments of a scene that are not driven as a whole, where they start. `plan`: for the names
/// of seams. Throws FileError.
void write_sewn_garments(const std::filesystem::path& path, const Scene& scene, const SewingPlan& plan);

/// Reads the garment of that name; "": the only one. Throws FileError for a file that is none, or damaged,
/// and SceneError, naming `key`, where there is no such garment.
SewnPanels read_sewn_garment(const std::filesystem::path& path, const std::string& name,
                             const std::string& key);

/// Has the garments of a scene start where a file has them, those that are driven as a whole where they do.
/// Throws as read_sewn_garment(), and FileError for garments of other nodes; the scene is then as it was.
void start_as_sewn(const std::filesystem::path& path, Scene& scene);

/// Whether a mesh file is one of sewn garments, by its name.
bool is_sewn_file(const std::filesystem::path& path);

}  // namespace isocloth
