"""How an operation is declared and executed, whoever calls it: HTTP, a socket, a tool, a page."""
