"""STIX ids, markings and observables, as bundles of the ledger and of graphs write them."""
