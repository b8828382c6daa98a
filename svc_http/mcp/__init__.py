"""Serves the catalogue's tools over the Model Context Protocol, with the `mcp` SDK."""

from typing import Final

PATH: Final = "/mcp"
