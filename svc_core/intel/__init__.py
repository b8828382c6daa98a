"""What the service knows of the world: news, events, entities, signals, incidents."""
