"""How documents come into the store: sources, what they contributed, and the rows folded of it.

Rule 1: what a source says of a row is kept by row and source; the public row is a pure function of
        its contributions. Taking a document in twice, in parts or in another order, and taking
        back what one source brought are then nothing but folding again.
Rule 2: a document is written in parts, each a short unit of work in which every row is whole. What
        costs time (reading, judging, making the records) is done before that unit begins, so that
        other writers wait for the writing alone.
"""
