"""Storage of audio recordings: in a folder, in a bucket, or in the store itself."""
