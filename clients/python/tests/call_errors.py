"""The errors that calls end with."""

from __future__ import annotations

from typing import Any

import pytest

from snowlane import SnowlaneError


def error_of(call: Any, *args: Any, **options: Any) -> SnowlaneError:
    with pytest.raises(SnowlaneError) as caught:
        call(*args, **options)
    return caught.value
