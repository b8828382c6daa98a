"""What an operator can do with the service: `catalogue.commands` has it all by name."""
