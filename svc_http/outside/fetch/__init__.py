"""Reading what others publish: documents behind http(s) addresses, files and folders.

Whatever an address or a server says, nothing but public addresses is reached, and nothing larger,
slower or further away than `FetchLimits` allows is read.
"""
