"""The tools of the catalogue over the Model Context Protocol; the protocol is the `mcp` SDK's."""

from typing import Final

PATH: Final = "/mcp"
