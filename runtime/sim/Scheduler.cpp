//===- Scheduler.cpp - Cooperative processes and bounded FIFOs ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processes are Boost.Context fcontexts that jump to each other directly; the
// caller of `run` is one more context, entered when the root has returned or
// the run has failed.
//
// A failure abandons every process where it stands: nothing is unwound, so
// everything a process can own (stacks, FIFO memory, process records) belongs
// to the scheduler and is reclaimed by `abandon`. For the same reason `fail`
// may only be called where no live local variable owns memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/sim/Scheduler.h"

#include "runtime/Error.h"
#include "runtime/sim/Process.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <unordered_map>

using namespace streamtensor;
using namespace streamtensor::sim;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;
using st::sim::Fifo;
using st::sim::Process;
using State = Process::State;

namespace {

constexpr size_t kCacheLine = 64;
// A switch leaves the processor's prediction of return addresses behind, so
// every return on the way back from it is mispredicted (about 5 ns each): what
// lies between a kernel and the jump is one function.
#define ST_HOT inline __attribute__((always_inline))
#define ST_COLD __attribute__((noinline, cold))

/// Fruitless polls in a row by the only process that can run, after which the
/// run counts as hanging.
constexpr size_t kMaxIdlePolls = 1000000;

/// Memory of FIFO rings. Blocks are reused by their exact size, because a body
/// that runs again declares the same FIFOs again.
class RingMemory {
public:
  ~RingMemory() { clear(); }

  char *acquire(size_t bytes) {
    std::vector<char *> &blocks = free[bytes];
    if (!blocks.empty()) {
      char *block = blocks.back();
      blocks.pop_back();
      return block;
    }
    void *block = std::aligned_alloc(kCacheLine, bytes);
    if (block)
      all.push_back(static_cast<char *>(block));
    return static_cast<char *>(block);
  }
  void release(char *block, size_t bytes) { free[bytes].push_back(block); }
  void clear() {
    for (char *block : all)
      std::free(block);
    all.clear();
    free.clear();
  }
  static size_t roundUp(size_t bytes) {
    return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  }

private:
  std::unordered_map<size_t, std::vector<char *>> free;
  std::vector<char *> all;
};

/// Counts of the FIFOs that one statement has declared; `scope` and `name` are
/// string constants of the kernel.
struct Counts {
  const char *scope, *name;
  uint64_t tokens, peak, depth;
};

/// The addresses of scope and name. (Equal names of two functions may be one
/// string constant.)
using FifoKey = std::pair<const char *, const char *>;

struct FifoKeyHash {
  size_t operator()(const FifoKey &key) const {
    const std::hash<const char *> hash;
    return hash(key.first) * 31 + hash(key.second);
  }
};

} // namespace

struct Scheduler::Impl {
  StackPool stacks;
  RingMemory rings;
  std::deque<Process> processes; // stable addresses
  std::vector<Process *> freeProcesses;
  Process caller; // the context of whoever called `run`
  Process *running = nullptr;
  Process *root = nullptr;
  Process *readyFirst = nullptr, *readyLast = nullptr;
  std::string failure;
  bool failed = false;
  size_t idlePolls = 0;
  std::vector<Counts> counts;
  std::unordered_map<FifoKey, size_t, FifoKeyHash> countIndex;
  std::vector<RecordedFifo> recorded;
  /// Of the open FIFOs that are recorded: where the tokens begin that are not
  /// yet, and the index in `recorded`.
  struct Recording {
    const char *from;
    size_t index;
  };
  std::unordered_map<const Fifo *, Recording> recordings;

  Process *create(const char *name, void (*entry)(void *), const void *closure,
                  size_t closureBytes, Process *parent);
  void recycle(Process *process);
  void abandon();

  ST_HOT void makeReady(Process *process);
  ST_HOT void settle(const Process &process);
  ST_HOT void switchAway();
  ST_HOT void jumpTo(Process *next);
  static void trampoline(transfer_t transfer);
  [[noreturn]] void finish();
  [[noreturn]] ST_COLD void fail(std::string &&text);
  [[noreturn]] ST_COLD void failDeadlock();
  [[noreturn]] ST_COLD void failSharedEnd(const Fifo &fifo);

  ST_COLD void linkUser(Fifo *fifo, Process *process);
  void unlinkUsers(Process *child);
  ST_HOT void block(Fifo *fifo, State state);
  void count(const Fifo &fifo);
  ST_COLD void startRecording(const Fifo &fifo);
  ST_COLD void record(const Fifo &fifo);

