"""A simulated training job whose faults are known: it writes what NCCL Inspector would have written."""
