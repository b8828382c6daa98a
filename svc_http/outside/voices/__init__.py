"""Speech engines that read reports aloud, each in a process of its own."""
