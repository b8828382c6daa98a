"""The composition root: the one place that knows every part of a service and joins them.

Only the entry points import it (`svc_http.run`).
"""
