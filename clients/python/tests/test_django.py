"""The primary key for models of Django, on SQLite."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import django
import pytest
from django.conf import settings
from django.db import connection, models
from django.db.migrations.writer import MigrationWriter
from django.test.utils import override_settings
from test_fork import ids_of_child

from snowlane import ErrorReason, IdRun, SnowlaneError
from snowlane.testing import FakeIdClient, fail

database = {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:orders?mode=memory&cache=shared"}
settings.configure(DATABASES={"default": database}, USE_TZ=True)
django.setup()

from snowlane.django import SnowlaneIdField, _made, client, ids  # noqa: E402


class Order(models.Model):
    id = SnowlaneIdField()
    article = models.TextField()

    class Meta:
        app_label = "shop"


@pytest.fixture
def fake() -> Iterator[FakeIdClient]:
    fake = FakeIdClient([IdRun(100, 1_000, 1)])
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with override_settings(SNOWLANE={"client": fake}):
        with connection.schema_editor() as editor:
            editor.create_model(Order)
        yield fake
        with connection.schema_editor() as editor:
            editor.delete_model(Order)


def test_a_model_gets_its_id_when_it_is_saved_by_one_insert(fake: FakeIdClient) -> None:
    queries: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        queries.append(sql.split(" ", maxsplit=1)[0])
        return execute(sql, params, many, context)

    assert Order(article="tea").pk is None
    order = Order(article="tea")
    with connection.execute_wrapper(note):
        order.save()
    assert queries == ["INSERT"]
    assert 100 <= order.pk < 1_100
    assert Order.objects.get(pk=order.pk).article == "tea"


def test_many_models_get_different_ids(fake: FakeIdClient) -> None:
    Order.objects.bulk_create([Order(article="tea") for _ in range(200)])
    assert Order.objects.values("pk").distinct().count() == 200


def test_a_model_that_has_an_id_keeps_it(fake: FakeIdClient) -> None:
    Order(id=7, article="tea").save()
    assert Order.objects.get(pk=7).article == "tea"
    assert ids().stats().handed_out == 0


def test_a_model_is_saved_while_an_event_loop_runs(fake: FakeIdClient) -> None:
    async def save() -> int:
        order = await Order.objects.acreate(article="tea")
        return int(order.pk)

    assert 100 <= asyncio.run(save()) < 1_100


def test_an_error_reaches_the_program_and_nothing_is_saved() -> None:
    with override_settings(SNOWLANE={"client": FakeIdClient([fail("METHOD_DENIED")])}):
        with pytest.raises(SnowlaneError) as caught:
            Order(article="tea").save()
        assert caught.value.reason is ErrorReason.METHOD_DENIED


def test_a_wrong_setting_is_named_at_the_first_id() -> None:
    with override_settings(SNOWLANE={"endpoint": "http://127.0.0.1:7609"}), pytest.raises(TypeError, match="endpoint"):
        client()
    with override_settings(SNOWLANE={"endpoints": "ftp://ids"}), pytest.raises(ValueError, match="ftp://ids"):
        client()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_child_that_is_forked_while_a_client_is_being_made_makes_its_own() -> None:
    with override_settings(SNOWLANE={"client": FakeIdClient([IdRun(100, 1_000, 1)])}), _made._lock:
        assert len(ids_of_child(lambda: [ids().next_id()])) == 1


def test_a_migration_holds_no_default() -> None:
    text, imports = MigrationWriter.serialize(Order._meta.pk)
    assert text == "snowlane.django.SnowlaneIdField(serialize=False)"
    assert imports == {"import snowlane.django"}
