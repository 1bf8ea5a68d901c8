// The folder in which a run writes until it is done, and its way to the place where it was asked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/results/result_options.hpp"

namespace isocloth {

/// A file descriptor of its own; closed with it.
class OwnedFile {
 public:
  explicit OwnedFile(int descriptor = -1) : descriptor_(descriptor) {}
  ~OwnedFile();
  OwnedFile(OwnedFile&& other) noexcept;
  OwnedFile& operator=(OwnedFile&& other) noexcept;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// DIR.partial-PID beside DIR, locked while its process lives, so that a second run into DIR is refused at
/// its start and what a killed one left blocks nobody. A symbolic link is followed: what it points to is DIR.
/// All members throw FileError naming DIR, what was found and what to do.
class WorkingFolder {
 public:
  /// Looks only, creates nothing. Throws for a DIR that does not fit `if_exists` and for a run that is
  /// writing to it.
  WorkingFolder(const std::filesystem::path& dir, IfExists if_exists);
  const std::filesystem::path& target() const { return dir_; }
  const std::filesystem::path& path() const { return working_; }
  /// Folders above DIR that create made, from the top down.
  const std::vector<std::filesystem::path>& parents() const { return parents_; }
  /// What a run may be continued from: DIR and what killed or failed runs left beside it, newest checkpoint
  /// first; not what was left without a checkpoint. Throws when nothing was left at all.
  std::vector<std::filesystem::path> resumable() const;
  /// DIR.partial-PID of processes that are gone.
  std::vector<std::filesystem::path> leftovers() const;

  /// Makes the folders above and the folder itself; of several processes that try, one succeeds.
  void create();
  /// Renames to DIR; what was there is removed, and folders `superseded` that nobody writes to, too.
  void publish(const std::vector<std::filesystem::path>& superseded);
  /// Removes everything, and the folders above that create made.
  void remove();

 private:
  void check_target() const;
  void check_runs() const;
  void create_parents();

  std::filesystem::path dir_, working_;
  IfExists if_exists_;
  std::vector<std::filesystem::path> parents_;
  OwnedFile lock_;
};

}  // namespace isocloth
