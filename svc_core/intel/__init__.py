"""Intelligence: news, events, entities, signals and incidents, made from what sources say."""
