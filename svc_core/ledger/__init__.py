"""The ledger: a bitemporal, append-only log of claims that anybody can check (Spec: Ledger).

Its rooms, each of which imports only those below it; rooms on one line do not know each other:

    local_operations           those without a route: what only a ledger's keeper does
    operations                 the requests, their use cases and declarations; `model`: the answers
    reading                    lists, folds, exports and verification of what is stored
    append | stix | picture    records come in: read, judged, sealed, erased; subjects go out
    repository | signing_key   what a store holds of a ledger, and the key that signs its heads
    verify | fold              whether lines are sound, and erased ones told from robbed ones; what
                               records say of a subject, and which value ranks highest
    log                        seals, tree, proofs, tiles, notes, checkpoints, receipts
    predicates | designators   what claims may say, and how the world names subjects
    records | timestamps       the grammar of a line, and of an instant in it
"""

from typing import TYPE_CHECKING

from svc_core.base.public_names import lazy_names

if TYPE_CHECKING:
    from svc_core.ledger import records as records
    from svc_core.ledger import timestamps as timestamps
    from svc_core.ledger.log import checkpoint as checkpoint
    from svc_core.ledger.log import note as note
    from svc_core.ledger.log import proofs as proofs
    from svc_core.ledger.log import receipt as receipt
    from svc_core.ledger.log import record_seals as record_seals
    from svc_core.ledger.log import tree as tree
    from svc_core.ledger.verify.log_verification import verify_export as verify_export
else:
    globals().update(
        lazy_names(
            __name__,
            {
                "": "records timestamps",
                "log": "checkpoint note proofs receipt record_seals tree",
                "verify.log_verification": "verify_export",
            },
        )
    )
