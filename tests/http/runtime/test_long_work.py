"""Long computation of a use case leaves the event loop to other requests."""

import threading


def test_what_a_use_case_computes_for_long_runs_in_a_thread_of_its_own(house):
    service = house.service.runtime.service

    async def threads():
        return threading.get_ident(), await service.aside(threading.get_ident)

    loop, background = house.run(threads())
    assert loop != background


def test_what_it_raises_comes_back(house):
    def fail():
        raise ValueError("of the work")

    async def outcome():
        try:
            await house.service.runtime.service.aside(fail)
        except ValueError as error:
            return str(error)

    assert house.run(outcome()) == "of the work"
