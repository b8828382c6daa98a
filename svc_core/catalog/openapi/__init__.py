"""The OpenAPI 3.1 documents of the service, made from its operations.

Rule 1: nothing is described here that an `Operation` does not declare, and nothing that it
        declares is left out: parameters, bodies, answers, failures, scopes, prices.
Rule 2: every envelope is a named component, because generators name anonymous ones badly.
Rule 3: the same operations give the same document, byte for byte.
"""
