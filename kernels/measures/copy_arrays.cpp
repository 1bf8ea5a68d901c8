#include "kernels/measures/copy_arrays.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

struct CopyBody {
  const std::uint32_t* from[CopyArrays::most];
  std::uint32_t* to[CopyArrays::most];
  Index words[CopyArrays::most];

  ISOCLOTH_DEVICE void operator()(Index word) const {
    Index piece = 0;
    for (; word >= words[piece]; ++piece) word -= words[piece];
    to[piece][word] = from[piece][word];
  }
};

}  // namespace

void copy_arrays(const Queue& queue, const CopyArrays& args) {
  CopyBody body{};
  Index words = 0;
  for (Index p = 0; p < args.count; ++p) {
    body.from[p] = args.pieces[p].from;
    body.to[p] = args.pieces[p].to;
    body.words[p] = args.pieces[p].words;
    words += args.pieces[p].words;
  }
  parallel_for(queue, words, body);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
