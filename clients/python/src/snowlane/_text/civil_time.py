"""The proleptic Gregorian calendar from the year 0 on, which datetime begins with 1.

Algorithms: https://howardhinnant.github.io/date_algorithms.html, civil_from_days and days_from_civil.
"""

from __future__ import annotations

_SECONDS_PER_DAY = 86_400
_DAYS_PER_ERA = 146_097
"""Eras of 400 years that begin on 1 March, so that a leap day ends its year."""
_DAYS_TO_1970 = 719_468


def civil_from_seconds(seconds: int) -> tuple[int, int, int, int, int, int]:
    """Year, month, day, hour, minute and second of a count of seconds since 1970."""
    days, second_of_day = divmod(seconds, _SECONDS_PER_DAY)
    era, day_of_era = divmod(days + _DAYS_TO_1970, _DAYS_PER_ERA)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    march_month = (5 * day_of_year + 2) // 153
    month = march_month + 3 if march_month < 10 else march_month - 9
    year = year_of_era + era * 400 + (month <= 2)
    day = day_of_year - (153 * march_month + 2) // 5 + 1
    return year, month, day, second_of_day // 3_600, second_of_day // 60 % 60, second_of_day % 60


def seconds_from_civil(year: int, month: int, day: int) -> int:
    """Seconds since 1970 at which a day begins."""
    march_year = year - (month <= 2)
    era, year_of_era = divmod(march_year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return (era * _DAYS_PER_ERA + day_of_era - _DAYS_TO_1970) * _SECONDS_PER_DAY


def last_day_of_month(year: int, month: int) -> int:
    """28 to 31."""
    if month == 2:
        return 29 if (year % 4 == 0 and year % 100 != 0) or year % 400 == 0 else 28
    return 30 if month in (4, 6, 9, 11) else 31
