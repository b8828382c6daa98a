"""What all exports as STIX 2.1 (OASIS Standard, 10 June 2021) share: ids, markings, observables."""
