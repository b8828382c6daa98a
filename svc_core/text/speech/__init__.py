"""Turns text into speech-ready text, which a voice can read aloud as it stands.

The audio-text facet of a report (Spec: Report) is made with it.

Rule 1: pure, deterministic, linear in the length of the text, bounded, and it refuses nothing.
Rule 2: no HTML or Markdown is left in it; addresses are shortened.
Rule 3: what every voice reads well stays as it is written: digits (`5`, `2.5`, `1,200`, `2026`),
        ordinals (`21st`), days with their month (`5 March 2026`), times of day (`14:30`), versions
        (`3.0.7`). What is a sign, an abbreviation or a notation becomes words.
Rule 4: English is normalised in full; in other languages only what is unambiguous is changed.
"""
