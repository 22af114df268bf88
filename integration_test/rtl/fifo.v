// A FIFO without its data: who may read, who may write, and how full it was.
//
// Both counts are registers, so a token written in a cycle is readable in the
// next, a slot freed in a cycle is writable in the next, and neither passes
// through. `crossing` register stages delay both on their way to the other end.
// Lines that start with "#fifo" are the report.

module fifo (
    // Constants of the instance.
    input wire [31:0] network,
    input wire [31:0] index,
    input wire [31:0] depth,
    input wire [31:0] initial_tokens,
    input wire [31:0] crossing,
    // The two ends.
    input wire write,
    output wire not_full,
    input wire read,
    output wire not_empty,
    // The report is printed in the cycle in which this is 1.
    input wire report
);
  /* verilator no_inline_module */
  // Tokens that the reader sees; slots that the writer sees in use.
  reg [31:0] tokens;
  reg [31:0] used;
  reg [31:0] peak;
  // Bit i: written (freed) i + 1 cycles ago.
  reg [31:0] written;
  reg [31:0] freed;

  assign not_empty = tokens != 0;
  assign not_full = used < depth;

  wire arrives = crossing == 0 ? write : written[crossing-1];
  wire returns = crossing == 0 ? read : freed[crossing-1];

  always @(posedge top.clock) begin
    if (top.reset) begin
      tokens <= initial_tokens;
      used <= initial_tokens;
      peak <= initial_tokens;
      written <= 0;
      freed <= 0;
    end else begin
      tokens <= tokens + {31'b0, arrives} - {31'b0, read};
      used <= used + {31'b0, write} - {31'b0, returns};
      if (write && used + 1 > peak) peak <= used + 1;
      written <= {written[30:0], write};
      freed <= {freed[30:0], read};
      if (report) $display("#fifo %0d %0d %0d %0d", network, index, peak, used);
    end
  end
endmodule
