// Garments from what a scene file says of them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "engine/core/monitor.hpp"
#include "engine/model/scene.hpp"
#include "host/scene/scene_keys.hpp"

namespace isocloth {

/// Throws SceneError where so many nodes cannot be simulated with the memory of this machine; `key` asks for
/// them, `found` says what.
void require_memory(const std::string& key, const std::string& found, double node_count);

/// Makes meshes, places them and finds the nodes of pins. Remembers the mesh that it made last, the files of
/// its pins and how it hung, which replicas share as a rule.
class GarmentMaker {
 public:
  /// `folder`: where the files lie that garments name; `monitor` ends what takes long.
  GarmentMaker(std::filesystem::path folder, std::uint64_t scene_seed, const MonitorView& monitor = {})
      : folder_(std::move(folder)), seed_(scene_seed), monitor_(monitor) {}

  /// `key` of the garment in messages, `number` of it in the file. Throws SceneError, MeshError, FileError,
  /// Interrupted.
  Garment make(const GarmentSpec& spec, const std::string& key, std::size_t number);

  /// Names of the seams of the garment made last; null: it is not sewn of panels.
  std::shared_ptr<const SeamNames> seams() const { return last_seams_; }

  /// What was likely meant otherwise, a line each beginning with a key: pins far from the points that name
  /// them, patterns of another size, texture coordinates without area.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Mesh mesh(const MeshSpec& spec, const std::string& key);
  /// Warns where the size of a pattern is another; stretch: SewnPanels.
  void warn_of_size(double stretch, double scale, const std::string& key);
  void warn_of_distant_points(const SelectSpec& select, const Mesh& mesh, const std::vector<Index>& nodes,
                              const std::string& key);
  /// Hangs a garment: its pinned nodes go to their places, the others hang from there.
  void hang(Garment& garment, const InitialSpec& initial, const std::string& key);
  /// The fabrics of panels, and maps.
  void vary_fabric(Garment& garment, const GarmentSpec& spec, const std::string& key);
  Pin pin(const PinSpec& spec, const TransformSpec& transform, const Mesh& mesh, const std::string& key,
          std::size_t number);
  /// Reads the motion of the driven nodes from a file of rows.
  const RecordedMotion& recorded_motion(const RecordedMotion& spec, std::size_t node_count,
                                        const std::string& key);
  /// Reads the motion of the driven nodes from a file or files of all nodes in the coordinates of the mesh
  /// file.
  RecordedMotion cached_motion(const RecordedMotion& spec, const TransformSpec& transform, const Mesh& mesh,
                               const std::vector<Index>& nodes, const std::string& key);

  std::filesystem::path folder_;
  std::uint64_t seed_;
  MonitorView monitor_;
  std::optional<MeshSpec> last_spec_;
  Mesh last_mesh_;  // of last_spec_, as generated or read
  std::shared_ptr<const SeamNames> last_seams_;
  Mesh last_read_;  // before its islands were sewn
  std::vector<Zipper> last_zippers_;
  std::vector<Drawstring> last_drawstrings_;
  std::vector<Index> last_panels_;        // first face of each panel, empty: no panels
  std::vector<Vec3d> last_placed_;        // where its panels stand, empty: no panels [m]
  std::optional<RecordedMotion> motion_;  // read last
  struct Hung {
    std::vector<Vec3d> rest_positions;
    std::vector<Index> face_nodes;
    std::vector<HangingPoint> points;
    DrapeSettings settings;
    bool operator==(const Hung&) const = default;
  };
  std::optional<Hung> last_hung_;  // and the shape that came of it
  std::vector<Vec3d> last_drape_;  // [m]
  std::vector<std::string> warnings_;
};

}  // namespace isocloth
