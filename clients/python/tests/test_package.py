"""What a user may import."""

import pkgutil
from pathlib import Path

import snowlane


def test_a_user_imports_the_package_and_four_modules_of_it_and_the_others_begin_with_an_underscore() -> None:
    modules = {module.name for module in pkgutil.iter_modules([str(Path(snowlane.__file__).parent)])}
    assert {name for name in modules if not name.startswith("_")} == {"arrays", "django", "sqlalchemy", "testing"}
