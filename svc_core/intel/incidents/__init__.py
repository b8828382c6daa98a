"""Incidents: members that tell of one event, folded to one row; lists, and one of them.

Rule 1: what has a designator, an article or a story in common is one incident. Rows of machine-read
        news are one incident by the article that tells them, and articles that no story has where
        they tell the same of the same people, place and day. What is merely near in kind, time and
        place is related.
Rule 2: an incident is a pure function of its members and the clock, whatever came first.
Rule 3: it has the id of its story, else of its strongest member; other ids that named it answer.
"""
