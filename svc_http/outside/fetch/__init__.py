"""HTTP clients for addresses that others name: documents of sources, webhooks, local files.

Whatever an address or a server says, only public addresses are reached, and nothing larger, slower
or with more redirects than `FetchLimits` allows is read.
"""
