// Knows when nothing will happen in a network any more: it has ended, or deadlocked.
//
// Lines that start with "#network" are the report: the last cycle with an access or an
// end, and whether all processes have ended.

module monitor (
    // Constants of the instance. `patience` is more than the cycles that a token
    // or a slot needs on its way to the other end of a FIFO.
    input wire [31:0] network,
    input wire [31:0] patience,
    // What processes do in this cycle.
    input wire any_active,
    input wire any_notable,
    input wire all_ended,
    output reg report,
    output reg finished
);
  /* verilator no_inline_module */
  reg [31:0] cycle;
  reg [31:0] last_active;
  reg [31:0] last_notable;

  always @(posedge top.clock) begin
    if (top.reset) begin
      cycle <= 0;
      last_active <= 0;
      last_notable <= 0;
      report <= 0;
      finished <= 0;
    end else begin
      cycle <= cycle + 1;
      if (any_active) last_active <= cycle;
      if (any_notable) last_notable <= cycle;
      report <= !report && !finished && cycle > last_active + patience;
      if (report) begin
        finished <= 1;
        $display("#network %0d %0d %0d", network, last_notable, all_ended);
      end
    end
  end
endmodule
