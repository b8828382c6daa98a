"""The networks on which payments are accepted, with their stablecoins (Spec: Reports, rule 1)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from attrs import frozen


@frozen
class Asset:
    """A token: its contract, the EIP-712 domain that payments in it are signed under (EIP-3009),
    and how many decimals its smallest unit has."""

    address: str
    name: str
    version: str
    decimals: int


@frozen
class Network:
    """A chain by its CAIP-2 name, with the one asset that is taken on it."""

    id: str
    asset: Asset


# The names differ between the two: a signature under the other name verifies nowhere.
BASE: Final = Network(
    "eip155:8453", Asset("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin", "2", 6)
)
"""Production: real money."""

BASE_SEPOLIA: Final = Network(
    "eip155:84532", Asset("0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC", "2", 6)
)
"""Development: test money, free at a faucet."""

NETWORKS: Final[Mapping[str, Network]] = MappingProxyType(
    {network.id: network for network in (BASE, BASE_SEPOLIA)}
)
"""Every network by its name, production first. An offer names one of them, never both: test
money must not buy what real money buys."""

BURN_ADDRESS: Final = "0x000000000000000000000000000000000000dEaD"
"""The default payee, an address that nobody has the key of; an operator must name a real one."""
