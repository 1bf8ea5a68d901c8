// Maps: how a number of the fabric varies over the cloth.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

/// Factors on a number of the fabric.
struct FabricMap {
  /// thickness: of an even sheet, whose mass and stiffness in its plane go with it, bending with its cube.
  enum class Of {
    density,
    stretch_stiffness,
    shear_stiffness,
    bending_stiffness,
    thickness
  } of = Of::density;
  std::string panel;            ///< the panel whose faces it is of; empty: all faces
  std::vector<double> values;   ///< one for all, or of each node or face
  std::string file;             ///< of such numbers, a row each
  std::string image;            ///< grey values, see GreyImage
  double black = 0, white = 1;  ///< factors of grey values 0 and 1
  bool operator==(const FabricMap&) const = default;
};

void describe_maps(Keys& keys, std::vector<FabricMap>& maps);

/// Where faces are that a map is of.
struct MapPlaces {
  Index first = 0, end = 0;  ///< faces
  std::string panel;         ///< of the mesh's, for messages
};

/// Multiplies the factors of faces, shape [face_count], by a map. `mesh`: as it was read or made, whose nodes
/// and texture coordinates the map goes by; of nodes a face has the mean of its corners. An image lies over
/// the unit square of the texture coordinates, its lowest row at v = 0, or, of panels and of meshes without,
/// over the box of x and y; a face has the mean of four points. Throws SceneError, beginning with `key`, or
/// FileError.
void apply_map(const FabricMap& map, const Mesh& mesh, const MapPlaces& places, bool has_texture,
               const std::filesystem::path& folder, const std::string& key,
               std::vector<FabricFactors>& factors);

/// A number of each node or face from a file; `count` lists what is allowed. Throws SceneError, FileError.
std::vector<double> read_map_values(const std::filesystem::path& folder, const std::string& file);

/// A grey image: PGM (P2, P5; 0 to the largest value as 0 to 1) or PFM (Pf; numbers as they are).
struct GreyImage {
  std::size_t width = 0, height = 0;
  std::vector<double> values;  ///< rows from above, shape [height, width]
  /// Between pixels, linear; u from left to right, v from below, in [0, 1].
  double at(double u, double v) const;
};
/// Throws FileError.
GreyImage read_grey_image(const std::filesystem::path& path);

}  // namespace isocloth
