"""What parsers share: bytes, characters, text, dates, links, codes and the parties of documents."""