  void openFifo(Fifo *fifo, const char *name, const char *scope,
                size_t tokenBytes, size_t depth);
  void closeFifo(Fifo *fifo);
  ST_HOT void awaitRead(Fifo *fifo);
  ST_HOT void awaitWrite(Fifo *fifo);
  size_t poll(Fifo *fifo);
  void spawn(const char *name, void (*entry)(void *), const void *closure,
             size_t closureBytes, Fifo *const *fifos, size_t numFifos);
  void join();
};

namespace {

thread_local Scheduler::Impl *current = nullptr;

} // namespace

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

/// A process of its own stack, not yet ready. The closure is copied to the top
/// of the stack. May throw (no process is running then, or `spawn` handles it).
Process *Scheduler::Impl::create(const char *name, void (*entry)(void *),
                                 const void *closure, size_t closureBytes,
                                 Process *parent) {
  const StackPool::Stack stack = stacks.acquire();
  Process *process;
  if (freeProcesses.empty()) {
    processes.emplace_back();
    process = &processes.back();
  } else {
    process = freeProcesses.back();
    freeProcesses.pop_back();
  }
  process->name = name;
  process->parent = parent;
  process->entry = entry;
  process->stack = stack;
  char *copy = stack.top - RingMemory::roundUp(closureBytes);
  std::memcpy(copy, closure, closureBytes);
  process->closure = copy;
  process->context = make_fcontext(copy, copy - stack.limit, trampoline);
  return process;
}

/// Gives back an ended process (its stack is already free).
void Scheduler::Impl::recycle(Process *process) {
  process->state = State::Ready;
  process->blockedOn = nullptr;
  process->nextReady = nullptr;
  process->parent = nullptr;
  process->children.clear();
  process->liveChildren = 0;
  process->fifos.clear();
  process->declared.clear();
  freeProcesses.push_back(process);
}

/// Reclaims everything after a failure.
void Scheduler::Impl::abandon() {
  freeProcesses.clear();
  for (Process &process : processes) {
    if (process.stack.top)
      stacks.release(process.stack);
    process.stack = StackPool::Stack();
    recycle(&process);
  }
  rings.clear();
  recordings.clear();
  readyFirst = readyLast = nullptr;
}

void Scheduler::Impl::makeReady(Process *process) {
  process->state = State::Ready;
  process->nextReady = nullptr;
  if (readyLast)
    readyLast->nextReady = process;
  else
    readyFirst = process;
  readyLast = process;
}

/// Looks at the FIFOs of a process that stops running: records how full they
/// got (only their own process fills or drains them while it runs, so the fill
/// is extreme now) and wakes who waits at their other end.
void Scheduler::Impl::settle(const Process &process) {
  for (Fifo *fifo : process.fifos) {
    const size_t fill = fillBytes(*fifo);
    fifo->peakBytes = std::max(fifo->peakBytes, fill);
    Process *waiter = fifo->waiter;
    if (waiter &&
        (waiter->state == State::Reading ? fill != 0
                                         : fill != capacityBytes(*fifo))) {
      fifo->waiter = nullptr;
      makeReady(waiter);
    }
  }
}

void Scheduler::Impl::jumpTo(Process *next) {
  Process *previous = running;
  running = next;
  next->state = State::Running;
  const transfer_t transfer = jump_fcontext(next->context, previous);
  static_cast<Process *>(transfer.data)->context = transfer.fctx;
}

/// Lets the next ready process run; returns when the calling one, which must
/// have settled, is woken.
void Scheduler::Impl::switchAway() {
  Process *next = readyFirst;
  if (__builtin_expect(!next, 0))
    failDeadlock();
  readyFirst = next->nextReady;
  if (!readyFirst)
    readyLast = nullptr;
  if (next == running)
    next->state = State::Running;
  else
    jumpTo(next);
}

void Scheduler::Impl::trampoline(transfer_t transfer) {
  static_cast<Process *>(transfer.data)->context = transfer.fctx;
  Impl &self = *current;
  Process *process = self.running;
  std::string error;
  try {
    process->entry(process->closure);
  } catch (const std::exception &exception) {
    error = std::string("exception in process '") + process->name +
            "': " + exception.what();
  } catch (...) {
    error = std::string("unknown exception in process '") + process->name + "'";
  }
  if (!error.empty())
    self.fail(std::move(error));
  if (process->liveChildren)
    self.fail(std::string("process '") + process->name +
              "' has started tasks but ended without ST_JOIN()");
  process->state = State::Ended;
  self.settle(*process);
  // Nobody starts on this stack before the jump below has left it.
  self.stacks.release(process->stack);
  process->stack = StackPool::Stack();
  Process *parent = process->parent;
  if (!parent)
    self.finish();
  self.unlinkUsers(process);
  if (--parent->liveChildren == 0 && parent->state == State::Joining)
    self.makeReady(parent);
  self.switchAway();
  std::abort(); // an ended process is never ready
}

