//===- KernelBuild.cpp - Builds the simulation of a kernel ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is compiled from a copy of the bytes that were hashed, in a
// temporary folder, and the result is renamed into place: neither a change of
// the file meanwhile nor an interruption can leave a wrong simulation.
//
//===----------------------------------------------------------------------===//

#include "runtime/KernelBuild.h"

#include "runtime/Error.h"
#include "runtime/System.h"
#include "streamtensor/Support/Sha256.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace streamtensor;
using namespace streamtensor::runtime;
namespace fs = std::filesystem;

extern char **environ;

namespace {

constexpr size_t kHashDigits = 24;
constexpr size_t kMaxErrorLines = 20;

/// The program `name`, looked up in PATH unless it has a slash; empty if none.
std::string findProgram(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? name : "";
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/" + name;
    if (!folder.empty() && access(program.c_str(), X_OK) == 0)
      return program;
  }
  return "";
}

const std::vector<std::string> kFlags = {
    "-std=c++17", "-O3", "-march=native",
    // A product and a sum are two roundings, as in the hardware.
    "-ffp-contract=off",
    // Square roots need not set errno, so they can be vectorized.
    "-fno-math-errno",
    // Local arrays that are too large must meet the guard page.
    "-fstack-clash-protection", "-fPIC", "-shared", "-fvisibility=hidden",
    // The pragmas of the kernel are for another compiler.
    "-w"};

/// Runs a command with its output in a file; returns its exit code, or -1.
int runCommand(const std::vector<std::string> &command,
               const std::string &outputFile) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, outputFile.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr,
                                arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    throw Error("cannot start '" + command[0] + "': " + std::strerror(error));
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw Error("cannot wait for '" + command[0] +
                  "': " + std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The first lines of the compiler's messages.
std::string firstLines(const std::string &path) {
  std::ifstream file(path);
  std::string text, line;
  for (size_t i = 0; i < kMaxErrorLines && std::getline(file, line); ++i)
    text += "\n  " + line;
  if (std::getline(file, line))
    text += "\n  ...";
  return text;
}

/// What -march=native depends on.
std::string processorFeatures() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.compare(0, 5, "flags") == 0 || line.compare(0, 8, "Features") == 0)
      return line;
  return "";
}

/// Identifies a version of a program or header without running it.
std::string fileStamp(const std::string &path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const auto size = fs::file_size(real, error);
  const auto time = fs::last_write_time(real, error).time_since_epoch().count();
  return real.string() + " " + std::to_string(size) + " " +
         std::to_string(time);
}

std::string headerTexts(const std::string &directory) {
  std::vector<fs::path> paths;
  for (const auto &entry : fs::recursive_directory_iterator(directory))
    if (entry.path().extension() == ".h")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::string texts;
  for (const fs::path &path : paths)
    texts += path.filename().string() + "\n" + readTextFile(path.string());
  return texts;
}

std::string kernelName(size_t index) {
  return index ? "kernel" + std::to_string(index) + ".cpp" : "kernel.cpp";
}

/// The file that includes all kernels. Each is in a namespace, because their
/// tasks have the same names; what they include comes first, outside of it.
std::string wrapperText(const std::vector<DesignInterface> &designs,
                        const std::vector<std::string> &kernels) {
  std::set<std::string> includes = {"#include \"st_entry.h\""};
  for (const std::string &kernel : kernels) {
    std::istringstream lines(kernel);
    for (std::string line; std::getline(lines, line);)
      if (line.compare(0, 8, "#include") == 0)
        includes.insert(line);
  }
  std::string text;
  for (const std::string &line : includes)
    text += line + "\n";
  text += "ST_SIMULATION_OPEN()\n";
  for (size_t i = 0; i < designs.size(); ++i) {
    const std::string space = "st_kernel_" + std::to_string(i);
    text += "namespace " + space + " {\n#include \"" + kernelName(i) +
            "\"\n}\nST_SIMULATION_RUN(" + runSymbol(i) + ", " + space +
            "::" + designs[i].function + ", " +
            std::to_string(designs[i].arguments.size() +
                           designs[i].parameters.size()) +
            ")\n";
  }
  return text;
}

std::string hashOf(const std::vector<DesignInterface> &designs,
                   const std::string &wrapper, const HostCompiler &compiler) {
  std::string text =
      wrapper + fileStamp(compiler.path) + "\n" + processorFeatures() + "\n";
  for (const DesignInterface &design : designs)
    text += design.kernelSha256 + "\n";
  for (const std::string &flag : compiler.flags)
    text += flag + " ";
  text += headerTexts(compiler.includeDirectory);
  return sha256Hex(text).substr(0, kHashDigits);
}

constexpr const char *kBuildPrefix = "build";

/// Removes the temporary folders of builds that were interrupted: theirs is a
/// process that does not exist any more.
void removeInterruptedBuilds(const std::string &folder) {
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const size_t prefix = std::strlen(kBuildPrefix);
    const long process = name.compare(0, prefix, kBuildPrefix) == 0
                             ? std::atol(name.c_str() + prefix)
                             : 0;
    if (process > 0 && kill(static_cast<pid_t>(process), 0) != 0 &&
        errno == ESRCH)
      fs::remove_all(entry.path(), ignored);
  }
}

