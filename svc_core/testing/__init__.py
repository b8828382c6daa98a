"""What authors of backends and hosts test with: contracts, laws, a clock and identifiers.

`storage_contract` states what every store promises, `storage_agreement` drives several stores
with the same random work and compares them; both need the extra `testing`.
"""
