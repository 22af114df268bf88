//===- InterpreterNetwork.cpp - Processes and FIFOs -----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cooperative processes on Boost.Context, blocking FIFOs, and the diagnosis of
// networks that cannot go on.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/InterpreterNetwork.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

// The C functions: the C++ classes on top of them need exceptions, which LLVM
// is built without.
#include <boost/context/detail/fcontext.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <sys/mman.h>

using namespace streamtensor;
using namespace streamtensor::interp;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;
using llvm::Twine;

namespace {

constexpr size_t kTaskStackBytes = size_t(512) << 10;
constexpr size_t kMainStackBytes = size_t(16) << 20;
constexpr size_t kGuardBytes = size_t(64) << 10;
/// First soft limit of an unbounded FIFO, in tokens.
constexpr size_t kFirstLimit = 64;

/// Pages that are committed when they are touched, below them a guard.
char *mapStack(size_t bytes) {
  void *memory = mmap(nullptr, bytes + kGuardBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    llvm::report_fatal_error("no memory for the stack of a process");
  mprotect(memory, kGuardBytes, PROT_NONE);
  return static_cast<char *>(memory);
}

void *makeContext(char *stack, size_t bytes, void (*entry)(transfer_t)) {
  return make_fcontext(stack + kGuardBytes + bytes, bytes, entry);
}

/// What a new context is told.
struct ProcessStart {
  std::function<void()> *body;
  bool *finished;
  void **scheduler;
};

void processEntry(transfer_t from) {
  auto start = *static_cast<ProcessStart *>(from.data);
  *start.scheduler = from.fctx;
  (*start.body)();
  *start.finished = true;
  jump_fcontext(*start.scheduler, nullptr);
  llvm_unreachable("a finished process was resumed");
}

struct MainStart {
  llvm::function_ref<void()> main;
  void **root;
};

void mainEntry(transfer_t from) {
  auto start = *static_cast<MainStart *>(from.data);
  *start.root = from.fctx;
  start.main();
  jump_fcontext(*start.root, nullptr);
  llvm_unreachable("a finished run was resumed");
}

std::string quoted(llvm::StringRef text) { return ("'" + text + "'").str(); }

} // namespace

//===----------------------------------------------------------------------===//
// Machine
//===----------------------------------------------------------------------===//

Machine::~Machine() {
  for (char *stack : stacks)
    munmap(stack, kTaskStackBytes + kGuardBytes);
}

bool Machine::run(llvm::function_ref<void()> main, std::string &error) {
  failed = false;
  current = nullptr;
  network = nullptr;
  char *stack = mapStack(kMainStackBytes);
  MainStart start{main, &root};
  jump_fcontext(makeContext(stack, kMainStackBytes, mainEntry), &start);
  munmap(stack, kMainStackBytes + kGuardBytes);
  if (failed)
    error = this->error;
  return !failed;
}

void Machine::fail(const std::string &message) {
  error = message;
  failed = true;
  jump_fcontext(root, nullptr);
  llvm_unreachable("a failed run was resumed");
}

std::string Machine::where() const {
  return current ? "task " + quoted(current->getName()) + ": " : "";
}

char *Machine::takeStack() {
  if (freeStacks.empty()) {
    stacks.push_back(mapStack(kTaskStackBytes));
    freeStacks.push_back(stacks.back());
  }
  char *stack = freeStacks.back();
  freeStacks.pop_back();
  return stack;
}

void Machine::resume(Process &process) {
  ProcessStart start{&process.body, &process.finished, &scheduler};
  if (!process.context) {
    process.stack = takeStack();
    process.context = makeContext(process.stack, kTaskStackBytes, processEntry);
  }
  current = &process;
  process.context = jump_fcontext(process.context, &start).fctx;
  current = nullptr;
  if (process.finished)
    freeStacks.push_back(process.stack);
}

void Machine::suspend() { scheduler = jump_fcontext(scheduler, nullptr).fctx; }

//===----------------------------------------------------------------------===//
// Fifo
//===----------------------------------------------------------------------===//

Fifo::Fifo(Machine &machine, FifoSpec spec)
    : machine(machine), spec(std::move(spec)) {
  setCapacity(this->spec.depth ? this->spec.depth : kFirstLimit);
}

void Fifo::setCapacity(size_t tokens) {
  std::vector<char> larger(tokens * spec.tokenBytes);
  for (size_t i = 0; i < fill; ++i)
    std::memcpy(larger.data() + i * spec.tokenBytes,
                ring.data() + (head + i) % capacity * spec.tokenBytes,
                spec.tokenBytes);
  ring = std::move(larger);
  head = 0;
  capacity = tokens;
}

std::string Fifo::describe() const {
  return (Twine(quoted(spec.name)) + " (" + Twine(fill) + "/" +
          (spec.depth ? Twine(spec.depth).str() : "unbounded") + ")")
      .str();
}

void Fifo::write(const char *token) {
  Process *process = machine.current;
  if (!process)
    machine.fail("fifo " + quoted(spec.name) + " is written outside a task");
  assert(process == writer && "an endpoint was not declared");
  while (fill == capacity) {
    blockedWriter = process;
    process->waitsFor = this;
    process->waitsToWrite = true;
    machine.suspend();
    process->waitsFor = nullptr;
  }
  size_t tail = head + fill;
  if (tail >= capacity)
    tail -= capacity;
  std::memcpy(ring.data() + tail * spec.tokenBytes, token, spec.tokenBytes);
  ++fill;
  ++written;
  if (record)
    record->add(token, spec.tokenBytes, recordLimitBytes);
  if (blockedReader) {
    machine.network->ready.push_back(blockedReader);
    blockedReader = nullptr;
  }
}

void Fifo::read(char *token) {
  Process *process = machine.current;
  if (!process)
    machine.fail("fifo " + quoted(spec.name) + " is read outside a task");
  assert(process == reader && "an endpoint was not declared");
  while (fill == 0) {
    blockedReader = process;
    process->waitsFor = this;
    process->waitsToWrite = false;
    machine.suspend();
    process->waitsFor = nullptr;
  }
  std::memcpy(token, ring.data() + head * spec.tokenBytes, spec.tokenBytes);
  if (++head == capacity)
    head = 0;
  --fill;
  ++taken;
  if (blockedWriter) {
    machine.network->ready.push_back(blockedWriter);
    blockedWriter = nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Network
//===----------------------------------------------------------------------===//

Fifo &Network::addFifo(FifoSpec spec) {
  fifos.push_back(std::make_unique<Fifo>(machine, std::move(spec)));
  return *fifos.back();
}

void Network::addProcess(llvm::StringRef name, std::function<void()> body,
                         llvm::ArrayRef<Fifo *> reads,
                         llvm::ArrayRef<Fifo *> writes) {
  auto process = std::make_unique<Process>();
  process->name = name.str();
  process->body = std::move(body);
  auto claim = [&](Process *&end, Fifo *fifo, const char *verb) {
    if (end && end != process.get())
      machine.fail("fifo " + quoted(fifo->spec.name) + " is " + verb +
                   " by two tasks, " + quoted(end->getName()) + " and " +
                   quoted(name));
    end = process.get();
  };
  for (Fifo *fifo : reads)
    claim(fifo->reader, fifo, "read");
  for (Fifo *fifo : writes)
    claim(fifo->writer, fifo, "written");
  ready.push_back(process.get());
  processes.push_back(std::move(process));
}

void Network::run() {
  if (machine.network)
    machine.fail("dataflow region " + quoted(name) +
                 " is started inside another one");
  machine.network = this;
  while (true) {
    while (!ready.empty()) {
      Process *process = ready.front();
      ready.pop_front();
      machine.resume(*process);
    }
    if (llvm::all_of(processes, [](auto &p) { return p->finished; }))
      break;
    if (!growOneFifo())
      failBlocked();
  }
  machine.network = nullptr;
  checkEnd();
}

/// Doubles the smallest unbounded FIFO at whose soft limit a process waits.
bool Network::growOneFifo() {
  Fifo *smallest = nullptr;
  for (auto &process : processes) {
    Fifo *fifo = process->waitsFor;
    if (!fifo || !process->waitsToWrite || fifo->spec.depth)
      continue;
    if (!smallest || fifo->ring.size() < smallest->ring.size())
      smallest = fifo;
  }
  if (!smallest)
    return false;
  smallest->setCapacity(2 * smallest->capacity);
  ready.push_back(smallest->blockedWriter);
  smallest->blockedWriter = nullptr;
  return true;
}

static Process *partnerOf(Fifo &fifo, bool writes, Process *writer,
                          Process *reader) {
  return writes ? reader : writer;
}

std::vector<Process *> Network::findCycle() const {
  auto next = [](Process *process) -> Process * {
    Fifo *fifo = process->waitsFor;
    if (!fifo)
      return nullptr;
    return partnerOf(*fifo, process->waitsToWrite, fifo->writer, fifo->reader);
  };
  for (auto &start : processes) {
    llvm::SmallPtrSet<Process *, 16> seen;
    Process *process = start.get();
    while (process && !process->finished && seen.insert(process).second)
      process = next(process);
    if (!process || process->finished)
      continue;
    // `process` is the first that comes again: it lies on the cycle.
    std::vector<Process *> cycle;
    Process *member = process;
    do {
      cycle.push_back(member);
      member = next(member);
    } while (member != process);
    return cycle;
  }
  return {};
}

void Network::failBlocked() {
  std::vector<Process *> cycle = findCycle();
  if (!cycle.empty()) {
    std::string text = "deadlock in " + quoted(name) + ": ";
    for (auto [index, process] : llvm::enumerate(cycle))
      text += (index ? ", " : "") + ("task " + quoted(process->name)) +
              (process->waitsToWrite ? " writes " : " reads ") +
              process->waitsFor->describe();
    machine.fail(text);
  }
  for (auto &process : processes) {
    Fifo *fifo = process->waitsFor;
    if (!fifo)
      continue;
    Process *partner =
        partnerOf(*fifo, process->waitsToWrite, fifo->writer, fifo->reader);
    if (partner && !partner->finished)
      continue;
    std::string end = partner ? "task " + quoted(partner->name) : "no task";
    if (process->waitsToWrite)
      machine.fail(("task " + quoted(process->name) + " writes token " +
                    Twine(fifo->written) + " of fifo " + fifo->describe() +
                    " but " + end + " read only " + Twine(fifo->taken))
                       .str());
    machine.fail(("task " + quoted(process->name) + " reads token " +
                  Twine(fifo->taken) + " of fifo " + quoted(fifo->spec.name) +
                  " but " + end + " wrote only " + Twine(fifo->written))
                     .str());
  }
  llvm_unreachable("blocked without a cycle and without an end");
}

void Network::checkEnd() {
  for (auto &fifo : fifos)
    if (fifo->spec.tokens && *fifo->spec.tokens != fifo->written)
      machine.fail(
          ("expected " + Twine(*fifo->spec.tokens) + " tokens in fifo " +
           quoted(fifo->spec.name) + " but " +
           (fifo->writer ? "task " + quoted(fifo->writer->name) : "no task") +
           " wrote " + Twine(fifo->written))
              .str());
  for (auto &fifo : fifos)
    if (fifo->fill)
      machine.fail(
          (Twine(fifo->fill) + " of " + Twine(fifo->written) +
           " tokens are left over in fifo " + quoted(fifo->spec.name) + ": " +
           (fifo->reader ? "task " + quoted(fifo->reader->name) : "no task") +
           " read only " + Twine(fifo->taken))
              .str());
}
