#include "host/app/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
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

/// Of the terminal behind standard error.
std::size_t column_count() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(std::string what, std::int64_t total, std::int64_t done, bool quiet)
    : what_(std::move(what)),
      total_(total),
      first_(done),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      printed_(done),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputc('\n', stderr);
}

void Progress::update(std::int64_t done, const std::string& note) {
  if (quiet_) return;
  const auto now = Clock::now();
  const bool due = terminal_ ? now - last_ > std::chrono::milliseconds(100)
                             : 10 * (done - printed_) >= total_ && now - last_ > std::chrono::seconds(30);
  if (!due && !(terminal_ && done == total_)) return;
  last_ = now;
  printed_ = done;
  print(done, note);
}

void Progress::print(std::int64_t done, const std::string& note) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - first_) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
  const double share = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 1;
  char text[160];
  std::snprintf(text, sizeof text, " %3.0f %%  %lld/%lld  %.4g/s  %s left  %s", 100 * share,
                static_cast<long long>(done), static_cast<long long>(total_), rate, clock_text(left).c_str(),
                note.c_str());
  std::string line = what_ + text;
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
