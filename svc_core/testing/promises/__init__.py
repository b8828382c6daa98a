"""The promises of a store as test classes, one module for each subject."""
