"""What holds for every test: the time that an example takes is no promise of ours."""

from hypothesis import settings

settings.register_profile("svc", deadline=None)
settings.load_profile("svc")
