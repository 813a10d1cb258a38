"""Where the next attempt goes after one whose connection was dark."""

from __future__ import annotations

from snowlane import ErrorReason, SnowlaneError
from snowlane._endpoints import Endpoints
from snowlane.testing import FakeClock


def test_a_lone_endpoint_whose_connection_was_dark_is_asked_again_at_once() -> None:
    endpoints = Endpoints(["http://a:1"], FakeClock().monotonic_s)
    endpoint, _ = endpoints.choose()
    endpoints.note_dark_connection(endpoint)
    assert endpoints.choose() == (endpoint, 0.0)


def test_after_a_dark_connection_another_endpoint_that_is_up_is_asked() -> None:
    endpoints = Endpoints(["http://a:1", "http://b:1"], FakeClock().monotonic_s)
    first, _ = endpoints.choose()
    endpoints.note_dark_connection(first)
    second, wait_s = endpoints.choose()
    assert second is not first
    assert wait_s == 0.0
    # A call over the same connection that times out later does not move the client back.
    endpoints.note_dark_connection(first)
    assert endpoints.choose() == (second, 0.0)
    # The first one was not marked as down.
    endpoints.note_failure(second, SnowlaneError(ErrorReason.SHUTTING_DOWN, "Going.", retry_after_s=1))
    assert endpoints.choose()[0] is first
