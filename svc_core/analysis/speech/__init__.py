"""Speech-ready text: what a voice can read aloud as it stands (Spec: Report, audio-text facet).

Rule 1: pure, deterministic, linear in the length of the text, bounded, and it refuses nothing.
Rule 2: no character of HTML or Markdown leaves it; addresses are said short, code is not read.
Rule 3: digits stay digits where every voice reads them well (`5`, `2.5`, `1,200`, `2026`); what is
        a sign, a shortening or a notation becomes words.
Rule 4: English is told in full; of any other language only what is sure is changed.
"""

from svc_core.analysis.speech.script import CHARS_MAX, Script, narrate, seconds
from svc_core.analysis.speech.spoken import spoken

__all__ = ["CHARS_MAX", "Script", "narrate", "seconds", "spoken"]
