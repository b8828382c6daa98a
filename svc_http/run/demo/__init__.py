"""What the demo starts with: news documents that are fresh on any day, and topic profiles."""

from svc_http.run.demo.documents import DemoDocument, documents
from svc_http.run.demo.profiles import PROFILES

__all__ = ["PROFILES", "DemoDocument", "documents"]
