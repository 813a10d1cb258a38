from datetime import datetime, timedelta, timezone

from snowlane import TEXT_FORMS, TextCodec, TextFormat, id_range, parse_id, preset_layout

layout = preset_layout("twitter")
parsed = parse_id(layout, 1541815603606036480)
created = parsed.create_time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
print(f"ticks {parsed.ticks}")
print(f"created {created}")
print(f"datacenter {parsed.datacenter_id}")
print(f"worker {parsed.worker_id}")
print(f"sequence {parsed.sequence}")

codec = TextCodec(layout)
for form in TEXT_FORMS:
    format = TextFormat(form, type_prefix="order" if form == "typed" else "")
    print(f"{form} {codec.write(parsed.id, format)}")

second = datetime(2022, 6, 28, 16, 7, 40, tzinfo=timezone.utc)
found = id_range(layout, second, second + timedelta(seconds=1))
print(f"range {found.first_id} {found.last_id}")
