//===- NetworkJsonTest.cpp - Files of timed networks ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the reader takes, and each of its messages.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/NetworkJson.h"

#include <functional>
#include <gtest/gtest.h>

using namespace streamtensor;

namespace {

/// A network with everything in it.
constexpr const char *kWhole = R"json({
  "schema": 1, "design": "d", "tool": "t", "part": "p", "rtl_cycles": 7,
  "clock_ns": 3.33, "serial_invocations": true, "launch_cycles": 9,
  "parameters": [{"name": "seq", "min": 1, "max": 64}],
  "memory": {"channels": [{"name": "c", "bytes_per_cycle": 32.5, "latency": 60}],
             "ports": [{"name": "m", "channel": "c", "beat_bytes": 32,
                        "burst_beats": 16, "outstanding": 4}]},
  "processes": [
    {"name": "a", "kind": "dma_in", "source": "s", "loops": [{"ii": 1}],
     "program": [
       {"wait": 3},
       {"pipeline": ["seq", 2], "ii": 2, "depth": 5, "label": "l", "body": [
         {"memory": "m", "op": "read", "beats": 2, "contiguous": 8, "stage": 1},
         {"if": "i1 == 0", "then": [{"write": "f", "stage": 4}],
          "else": [{"write": 1, "stage": 3}]}]},
       {"loop": "ceildiv(seq, 16)", "overhead": 1, "body": [{"write": "g"}]}]},
    {"name": "b", "latency": 500, "accesses": [
      {"fifo": 0, "op": "read", "at": [[0, 1, 64]]},
      {"fifo": "1", "op": "read", "at": [[64, 2, 32, 64, 2]]},
      {"fifo": "g", "op": "read", "at": [[200], [210, 1, 3]]},
      {"memory": "m", "op": "write", "beats": 4, "contiguous": 4,
       "at": [[300]]}]}],
  "fifos": [
    {"name": "f", "lanes": 2, "depth": 4, "width_bits": 8, "producer": "a",
     "consumer": "b"},
    {"depth": 64, "producer": "a", "consumer": "b", "crossing": 2,
     "control": true},
    {"name": "g", "depth": 4, "initial_tokens": 1, "producer": "a",
     "consumer": "b"}],
  "pipos": [{"name": "x", "producer": "a", "consumer": "b"},
            {"producer": "a", "consumer": "b"}],
  "stalls": [{"process": "b", "at": 5, "cycles": 3}]
})json";

TEST(NetworkJson, ReadsEverything) {
  std::string error;
  const std::optional<TimedNetwork> network = parseNetwork(kWhole, error);
  ASSERT_TRUE(network) << error;
  EXPECT_EQ(network->check().value_or(""), "");
  EXPECT_EQ(network->design, "d");
  EXPECT_EQ(network->clockNs, 3.33);
  EXPECT_TRUE(network->serialInvocations);
  EXPECT_EQ(network->launchCycles, 9);
  ASSERT_EQ(network->parameters.size(), 1u);
  EXPECT_EQ(network->maxima(), ParameterValues({{"seq", 64}}));
  ASSERT_EQ(network->memory.ports.size(), 1u);
  EXPECT_EQ(network->memory.ports[0].outstanding, 4);
  EXPECT_EQ(network->memory.channels[0].bytesPerCycle, 32.5);
  ASSERT_EQ(network->fifos.size(), 3u);
  EXPECT_EQ(network->fifos[0].lanes, 2);
  EXPECT_EQ(network->fifos[0].widthBits, 8);
  EXPECT_EQ(network->fifos[1].name, "1");
  EXPECT_EQ(network->fifos[1].crossing, 2);
  EXPECT_TRUE(network->fifos[1].isControl);
  EXPECT_EQ(network->fifos[2].initialTokens, 1);
  EXPECT_EQ(network->pingPongs[1].name, "1");
  EXPECT_EQ(network->stalls[0].cycles, 3);
  const TimedProcess &a = network->processes[0], &b = network->processes[1];
  EXPECT_EQ(a.kind, "dma_in");
  EXPECT_EQ(a.source, "s");
  ASSERT_EQ(a.program.size(), 3u);
  EXPECT_EQ(a.program[1].body[0].contiguous, 8);
  EXPECT_EQ(a.program[1].body[1].otherwise[0].target, 1u);
  EXPECT_EQ(a.program[2].cycles, 1);
  EXPECT_EQ(b.latency, 500);
  EXPECT_EQ(b.accesses[1].target, 1u);
  // Outermost first.
  EXPECT_EQ(b.accesses[1].at[0].levels,
            (std::vector<std::pair<int64_t, int64_t>>{{64, 2}, {2, 32}}));
}

