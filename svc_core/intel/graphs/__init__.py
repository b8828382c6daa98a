"""One entity and the graphs around it, of entities and of attacks, and their STIX form."""
