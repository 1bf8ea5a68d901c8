#include "host/app/interrupt.hpp"

#include <csignal>

namespace isocloth {
namespace {

volatile std::sig_atomic_t received = 0;

void receive(int signal) {
  received = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  std::signal(SIGINT, receive);
  std::signal(SIGTERM, receive);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::interrupted() const { return received != 0; }

}  // namespace isocloth
