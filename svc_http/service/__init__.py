"""The service that is composed of settings, store and providers, and its workers."""
