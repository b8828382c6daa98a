"""Knowledge: reports and signals found by words and by meaning (Spec: Global knowledge)."""
