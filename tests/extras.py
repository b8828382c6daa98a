"""What the tests choose of what is on where it is installed, so that no extra changes them."""

NONE = {"SVC_SPEECH": "none", "SVC_EMBEDDINGS": "none"}
"""No voice and no model of meaning, for whoever does not ask for one."""
