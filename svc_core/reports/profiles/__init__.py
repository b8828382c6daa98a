"""Topic profiles: what somebody wants to be informed about, and who follows it."""
