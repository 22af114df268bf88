// A process without its data: an own time that stands still as a whole when one
// of the accesses of this cycle cannot happen.
//
// Its accesses are rows of the table of the top module, in the order of time: 32
// bits of own time, 16 bits with the cycles of a stall that is injected before, and
// one bit for each port that is touched then. The last row has a time that is
// never reached.
// Lines that start with "#process" are the report.

module process #(
    parameter PORTS = 16
) (
    // Constants of the instance.
    input wire [31:0] network,
    input wire [31:0] index,
    input wire [31:0] invocations,
    input wire [31:0] latency,
    input wire [31:0] first_row,
    input wire [PORTS-1:0] is_read,
    // Whether the invocation `started` may start, by what other processes do.
    input wire may_start,
    // The FIFOs.
    input wire [PORTS-1:0] ready,
    output wire [PORTS-1:0] access,
    // Invocations that have started, and ended, before this cycle.
    output reg [31:0] started,
    output reg [31:0] ended,
    // Whether this process does something in this cycle, and whether that is an
    // access or its end.
    output wire active,
    output wire notable,
    // The report is printed in the cycle in which this is 1.
    input wire report
);
  /* verilator no_inline_module */
  reg running;
  reg [31:0] t;
  reg [31:0] row;
  reg [15:0] held;
  reg [31:0] busy;
  // Cycles of waits that are over, and of the one that is not.
  reg [31:0] wait_input;
  reg [31:0] wait_output;
  reg [31:0] now_input;
  reg [31:0] now_output;

  wire starts = !running && started < invocations && may_start;
  wire runs = running || starts;
  wire [47+PORTS:0] entry = top.table_rows[row];
  wire here = runs && entry[47+PORTS:16+PORTS] == t;
  wire holds = here && held != entry[15+PORTS:PORTS];
  wire [PORTS-1:0] wanted = here && !holds ? entry[PORTS-1:0] : {PORTS{1'b0}};
  wire [PORTS-1:0] missing = wanted & ~ready;
  wire steps = runs && !holds && missing == 0;
  wire lacks_token = (missing & is_read) != 0;
  wire lacks_slot = missing != 0 && !lacks_token;

  assign access = steps ? wanted : {PORTS{1'b0}};
  assign active = starts || holds || steps;
  assign notable = steps && (wanted != 0 || t == latency);

  always @(posedge top.clock) begin
    if (top.reset) begin
      running <= 0;
      t <= 0;
      row <= first_row;
      held <= 0;
      started <= 0;
      ended <= 0;
      busy <= 0;
      wait_input <= 0;
      wait_output <= 0;
      now_input <= 0;
      now_output <= 0;
    end else begin
      held <= holds ? held + 1 : steps ? 0 : held;
      if (starts) started <= started + 1;
      if (steps && t == latency) begin
        running <= 0;
        t <= 0;
        row <= first_row;
        ended <= ended + 1;
      end else begin
        running <= runs;
        if (steps) begin
          t <= t + 1;
          busy <= busy + 1;
          if (here) row <= row + 1;
        end
      end
      if (steps) begin
        wait_input <= wait_input + now_input;
        wait_output <= wait_output + now_output;
        now_input <= 0;
        now_output <= 0;
      end else begin
        now_input <= now_input + {31'b0, lacks_token};
        now_output <= now_output + {31'b0, lacks_slot};
      end
      if (report)
        $display("#process %0d %0d %0d %0d %0d %0d %0d %0d %b", network, index, busy, wait_input,
                 wait_output, started, ended, t, missing);
    end
  end
endmodule
