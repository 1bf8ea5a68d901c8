// A folder of tables and pictures that grows while they are computed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/results/result_options.hpp"
#include "host/results/working_folder.hpp"

namespace isocloth {

/// The file `mark` tells a folder of this kind, `what` of it ("sweep") is for messages. Removes the folders
/// that it created unless they are kept.
class OutputFolder {
 public:
  /// Checks the place, creates nothing. Throws FileError: see IfExists.
  OutputFolder(const std::filesystem::path& dir, IfExists if_exists, const std::string& mark,
               std::string what);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Creates the folder and the folders above it, empty, and locks it. Throws FileError where it cannot, or
  /// cannot write there.
  void create();
  /// Locks the folder until this object goes or its process does. Throws FileError while another process
  /// holds it.
  void lock();
  void keep() { is_kept_ = true; }
  bool is_kept() const { return is_kept_; }
  const std::filesystem::path& path() const { return dir_; }

 private:
  std::filesystem::path dir_;
  const std::string what_;
  OwnedFile lock_;
  std::vector<std::filesystem::path> created_;  // from the top down
  bool is_kept_ = false;
};

struct FileContent {
  std::filesystem::path path;
  std::string content;
};
/// Writes all of them under temporary names, then renames them in order. Throws FileError.
void replace_files(const std::vector<FileContent>& files);

}  // namespace isocloth
