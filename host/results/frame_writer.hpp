// Writing frames beside the computation that makes them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "host/results/trajectory_layout.hpp"

namespace isocloth {

/// Hands frames, in order, to a thread that writes them. The queue is bounded: push waits while too much is
/// waiting. Twice a second all is flushed, so that a killed run loses no more. An exception of the thread
/// ends it and is thrown by every later call.
class FrameWriter {
 public:
  /// Starts the thread, which alone calls `write` and `flush`.
  FrameWriter(std::function<void(const TrajectoryFrame&)> write, std::function<void()> flush);
  /// Writes and flushes what is waiting; what goes wrong then is lost: drain tells.
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  void push(TrajectoryFrame frame);
  /// Returns when all frames are written and flushed, and the thread waits for the next.
  void drain();

 private:
  using Clock = std::chrono::steady_clock;
  void work();
  void rethrow() const;

  std::function<void(const TrajectoryFrame&)> write_;
  std::function<void()> flush_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TrajectoryFrame> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool wants_flush_ = false, ends_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace isocloth
