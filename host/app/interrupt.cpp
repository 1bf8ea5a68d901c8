#include "host/app/interrupt.hpp"

#include <csignal>

namespace isocloth {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<Monitor*> listener{nullptr};
static_assert(std::atomic<Monitor*>::is_always_lock_free);

void use_defaults() {
  for (const int signal : signals) {
    const auto before = std::signal(signal, SIG_DFL);
    if (before == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void receive(int) {
  if (Monitor* const monitor = listener.load()) monitor->stop = true;
  use_defaults();
}

}  // namespace

InterruptGuard::InterruptGuard(Monitor& monitor) {
  listener = &monitor;
  for (const int signal : signals) {
    const auto before = std::signal(signal, receive);
    if (signal == SIGHUP && before == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

InterruptGuard::~InterruptGuard() {
  use_defaults();
  listener = nullptr;
}

}  // namespace isocloth
