#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <attograd/core/error.h>
#include <attograd/core/file.h>
#include <nlohmann/json.hpp>

namespace attograd {
namespace {

namespace fs = std::filesystem;

/// Fails with the reason that the last system call left in errno.
[[noreturn]] void fail_to(const char* act, const fs::path& path) {
  fail<FileError>("file: cannot ", act, " ", shown(path), ": ",
                  std::generic_category().message(errno));
}

/// A system call that signals interrupt is to be made again.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// A file beside the target that is removed again unless it takes the target's place.
class Replacement {
 public:
  /// `mode` holds the permissions of a target that exists.
  Replacement(const fs::path& target, std::optional<mode_t> mode) : target_(target), mode_(mode) {
    constexpr size_t kKept = 100;  // bytes: a name of the full length has no room for a suffix
    const std::string name = target.filename().native().substr(0, kKept);
    for (int number = 0; descriptor_ < 0; ++number) {
      path_ = target.parent_path() / (name + "." + std::to_string(number) + ".tmp");
      descriptor_ =
          ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode.value_or(0666));
      if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) fail_to("write", target_);
    }
  }

  ~Replacement() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!done_) ::unlink(path_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(std::string_view part) {
    while (!part.empty()) {
      const ssize_t written =
          uninterrupted([&] { return ::write(descriptor_, part.data(), part.size()); });
      if (written < 0) fail_to("write", target_);
      part.remove_prefix(static_cast<size_t>(written));
    }
  }

  void take_place() {
    // The umask may have taken permissions away that the target has.
    if (mode_ && ::fchmod(descriptor_, *mode_) != 0) fail_to("write", target_);
    if (uninterrupted([&] { return ::fsync(descriptor_); }) != 0) fail_to("write", target_);
    const int closed = ::close(std::exchange(descriptor_, -1));
    if (closed != 0) fail_to("write", target_);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail_to("replace", target_);
    done_ = true;
  }

 private:
  fs::path target_;
  std::optional<mode_t> mode_;
  fs::path path_;
  int descriptor_ = -1;
  bool done_ = false;
};

/// The file that a path leads to: the end of its links, where nothing need be yet.
fs::path linked_file(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    errno = ELOOP;
    if (links == kMostLinks) fail_to("write", path);
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target;
}

/// Lets a new name reach the disk. Not every file system can, and the content is whole either way.
void sync_folder(const fs::path& folder) {
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

// O_NONBLOCK: a pipe that nobody writes to must not stop us before we see that it is one.
InputFile::InputFile(const fs::path& path)
    : path_(path),
      descriptor_(
          uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); })) {
  if (descriptor_ < 0) fail_to("open", path);
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    return;
  }
  ::close(descriptor_);
  fail<FileError>("file: cannot read ", shown(path), ": it is ",
                  S_ISDIR(status.st_mode) ? "a folder" : "no regular file");
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(void* to, size_t bytes) {
  auto* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = uninterrupted([&] { return ::read(descriptor_, next, bytes); });
    if (got < 0) fail_to("read", path_);
    check<FileError>(got > 0, "file: cannot read ", shown(path_), ": it became shorter meanwhile");
    next += got;
    bytes -= static_cast<size_t>(got);
  }
}

std::ostream& operator<<(std::ostream& out, const Quoted& q) {
  using nlohmann::json;
  return out << json(q.text.substr(0, q.most)).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string read_file(const fs::path& path) {
  InputFile file(path);
  std::string bytes(file.size(), '\0');
  file.read(bytes.data(), bytes.size());
  return bytes;
}

void replace_file(const fs::path& path, std::span<const std::string_view> parts) {
  const fs::path target = linked_file(path);
  if (::access(target.c_str(), W_OK) != 0 && errno != ENOENT) fail_to("write", path);
  std::optional<mode_t> mode;
  if (struct stat status{}; ::stat(target.c_str(), &status) == 0) {
    check<FileError>(S_ISREG(status.st_mode), "file: cannot write ", shown(path), ": it is ",
                     S_ISDIR(status.st_mode) ? "a folder" : "no regular file");
    mode = status.st_mode & 0777;
  }
  Replacement replacement(target, mode);
  for (std::string_view part : parts) replacement.write(part);
  replacement.take_place();
  sync_folder(target.parent_path());
}

}  // namespace attograd
