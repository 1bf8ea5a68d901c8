#include "host/results/frame_writer.hpp"

#include <pthread.h>
#include <signal.h>

#include <utility>

#include "engine/core/headroom.hpp"

namespace isocloth {
namespace {

constexpr std::size_t most_bytes = 64 << 20, batch_bytes = 1 << 18;
constexpr auto flush_interval = std::chrono::milliseconds(500);

std::size_t bytes_of(const TrajectoryFrame& frame) {
  return frame.positions.size() * sizeof(double) + frame.metrics.size() * sizeof(FrameMetrics) +
         (frame.obstacle_poses.size() + frame.contact_loads.size()) * sizeof(float);
}

/// A thread that gets no signals: those of the process go to the threads that it had before.
template <class Work>
std::thread thread_without_signals(Work work) {
  require_headroom(thread_headroom);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(work));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace

FrameWriter::FrameWriter(std::function<void(const TrajectoryFrame&)> write, std::function<void()> flush)
    : write_(std::move(write)),
      flush_(std::move(flush)),
      thread_(thread_without_signals([this] { work(); })) {}

FrameWriter::~FrameWriter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FrameWriter::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

void FrameWriter::push(TrajectoryFrame frame) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return error_ || waiting_bytes_ < most_bytes; });
  rethrow();
  const bool is_first = waiting_.empty();
  waiting_bytes_ += bytes_of(frame);
  waiting_.push_back(std::move(frame));
  const bool wakes = is_first || waiting_bytes_ >= batch_bytes;
  lock.unlock();
  if (wakes) changed_.notify_all();
}

void FrameWriter::drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  wants_flush_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return error_ || !wants_flush_; });
  rethrow();
}

void FrameWriter::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  bool is_unflushed = false;
  auto deadline = Clock::now() + flush_interval;  // of the next flush
  try {
    while (true) {
      if (waiting_.empty() && !is_unflushed) {
        changed_.wait(lock, [this] { return !waiting_.empty() || wants_flush_ || ends_; });
        deadline = Clock::now() + flush_interval;
      }
      // Small frames are left to gather: waking up for each would cost more than writing it.
      changed_.wait_until(lock, deadline,
                          [this] { return waiting_bytes_ >= batch_bytes || wants_flush_ || ends_; });
      const bool flushes = wants_flush_ || ends_ || Clock::now() >= deadline;
      std::deque<TrajectoryFrame> frames;
      frames.swap(waiting_);
      waiting_bytes_ = 0;
      lock.unlock();
      changed_.notify_all();
      for (const TrajectoryFrame& frame : frames) write_(frame);
      if (flushes) flush_();
      lock.lock();
      is_unflushed = !flushes;
      if (!flushes) continue;
      deadline = Clock::now() + flush_interval;
      if (!waiting_.empty()) continue;
      if (wants_flush_) {
        wants_flush_ = false;
        changed_.notify_all();
      }
      if (ends_) return;
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    error_ = std::current_exception();
    waiting_.clear();
    lock.unlock();
    changed_.notify_all();
  }
}

}  // namespace isocloth
