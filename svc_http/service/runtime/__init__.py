"""Where a service is put together: the one place that knows every part of it.

Only what people start imports it (`svc_http.run`).
"""
