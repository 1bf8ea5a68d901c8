// Sheets held by impulses against real time: what a frame takes where the strain is as small as asked for.
#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "bench/commands.hpp"
#include "bench/impulse.hpp"
#include "bench/runner.hpp"
#include "bench/sheets.hpp"
#include "bench/timing.hpp"
#include "engine/core/text.hpp"

namespace isocloth::bench {
namespace {

constexpr double frame = 1.0 / 60;  // [s]

struct Case {
  Index side = 0;
  std::size_t cloths = 0;
};

/// SIDE:COUNT.
Case parse_case(const std::string& sheets) {
  Case c;
  const char *const begin = sheets.data(), *const end = begin + sheets.size();
  const auto side = std::from_chars(begin, end, c.side);
  const bool has_count = side.ec == std::errc() && side.ptr != end && *side.ptr == ':';
  const auto cloths = std::from_chars(has_count ? side.ptr + 1 : end, end, c.cloths);
  if (cloths.ec != std::errc() || cloths.ptr != end || c.side < 3 || c.side > 1025 || c.cloths < 1 ||
      c.cloths > 1 << 20)
    throw std::invalid_argument(text("--sheets: found \"", sheets,
                                     "\", expected SIDE:COUNT, 3 to 1025 nodes a side and 1 to ", 1 << 20,
                                     " cloths, as in 20:4096"));
  return c;
}

/// Sheets that swing from 45 degrees, each with an air drag of its own. parts: of a frame, one sweep each; 0:
/// undivided, swept until the tolerance is met.
Scene swinging_sheets(const Case& c, int parts, double tolerance) {
  Scene scene = sheet_from_45_degrees(c.side);
  scene.step = frame;
  scene.impulse.tolerance = tolerance;
  scene.impulse.mode = parts > 0 ? ImpulseMode::substeps : ImpulseMode::converge;
  scene.impulse.substeps = parts;
  repeat_garment(scene, c.cloths, [](Fabric& fabric, double part) { fabric.mass_damping *= 1 + 0.5 * part; });
  return scene;
}

/// Of the frames of one run, all cloths together.
struct Figures {
  std::string solver;
  int frames = 0;
  Seconds total;
  double slowest = 0;       ///< mean wall time of a frame in the slowest chunk [s]
  double sweeps = 0;        ///< per cloth and frame
  double strain = 0;        ///< worst that the solver says, over cloths and frames
  double strain_final = 0;  ///< from positions, worst of up to 32 cloths after the last frame
  bool finite = true;
};

Figures run(const Case& c, int parts, const FramesRequest& request, Precision precision) {
  constexpr int chunk = 10;
  const Scene scene = swinging_sheets(c, parts, request.strain);
  ExecutionOptions options = request.execution;
  options.precision = precision;
  options.measure_strain = false;
  Simulation simulation(scene, options);
  simulation.advance(1);  // what the first launches cost is not measured
  simulation.reset();
  Figures f;
  f.solver = simulation.info(0).solver;
  while (f.finite && f.frames < request.frames && f.total.wall < request.budget) {
    const int count = std::min(chunk, request.frames - f.frames);
    std::vector<StepReport> reports;
    const Seconds spent = time_of([&] { reports = simulation.advance(count); });
    f.total = f.total + spent;
    f.frames += count;
    f.slowest = std::max(f.slowest, spent.wall / count);
    for (const StepReport& report : reports) {
      f.finite = f.finite && !has_failed(report.status);
      f.strain = std::max(f.strain, report.residual);
      f.sweeps += report.iterations;
    }
  }
  f.sweeps /= static_cast<double>(c.cloths) * f.frames;
  const EdgeLengths edges(scene.garments[0].mesh);
  for (std::size_t i = 0; i < c.cloths; i += std::max<std::size_t>(1, c.cloths / 32))
    f.strain_final = std::max(f.strain_final, edges.strain(simulation.positions(i)).largest);
  return f;
}

}  // namespace

std::vector<Table> measure_frames(const FramesRequest& request) {
  Table table{
      .title = "Sheets held by impulses, frames of 1/60 s, " + request.execution.backend,
      .columns = {"sheet", "cloths", "precision", "solver", "parts of a frame", "frames",
                  "sweeps per cloth and frame", "wall per frame [ms]", "in the slowest ten [ms]",
                  "CPU per frame [ms]", "x real time", "wall per cloth and frame [us]",
                  "largest strain of all frames [%]", "after the last frame [%]", "strain reached"},
      .rows = {},
      .notes = {text("Sheets of 1 m that swing from 45 degrees, hung by two corners 5 % nearer than at rest; "
                     "edges alone, no springs. Parts with a sweep each, twice as many until no edge was off "
                     "by more than ",
                     100 * request.strain,
                     " % after any frame; last, an undivided frame swept until that holds. Frames: ",
                     request.frames, ", fewer where they took more than ", request.budget,
                     " s, ten in a call. Times are means, of all cloths together; CPU: of all threads. "
                     "Strain: of all frames as the solver says, after the last one from positions.")}};
  std::vector<Case> cases;
  for (const std::string& sheets : request.sheets) cases.push_back(parse_case(sheets));
  for (const Case& c : cases)
    for (const Precision precision : request.precisions) {
      const auto add = [&](int parts) {
        const Figures f = run(c, parts, request, precision);
        const double wall = f.total.wall / f.frames;
        const bool reached = f.finite && f.strain <= request.strain;
        table.rows.push_back({grid_name(c.side), c.cloths, to_string(precision), f.solver,
                              parts > 0 ? Json(parts) : Json("undivided"),
                              f.finite ? Json(f.frames) : Json(text("not finite after ", f.frames)), f.sweeps,
                              1000 * wall, 1000 * f.slowest, 1000 * f.total.cpu / f.frames, frame / wall,
                              1e6 * wall / static_cast<double>(c.cloths), 100 * f.strain,
                              100 * f.strain_final, reached});
        say(text(c.cloths, " of ", grid_name(c.side), ", ", to_string(precision), ", ", parts,
                 " parts: ", 1000 * wall, " ms per frame, strain ", f.strain));
        return reached;
      };
      constexpr int first_parts = 16, most_parts = 4096;
      for (int parts = first_parts; parts <= most_parts && !add(parts); parts *= 2) continue;
      add(0);
    }
  return {table};
}

}  // namespace isocloth::bench
