"""What holds for every test: the time that an example takes is no promise of ours."""

from hypothesis import HealthCheck, settings

settings.register_profile("svc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("svc")
