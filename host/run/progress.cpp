#include "host/run/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

namespace isocloth {
namespace {

std::string clock_text(double seconds) {
  char text[32];
  const long s = static_cast<long>(seconds + 0.5);
  if (s >= 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld", s / 60, s % 60);
  return text;
}

/// Number of columns of the terminal behind standard error.
std::size_t column_count() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Pauses between two lines where there is no terminal [s], the first in the middle of an item; share of the
/// time gone.
constexpr double pause_inside = 5, pause_between = 10, longest_pause = 60, share_of_time = 0.1;
constexpr double redraw_pause = 0.1;  ///< pause between two drawings on a terminal [s]
/// An item is long, and one wants to know how far it is, from this time on [s].
constexpr double long_item = 1;

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Progress::Progress(std::string what, std::int64_t total, std::int64_t done, bool quiet,
                   const Monitor* monitor)
    : what_(std::move(what)),
      total_(total),
      first_(done),
      monitor_(monitor),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      done_(done) {
  if (quiet_) return;
  if (monitor_ != nullptr) iterations_ = monitor_->iterations;
  try {
    watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  } catch (const std::system_error&) {
    quiet_ = true;  // no room for another thread: the work goes on, and nobody says how far it is
  }
}

Progress::~Progress() {
  if (!quiet_) {
    watcher_.request_stop();
    watcher_.join();
  }
  if (drawn_) std::fputc('\n', stderr);
}

void Progress::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, std::chrono::milliseconds(500), [] { return false; });
    if (!stop.stop_requested() && seconds_between(updated_, Clock::now()) > long_item) print_if_due(false);
  }
}

void Progress::update(std::int64_t done, const std::string& note) {
  if (quiet_) return;
  const std::scoped_lock lock(mutex_);
  done_ = done;
  note_ = note;
  updated_ = Clock::now();
  if (monitor_ != nullptr) iterations_ = monitor_->iterations;
  print_if_due(true);
}

void Progress::update(std::int64_t done, double realtime_factor) {
  char note[64];
  std::snprintf(note, sizeof note, "%.3gx real time", realtime_factor);
  update(done, note);
}

void Progress::print_if_due(bool is_update) {
  const auto now = Clock::now();
  const double pause = terminal_ ? redraw_pause
                                 : std::clamp(share_of_time * seconds_between(start_, now),
                                              is_update ? pause_between : pause_inside, longest_pause);
  const bool is_last = is_update && terminal_ && done_ == total_;
  if (seconds_between(printed_, now) < pause && !is_last) return;
  printed_ = now;
  print();
}

std::string Progress::inside() const {
  const double seconds = seconds_between(updated_, Clock::now());
  if (monitor_ == nullptr || seconds < long_item) return {};
  char text[120];
  std::snprintf(text, sizeof text, "; in the next for %s: %lld iterations, part %d of %d",
                clock_text(seconds).c_str(), static_cast<long long>(monitor_->iterations - iterations_),
                monitor_->part + 1, monitor_->parts.load());
  return text;
}

void Progress::print() {
  const double seconds = seconds_between(start_, Clock::now());
  const double rate = seconds > 0 ? static_cast<double>(done_ - first_) / seconds : 0;
  const std::string left =
      rate > 0 ? "  " + clock_text(static_cast<double>(total_ - done_) / rate) + " left" : "";
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1;
  char text[160];
  std::snprintf(text, sizeof text, " %3.0f %%  %lld/%lld  %.4g/s%s%s", 100 * share,
                static_cast<long long>(done_), static_cast<long long>(total_), rate, left.c_str(),
                note_.empty() ? "" : ("  " + note_).c_str());
  std::string line = what_ + text + inside();
  if (terminal_) {
    // A line that wraps could not be redrawn.
    const std::size_t room = column_count() - 1;
    const std::size_t width = std::min<std::size_t>(28, room - std::min(room, line.size() + 3));
    if (width >= 4) {
      const auto filled = static_cast<std::size_t>(share * static_cast<double>(width));
      line.insert(what_.size(), " [" + std::string(filled, '=') + std::string(width - filled, ' ') + "]");
    }
    line.resize(std::min(line.size(), room));
  }
  std::fprintf(stderr, "%s%s%s", terminal_ ? "\r" : "", line.c_str(), terminal_ ? "\033[K" : "\n");
  std::fflush(stderr);
  drawn_ = terminal_;
}

}  // namespace isocloth
