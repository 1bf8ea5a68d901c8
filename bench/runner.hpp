// Runs scenes and keeps what the tables need.
#pragma once

#include <functional>
#include <string>

#include "host/simulation/simulation.hpp"

namespace isocloth::bench {

/// Of all steps of one run.
struct RunFigures {
  std::int64_t steps = 0;
  double iterations_mean = 0;   ///< per step
  int iterations_max = 0;       ///< of one step
  double violated_percent = 0;  ///< steps that missed their tolerance
  double residual_max = 0;      ///< largest |scaled row| at the end of any step
  double row_strain_max = 0;    ///< strain that rows off by so much may have
  double wall_seconds = 0;      ///< of the steps
  double cpu_seconds = 0;       ///< of the calling thread in the steps
  bool finite = true;           ///< false: the run ended early
};

using StepObserver = std::function<void(const Simulation&, const StepReport&)>;

/// Steps a simulation of one garment until time t; `observe` is called after each step and is not timed.
RunFigures run_until(Simulation& simulation, double t, const StepObserver& observe = {});

/// Calls work(0) ... work(count - 1) on that many threads; passes the first exception on.
void for_each_case(std::size_t count, int workers, const std::function<void(std::size_t)>& work);

/// One line on standard error.
void say(const std::string& line);

/// One CPU thread, so that cases run beside each other; strain is measured where it is not timed.
ExecutionOptions one_thread(Precision precision = Precision::float64);

/// Reads NAME.json of the folder of benchmark scenes.
Scene bench_scene(const std::string& name);

/// Index of the position nearest to a point.
Index nearest_node(const std::vector<Vec3d>& positions, const Vec3d& point);

}  // namespace isocloth::bench
