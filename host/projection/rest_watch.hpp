// How long a garment has been at rest, and whether it sleeps.
#pragma once

#include <algorithm>
#include <optional>

#include "engine/model/scene.hpp"
#include "host/state/step_report.hpp"
#include "host/state/strain.hpp"

namespace isocloth {

/// Counts for how long a garment has rested: its steps were taken, and none of its nodes was faster than
/// SleepSettings::speed. One that has for SleepSettings::after may sleep: its steps leave it as it is.
class RestWatch {
 public:
  explicit RestWatch(const SleepSettings& settings) : settings_(settings) {}

  bool exists() const { return settings_.after > 0; }
  bool may_sleep() const { return exists() && time_ >= settings_.after * (1 - 1e-9); }
  /// A step of h [s] was taken, at whose end the fastest node has this speed [m/s].
  void note(const StepReport& step, double fastest, double h) {
    time_ = step.status <= StepStatus::cut && fastest <= settings_.speed ? time_ + h : 0;
  }
  void wake() { time_ = 0; }
  void sleep(bool sleeps) {
    if (!sleeps) strain_.reset();
    is_asleep_ = sleeps;
  }
  bool is_asleep() const { return is_asleep_; }
  /// What a step that is slept through says.
  static StepReport report() { return {.asleep = 1}; }

  double time() const { return time_; }  ///< [s]
  void set_time(double time) {
    time_ = time;
    sleep(false);
  }
  /// Takes note of obstacles whose motions or friction were told anew (ObstacleTable::version()).
  void see(int obstacles_version) {
    if (obstacles_version_.value_or(obstacles_version) != obstacles_version) wake();
    obstacles_version_ = obstacles_version;
  }
  /// Strain of a garment that sleeps, which does not change; none: not measured yet.
  std::optional<Strain>& strain() { return strain_; }

 private:
  const SleepSettings settings_;
  double time_ = 0;
  bool is_asleep_ = false;
  std::optional<int> obstacles_version_;
  std::optional<Strain> strain_;
};

}  // namespace isocloth
