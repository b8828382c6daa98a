"""Functions that all parsers share: bytes, text, dates, links, codes, entities and relations."""
