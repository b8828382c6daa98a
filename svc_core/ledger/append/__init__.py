"""Appending: what clients send is read, judged, sealed and stored; erasures and imports as well."""
