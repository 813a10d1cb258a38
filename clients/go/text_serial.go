package snowlane

import (
	"fmt"
	"strconv"
	"time"
)

// serialCodec writes the serial numbers of one layout: prefix, time, worker, sequence. The time is yyyyMMddHHmmss and
// as many digits of the second as distinguish two ticks; below 1 ms the number of the tick within its millisecond
// follows.
type serialCodec struct {
	layout *Layout
	// unitMS is the smallest unit of the time, in milliseconds.
	unitMS int64
	// Digits of the second's part, of the tick within its millisecond, of the worker and of the sequence.
	unitDigits, tickDigits, workerDigits, sequenceDigits int
	// digitCount is how many digits follow the prefix, the same for every ID of the layout.
	digitCount int
}

const (
	dateLayout   = "20060102150405"
	groupWidth   = 4
	secondMillis = 1_000
)

func newSerialCodec(layout *Layout) serialCodec {
	c := serialCodec{layout: layout, unitMS: 1, unitDigits: 3}
	for digits, unit := range []int64{secondMillis, 100, 10} {
		if layout.tickNS >= unit*nsPerMS {
			c.unitMS, c.unitDigits = unit, digits
			break
		}
	}
	if perMS := layout.ticksPerMS(); perMS > 1 {
		c.tickDigits = digitsOf(uint64(perMS - 1))
	}
	workers := uint64(1) << (layout.datacenter.bits + layout.worker.bits)
	c.workerDigits = max(groupWidth, digitsOf(workers-1))
	c.sequenceDigits = max(groupWidth, digitsOf(layout.sequence.max))
	c.digitCount = len(dateLayout) + c.unitDigits + c.tickDigits + c.workerDigits + c.sequenceDigits
	return c
}

func digitsOf(number uint64) int {
	return len(strconv.FormatUint(number, 10))
}

func pad(number uint64, digits int) string {
	if digits == 0 {
		return ""
	}
	return fmt.Sprintf("%0*d", digits, number)
}

func (c *serialCodec) write(id ID, prefix string, utcOffset time.Duration) (string, error) {
	l := c.layout
	ticks := int64(l.timestamp.of(id))
	local := time.UnixMilli(l.msDown(ticks)).UTC().Add(utcOffset)
	if year := local.Year(); year < 0 || year > 9_999 {
		return "", invalidTextFormat(fmt.Sprintf("the offset moves the time into the year %d", year), SerialNumber)
	}
	unit := uint64(local.Nanosecond()) / uint64(c.unitMS*nsPerMS)
	worker := l.datacenter.of(id)<<l.worker.bits | l.worker.of(id)
	return prefix + local.Format(dateLayout) + pad(unit, c.unitDigits) + pad(uint64(ticks%l.ticksPerMS()), c.tickDigits) +
		pad(worker, c.workerDigits) + pad(l.sequence.of(id), c.sequenceDigits), nil
}

func (c *serialCodec) read(text string, utcOffset time.Duration) (id ID, prefix string, err error) {
	start, err := c.checkShape(text)
	if err != nil {
		return 0, "", err
	}
	at := start
	number := func(digits int) int64 {
		value := int64(0)
		for _, digit := range text[at : at+digits] {
			value = value*10 + int64(digit-'0')
		}
		at += digits
		return value
	}
	date, err := c.readDate(number, start)
	if err != nil {
		return 0, "", err
	}
	l := c.layout
	unit := number(c.unitDigits)
	timeMS := date.Add(-utcOffset).UnixMilli() + unit*c.unitMS
	wholeTicks := l.ticksUp(timeMS)
	tickAt := at
	tickOfMS := number(c.tickDigits)
	if tickOfMS >= l.ticksPerMS() {
		return 0, "", malformedText(SerialNumber, "tick", tickAt)
	}
	ticks := wholeTicks + tickOfMS
	if ticks < 0 || ticks > int64(l.timestamp.max) || l.msDown(wholeTicks) >= timeMS+c.unitMS || l.msDown(wholeTicks) < timeMS {
		return 0, "", malformedText(SerialNumber, "tick", start)
	}
	workerAt := at
	worker := uint64(number(c.workerDigits))
	if worker>>(l.datacenter.bits+l.worker.bits) != 0 {
		return 0, "", malformedText(SerialNumber, "out_of_range", workerAt)
	}
	sequenceAt := at
	sequence := uint64(number(c.sequenceDigits))
	if sequence > l.sequence.max {
		return 0, "", malformedText(SerialNumber, "out_of_range", sequenceAt)
	}
	return l.compose(ticks, worker>>l.worker.bits, worker&l.worker.max, sequence), text[:start], nil
}

// checkShape returns where the digits begin. All characters are checked before the length, because only then are bytes
// and characters known to agree.
func (c *serialCodec) checkShape(text string) (start int, err error) {
	for index := range len(text) {
		if index == serialPrefixMax+c.digitCount {
			return 0, malformedText(SerialNumber, "too_long", index)
		}
		if character := text[index]; !isDigit(character) && (character < 'A' || character > 'Z') {
			return 0, malformedText(SerialNumber, "character", index)
		}
	}
	if len(text) < c.digitCount {
		return 0, malformedText(SerialNumber, "too_short", len(text))
	}
	start = len(text) - c.digitCount
	for index := start; index < len(text); index++ {
		if !isDigit(text[index]) {
			return 0, malformedText(SerialNumber, "character", index)
		}
	}
	return start, nil
}

func isDigit(character byte) bool {
	return character >= '0' && character <= '9'
}

// readDate reads the digits of dateLayout by number, which takes the next ones; start is where they begin.
func (c *serialCodec) readDate(number func(digits int) int64, start int) (time.Time, error) {
	year, month, day := int(number(4)), int(number(2)), int(number(2))
	hour, minute, second := int(number(2)), int(number(2)), int(number(2))
	// Day 0 of the next month is the last day of this one.
	lastDay := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	switch {
	case month < 1 || month > 12:
		return time.Time{}, malformedText(SerialNumber, "date", start+4)
	case day < 1 || day > lastDay:
		return time.Time{}, malformedText(SerialNumber, "date", start+6)
	case hour > 23:
		return time.Time{}, malformedText(SerialNumber, "date", start+8)
	case minute > 59:
		return time.Time{}, malformedText(SerialNumber, "date", start+10)
	case second > 59:
		return time.Time{}, malformedText(SerialNumber, "date", start+12)
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC), nil
}
