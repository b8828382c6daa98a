"""Projects: what a person keeps together, seen by nobody else."""
