// Lets invocations begin: the first `delay` cycles after the reset, and, where
// they are serial, each other one `delay` cycles after all processes are free.

module launch (
    // Constants of the instance.
    input wire [31:0] delay,
    // Whether each process has ended all invocations launched before this cycle.
    input wire all_ended,
    // Invocations launched before this cycle, and with it.
    output reg [31:0] launched_before,
    output wire [31:0] launched
);
  /* verilator no_inline_module */
  reg [31:0] waited;

  wire now = all_ended && waited >= delay;
  assign launched = now ? launched_before + 1 : launched_before;

  always @(posedge top.clock) begin
    if (top.reset) begin
      launched_before <= 0;
      waited <= 0;
    end else begin
      launched_before <= launched;
      waited <= now ? 0 : all_ended ? waited + 1 : waited;
    end
  end
endmodule
