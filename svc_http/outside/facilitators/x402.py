"""Opens and checks what the settings say about x402 payments: payee, facilitator, chain.

Rule 1: a wrong setting stops the start: a mistyped address, real money without a facilitator, a
        facilitator that does not accept the network or the scheme, a node of another chain.
Rule 2: a facilitator that does not answer now stops nothing: keys work, payments are refused.
"""

from collections.abc import Callable

from attrs import frozen
from starlette.routing import Route

from svc_core.payments import networks
from svc_core.payments.challenge import Terms
from svc_core.payments.evm import checksum_address
from svc_core.payments.messages import SCHEME, VERSION
from svc_core.payments.payment_ports import ChainReader, Crypto, Unavailable
from svc_http import extras, system
from svc_http.outside.facilitators.chain import JsonRpcChain
from svc_http.outside.facilitators.ethereum import Ethereum
from svc_http.outside.facilitators.play_money import PATH, PlayMoney
from svc_http.outside.facilitators.remote_facilitator import RemoteFacilitator
from svc_http.settings import Settings, setting_error

OnFailure = Callable[[BaseException], None]


@frozen(eq=False)
class PaymentProvider:
    """The payee, the facilitator and the chain reader of x402 payments.

    `address` is that of the facilitator, as shown to people. `routes` are those of the built-in
    facilitator.
    """

    terms: Terms
    crypto: Crypto
    facilitator: RemoteFacilitator | PlayMoney
    chain: ChainReader | None
    address: str
    routes: tuple[Route, ...] = ()

    async def check(self) -> None:
        """Check that the facilitator accepts our payments, and that the node is of their chain.

        Raises:
            SettingsError: one of them does not fit.
            Unavailable: one of them does not answer.
        """
        name = self.terms.network.id
        kinds = (await self.facilitator.supported()).kinds
        if (VERSION, SCHEME, name) not in {(k.x402_version, k.scheme, k.network) for k in kinds}:
            names = sorted({kind.network for kind in kinds if kind.x402_version == VERSION})
            reason = f"does not take {SCHEME} on {name}, but on {', '.join(names) or 'nothing'}"
            raise setting_error("x402_facilitator", reason)
        if isinstance(self.chain, JsonRpcChain):
            network = await self.chain.network()
            if network != name:
                raise setting_error(
                    "x402_rpc", f"is a node of {network}, and payments are on {name}"
                )

    async def aclose(self) -> None:
        """Close all connections."""
        await self.facilitator.aclose()
        if isinstance(self.chain, JsonRpcChain):
            await self.chain.aclose()


def payment_provider(settings: Settings) -> PaymentProvider | None:
    """Open the payment provider of the settings, or None without one; the caller closes it.

    Raises:
        SettingsError: the extra is missing, or a setting is wrong.
    """
    if settings.x402_pay_to is None:
        return None
    if missing := extras.missing_modules("x402"):
        packages, cure = " and ".join(missing), extras.install_line("x402")
        raise setting_error("x402_pay_to", f"needs {packages}, which are not there: {cure}")
    crypto = Ethereum()
    terms = Terms(networks.NETWORKS[settings.payment_network], settings.x402_pay_to)
    _check_payee(terms, crypto)
    url = facilitator_address(settings)
    if _is_play(settings, terms):
        play = PlayMoney(terms.network, crypto, system.now)
        routes = tuple(play.routes(is_shown=not settings.is_open))
        return PaymentProvider(terms, crypto, play, play, url, routes)
    key, seconds = settings.x402_facilitator_key, settings.x402_settle_seconds
    facilitator = RemoteFacilitator(url, key, settle_seconds=seconds)
    chain = None if settings.x402_rpc is None else JsonRpcChain(settings.x402_rpc)
    return PaymentProvider(terms, crypto, facilitator, chain, url)


async def check_payment_provider(provider: PaymentProvider | None, on_failure: OnFailure) -> None:
    """Check the provider: a wrong setting stops the start, a missing answer is only logged.

    Raises:
        SettingsError: the setting is wrong.
    """
    if provider is not None:
        try:
            await provider.check()
        except Unavailable as error:
            on_failure(error)
        if isinstance(provider.facilitator, RemoteFacilitator):
            provider.facilitator.on_failure = on_failure


def facilitator_address(settings: Settings) -> str:
    """The address of the facilitator that the settings name, or of the built-in one."""
    return settings.x402_facilitator or f"{settings.origin}{PATH}"


def _check_payee(terms: Terms, crypto: Crypto) -> None:
    """Refuse a mistyped address: the capitals of an address are its checksum (EIP-55)."""
    payee, is_real = terms.pay_to, terms.network == networks.BASE
    is_marked = payee[2:] not in {payee[2:].lower(), payee[2:].upper()}
    if (is_marked or is_real) and payee != checksum_address(payee, crypto):
        raise setting_error(
            "x402_pay_to",
            "has not the capitals of an address (EIP-55), so a digit may be wrong; copy it again "
            "from your wallet",
        )
    if payee.lower() == terms.network.asset.address.lower():
        raise setting_error("x402_pay_to", "is the contract of the asset, which gives nothing back")
    if is_real and payee == networks.BURN_ADDRESS:
        raise setting_error("x402_pay_to", "is an address to which nobody has the key")


def _is_play(settings: Settings, terms: Terms) -> bool:
    if settings.x402_facilitator is not None:
        return False
    if terms.network == networks.BASE or settings.env == "production":
        raise setting_error(
            "x402_facilitator", "is missing; play money is for the test network only"
        )
    return True
