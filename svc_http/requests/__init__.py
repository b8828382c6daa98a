"""The way of a request: from the socket's bytes to an answer.

`edge` takes every request and catches every failure, `dispatcher` finds what answers, `adapter`
runs an operation: `gather` lets it in, `paywall` asks for payment, `turns` keeps repeated requests
apart, `respond` makes the bytes. `exchange` is the one request and its answer; `pages` are what is
served beside the operations.
"""
