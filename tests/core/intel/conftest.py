"""Real documents, from the folder that the environment names."""

from tests.core.sources.conftest import real_documents

__all__ = ["real_documents"]
