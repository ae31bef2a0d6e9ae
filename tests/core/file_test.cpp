#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/temporary_folder.h"
#include <attograd/core/error.h>
#include <attograd/core/file.h>

namespace attograd {
namespace {

using Names = std::vector<std::string>;

void write(const std::filesystem::path& path, std::string_view content) {
  replace_file(path, {{content}});
}

/// No file may grow beyond this while one is alive: what a full disk looks like to a program.
class WriteLimit {
 public:
  explicit WriteLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~WriteLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  WriteLimit(const WriteLimit&) = delete;
  WriteLimit& operator=(const WriteLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_CASE("a file holds the parts that were written in their order") {
  const TemporaryFolder folder;
  const std::string all_bytes = [] {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    return bytes;
  }();
  replace_file(folder / "f", {{std::string_view("one"), std::string_view(), all_bytes}});
  CHECK(read_file(folder / "f") == "one" + all_bytes);
  replace_file(folder / "f", {});
  CHECK(read_file(folder / "f").empty());
  CHECK(folder.names() == Names{"f"});
}

TEST_CASE("a file is read piece by piece and not beyond its end") {
  const TemporaryFolder folder;
  write(folder / "f", "abcdef");
  InputFile file(folder / "f");
  CHECK(file.size() == 6);
  std::string piece(4, ' ');
  file.read(piece.data(), 4);
  CHECK(piece == "abcd");
  file.read(piece.data(), 0);
  CHECK_THROWS_AS(file.read(piece.data(), 3), FileError);
}

TEST_CASE("what cannot be read is named with the reason") {
  const TemporaryFolder folder;
  const std::string quoted = '"' + (folder / "f").string() + '"';
  CHECK_THROWS_WITH_AS(read_file(folder / "f"),
                       ("file: cannot open " + quoted + ": No such file or directory").c_str(),
                       FileError);
  std::filesystem::create_directory(folder / "f");
  CHECK_THROWS_WITH_AS(read_file(folder / "f"),
                       ("file: cannot read " + quoted + ": it is a folder").c_str(), FileError);
  std::filesystem::remove(folder / "f");
  REQUIRE(mkfifo((folder / "f").c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_file(folder / "f"),
                       ("file: cannot read " + quoted + ": it is no regular file").c_str(),
                       FileError);
  CHECK_THROWS_AS(read_file("/dev/null"), FileError);
  CHECK_THROWS_AS(read_file(""), FileError);
}

TEST_CASE("what cannot be written is named with the reason and nothing is left behind") {
  const TemporaryFolder folder;
  write(folder / "f", "old");
  std::filesystem::create_directory(folder / "d");
  const std::string in = folder.path().string();
  CHECK_THROWS_WITH_AS(write(folder / "d", "x"),
                       ("file: cannot write \"" + in + "/d\": it is a folder").c_str(), FileError);
  CHECK_THROWS_WITH_AS(write(folder / "d/", "x"),
                       ("file: cannot write \"" + in + "/d/\": it is a folder").c_str(), FileError);
  CHECK_THROWS_WITH_AS(
      write(folder / "none/x", "x"),
      ("file: cannot write \"" + in + "/none/x\": No such file or directory").c_str(), FileError);
  CHECK_THROWS_WITH_AS(write(folder / "f/x", "x"),
                       ("file: cannot write \"" + in + "/f/x\": Not a directory").c_str(),
                       FileError);
  CHECK_THROWS_AS(write(folder / "new/", "x"), FileError);
  CHECK_THROWS_AS(write(folder / std::string(300, 'n'), "x"), FileError);
  CHECK_THROWS_AS(write("", "x"), FileError);
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(write(folder / "pipe", "x"),
                       ("file: cannot write \"" + in + "/pipe\": it is no regular file").c_str(),
                       FileError);
  std::filesystem::remove(folder / "pipe");
  std::filesystem::create_symlink("loop", folder / "loop");
  CHECK_THROWS_AS(write(folder / "loop", "x"), FileError);
  std::filesystem::remove(folder / "loop");

  CHECK(read_file(folder / "f") == "old");
  CHECK(folder.names().size() == 2);
  CHECK(std::filesystem::is_empty(folder / "d"));
}

TEST_CASE("write protected files and folders are left alone") {
  const TemporaryFolder folder;
  write(folder / "protected", "old");
  std::filesystem::create_directory(folder / "d");
  write(folder / "d/f", "old");
  const pid_t writer = fork();
  REQUIRE(writer >= 0);
  if (writer == 0) {  // root may write anywhere: become somebody who owns all of this
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0) {
      for (const char* name : {"", "protected", "d", "d/f"})
        if (chown((folder / name).c_str(), kNobody, kNobody) != 0) _exit(10);
      if (setuid(kNobody) != 0) _exit(11);
    }
    chmod((folder / "protected").c_str(), 0444);
    chmod((folder / "d").c_str(), 0555);
    int refused = 0;
    for (const char* name : {"protected", "d/f", "d/new"}) {
      try {
        write(folder / name, "new");
      } catch (const FileError& error) {
        refused += std::string_view(error.what()).ends_with(": Permission denied");
      }
    }
    chmod((folder / "d").c_str(), 0755);
    _exit(refused);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(read_file(folder / "protected") == "old");
  CHECK(read_file(folder / "d/f") == "old");
}

TEST_CASE("a full disk is an error and the old file stays") {
  const TemporaryFolder folder;
  write(folder / "f", "old");
  const std::string large(100000, 'x');
  for (rlim_t limit : {rlim_t{0}, rlim_t{1}, rlim_t{5000}, rlim_t{99999}}) {
    std::string message;
    {
      const WriteLimit full(limit);
      try {
        write(folder / "f", large);
      } catch (const FileError& error) {
        message = error.what();
      }
    }
    CHECK(message == "file: cannot write \"" + (folder / "f").string() + "\": File too large");
    CHECK(read_file(folder / "f") == "old");
    CHECK(folder.names() == Names{"f"});
  }
  const WriteLimit enough(100000);
  write(folder / "f", large);
  CHECK(read_file(folder / "f") == large);
}

TEST_CASE("a link stays a link and the file that it leads to is replaced") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d");
  write(folder / "d/f", "old");
  std::filesystem::create_symlink("d/f", folder / "link");
  write(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_file(folder / "d/f") == "new");
}

TEST_CASE("a link to what is not there yet stays a link and the file appears where it leads") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d");
  std::filesystem::create_symlink("d/second", folder / "first");
  std::filesystem::create_symlink(folder / "d/f", folder / "d/second");
  write(folder / "first", "new");
  CHECK(std::filesystem::is_symlink(folder / "first"));
  CHECK(std::filesystem::is_symlink(folder / "d/second"));
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "d/f")));
  CHECK(read_file(folder / "first") == "new");
  std::filesystem::create_symlink("none/f", folder / "astray");
  CHECK_THROWS_AS(write(folder / "astray", "x"), FileError);
  CHECK(std::filesystem::is_symlink(folder / "astray"));
}

