"""Who is let in, and how much anybody may have of this process: floods, limits, shares, streams."""
