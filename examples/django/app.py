"""A model of Django whose ID comes from Snowlane.

Saves one order, or COUNT, then prints the newest two with the time in their IDs.
"""

import os
import sys
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.db import connection, models

url = urlsplit(os.environ["DATABASE_URL"])
database = {
    "ENGINE": "django.db.backends.postgresql",
    "HOST": url.hostname,
    "PORT": url.port,
    "USER": url.username,
    "NAME": url.path.removeprefix("/"),
}
settings.configure(
    DATABASES={"default": database},
    USE_TZ=True,
    SNOWLANE={"endpoints": os.environ["SNOWLANE_URL"].split(","), "timeout_s": 60},
)
django.setup()

from snowlane.django import SnowlaneIdField, client


class Order(models.Model):
    id = SnowlaneIdField()
    article = models.TextField()

    class Meta:
        app_label = "shop"
        db_table = "orders_django"


if Order._meta.db_table not in connection.introspection.table_names():
    with connection.schema_editor() as editor:
        editor.create_model(Order)
count = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for saved in range(0, count, 1_000):
    Order.objects.bulk_create([Order(article="tea") for _ in range(min(1_000, count - saved))])
for order in reversed(Order.objects.order_by("-id")[:2]):
    print(order.id, client().parse(order.id).create_time.isoformat(timespec="milliseconds"))
client().close()