void Scheduler::Impl::finish() {
  jump_fcontext(caller.context, running);
  std::abort();
}

void Scheduler::Impl::fail(std::string &&text) {
  failure = std::move(text);
  failed = true;
  finish();
}

void Scheduler::Impl::failDeadlock() { fail(explainDeadlock(*root)); }

void Scheduler::Impl::failSharedEnd(const Fifo &fifo) {
  fail(std::string("fifo '") + fifo.name +
       "' expected one writer and one reader but got two processes that wait "
       "for it: '" +
       fifo.waiter->name + "' and '" + running->name + "'");
}

//===----------------------------------------------------------------------===//
// FIFOs
//===----------------------------------------------------------------------===//

/// Notes that `process` has an end of `fifo`. It takes over the end of its
/// parent, if that has one: a task that passes its stream to a task of its own.
void Scheduler::Impl::linkUser(Fifo *fifo, Process *process) {
  Process **slot = nullptr;
  for (Process *&user : fifo->users) {
    if (user == process)
      return;
    if (user == process->parent && user)
      slot = &user;
  }
  for (Process *&user : fifo->users)
    if (!slot && !user)
      slot = &user;
  if (!slot)
    fail(std::string("fifo '") + fifo->name + "' of '" + fifo->scope +
         "' expected one writer and one reader but got a third process: '" +
         fifo->users[0]->name + "', '" + fifo->users[1]->name + "' and '" +
         process->name + "'");
  *slot = process;
  process->fifos.push_back(fifo);
}

/// Hands the ends of outer FIFOs back to the parent when a task has ended.
void Scheduler::Impl::unlinkUsers(Process *child) {
  for (Fifo *fifo : child->fifos) {
    if (fifo->owner == child->parent)
      continue; // messages may still name the child
    for (Process *&user : fifo->users)
      if (user == child)
        user = child->parent;
    if (fifo->reader == child)
      fifo->reader = child->parent;
    if (fifo->writer == child)
      fifo->writer = child->parent;
  }
}

void Scheduler::Impl::openFifo(Fifo *fifo, const char *name, const char *scope,
                               size_t tokenBytes, size_t depth) {
  depth = std::max<size_t>(depth, 1);
  *fifo = Fifo();
  fifo->name = name;
  fifo->scope = scope;
  fifo->tokenBytes = static_cast<uint32_t>(tokenBytes);
  fifo->depth = static_cast<uint32_t>(depth);
  const size_t bytes = tokenBytes * depth;
  fifo->begin = rings.acquire(RingMemory::roundUp(bytes));
  if (!fifo->begin)
    fail(std::string("no memory for fifo '") + name + "' of '" + scope +
         "': " + std::to_string(depth) + " tokens of " +
         std::to_string(tokenBytes) + " bytes");
  fifo->end = fifo->begin + bytes;
  fifo->readCursor = fifo->readLimit = fifo->begin;
  fifo->writeCursor = fifo->writeLimit = fifo->begin;
  fifo->readBias = fifo->writeBias = -reinterpret_cast<uintptr_t>(fifo->begin);
  fifo->owner = running;
  running->declared.push_back(fifo);
  if (!recorded.empty())
    startRecording(*fifo);
}

void Scheduler::Impl::startRecording(const Fifo &fifo) {
  for (size_t i = 0; i < recorded.size(); ++i)
    if (recorded[i].name == fifo.name) {
      recorded[i].tokenBytes = fifo.tokenBytes;
      recordings[&fifo] = {fifo.writeCursor, i};
    }
}

/// Keeps what the writer of `fifo` has written since it got room last, which
/// lies in one piece in front of its cursor.
void Scheduler::Impl::record(const Fifo &fifo) {
  const auto found = recordings.find(&fifo);
  if (found == recordings.end())
    return;
  std::vector<char> &bytes = recorded[found->second.index].bytes;
  bool isFull = false;
  try {
    bytes.insert(bytes.end(), found->second.from,
                 const_cast<const char *>(fifo.writeCursor));
  } catch (const std::exception &) {
    isFull = true;
  }
  if (isFull)
    fail(std::string("no memory for the tokens of fifo '") + fifo.name + "'");
  found->second.from = fifo.writeCursor;
}

