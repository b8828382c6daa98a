"""Finding what is about a subject: one engine for reports, search, knowledge and the agent.

Rule 1: nothing is required and nothing excludes: names, quoted phrases and keywords raise a score.
Rule 2: one cut for every subject, language and collection; below it stand the nearest misses.
Rule 3: the same items with the same table of frequencies give the same answer.
"""
