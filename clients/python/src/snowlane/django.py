"""A primary key for models of Django whose IDs come from Snowlane. Needs Django, which nothing else here does.

The setting `SNOWLANE` has the options of IdClient, such as `{"endpoints": "http://ids:7609", "timeout_s": 5.0}`, and
optionally `prefetch`, a dict with the options of its buffer. In tests it may have `client`, a FakeIdClient.
"""

from __future__ import annotations

import threading
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed
from django.db import models

from ._buffer import PrefetchBuffer
from ._fork import forget_after_fork
from ._id_client import IdClient
from ._id_source import IdSource

__all__ = ["SnowlaneIdField", "client", "ids"]


class _Made:
    """The client of this process and its buffer, made at the first ID."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pair: tuple[IdSource, PrefetchBuffer] | None = None
        self._own: IdClient | None = None
        forget_after_fork(self)

    def _after_fork_in_child(self) -> None:
        """A client and a buffer notice by themselves that they were forked."""
        self._lock = threading.Lock()

    def pair(self) -> tuple[IdSource, PrefetchBuffer]:
        pair = self._pair
        if pair is not None:
            return pair
        with self._lock:
            if self._pair is None:
                options: dict[str, Any] = dict(getattr(settings, "SNOWLANE", {}))
                prefetch = options.pop("prefetch", {})
                given = options.pop("client", None)
                self._own = IdClient(**options) if given is None else None
                source: IdSource = given if self._own is None else self._own
                self._pair = (source, source.prefetch(**prefetch))
            return self._pair

    def forget(self, *, setting: str, **_: object) -> None:
        """If the setting changes, as in a test, a new client is made."""
        if setting != "SNOWLANE":
            return
        with self._lock:
            pair, own = self._pair, self._own
            self._pair = self._own = None
        if pair is not None:
            pair[1].close()
        if own is not None:
            own.close()


_made = _Made()
setting_changed.connect(_made.forget)


def client() -> IdSource:
    """The client of this process. A server that forks first, as gunicorn --preload, is safe: each child has its own."""
    return _made.pair()[0]


def ids() -> PrefetchBuffer:
    """The buffer that all models of this process share."""
    return _made.pair()[1]


class SnowlaneIdField(models.BigIntegerField):
    """The primary key of a model. It gets its ID when the model is saved, and keeps one that it has.

    It is not given when the model is made: in an async view, a wait for a server would hold the event loop there, and
    Django saves in a thread (docs/adr/0232-modules-for-frameworks.md).
    """

    description = "ID from Snowlane"

    def __init__(self, *args: Any, **options: Any) -> None:
        options["primary_key"] = True
        options.setdefault("editable", False)
        super().__init__(*args, **options)

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """For migrations, which hold no default: the ID belongs to the program, not to the table."""
        name, path, args, options = super().deconstruct()
        options.pop("primary_key")
        if options.get("editable") is False:
            options.pop("editable")
        return name, path, list(args), options

    def has_default(self) -> bool:
        """True, so that Django inserts a new row without looking for an old one first."""
        return True

    def get_default(self) -> None:
        """None: see the class."""

    def get_pk_value_on_save(self, instance: models.Model) -> int:
        """Called by Django for a model without an ID, by save and by bulk_create."""
        return ids().next_id()
