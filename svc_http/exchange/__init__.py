"""The one request under way: what it holds, and the one place where its answer leaves."""
