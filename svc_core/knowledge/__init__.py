"""Knowledge: retrieves reports and signals by words and by meaning (Spec: Global knowledge)."""
