#include "host/app/progress.hpp"

#include <unistd.h>

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
  std::string bar;
  if (terminal_) {
    constexpr int width = 28;
    const int filled = static_cast<int>(share * width);
    bar = " [" + std::string(filled, '=') + std::string(width - filled, ' ') + "]";
  }
  std::fprintf(stderr, "%s%s%s %3.0f %%  %lld/%lld  %.4g/s  %s left  %s%s", terminal_ ? "\r" : "",
               what_.c_str(), bar.c_str(), 100 * share, static_cast<long long>(done),
               static_cast<long long>(total_), rate, clock_text(left).c_str(), note.c_str(),
               terminal_ ? "\033[K" : "\n");
  std::fflush(stderr);
  drawn_ = terminal_;
}

}  // namespace isocloth