/// The message for `kWhole` with `from` replaced.
std::string messageFor(const std::string &from, const std::string &to) {
  std::string text = kWhole;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  std::string error;
  EXPECT_FALSE(parseNetwork(text, error)) << to;
  EXPECT_EQ(error.find('\n'), std::string::npos);
  return error;
}

TEST(NetworkJson, NamesWhatIsWrong) {
  struct Case {
    const char *from, *to, *message;
  };
  const Case cases[] = {
      {"\"schema\": 1", "\"schema\": 2",
       "network.schema: expected 1 but got 2"},
      {"\"schema\": 1", "\"schema\" 1", "expected JSON"},
      {"\"rtl_cycles\": 7", "\"rtl_cicles\": 7",
       "network: unknown key 'rtl_cicles'"},
      {"\"design\": \"d\"", "\"design\": 4",
       "network.design: expected a string but got 4"},
      {"\"clock_ns\": 3.33", "\"clock_ns\": \"3\"",
       "network.clock_ns: expected a number but got \"3\""},
      {"\"serial_invocations\": true", "\"serial_invocations\": 1",
       "network.serial_invocations: expected true or false but got 1"},
      {"\"launch_cycles\": 9", "\"launch_cycles\": 9.5",
       "network.launch_cycles: expected an integer below 2^53 but got 9.5"},
      {"\"launch_cycles\": 9", "\"launch_cycles\": 1e300",
       "network.launch_cycles: expected an integer below 2^53 but got 1e+300"},
      {"\"launch_cycles\": 9", "\"launch_cycles\": 18446744073709551615",
       "network.launch_cycles: expected an integer below 2^53 but got "
       "18446744073709551615"},
      {"\"launch_cycles\": 9", "\"launch_cycles\": -9007199254740993",
       "network.launch_cycles: expected an integer below 2^53 but got "
       "-9007199254740993"},
      {"[{\"name\": \"seq\"", "[{\"name\": \"sec\"",
       "process 'a'.program[1].pipeline: expected an expression of the "
       "network's parameters 'sec' but got \"seq\""},
      {"\"parameters\": [",
       "\"parameters\": [{\"name\": \"seq\", \"max\": 1}, ",
       "parameters[1]: expected names that differ but got 'seq' twice"},
      {"\"pipos\": [", "\"pipos\": 4, \"more\": [",
       "network.pipos: expected an array but got 4"},
      {"\"min\": 1", "\"minimum\": 1", "parameters[0]: unknown key 'minimum'"},
      {"\"latency\": 60", "\"latencies\": 60",
       "memory.channels[0]: unknown key 'latencies'"},
      {"\"channel\": \"c\"", "\"channel\": \"d\"",
       "memory.ports[0].channel: expected the name of a channel but got "
       "\"d\""},
      {"\"channels\": [",
       "\"channels\": [{\"name\": \"c\", "
       "\"bytes_per_cycle\": 1}, ",
       "memory.channels[1]: expected names that differ but got 'c' twice"},
      {"\"name\": \"b\", \"latency\"", "\"name\": \"a\", \"latency\"",
       "processes[1]: expected names that differ but got 'a' twice"},
      {"\"latency\": 500, ", "", "process 'b': expected the key 'latency'"},
      {"\"latency\": 500", "\"latency\": \"500\"",
       "process 'b'.latency: expected an integer below 2^53 but got \"500\""},
      {"{\"wait\": 3}", "{\"pause\": 3}",
       "process 'a'.program[0]: expected one of the keys wait, read, write, "
       "memory, loop, pipeline, if"},
      {"{\"wait\": 3}", "3",
       "process 'a'.program[0]: expected an object but got 3"},
      {"{\"wait\": 3}", "{\"wait\": 3, \"stage\": 0}",
       "process 'a'.program[0]: unknown key 'stage'"},
      {"{\"wait\": 3}", "{\"write\": \"f\", \"stage\": 0}",
       "process 'a'.program[0]: unknown key 'stage'"},
      {"[\"seq\", 2]", "[]",
       "process 'a'.program[1].pipeline: expected an array of trip counts but "
       "got []"},
      {"[\"seq\", 2]", "[\"seq * seq\", 2]",
       "process 'a'.program[1].pipeline: expected an expression of the "
       "network's parameters 'seq' but got \"seq * seq\""},
      {"[\"seq\", 2]", "[true, 2]",
       "process 'a'.program[1].pipeline: expected an integer or an expression "
       "of parameters but got true"},
      {"\"ii\": 2, ", "", "process 'a'.program[1]: expected the key 'ii'"},
      {"\"memory\": \"m\", \"op\": \"read\"",
       "\"memory\": \"n\", \"op\": "
       "\"read\"",
       "process 'a'.program[1].body[0].memory: expected the name of a memory "
       "port but got \"n\""},
      {"\"op\": \"read\", \"beats\"", "\"op\": \"load\", \"beats\"",
       "process 'a'.program[1].body[0].op: expected 'read' or 'write' but got "
       "\"load\""},
      {"i1 == 0", "i1 < rows",
       "process 'a'.program[1].body[1].if: expected i0, i1, ..., or a "
       "parameter of the network (seq) at 'rows' in condition 'i1 < rows'"},
      {"i1 == 0", "i2 == 0",
       "process 'a'.program[1].body[1].if: expected one of the 2 loops around "
       "at ' == 0' in condition 'i2 == 0'"},
      {"\"i1 == 0\"", "0",
       "process 'a'.program[1].body[1].if: expected a condition but got 0"},
      {"\"body\": [{\"write\": \"g\"}]", "\"body\": {}",
       "process 'a'.program[2].body: expected an array of nodes but got {}"},
      {"{\"write\": \"g\"}", "{\"write\": \"h\"}",
       "process 'a'.program[2].body[0].write: expected the name of a fifo or "
       "an index below 3 but got \"h\""},
      {"\"fifo\": 0", "\"fifo\": 3",
       "process 'b'.accesses[0].fifo: expected the name of a fifo or an index "
       "below 3 but got 3"},
      {"\"fifo\": 0", "\"fifo\": -1",
       "process 'b'.accesses[0].fifo: expected the name of a fifo or an index "
       "below 3 but got -1"},
      {"[[0, 1, 64]]", "[[0, 1, 64, 2]]",
       "process 'b'.accesses[0].at: expected entries [t0, dt, n, DT, N, ...] "
       "but got [0,1,64,2]"},
      {"[[0, 1, 64]]", "7",
       "process 'b'.accesses[0].at: expected an array but got 7"},
      {"\"depth\": 4, \"width_bits\"", "\"dept\": 4, \"width_bits\"",
       "fifos[0]: expected the key 'depth'"},
      {"\"consumer\": \"b\"},\n    {\"depth\"",
       "\"consumer\": \"nobody\"},\n    {\"depth\"",
       "fifos[0].consumer: expected the name of a process but got \"nobody\""},
      {"\"producer\": \"a\",\n     \"consumer\": \"b\"}],",
       "\"consumer\": "
       "\"b\"}],",
       "fifos[2]: expected the key 'producer'"},
      {"\"process\": \"b\"", "\"process\": 1",
       "stalls[0].process: expected the name of a process but got 1"},
      {"\"cycles\": 3", "\"cicles\": 3",
       "stalls[0]: expected the key 'cycles'"},
      // A setting given twice: which one was meant?
      {"\"launch_cycles\": 9", "\"launch_cycles\": 9, \"launch_cycles\": 8",
       "expected each key once in an object but got 'launch_cycles' twice"},
      // Messages stay on one line.
      {"\"name\": \"a\", \"kind\"", "\"name\": \"a\\nb\", \"kind\"",
       "processes[0].name: expected a string of printable characters but got "
       "\"a\\nb\""},
  };
  for (const Case &item : cases)
    EXPECT_EQ(messageFor(item.from, item.to), item.message);
}

