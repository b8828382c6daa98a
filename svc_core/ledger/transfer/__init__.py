"""STIX 2.1 identifiers, markings and observables, shared by the exports of ledger and graphs."""
