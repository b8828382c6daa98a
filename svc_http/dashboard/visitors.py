"""Says whom the session of a request belongs to, and renews its cookie after a change of roles."""

from attrs import frozen

from svc_core.access import person_sessions as sessions
from svc_core.access.model import WORKSPACES, Workspace
from svc_core.access.person_sessions import Device, SignedIn
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM
from svc_http.dashboard import security
from svc_http.dashboard.desk import Home, Office, Person
from svc_http.exchange.http_exchange import Exchange, Header


@frozen
class Visitor:
    """Who a request comes from, and the fields that store a renewed session in the browser."""

    person: Person
    fields: tuple[Header, ...] = ()


async def visitor_of(office: Office, exchange: Exchange, *, renews: bool = True) -> Visitor | None:
    """The person whose session the request carries; None where it carries none that is open.

    Without `renews` nothing is written: neither a new token, which the answer could not bring to
    the browser, nor the use of the session by a tab that is only left open.
    """
    name = security.cookie_name(office.settings)
    token = security.session_token(exchange, name)
    if name is None or token is None:
        return None

    async def look(ctx: Context) -> tuple[SignedIn, dict[str, Workspace]] | None:
        signed = await sessions.resume(ctx, token)
        if signed is None:
            return None
        ids = [member.workspace_id for member in signed.memberships]
        return signed, await ctx.find_many(WORKSPACES, ids)

    units = office.desk_units
    look_up = await units.read(SYSTEM, look)
    if look_up is None:
        return None
    signed, workspaces = look_up
    person, session = _person(signed, workspaces), signed.session
    if not renews:
        return Visitor(person)
    if signed.state == "outdated":
        renewed = await units.write(SYSTEM, lambda ctx: sessions.renew(ctx, session.id))
        if renewed is not None:
            return Visitor(person, (security.set_cookie(name, renewed.token),))
    elif signed.is_unseen(office.now()):
        device = device_of(office, exchange)
        await units.write(SYSTEM, lambda ctx: sessions.touch(ctx, session.id, device))
    return Visitor(person)


def device_of(office: Office, exchange: Exchange) -> Device:
    """The address and the browser that a request comes from."""
    address = office.gate.facts(exchange).address.text
    return Device.of(address, exchange.header("user-agent") or "")


def _person(signed: SignedIn, workspaces: dict[str, Workspace]) -> Person:
    homes = [
        Home(home.id, home.name, home.plan, member.role)
        for member in signed.memberships
        if (home := workspaces.get(member.workspace_id)) is not None
    ]
    return Person(
        user_id=signed.user.id,
        handle=signed.credential.handle,
        name=signed.user.name,
        session_id=signed.session.id,
        signed_in_at=signed.session.signed_in_at,
        is_operator=signed.is_operator,
        has_proof=signed.credential.password is not None or signed.credential.passkeys != (),
        homes=tuple(sorted(homes, key=lambda home: (home.name, home.id))),
    )
