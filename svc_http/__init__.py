"""The server around `svc_core`: HTTP, storage, workers, commands and everything else that waits.

`svc_http.service.runtime` puts an ASGI application together, `svc_http.run.server` serves it,
`svc_http.stores` keeps the rows. No rule stands here: a rule is in the core or nowhere.
"""
