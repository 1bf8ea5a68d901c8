// What a run counts: the steps' reports and the frames' measures, on the way to the summary.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/geometry/intersection_search.hpp"
#include "engine/mesh/panels.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/results/checkpoint_file.hpp"
#include "host/results/run_record.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/advance_report.hpp"

namespace isocloth {

/// The next power of two: projection.max_substeps beyond so many parts.
int more_parts(std::int64_t parts);

class RunTally {
 public:
  /// The scene and `simulation` must outlive it; `name`: of a scene that has none; `from`: what the run goes
  /// on from.
  RunTally(const ResolvedScene& resolved, const std::string& name, const Simulation& simulation,
           const std::optional<Checkpoint>& from);

  /// What the seams of garments are called (read_scene()).
  void name_seams(std::vector<std::shared_ptr<const SeamNames>> seams) { seams_ = std::move(seams); }
  /// Strain, penetration and gap between cloths of the state that the run starts from.
  void measure_start(const Nearness& near = {});
  /// Adds up what a step reported and decides whether the run goes on.
  void count(const std::vector<StepReport>& reports);
  /// The same of the last `steps` steps, as Simulation::advance_at_once() reports them.
  void count(const std::vector<AdvanceReport>& reports, int steps);
  /// How many of these steps there are to the one with which count() would end the run, that included; all of
  /// them where it would end with none.
  int steps_to_end(const std::vector<AdvanceReport>& reports, int steps) const;
  /// Contacts, holds and areas at a frame, whose `measures` are in since_frame.
  void measure_frame();
  /// The run ends for garment g; a failure outweighs a missed tolerance, else the first reason stays.
  void end(const char* status, std::size_t g, const std::string& why);
  /// Remembers the first reason why a garment froze.
  void note_lost(std::size_t g, const std::string& why);
  /// A line for each garment that starts inside of obstacles and is being eased out.
  std::vector<std::string> eased_garments() const;
  /// A line for each gripper that held nothing at any frame, unless a warning has named it before.
  std::vector<std::string> idle_grippers() const;
  /// Garments whose pairs of triangles hold more than a twentieth of their elastic energy, bending included,
  /// by differences of strain: their elements are too large for their folds.
  std::vector<std::string> coarse_garments() const;
  /// A line for each garment to which tolerances gave, or of which they took, more than a hundredth of the
  /// energy that was turned over (EnergySums::errors()); none where no balance of energy is measured.
  std::vector<std::string> energy_errors() const;
  /// Counts the garments that froze or missed their tolerance, and names the first of them; `worst_before`:
  /// worst status of each garment up to the last frame.
  void count_garments(const std::vector<StepStatus>& worst_before);

  RunSummary summary;
  std::vector<FrameMetrics> since_frame;  ///< metrics of each garment since the last frame, shape [garment]

 private:
  /// What the run says and does of a garment whose step to this time [s] did not converge.
  void note_violation(std::size_t g, const StepReport& r, double time);
  std::string of_stalled(const StepReport& r) const;
  std::string open_seams(std::size_t g) const;
  std::string of_lost(std::size_t g) const;
  std::string torn_by_pins(std::size_t g) const;
  std::string advice(std::size_t g, const std::string& otherwise) const;
  std::string missed(const StepReport& r) const;
  void measure_memory();
  void measure_contacts();
  void measure_holds();
  void measure_limits();

  const ResolvedScene resolved_;
  const Scene& scene_;
  const Simulation& simulation_;
  std::vector<std::shared_ptr<const SeamNames>> seams_;
  std::vector<char> is_noted_;  ///< which garments are named in summary.frozen
  /// Frames of this run at which limits of strain gave way, and where they did so most.
  struct Overload {
    std::int64_t frames = 0;
    std::set<std::size_t> garments;
    std::size_t worst = 0;         ///< number of the garment whose limit gave way most
    double strain = 0, limit = 0;  ///< strain and limit of that garment
    void add(std::size_t garment, double found, double bound);
    bool is_new_frame = true;
  };
  void note_overloads();
  void note_overload(const Overload& found, const char* what, const char* key);
  Overload of_edges_, of_elements_;
  /// Least thickness over the core of what was squeezed below its core.
  double least_room_ = 1;
  double overpressure_ = 0;  ///< pressure on cloth that was squeezed to least_room_ [Pa]
};

}  // namespace isocloth
