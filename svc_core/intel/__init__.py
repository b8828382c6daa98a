"""What the sources brought, as answers: who is involved, what happened, how it is connected."""
