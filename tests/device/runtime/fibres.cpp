#include "tests/device/runtime/fibres.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace isocloth::software {
namespace {

// Changes stacks. On x86-64 by what a function call must keep: ucontext asks the kernel for signal masks each
// time, which takes fifty times as long.
#if defined(__x86_64__)
extern "C" void isocloth_switch_stacks(void** from, void* to);
asm(R"(
.text
.type isocloth_switch_stacks, @function
isocloth_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size isocloth_switch_stacks, . - isocloth_switch_stacks
)");

class Context {
 public:
  void prepare(char* stack, std::size_t bytes, void (*entry)()) {
    void** top = reinterpret_cast<void**>(stack + bytes - 64);
    *--top = nullptr;  // the entry finds the stack aligned as after a call
    *--top = reinterpret_cast<void*>(entry);
    for (int kept = 0; kept < 6; ++kept) *--top = nullptr;
    pointer_ = top;
  }
  void switch_to(Context& other) { isocloth_switch_stacks(&pointer_, other.pointer_); }

 private:
  void* pointer_ = nullptr;
};
#else
class Context {
 public:
  void prepare(char* stack, std::size_t bytes, void (*entry)()) {
    getcontext(&context_);
    context_.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = bytes};
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
  }
  void switch_to(Context& other) { swapcontext(&context_, &other.context_); }

 private:
  ucontext_t context_{};
};
#endif

bool times_paths() {
  static const bool result = std::getenv("ISOCLOTH_TEST_DEVICE_PATHS") != nullptr;
  return result;
}
double now() {  // [cycles], or ns
#if defined(__x86_64__)
  return static_cast<double>(__builtin_ia32_rdtsc());
#else
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
#endif
}

constexpr std::size_t stack_bytes = 512 * 1024;

/// A stack, and the thread of the block that is on it.
struct Fibre {
  Context context;
  unsigned thread = 0;
  bool waits = false;           ///< at a barrier
  const void* place = nullptr;  ///< of that barrier
};

/// The block that runs. A fibre takes threads that nobody has begun until one of them meets a barrier: a
/// kernel without barriers takes a single fibre.
class Block {
 public:
  BlockRun run(std::size_t threads, const std::function<const std::vector<unsigned>&()>& order,
               const std::function<void(unsigned)>& enter, const std::function<void()>& thread) {
    enter_ = &enter;
    thread_ = &thread;
    at_.assign(threads, nullptr);
    BlockRun run;
    for (;; ++run.barriers) {
      order_ = &order();
      ended_ = 0;
      const bool begins = run.barriers == 0;
      if (times_paths()) run.path.push_back(0);
      for (next_ = 0; next_ < threads;) {
        current_ = begins ? &idle_fibre() : at_[(*order_)[next_]];
        takes_more_ = begins;
        if (!begins) ++next_;
        const double begin = times_paths() ? now() : 0;
        scheduler_.switch_to(current_->context);
        if (times_paths()) run.path.back() = std::max(run.path.back(), now() - begin);
      }
      if (ended_ == threads) return run;
      run.outcome = verdict();
      if (run.outcome != BlockRun::ended) {
        for (const auto& fibre : fibres_) fibre->waits = false;  // and their stacks are begun anew
        fibres_.clear();
        return run;
      }
    }
  }
  void wait(const void* place) {
    Fibre& own = *current_;
    own.waits = true;
    own.place = place;
    at_[own.thread] = &own;
    own.context.switch_to(scheduler_);
    own.waits = false;
    current_ = &own;
    (*enter_)(own.thread);
  }

 private:
  static void entry();
  /// All that a fibre does: threads to their ends.
  [[noreturn]] void work() {
    for (;;) {
      if (takes_more_ && next_ < at_.size()) {
        current_->thread = (*order_)[next_++];
        (*enter_)(current_->thread);
        (*thread_)();
        ++ended_;
      } else {
        current_->context.switch_to(scheduler_);
      }
      // A thread that went on after a barrier is over: its fibre has no other until the next block.
    }
  }
  BlockRun::Outcome verdict() const {
    if (ended_ > 0) return BlockRun::barrier_not_reached_by_all;
    for (const Fibre* fibre : at_)
      if (fibre->place != at_.front()->place) return BlockRun::barriers_at_different_places;
    return BlockRun::ended;
  }
  Fibre& idle_fibre() {
    for (const auto& fibre : fibres_)
      if (!fibre->waits) return *fibre;
    void* const stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) {
      std::perror("software device: no memory for the stack of a thread");
      std::abort();
    }
    mprotect(stack, 4096, PROT_NONE);
    Fibre& fibre = *fibres_.emplace_back(std::make_unique<Fibre>());
    fibre.context.prepare(static_cast<char*>(stack), stack_bytes, entry);
    return fibre;
  }

  const std::function<void(unsigned)>* enter_ = nullptr;
  const std::function<void()>* thread_ = nullptr;
  const std::vector<unsigned>* order_ = nullptr;
  std::size_t next_ = 0, ended_ = 0;
  bool takes_more_ = false;
  Fibre* current_ = nullptr;
  Context scheduler_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> at_;  ///< the fibre on which each thread waits
};

Block block;

void Block::entry() { block.work(); }

}  // namespace

BlockRun run_block(std::size_t threads, const std::function<const std::vector<unsigned>&()>& order,
                   const std::function<void(unsigned)>& enter, const std::function<void()>& thread) {
  return block.run(threads, order, enter, thread);
}

void wait_for_block(const void* place) { block.wait(place); }

}  // namespace isocloth::software
