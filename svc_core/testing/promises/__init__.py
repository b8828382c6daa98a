"""The promises of a store, by the noun that they are about."""
