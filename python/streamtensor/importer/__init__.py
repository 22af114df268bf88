"""From a PyTorch module to Linalg text: torch.export, then torch-mlir in a child process."""
