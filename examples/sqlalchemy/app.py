"""An entity of SQLAlchemy whose ID comes from Snowlane.

Saves one order, or COUNT, then prints the newest two with the time in their IDs.
"""

import os
import sys

from snowlane import IdClient
from snowlane.sqlalchemy import id_column
from sqlalchemy import Text, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

client = IdClient(os.environ["SNOWLANE_URL"].split(","), timeout_s=60)
ids = client.prefetch()


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders_sqlalchemy"
    id: Mapped[int] = id_column(ids)
    article: Mapped[str] = mapped_column(Text)


engine = create_engine(os.environ["DATABASE_URL"].replace("postgres://", "postgresql+psycopg://"))
Base.metadata.create_all(engine)
count = int(sys.argv[1]) if len(sys.argv) > 1 else 1
with Session(engine) as session:
    for saved in range(0, count, 1_000):
        session.add_all([Order(article="tea") for _ in range(min(1_000, count - saved))])
        session.commit()
    for order in reversed(session.scalars(select(Order).order_by(Order.id.desc()).limit(2)).all()):
        print(order.id, client.parse(order.id).create_time.isoformat(timespec="milliseconds"))
client.close()
