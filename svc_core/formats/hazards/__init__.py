"""Events that have a place: disasters, earthquakes, armed conflict, protest."""
