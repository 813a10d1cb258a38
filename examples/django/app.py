"""A model of Django with an ID of Snowlane. Saves one order, then prints each order with the time in its ID."""

import os
from datetime import timezone
from functools import cache
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.db import connection, models
from snowlane import IdClient, PrefetchBuffer

url = urlsplit(os.environ["DATABASE_URL"])
database = {
    "ENGINE": "django.db.backends.postgresql",
    "HOST": url.hostname,
    "PORT": url.port,
    "USER": url.username,
    "NAME": url.path.removeprefix("/"),
}
settings.configure(DATABASES={"default": database}, USE_TZ=True)
django.setup()


@cache
def client() -> IdClient:
    """Made when it is first used, and so after a server with several processes has forked them."""
    return IdClient(os.environ["SNOWLANE_URL"])


@cache
def ids() -> PrefetchBuffer:
    return client().prefetch()


def next_id() -> int:
    return ids().next_id()


class Order(models.Model):
    id = models.BigIntegerField(primary_key=True, default=next_id, editable=False)
    article = models.TextField()

    class Meta:
        app_label = "shop"
        db_table = "orders_django"


if Order._meta.db_table not in connection.introspection.table_names():
    with connection.schema_editor() as editor:
        editor.create_model(Order)
Order.objects.create(article="tea")
for order in Order.objects.order_by("id"):
    made = client().parse(order.id).create_time.astimezone(timezone.utc)
    print(order.id, made.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
client().close()