TEST(NetworkJson, RefusesOtherDocuments) {
  std::string error;
  for (const char *text : {"", "[]", "null", "{}", "{\"processes\": []}",
                           "{\"processes\": {}}", "\xff", "{\"a\": 1e999}"}) {
    error.clear();
    EXPECT_FALSE(parseNetwork(text, error)) << text;
    EXPECT_NE(error, "") << text;
  }
}

/// Printing values is recursive; so is destroying programs.
TEST(NetworkJson, RefusesDeepNesting) {
  std::string error;
  const std::string open(100000, '['), closed(100000, ']');
  EXPECT_FALSE(parseNetwork("{\"processes\": " + open + closed + "}", error));
  EXPECT_EQ(error, "expected JSON with at most 256 brackets inside of each "
                   "other");
  // Brackets in strings do not count, in either direction.
  EXPECT_FALSE(parseNetwork("{\"design\": \"" + closed +
                                "\", \"processes\": " + open + closed + "}",
                            error));
  EXPECT_EQ(error, "expected JSON with at most 256 brackets inside of each "
                   "other");
  const std::string named = "{\"design\": \"" + open +
                            "\", \"processes\": [{\"name\": \"a\", "
                            "\"latency\": 1}]}";
  EXPECT_TRUE(parseNetwork(named, error)) << error;
  TimedNetwork network;
  EXPECT_EQ(applyDepths("{\"f\": " + open + closed + "}", network),
            "expected JSON with at most 256 brackets inside of each other");
  std::string loops = "{\"wait\": 1}";
  for (int i = 0; i < 70; ++i)
    loops = "{\"loop\": 1, \"body\": [" + loops + "]}";
  EXPECT_FALSE(parseNetwork(
      "{\"processes\": [{\"name\": \"a\", \"program\": [" + loops + "]}]}",
      error));
  EXPECT_NE(error.find("expected at most 64 nodes inside of each other"),
            std::string::npos)
      << error;
}

