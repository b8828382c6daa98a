"""Judges passkeys with the library `webauthn` of the extra `passkeys` (Web Authentication).

The library takes a quarter of a second to import, so that happens when it is first used.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from svc_core.access.passkeys import PasskeyHolder
from svc_core.access.people import Passkey


class WebAuthnJudge:
    """See `svc_core.access.passkeys.PasskeyJudge`."""

    def registration_options(self, origin: str, holder: PasskeyHolder, challenge: bytes) -> str:
        """What a browser makes a passkey by."""
        import webauthn  # noqa: PLC0415 - see above
        from webauthn.helpers import structs  # noqa: PLC0415

        # Discoverable, so that nobody types a handle; verification of the person is preferred.
        selection = structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED
        )
        options = webauthn.generate_registration_options(
            rp_id=_host(origin),
            rp_name=_host(origin),
            user_id=holder.id.encode(),
            user_name=holder.handle or _host(origin),  # until it is chosen
            challenge=challenge,
            authenticator_selection=selection,
        )
        return webauthn.options_to_json(options)

    def sign_in_options(self, origin: str, challenge: bytes) -> str:
        """What a browser signs in by."""
        import webauthn  # noqa: PLC0415 - see above

        return webauthn.options_to_json(
            webauthn.generate_authentication_options(rp_id=_host(origin), challenge=challenge)
        )

    def judge_registration(
        self, origin: str, answer: str, challenge: bytes
    ) -> tuple[str, str, int]:
        """The id, the public key and the sign count of a new passkey.

        Raises:
            ValueError: the answer is no good.
        """
        import webauthn  # noqa: PLC0415 - see above

        with _refusal():
            passkey = webauthn.verify_registration_response(
                credential=answer,
                expected_challenge=challenge,
                expected_rp_id=_host(origin),
                expected_origin=origin,
            )
        credential = passkey.credential_id, passkey.credential_public_key
        id_, key = map(webauthn.helpers.bytes_to_base64url, credential)
        return id_, key, passkey.sign_count

    def judge_sign_in(self, origin: str, answer: str, challenge: bytes, passkey: Passkey) -> int:
        """The new sign count of the passkey that answered.

        Raises:
            ValueError: the answer is no good.
        """
        import webauthn  # noqa: PLC0415 - see above

        with _refusal():
            proof = webauthn.verify_authentication_response(
                credential=answer,
                expected_challenge=challenge,
                expected_rp_id=_host(origin),
                expected_origin=origin,
                credential_public_key=webauthn.helpers.base64url_to_bytes(passkey.public_key),
                credential_current_sign_count=passkey.sign_count,
            )
        return proof.new_sign_count


@contextmanager
def _refusal() -> Iterator[None]:
    """What the library says of an answer that is no good, a lack of members among it."""
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415 - see above

    try:
        yield
    except (WebAuthnException, LookupError, TypeError, ValueError) as refusal:
        raise ValueError("the browser's answer does not verify") from refusal


def _host(origin: str) -> str:
    return urlsplit(origin).hostname or ""
