"""From a declared operation to a route, from a request to its answer."""