void Scheduler::Impl::closeFifo(Fifo *fifo) {
  if (running->liveChildren)
    fail(std::string("expected ST_JOIN() before the end of the body that "
                     "declares fifo '") +
         fifo->name + "', but its tasks have not run");
  if (fifo->isFeedback) {
    std::string leftOver = explainLeftOver({fifo}, /*atEnd=*/true);
    if (!leftOver.empty())
      fail(std::move(leftOver));
  }
  if (!recordings.empty()) {
    record(*fifo);
    recordings.erase(fifo);
  }
  fifo->peakBytes = std::max(fifo->peakBytes, fillBytes(*fifo));
  count(*fifo);
  std::vector<Fifo *> &declared = running->declared;
  declared.erase(std::find(declared.begin(), declared.end(), fifo));
  std::vector<Fifo *> &used = running->fifos;
  used.erase(std::remove(used.begin(), used.end(), fifo), used.end());
  rings.release(fifo->begin, RingMemory::roundUp(capacityBytes(*fifo)));
}

void Scheduler::Impl::count(const Fifo &fifo) {
  const auto [entry, isNew] =
      countIndex.try_emplace(FifoKey(fifo.scope, fifo.name), counts.size());
  if (isNew)
    counts.push_back({fifo.scope, fifo.name, 0, 0, fifo.depth});
  Counts &sum = counts[entry->second];
  sum.tokens += writtenBytes(fifo) / fifo.tokenBytes;
  sum.peak = std::max<uint64_t>(sum.peak, fifo.peakBytes / fifo.tokenBytes);
}

/// Suspends the running process until the other end of `fifo` has moved.
void Scheduler::Impl::block(Fifo *fifo, State state) {
  settle(*running);
  if (__builtin_expect(fifo->waiter != nullptr, 0))
    failSharedEnd(*fifo);
  fifo->waiter = running;
  running->blockedOn = fifo;
  running->state = state;
  switchAway();
}

void Scheduler::Impl::awaitRead(Fifo *fifo) {
  if (fifo->reader != running) {
    fifo->reader = running;
    linkUser(fifo, running);
  }
  size_t fill;
  while ((fill = fillBytes(*fifo)) == 0)
    block(fifo, State::Reading);
  if (fifo->readCursor == fifo->end) {
    fifo->readCursor = fifo->begin;
    fifo->readBias += capacityBytes(*fifo);
  }
  const size_t contiguous = fifo->end - fifo->readCursor;
  fifo->readLimit = fifo->readCursor + std::min(fill, contiguous);
}

void Scheduler::Impl::awaitWrite(Fifo *fifo) {
  if (fifo->writer != running) {
    fifo->writer = running;
    linkUser(fifo, running);
  }
  if (__builtin_expect(!recordings.empty(), 0))
    record(*fifo);
  const size_t capacity = capacityBytes(*fifo);
  size_t fill;
  while ((fill = fillBytes(*fifo)) == capacity)
    block(fifo, State::Writing);
  if (fill == 0) {
    // An empty ring starts again at its beginning (the reader has used up its
    // limit), which spares both sides the turn at the end of the ring.
    fifo->readBias += fifo->readCursor - fifo->begin;
    fifo->writeBias += fifo->writeCursor - fifo->begin;
    fifo->readCursor = fifo->readLimit = fifo->begin;
    fifo->writeCursor = fifo->begin;
  } else if (fifo->writeCursor == fifo->end) {
    fifo->writeCursor = fifo->begin;
    fifo->writeBias += capacity;
  }
  const size_t contiguous = fifo->end - fifo->writeCursor;
  fifo->writeLimit = fifo->writeCursor + std::min(capacity - fill, contiguous);
  if (__builtin_expect(!recordings.empty(), 0))
    if (auto found = recordings.find(fifo); found != recordings.end())
      found->second.from = fifo->writeCursor;
}

