"""The frame around a page: menu, keys that jump, workspaces, and who is signed in."""

from attrs import frozen


@frozen
class MenuLink:
    """A page in the menu; `group` is the group of operations that it belongs to."""

    label: str
    href: str
    picture: str
    group: str = ""
    key: str = ""
    is_here: bool = False


@frozen
class MenuSection:
    """Pages of the menu under one name; folded ones are opened by the person."""

    label: str
    links: tuple[MenuLink, ...]
    is_folded: bool = False

    @property
    def is_here(self) -> bool:
        """Whether the page that is shown is one of them."""
        return any(link.is_here for link in self.links)


@frozen
class Shell:
    """What `base.html` shows around a page.

    `space` and `plan` are those of the workspace, `home` its address, `spaces` names and addresses
    of all that the person is a member of. `jumps` are keys, labels and addresses.
    `search`, `palette`, `live` and `me` are addresses; without the first three there is none.
    """

    space: str
    plan: str
    home: str
    spaces: tuple[tuple[str, str], ...]
    person: str
    role: str
    me: str
    sections: tuple[MenuSection, ...]
    tabs: tuple[MenuLink, ...]
    jumps: tuple[tuple[str, str, str], ...]
    search: str = ""
    palette: str = ""
    live: str = ""