/// A folder that disappears at the end of its scope.
class TemporaryFolder {
public:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {
    std::error_code error;
    fs::create_directories(this->path, error);
    if (error)
      throw Error("cannot make the folder '" + this->path +
                  "': " + error.message());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  const std::string path;
};

} // namespace

HostCompiler HostCompiler::find() {
  HostCompiler compiler;
  const char *chosen = std::getenv("STREAMTENSOR_CXX");
  if (chosen && *chosen) {
    compiler.path = findProgram(chosen);
    if (compiler.path.empty())
      throw Error(std::string("expected STREAMTENSOR_CXX to name a compiler "
                              "but there is no program '") +
                  chosen + "'");
  }
  for (const char *name : {"clang++-22", "g++", "clang++", "c++"})
    if (compiler.path.empty())
      compiler.path = findProgram(name);
  if (compiler.path.empty())
    throw Error("expected a C++ compiler to build the simulation but found "
                "none in PATH; install g++ or clang, or set STREAMTENSOR_CXX");
  compiler.flags = kFlags;
  const char *more = std::getenv("STREAMTENSOR_CXXFLAGS");
  std::istringstream words(more ? more : "");
  for (std::string word; words >> word;)
    compiler.flags.push_back(word);
  const char *include = std::getenv("STREAMTENSOR_RUNTIME_INCLUDE");
  compiler.includeDirectory =
      include && *include ? include : STREAMTENSOR_RUNTIME_INCLUDE_DIR;
  if (!fs::exists(compiler.includeDirectory + "/st_entry.h"))
    throw Error("expected the headers of the simulation in '" +
                compiler.includeDirectory +
                "' but there is no st_entry.h; set "
                "STREAMTENSOR_RUNTIME_INCLUDE to runtime/include");
  return compiler;
}

/// What an error message calls the kernels.
static std::string describe(const std::vector<DesignInterface> &designs) {
  if (designs.size() == 1)
    return "'" + designs.front().kernel + "'";
  return std::to_string(designs.size()) + " kernels";
}

/// The text of kernel.cpp, which must be the one that was emitted.
static std::string readKernel(const DesignInterface &design) {
  std::string kernel = readTextFile(design.kernel);
  const std::string sha256 = sha256Hex(kernel);
  if (sha256 != design.kernelSha256)
    throw Error("'" + design.kernel +
                "' is not the kernel that interface.json "
                "describes: expected SHA-256 " +
                design.kernelSha256 + " but got " + sha256 +
                "; compile the design again");
  return kernel;
}

std::string runtime::runSymbol(size_t index) {
  return "st_simulation_run" + (index ? "_" + std::to_string(index) : "");
}

std::string runtime::buildKernels(
    const std::vector<DesignInterface> &designs, const std::string &folder,
    const HostCompiler &compiler,
    const std::function<void(const std::string &)> &progress) {
  std::vector<std::string> kernels;
  std::map<std::string, std::string> functions;
  for (const DesignInterface &design : designs) {
    kernels.push_back(readKernel(design));
    const auto [other, isNew] =
        functions.emplace(design.function, design.directory);
    if (!isNew)
      throw Error("expected kernels with different function names in one "
                  "simulation but designs '" +
                  other->second + "' and '" + design.directory +
                  "' both define '" + design.function +
                  "'; export them with different names");
  }
  const std::string wrapper = wrapperText(designs, kernels);
  const std::string library =
      folder + "/" + hashOf(designs, wrapper, compiler) + ".so";
  if (fs::exists(library))
    return library;

  if (progress)
    progress("building the simulation of " + (designs.size() == 1
                                                  ? designs.front().kernel
                                                  : describe(designs)));
  removeInterruptedBuilds(folder);
  static std::atomic<unsigned> builds = 0;
  const TemporaryFolder build(folder + "/" + kBuildPrefix +
                              std::to_string(getpid()) + "." +
                              std::to_string(builds++));
  for (size_t i = 0; i < kernels.size(); ++i)
    writeFileAtomically(build.path + "/" + kernelName(i), kernels[i]);
  writeFileAtomically(build.path + "/simulation.cpp", wrapper);
  const std::string object = build.path + "/simulation.so";
  const std::string messages = build.path + "/messages.txt";
  std::vector<std::string> command = {compiler.path};
  command.insert(command.end(), compiler.flags.begin(), compiler.flags.end());
  command.insert(command.end(), {"-I" + compiler.includeDirectory,
                                 "-I" + compiler.includeDirectory + "/common",
                                 build.path + "/simulation.cpp", "-o", object});
  const int code = runCommand(command, messages);
  if (code != 0)
    throw Error("cannot build the simulation of " + describe(designs) + ": '" +
                compiler.path + "' " +
                (code < 0 ? "was killed (out of memory?)"
                          : "failed with exit code " + std::to_string(code)) +
                firstLines(messages));
  std::error_code error;
  fs::rename(object, library, error);
  if (error)
    throw Error("cannot write '" + library + "': " + error.message());
  return library;
}

std::string
runtime::buildKernel(const DesignInterface &design,
                     const HostCompiler &compiler,
                     const std::function<void(const std::string &)> &progress) {
  return buildKernels({design}, design.directory + "/csim", compiler, progress);
}
