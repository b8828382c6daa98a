"""The commands for the profiles of a workspace (Spec: Profile and subscription)."""

from attrs import frozen

from svc_core.operation import Context
from svc_core.profiles import operations
from svc_core.resources.members import ProfileId
from svc_core.resources.profile import PROFILES, ProfileInput
from svc_core.wire import Json
from svc_http.commands import accounts
from svc_http.commands.command import Rows, row, short, table
from svc_http.service import Service


@frozen
class CreateProfile:
    """A new profile for a workspace, or for a person."""

    profile: ProfileInput
    workspace: str | None = None


@frozen
class ListProfiles:
    """The profiles of a workspace."""

    workspace: str | None = None
    limit: Rows = 100


@frozen
class OneProfile:
    """The profile that is meant."""

    profile_id: ProfileId
    workspace: str | None = None


async def create(service: Service, args: CreateProfile) -> Json:
    """Make a profile and its active subscription."""
    tenant = await accounts.tenant(service, args.workspace)
    asked = operations.CreateProfile(args.profile)
    made = await service.write(tenant, lambda ctx: operations.create_profile(ctx, asked))
    return row(made.raw)


async def list_(service: Service, args: ListProfiles) -> Json:
    """Profiles with their subscriptions, newest first."""
    tenant = await accounts.tenant(service, args.workspace)
    asked = operations.ListProfiles(limit=args.limit)
    found = await service.read(tenant, lambda ctx: operations.list_profiles(ctx, asked))
    return [row(raw) for raw in found.rows]


async def show(service: Service, args: OneProfile) -> Json:
    """One profile."""
    tenant = await accounts.owner(service, PROFILES, args.profile_id, args.workspace)
    asked = operations.OneProfile(args.profile_id)
    found = await service.read(tenant, lambda ctx: operations.get_profile(ctx, asked))
    return row(found.raw)


async def delete(service: Service, args: OneProfile) -> Json:
    """Remove a profile with its subscription and its reports."""
    tenant = await accounts.owner(service, PROFILES, args.profile_id, args.workspace)

    async def unit(ctx: Context) -> Json:
        await operations.delete_profile(ctx, operations.OneProfile(args.profile_id))
        return {"id": args.profile_id, "deleted": True}

    return await service.write(tenant, unit)


COMMANDS = table(
    short("profiles create", CreateProfile, create),
    short("profiles list", ListProfiles, list_),
    short("profiles show", OneProfile, show),
    short("profiles delete", OneProfile, delete),
)
