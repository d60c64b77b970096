"""Other libraries on the same workload, each in an environment and a process of its own."""
