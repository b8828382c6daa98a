"""Payment for single requests (x402, version 2): asked for, judged, settled, and never lost.

The package is usable alone: it asks its host for what `ports` names, and for nothing else.

    messages, header    what is said on the wire, and reading it from strangers
    networks, challenge what is asked for
    evm                 who signed which transfer
    states, records     where a payment stands, and what is kept of it
    admission, decisions, outcomes    what is decided, from values alone
    steps               a paid request from end to end, and the reconciler
    receipts, bodies    what is told of a settled payment, and how an answer is kept
"""