TEST(NetworkJson, AppliesDepths) {
  std::string error;
  TimedNetwork network = *parseNetwork(kWhole, error);
  EXPECT_EQ(applyDepths("{\"f\": 9, \"1\": 10}", network), std::nullopt);
  EXPECT_EQ(network.fifos[0].depth, 9);
  EXPECT_EQ(network.fifos[1].depth, 10);
  EXPECT_EQ(network.fifos[2].depth, 4);
  // By index, too.
  EXPECT_EQ(applyDepths("{\"2\": 11}", network), std::nullopt);
  EXPECT_EQ(network.fifos[2].depth, 11);
  EXPECT_EQ(applyDepths("{\"h\": 9}", network),
            "expected the name of a fifo but got 'h'");
  for (const char *depth : {"0", "-1", "2.5", "\"3\"", "null", "4398046511105",
                            "1e3", "18446744073709551615"})
    EXPECT_EQ(applyDepths(std::string("{\"f\": ") + depth + "}", network)
                  .value_or("")
                  .rfind("expected a depth from 1 on for fifo 'f' but got ", 0),
              0u)
        << depth;
  for (const char *text : {"", "[]", "4", "{\"f\": }"})
    EXPECT_EQ(applyDepths(text, network),
              "expected a JSON object of depths by name of fifo");
}

int64_t evaluate(const char *text, std::vector<int64_t> inductions) {
  std::string error;
  const std::optional<IndexExpr> condition =
      parseCondition(text, inductions.size(), {}, error);
  EXPECT_TRUE(condition) << error;
  return condition ? condition->evaluate(inductions.data()) : -1;
}

