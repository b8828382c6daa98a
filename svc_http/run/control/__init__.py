"""The operator's way in: every operation, local ones too, over a socket or in this process."""
