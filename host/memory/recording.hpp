// Launches that repeat, sent as one.
#pragma once

#include <string>

#include "engine/core/errors.hpp"
#include "host/memory/device.hpp"

namespace isocloth {

/// Hundreds of small launches cost more than they compute, each some microseconds. Where the backend records
/// (as a CUDA graph), the same sequence costs one launch from its second time on.
class Recording {
 public:
  /// The device must outlive it.
  explicit Recording(const Device& device) : device_(device) {}
  ~Recording() { forget(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Whether run() can repeat what it is given.
  bool can_repeat() const {
    const Memory& memory = device_.backend().memory;
    return memory.can_repeat != nullptr && memory.can_repeat();
  }
  /// launch(queue): launches kernels on the device's queue, and copies nothing; since the last forget() the
  /// same ones with the same arguments. The first time they are sent one by one, as loading a kernel may wait
  /// for the device. repeat_while: a number on the device; later times the launches repeat, where that
  /// can_repeat(), until they leave 0 there. Null: they do not. Throws DeviceError when the backend fails.
  template <class Launch>
  void run(const Launch& launch, const Index* repeat_while = nullptr) {
    const Memory& memory = device_.backend().memory;
    if (memory.begin_recording == nullptr || !ran_) {
      launch(device_.queue());
      ran_ = true;
      return;
    }
    if (recording_ == nullptr) {
      check(memory.begin_recording(device_.queue()));
      launch(device_.queue());
      check(memory.end_recording(device_.queue(), repeat_while, &recording_));
    }
    check(memory.replay(device_.queue(), recording_));
  }
  /// The next launches are others. Nothing recorded may run any more.
  void forget() {
    forget_arguments();
    ran_ = false;
  }
  /// The next launches are of the same kernels with other arguments. Nothing recorded may run any more.
  void forget_arguments() {
    if (recording_ != nullptr) device_.backend().memory.release_recording(device_.queue(), recording_);
    recording_ = nullptr;
  }

 private:
  void check(bool worked) const {
    if (!worked)
      throw DeviceError(std::string(device_.backend().name) +
                        ": launches cannot be recorded: " + device_.backend().memory.last_error());
  }

  const Device& device_;
  bool ran_ = false;
  void* recording_ = nullptr;
};

}  // namespace isocloth