TEST(ParseCondition, ComputesAsPythonDoes) {
  EXPECT_EQ(evaluate("i0 * 4 + i1 < 7", {1, 2}), 1);
  EXPECT_EQ(evaluate("i0 * 4 + i1 < 7", {1, 3}), 0);
  EXPECT_EQ(evaluate("2 + 3 * 4", {}), 14);
  EXPECT_EQ(evaluate("(2 + 3) * 4", {}), 20);
  EXPECT_EQ(evaluate("7 - 2 - 3", {}), 2);
  EXPECT_EQ(evaluate("-7 / 2", {}), -4);
  EXPECT_EQ(evaluate("-7 // 2", {}), -4);
  EXPECT_EQ(evaluate("-7 % 3", {}), 2);
  EXPECT_EQ(evaluate("7 ceildiv 2", {}), 4);
  EXPECT_EQ(evaluate("7 floordiv 2 mod 2", {}), 1);
  EXPECT_EQ(evaluate("i0 == 1 or i0 == 2 and i0 == 3", {1}), 1);
  EXPECT_EQ(evaluate("(i0 == 1 or i0 == 2) and i0 == 3", {1}), 0);
  EXPECT_EQ(evaluate("not i0 == 1", {2}), 1);
  EXPECT_EQ(evaluate("not not i0", {2}), 1);
  EXPECT_EQ(evaluate("i0 != 1", {1}), 0);
  EXPECT_EQ(evaluate("i0 >= 3", {3}), 1);
  EXPECT_EQ(evaluate("i0 > 3", {3}), 0);
  EXPECT_EQ(evaluate("i0 <= 3", {3}), 1);
  EXPECT_EQ(evaluate("-1 u< 3", {}), 0);
  EXPECT_EQ(evaluate("3 u<= 3", {}), 1);
  EXPECT_EQ(evaluate("i0 < 2 xor i0 < 4", {3}), 1);
  // What IndexExpr prints reads back the same.
  std::string error;
  const IndexExpr flat = IndexExpr::induction(0) * 4 + IndexExpr::induction(1);
  const std::string text = (flat < 7 && flat >= 2).toString();
  const std::optional<IndexExpr> again = parseCondition(text, 2, {}, error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(again->toString(), text);
}

TEST(ParseCondition, ReadsParameters) {
  const ParameterValues known = {{"seq", 8}, {"and_more", 5}, {"i", 6}};
  struct Case {
    const char *text;
    std::function<bool(int64_t, int64_t, int64_t, int64_t)> holds;
  };
  // i0 * 4 + i1 names the iterations of a nest.
  const Case cases[] = {
      {"i0 == seq - 1",
       [](int64_t i0, int64_t, int64_t seq, int64_t) { return i0 == seq - 1; }},
      {"i0 * 4 + i1 < seq", [](int64_t i0, int64_t i1, int64_t seq,
                               int64_t) { return i0 * 4 + i1 < seq; }},
      {"and_more <= i0 and i1 != seq",
       [](int64_t i0, int64_t i1, int64_t seq, int64_t more) {
         return more <= i0 && i1 != seq;
       }},
      {"i0 < (seq + and_more * 2) ceildiv 3 or seq % 2 == 1",
       [](int64_t i0, int64_t, int64_t seq, int64_t more) {
         return 3 * i0 < seq + more * 2 || seq % 2 == 1;
       }},
      {"not i u< seq xor i1 - and_more >= -2",
       [](int64_t, int64_t i1, int64_t seq, int64_t more) {
         return !(6 < seq) != (i1 - more >= -2);
       }},
  };
  for (const Case &item : cases) {
    std::string error;
    const std::optional<IndexExpr> condition =
        parseCondition(item.text, 2, known, error);
    ASSERT_TRUE(condition) << error;
    EXPECT_TRUE(condition->hasParameters());
    const std::optional<IndexExpr> again =
        parseCondition(condition->toString(), 2, known, error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(again->toString(), condition->toString());
    // In front of the loops, another one.
    const IndexExpr moved = condition->substitute(
        {IndexExpr::induction(1),
         IndexExpr::induction(2) + IndexExpr::parameter("seq")});
    for (int64_t seq = 0; seq <= 8; ++seq)
      for (int64_t more = 0; more <= 5; ++more) {
        const ParameterValues values = {
            {"seq", seq}, {"and_more", more}, {"i", 6}};
        const IndexExpr bound = again->bind(values);
        const IndexExpr movedBound = moved.bind(values);
        EXPECT_FALSE(bound.hasParameters());
        for (int64_t i0 = 0; i0 < 4; ++i0)
          for (int64_t i1 = 0; i1 < 4; ++i1) {
            const int64_t numbers[] = {i0, i1}, more3[] = {9, i0, i1};
            EXPECT_EQ(bound.evaluate(numbers) != 0,
                      item.holds(i0, i1, seq, more))
                << item.text << " at " << seq << ", " << more;
            EXPECT_EQ(movedBound.evaluate(more3) != 0,
                      item.holds(i0, i1 + seq, seq, more))
                << item.text;
          }
      }
  }
}

TEST(ParseCondition, WritesTripCounts) {
  ParameterValues maxima;
  std::string error;
  for (const char *text :
       {"7", "seq max 9", "past max 5 + seq max 9 + 2",
        "3 * ceildiv(2 * seq max 9 + past max 5 + 1, 4) + -2 * past max 5"}) {
    maxima.clear();
    const std::optional<TripCount> count =
        TripCount::parse(text, maxima, error);
    ASSERT_TRUE(count) << error;
    const std::optional<IndexExpr> read =
        parseCondition(IndexExpr::count(*count).toString(), 0, maxima, error);
    ASSERT_TRUE(read) << error;
    for (int64_t seq = 0; seq <= 9; ++seq)
      for (int64_t past = 0; past <= 5; ++past) {
        const ParameterValues values = {{"seq", seq}, {"past", past}};
        EXPECT_EQ(read->bind(values).evaluate(nullptr), count->evaluate(values))
            << text;
      }
  }
}

TEST(ParseCondition, NamesOfParameters) {
  for (const char *name : {"seq", "i", "u", "_", "i0_", "a1", "model", "max"})
    EXPECT_TRUE(isParameterName(name)) << name;
  for (const char *name : {"", "i0", "i12", "1a", "a b", "a.b", "and", "or",
                           "xor", "not", "mod", "floordiv", "ceildiv"})
    EXPECT_FALSE(isParameterName(name)) << name;
}

TEST(ParseCondition, NamesWhatIsWrong) {
  auto message = [](const std::string &text) {
    std::string error;
    EXPECT_FALSE(parseCondition(text, 2, {{"seq", 8}, {"past_rows", 4}}, error))
        << text;
    return error;
  };
  EXPECT_EQ(message(""), "expected a number, i0, i1, ..., a parameter, or '(' "
                         "at '' in condition ''");
  EXPECT_EQ(message("i0 <"),
            "expected a number, i0, i1, ..., a parameter, or '(' at '' in "
            "condition 'i0 <'");
  EXPECT_EQ(message("(i0"), "expected ')' at '' in condition '(i0'");
  EXPECT_EQ(message("i0 i1"), "expected the end at 'i1' in condition 'i0 i1'");
  EXPECT_EQ(message("i0 < i1 < 3"),
            "expected the end at '< 3' in condition 'i0 < i1 < 3'");
  EXPECT_EQ(message("past < 3"),
            "expected i0, i1, ..., or a parameter of the network (past_rows, "
            "seq) at 'past < 3' in condition 'past < 3'");
  EXPECT_EQ(message("i0 < seq and mod < 3"),
            "expected i0, i1, ..., or a parameter of the network (past_rows, "
            "seq) at 'mod < 3' in condition 'i0 < seq and mod < 3'");
  EXPECT_EQ(message("i2 < seq"),
            "expected one of the 2 loops around at ' < seq' in condition 'i2 < "
            "seq'");
  EXPECT_EQ(message("i0 < 3 and_seq").substr(0, 23), "expected the end at 'an");
  EXPECT_EQ(message("99999999999 < i0").substr(0, 30),
            "expected a number below 2^31 a");
  EXPECT_EQ(message("i99999999999").substr(0, 30),
            "expected a number below 2^31 a");
  for (const char *text :
       {"i0 / i1", "i0 % 0", "3 / -2", "i0 / (1 + 1)", "i0 / seq"})
    EXPECT_EQ(message(text),
              std::string("expected divisors that are positive constants in "
                          "condition '") +
                  text + "'");
  EXPECT_EQ(message(std::string(100000, '(')).substr(0, 24),
            "expected less nesting at");
  std::string nots;
  for (int i = 0; i < 100000; ++i)
    nots += "not ";
  EXPECT_EQ(message(nots).substr(0, 24), "expected less nesting at");
  // More values at a time than an evaluation holds.
  std::string deep = "1";
  for (int i = 0; i < 40; ++i)
    deep = "1 + (" + deep + ")";
  EXPECT_NE(message(deep), "");
}

} // namespace
