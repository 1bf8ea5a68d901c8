#include "host/memory/transfers.hpp"

#include <utility>

namespace isocloth {
namespace {

constexpr std::size_t word = sizeof(std::uint32_t);

}  // namespace

void ArrayCopies::add(const void* from, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if (device_.backend().memory.host_accessible) {
    std::memcpy(to, from, bytes);
    return;
  }
  pieces_.push_back({.from = static_cast<const std::uint32_t*>(from),
                     .to = static_cast<std::uint32_t*>(to),
                     .words = static_cast<Index>(bytes / word)});
}

void ArrayCopies::launch() {
  const std::vector<CopyArrays::Piece> all = std::exchange(pieces_, {});
  for (std::size_t first = 0; first < all.size();) {
    CopyArrays args;
    for (; args.count < CopyArrays::most && first < all.size(); ++first)
      args.pieces[args.count++] = all[first];
    device_.backend().copy_arrays(device_.queue(), args);
  }
}

void Downloads::run() {
  const std::vector<TransferPiece> all = std::exchange(pieces_, {});
  if (all.empty()) return;
  const Memory& memory = device_.backend().memory;
  if (all.size() == 1) {
    device_.check(memory.download(device_.queue(), all[0].to, all[0].from, all[0].bytes));
    return;
  }
  std::size_t bytes = 0;
  for (const TransferPiece& piece : all) bytes += piece.bytes;
  auto* const together = static_cast<std::byte*>(device_.staging(bytes));
  ArrayCopies copies(device_);
  bytes = 0;
  for (const TransferPiece& piece : all) {
    copies.add(piece.from, together + bytes, piece.bytes);
    bytes += piece.bytes;
  }
  copies.launch();
  std::vector<std::byte> found(bytes);
  device_.check(memory.download(device_.queue(), found.data(), together, bytes));
  bytes = 0;
  for (const TransferPiece& piece : all) {
    std::memcpy(piece.to, found.data() + bytes, piece.bytes);
    bytes += piece.bytes;
  }
}

void Uploads::run() {
  const std::vector<TransferPiece> all = std::exchange(pieces_, {});
  const Memory& memory = device_.backend().memory;
  if (all.size() == 1 || memory.host_accessible) {
    for (const TransferPiece& piece : all)
      device_.check(memory.upload(device_.queue(), piece.to, piece.from, piece.bytes));
    return;
  }
  std::vector<std::byte> values;
  for (const TransferPiece& piece : all) {
    const auto* const from = static_cast<const std::byte*>(piece.from);
    values.insert(values.end(), from, from + piece.bytes);
  }
  if (values.empty()) return;
  auto* together = static_cast<std::byte*>(device_.staging(values.size()));
  device_.check(memory.upload(device_.queue(), together, values.data(), values.size()));
  ArrayCopies copies(device_);
  for (const TransferPiece& piece : all) {
    copies.add(together, piece.to, piece.bytes);
    together += piece.bytes;
  }
  copies.launch();
}

}  // namespace isocloth
