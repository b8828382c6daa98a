"""The parts that people start: commands, the control socket, the server and the demo."""
