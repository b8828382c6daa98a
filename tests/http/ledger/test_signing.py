"""The key of a store: made once, kept sealed, and the same for whoever asks later."""

from svc_core.ledger.signing_key import ensure_signer, stored_signer


def test_a_store_keeps_the_key_that_it_made_first(town):
    assert town.house.system(stored_signer) is None
    public = town.house.system(ensure_signer).public
    assert town.house.system(stored_signer).public == public
    assert town.house.system(ensure_signer).public == public
    assert town.house.system(stored_signer).public == public
