#include "host/files/text_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/core/errors.hpp"
#include "host/files/json_text.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

TEST(TextFile, PipesDevicesAndFoldersAreRefusedAtOnce) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto refused = [](const std::filesystem::path& path) {
    return message_of<FileError>([&] { read_whole_file(path); });
  };
  EXPECT_EQ(refused(folder / "pipe"),
            (folder / "pipe").string() + ": found a pipe, expected a file; write its content to one");
  EXPECT_EQ(refused("/dev/zero"), "/dev/zero: found a device, expected a file; write its content to one");
  EXPECT_NE(refused(folder.path()).find("Is a directory"), std::string::npos);
  EXPECT_NE(refused(folder / "none").find("No such file"), std::string::npos);
}

TEST(TextFile, LengthsAreBounded) {
  const TemporaryFolder folder;
  const auto path = folder.write("text", "0123456789");
  EXPECT_EQ(read_whole_file(path, 10), "0123456789");
  EXPECT_EQ(message_of<FileError>([&] { read_whole_file(path, 9); }),
            path.string() + ": found 10 bytes, expected at most 9");
  // A file with a hole takes no room and is longer than any memory.
  const int hole = ::open((folder / "hole").c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(::ftruncate(hole, off_t{1} << 40), 0);
  ::close(hole);
  EXPECT_NE(
      message_of<FileError>([&] { read_whole_file(folder / "hole"); }).find("found 1099511627776 bytes"),
      std::string::npos);
}

TEST(Printable, IsUtf8AndCutsNoCharacter) {
  EXPECT_EQ(printable("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(printable("caf\xc3\xa9", 4), "caf...");
  EXPECT_EQ(printable("a\xff\xc3(\xed\xa0\x80z"),
            "a?"
            "?(???z");
  EXPECT_EQ(printable("\xf0\x9f\xa7\xb5\x1b[2J"), "\xf0\x9f\xa7\xb5 [2J");
  EXPECT_EQ(quoted_word("0123456789012345678901"), "\"01234567890123456789...\"");
}

TEST(JsonText, SaysWhereAndWhatButNotWhatWasThere) {
  const auto refused = [](const std::string& content) {
    return message_of<SceneError>([&] { parse_json(content, "scene.json"); });
  };
  EXPECT_EQ(refused("secret = hunter2\n").find("scene.json:1:1: syntax error"), 0u);
  EXPECT_EQ(refused("secret = hunter2\n").find('\''), std::string::npos) << refused("secret = hunter2\n");
  EXPECT_EQ(refused("{\"a\": 1 \"password\": 2}").find("password"), std::string::npos);
  EXPECT_NE(refused("{\"a\": 1 \"password\": 2}").find("expected"), std::string::npos);
  const std::string bad = refused("{\"a\": \"caf\xe9\"}");
  EXPECT_NE(bad.find("ill-formed UTF-8"), std::string::npos) << bad;
  EXPECT_EQ(bad, printable(bad, 1000));
}

}  // namespace
}  // namespace isocloth
