// A running scene as Python holds it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/energy/energy_balance.hpp"
#include "host/files/in_file.hpp"
#include "host/python/src/interruptible.hpp"
#include "host/run/prepare_scene.hpp"
#include "host/run/sew.hpp"
#include "host/scene/scene_file.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/step_report.hpp"

namespace isocloth::python {

/// Of one scene; the lock of the interpreter is given up while it steps, and nothing else may then be asked.
class Runner {
 public:
  Runner(const std::string& path, const FileAccess& access, const ExecutionOptions& options,
         bool balances_energy) {
    ExecutionOptions own = options;
    own.monitor = &monitor_;
    run_interruptible(monitor_, [&] {
      SewingPlan sewing;
      Scene scene = read_scene(path, warnings_, sewing, access, MonitorView(&monitor_));
      if (sewing.stage) scene = sewn(std::move(scene), sewing, path, own);
      simulation_.emplace(start_simulation(scene, path, own));
      for (const std::string& line : start_warnings(scene, start_intersections(scene, *simulation_), path,
                                                    own.precision, simulation_->separation()))
        warnings_.push_back(line);
      for (const std::string& line : simulation_->obstacle_notes()) warnings_.push_back(line);
      if (!balances_energy) return;
      try {
        balance_.emplace(*simulation_);
      } catch (const SceneError& error) {
        throw SceneError(text(path, ": ", error.what()));
      }
    });
  }

  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Seams that stayed open when the scene was sewn, each with its cause.
  const std::vector<std::string>& unclosed_seams() const { return unclosed_seams_; }

  Simulation& idle() {
    if (is_busy_)
      throw Error(
          "the simulation is stepping in another thread, or asks a force: wait for it, make one per thread, "
          "or "
          "use what the force is given");
    return *simulation_;
  }

  /// For Python's repr.
  std::string words() const {
    if (is_busy_) return "Simulation(stepping)";
    const Simulation& s = *simulation_;
    return text("Simulation(garments=", s.garment_count(), ", step_index=", s.step_index(),
                ", time=", s.time(), ")");
  }

  std::vector<StepReport> advance(int steps) {
    Simulation& simulation = idle();
    std::vector<StepReport> reports;
    work(steps, [&] {
      reports = balance_     ? balance_->advance(steps)
                : steps == 1 ? simulation.step()
                             : simulation.advance(steps);
    });
    return reports;
  }

  /// Of every garment.
  std::vector<EnergySums> energy_balance() {
    idle();
    if (!balance_)
      throw Error("energy_balance: found a simulation without one, expected Simulation(energy_balance=True)");
    std::vector<EnergySums> all;
    for (std::size_t g = 0; g < simulation_->garment_count(); ++g) all.push_back(balance_->sums(g));
    return all;
  }
  bool has_energy_balance() const { return balance_.has_value(); }

  /// Where it steps: does `errand` in the thread that asked for the steps.
  template <class Errand>
  void run_in_caller(const Errand& errand) {
    caller_.run(errand);
  }

  /// Does what takes as long as so many steps, without the interpreter's lock; Ctrl-C ends it. What a
  /// function of Python threw is thrown as it was.
  template <class Work>
  void work(int steps, const Work& what) {
    try {
      work_busily(steps, what);
    } catch (const ForceError& error) {
      try {
        std::rethrow_if_nested(error);
      } catch (const nanobind::python_error&) {
        throw;
      } catch (...) {
        // It is in the message.
      }
      throw;
    }
  }

 private:
  /// The scene as it is sewn before time begins. Throws SceneError where seams stay open and that is to stop
  /// it.
  Scene sewn(Scene scene, const SewingPlan& plan, const std::string& path, const ExecutionOptions& options) {
    SewnScene sewn = in_file(path, [&] { return sew(std::move(scene), plan, options); });
    for (const UnclosedSeam& seam : sewn.unclosed) unclosed_seams_.push_back(describe(seam, sewn.scene));
    if (!sewn.unclosed.empty() && plan.stage->if_open == IfOpen::stop)
      throw SceneError(
          text(path, ": sewing: ", describe(sewn), "; sewing.if_open \"continue\" goes on all the same"));
    return std::move(sewn.scene);
  }

  struct Busy {
    explicit Busy(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
    ~Busy() { flag_ = false; }
    std::atomic<bool>& flag_;
  };

  template <class Work>
  void work_busily(int steps, const Work& what) {
    const Busy busy(is_busy_);
    const auto begin = std::chrono::steady_clock::now();
    // A thread costs as much as a small cloth's step.
    constexpr double soon = 0.02;
    if (steps == 1 && last_seconds_ < soon)
      run_here(monitor_, what);
    else
      run_interruptible(monitor_, caller_, what);
    last_seconds_ =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / std::max(steps, 1);
  }

  Monitor monitor_;
  Caller caller_;
  std::vector<std::string> warnings_, unclosed_seams_;
  std::optional<Simulation> simulation_;
  std::optional<EnergyBalance> balance_;  ///< takes the steps, where it is asked for
  std::atomic<bool> is_busy_{false};
  double last_seconds_ = 1;
};

}  // namespace isocloth::python
