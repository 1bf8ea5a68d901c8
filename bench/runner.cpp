#include "bench/runner.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "bench/timing.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/scene/scene_file.hpp"

namespace isocloth::bench {

RunFigures run_until(Simulation& simulation, double t, const StepObserver& observe) {
  RunFigures figures;
  std::int64_t iterations = 0, violated = 0;
  while (simulation.time() < t - simulation.scene().step / 2) {
    StepReport report;
    figures.cpu_seconds += thread_cpu_seconds([&] { report = simulation.step()[0]; });
    figures.wall_seconds += report.wall_seconds;
    ++figures.steps;
    iterations += report.iterations;
    violated += report.status != StepStatus::converged;
    figures.iterations_max = std::max(figures.iterations_max, report.iterations);
    figures.residual_max = std::max(figures.residual_max, report.residual);
    figures.finite = !has_failed(report.status);
    if (!figures.finite) break;
    if (observe) observe(simulation, report);
  }
  const double steps = std::max(1.0, static_cast<double>(figures.steps));
  figures.row_strain_max = ResolvedScene(simulation.scene()).row_strain(figures.residual_max);
  figures.iterations_mean = static_cast<double>(iterations) / steps;
  figures.violated_percent = 100 * static_cast<double>(violated) / steps;
  return figures;
}

void for_each_case(std::size_t count, int workers, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < workers; ++i) threads.emplace_back(loop);
  loop();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

void say(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::fprintf(stderr, "%s\n", line.c_str());
}

ExecutionOptions one_thread(Precision precision) {
  ExecutionOptions options;
  options.precision = precision;
  options.threads = 1;
  options.measure_strain = false;
  return options;
}

Scene bench_scene(const std::string& name) {
  std::filesystem::path scenes(ISOCLOTH_SCENES);
  if (!std::filesystem::exists(scenes))
    scenes = "bench/scenes";  // carried elsewhere: run from the tree's root
  return read_scene(scenes / (name + ".json"));
}

Index nearest_node(const std::vector<Vec3d>& positions, const Vec3d& point) {
  const auto nearest =
      std::min_element(positions.begin(), positions.end(),
                       [&](const Vec3d& a, const Vec3d& b) { return norm(a - point) < norm(b - point); });
  return static_cast<Index>(nearest - positions.begin());
}

}  // namespace isocloth::bench