size_t Scheduler::Impl::poll(Fifo *fifo) {
  if (readyFirst) {
    idlePolls = 0;
    settle(*running);
    makeReady(running);
    switchAway();
  } else if (++idlePolls == kMaxIdlePolls) {
    fail(std::string("process '") + running->name + "' polls fifo '" +
         fifo->name + "' for ever: every other process is blocked");
  }
  return fillBytes(*fifo) / fifo->tokenBytes;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void Scheduler::Impl::spawn(const char *name, void (*entry)(void *),
                            const void *closure, size_t closureBytes,
                            Fifo *const *fifos, size_t numFifos) {
  Process *child = nullptr;
  std::string error;
  try {
    child = create(name, entry, closure, closureBytes, running);
  } catch (const std::exception &exception) {
    error = exception.what();
  }
  if (!child)
    fail(std::move(error));
  for (size_t i = 0; i < numFifos; ++i)
    linkUser(fifos[i], child);
  running->children.push_back(child);
  ++running->liveChildren;
  makeReady(child);
}

void Scheduler::Impl::join() {
  Process *process = running;
  if (process->liveChildren) {
    settle(*process);
    process->state = State::Joining;
    switchAway();
  }
  std::string leftOver = explainLeftOver(process->declared, /*atEnd=*/false);
  if (!leftOver.empty())
    fail(std::move(leftOver));
  for (Fifo *fifo : process->declared) {
    fifo->users[0] = fifo->users[1] = nullptr;
    fifo->reader = fifo->writer = nullptr;
  }
  process->fifos.erase(
      std::remove_if(process->fifos.begin(), process->fifos.end(),
                     [&](const Fifo *fifo) { return fifo->owner == process; }),
      process->fifos.end());
  for (Process *child : process->children)
    recycle(child);
  process->children.clear();
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Scheduler::Scheduler() : impl(std::make_unique<Impl>()) {}
Scheduler::~Scheduler() = default;

const st::sim::Api *Scheduler::api() {
  static const st::sim::Api table = {
      st::sim::kApiVersion,
      [](Fifo *fifo, const char *name, const char *scope, size_t tokenBytes,
         size_t depth) {
        current->openFifo(fifo, name, scope, tokenBytes, depth);
      },
      [](Fifo *fifo) { current->closeFifo(fifo); },
      [](Fifo *fifo) { current->awaitRead(fifo); },
      [](Fifo *fifo) { current->awaitWrite(fifo); },
      [](Fifo *fifo) { return current->poll(fifo); },
      [](const char *name, void (*entry)(void *), const void *closure,
         size_t closureBytes, Fifo *const *fifos, size_t numFifos) {
        current->spawn(name, entry, closure, closureBytes, fifos, numFifos);
      },
      [] { current->join(); },
  };
  return &table;
}

Scheduler::Fault Scheduler::describeFault(const void *address) {
  Fault fault;
  if (current && current->running) {
    const Process &process = *current->running;
    const char *limit = process.stack.limit;
    fault.process = process.name;
    // A large frame may jump far past the guard page.
    fault.isStackOverflow =
        address < limit && address >= limit - StackPool::kStackBytes;
  }
  return fault;
}

void Scheduler::run(const char *name, void (*body)(void *), void *argument,
                    const std::vector<std::string> &recorded) {
  if (current)
    throw runtime::Error("a simulated run cannot start another one");
  impl->recorded.clear();
  for (const std::string &fifo : recorded)
    impl->recorded.push_back({fifo, 0, {}});
  impl->counts.clear();
  impl->countIndex.clear();
  impl->failed = false;
  impl->failure.clear();
  impl->idlePolls = 0;

  struct Start {
    void (*body)(void *);
    void *argument;
  } start = {body, argument};
  impl->root = impl->create(
      name,
      [](void *closure) {
        const Start &start = *static_cast<Start *>(closure);
        start.body(start.argument);
      },
      &start, sizeof(start), nullptr);
  current = impl.get();
  impl->running = impl->root;
  impl->root->state = State::Running;
  jump_fcontext(impl->root->context, &impl->caller);
  current = nullptr;
  if (impl->failed) {
    impl->abandon();
    throw runtime::Error(impl->failure);
  }
  impl->recycle(impl->root);
}

std::vector<RecordedFifo> Scheduler::takeRecorded() {
  return std::exchange(impl->recorded, {});
}

std::vector<FifoStatistics> Scheduler::fifoStatistics() const {
  // A name may have several addresses where a function was compiled into
  // several callers.
  std::vector<FifoStatistics> result;
  std::unordered_map<std::string, size_t> indices;
  for (const Counts &counts : impl->counts) {
    const auto [entry, isNew] = indices.try_emplace(
        std::string(counts.scope) + "\n" + counts.name, result.size());
    if (isNew)
      result.push_back({counts.scope, counts.name, 0, 0, counts.depth});
    FifoStatistics &sum = result[entry->second];
    sum.tokens += counts.tokens;
    sum.peak = std::max(sum.peak, counts.peak);
  }
  return result;
}
