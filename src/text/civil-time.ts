/** A time of the proleptic Gregorian calendar, without a zone. */
export interface CivilTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** 0 to 59: Unix time has no leap seconds. */
  readonly second: number;
}

const secondsPerDay = 86_400;

/**
 * Puts a count of seconds since 1970-01-01T00:00:00 into the calendar, in plain arithmetic: Date reads the years 0 to
 * 99 as 1900 to 1999.
 *
 * Algorithm: https://howardhinnant.github.io/date_algorithms.html, civil_from_days.
 */
export function civilFromSeconds(seconds: number): CivilTime {
  const days = Math.floor(seconds / secondsPerDay);
  const secondOfDay = seconds - days * secondsPerDay;
  // Eras of 400 years that begin on 1 March, so that a leap day ends its year.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
    hour: Math.floor(secondOfDay / 3_600),
    minute: Math.floor(secondOfDay / 60) % 60,
    second: secondOfDay % 60,
  };
}

/** The inverse of {@link civilFromSeconds}. Algorithm: days_from_civil, same source. */
export function secondsFromCivil({ year, month, day, hour, minute, second }: CivilTime): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  const days = era * 146_097 + dayOfEra - 719_468;
  return days * secondsPerDay + hour * 3_600 + minute * 60 + second;
}

/** The last day of a month, 28 to 31. */
export function lastDayOfMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
