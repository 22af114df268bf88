"""An independent judge of timed process networks: their Verilog, run in Verilator.

Nothing here knows the C++ simulator; both follow docs/process-networks.md.
"""
