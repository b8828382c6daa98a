"""The nouns that several features share: profiles, subscriptions, news items, sources, reports.

A feature imports no other feature, so what two of them need stands here, with its collection.
"""
