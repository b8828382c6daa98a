"""One HTTP request and its answer: reading the body, sending the answer, and the load of both."""
