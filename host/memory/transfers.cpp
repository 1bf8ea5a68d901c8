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
  if (memory.host_accessible) {
    for (const TransferPiece& piece : all)
      device_.check(memory.upload(device_.queue(), piece.to, piece.from, piece.bytes));
    return;
  }
  std::size_t bytes = 0;
  for (const TransferPiece& piece : all) bytes += piece.bytes;
  if (bytes == 0) return;
  const bool is_one = all.size() == 1;
  auto* to = static_cast<std::byte*>(is_one ? all.front().to : device_.staging(bytes));
  void* const room = device_.upload_room(bytes);
  std::vector<std::byte> values(room == nullptr ? bytes : 0);
  auto* const from = room != nullptr ? static_cast<std::byte*>(room) : values.data();
  bytes = 0;
  for (const TransferPiece& piece : all) {
    std::memcpy(from + bytes, piece.from, piece.bytes);
    bytes += piece.bytes;
  }
  device_.check(room != nullptr ? memory.begin_upload(device_.queue(), to, from, bytes)
                                : memory.upload(device_.queue(), to, from, bytes));
  if (is_one) return;
  ArrayCopies copies(device_);
  for (const TransferPiece& piece : all) {
    copies.add(to, piece.to, piece.bytes);
    to += piece.bytes;
  }
  copies.launch();
}

}  // namespace isocloth
