#include "host/results/output_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_folder(const fs::path& path, const std::string& message) {
  throw FileError(text(path.string(), ": ", message));
}

}  // namespace

OutputFolder::OutputFolder(const fs::path& dir, IfExists if_exists, const std::string& mark, std::string what)
    : what_(std::move(what)) {
  require_enum<FileError>("if_exists", if_exists, IfExists::resume);
  if (dir.empty()) throw FileError("output: found an empty name, expected a folder");
  const fs::path normal = fs::absolute(dir).lexically_normal();
  dir_ = normal.has_filename() ? normal : normal.parent_path();
  std::error_code error;
  const fs::file_status status = fs::status(dir_, error);
  const bool exists = fs::exists(status);
  if (exists && !fs::is_directory(status))
    refuse_folder(dir_, "found a file, expected a folder for the results or nothing");
  const bool is_known = fs::exists(dir_ / mark, error);
  const bool is_empty = !exists || fs::is_empty(dir_, error);
  if (if_exists == IfExists::resume && !is_known)
    refuse_folder(dir_, text("found no ", what_, ", expected one that --resume can go on with"));
  if (if_exists == IfExists::refuse && !is_empty)
    refuse_folder(dir_, text("found a folder that is not empty, expected a new one; name another",
                             is_known ? ", or use --overwrite or --resume" : ""));
  if (if_exists == IfExists::overwrite && !is_empty && !is_known)
    refuse_folder(dir_, text("found a folder of other files, expected a ", what_,
                             " that --overwrite may replace; name another"));
}

OutputFolder::~OutputFolder() {
  if (is_kept_) return;
  std::error_code ignored;
  for (auto path = created_.rbegin(); path != created_.rend(); ++path) fs::remove(*path, ignored);
}

void OutputFolder::lock() {
  lock_ = OwnedFile(::open(dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.descriptor() >= 0 && ::flock(lock_.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refuse_folder(dir_, text("found another ", what_,
                             " that writes there now, expected none; wait for it or name another"));
}

void OutputFolder::create() {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path above = dir_; !fs::exists(above, error) && !error; above = above.parent_path())
    missing.push_back(above);
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    if (!fs::create_directory(*path, error) && error)
      refuse_folder(dir_, text("cannot create ", path->string(), ": ", error.message()));
    created_.push_back(*path);
  }
  if (::access(dir_.c_str(), W_OK | X_OK) != 0)
    refuse_folder(dir_, text("cannot write: ", std::strerror(errno)));
  lock();
}

void replace_files(const std::vector<FileContent>& files) {
  const auto unfinished = [](const FileContent& file) {
    std::filesystem::path path = file.path;
    return path += ".unfinished";
  };
  std::error_code error, ignored;
  try {
    for (const FileContent& file : files) write_whole_file(unfinished(file), file.content);
    for (const FileContent& file : files) {
      std::filesystem::rename(unfinished(file), file.path, error);
      if (error) throw FileError(text(file.path.string(), ": cannot write: ", error.message()));
    }
  } catch (const FileError&) {
    for (const FileContent& file : files) std::filesystem::remove(unfinished(file), ignored);
    throw;
  }
}

}  // namespace isocloth
