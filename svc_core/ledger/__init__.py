"""The ledger: a bitemporal, append-only log of claims that anybody can check (Spec: Ledger).

Its rooms, each of which imports only those below it; rooms on one line do not know each other:

    local                      the operations without a route: what only a ledger's keeper does
    operations                 the requests, their use cases and declarations; `model`: the answers
    reading                    lists, folds, exports and verification of what is stored
    append | stix | picture    records come in: read, judged, sealed, erased; subjects go out
    stored | verify | fold     what a store holds; whether lines are sound; what records say
    log                        seals, tree, proofs, tiles, notes, checkpoints, receipts
    predicates | designators   what claims may say, and how the world names subjects
    records | timestamps       the grammar of a line, and of an instant in it
"""