TEST_CASE("a file that is replaced keeps its permissions") {
  const TemporaryFolder folder;
  write(folder / "f", "old");
  for (mode_t mode : {0600U, 0640U, 0666U, 0755U}) {
    REQUIRE(chmod((folder / "f").c_str(), mode) == 0);
    write(folder / "f", "new");
    struct stat status {};
    REQUIRE(stat((folder / "f").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == mode);
  }
}

TEST_CASE("names as long as the system takes them are written") {
  const TemporaryFolder folder;
  for (size_t length : {size_t{249}, size_t{250}, size_t{255}}) {
    const std::string name(length, 'n');
    write(folder / name, "x");
    CHECK(read_file(folder / name) == "x");
    std::filesystem::remove(folder / name);
  }
  CHECK(folder.names().empty());
}

TEST_CASE("paths in errors are whole and without control characters") {
  const TemporaryFolder folder;
  const std::string name = "\n\x1b[31m\xff" + std::string(150, 'n') + "end";
  for (const auto& act : std::initializer_list<std::function<void()>>{
           [&] { read_file(folder / name); }, [&] { write(folder / name / "f", "x"); }}) {
    std::string message;
    try {
      act();
    } catch (const FileError& error) {
      message = error.what();
    }
    CHECK(message.find("\\n\\u001b[31m\xef\xbf\xbdnnn") != std::string::npos);
    CHECK(message.find("nnnend") != std::string::npos);
    CHECK(message.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("a bare name is a file in the working folder") {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write("f", "here");
  std::filesystem::current_path(before);
  CHECK(read_file(folder / "f") == "here");
}

TEST_CASE("a leftover of a killed program is neither used nor in the way") {
  const TemporaryFolder folder;
  write(folder / "f.0.tmp", "leftover");
  write(folder / "f", "new");
  CHECK(read_file(folder / "f") == "new");
  CHECK(read_file(folder / "f.0.tmp") == "leftover");
}

}  // namespace
}  // namespace attograd
