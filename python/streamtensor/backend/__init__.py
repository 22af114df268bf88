"""The backend of torch.compile: graphs of PyTorch, run on the device as far as it can."""
