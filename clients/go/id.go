package snowlane

import (
	"errors"
	"strconv"
)

// ID is a unique, time-sorted number from 0 to [MaxID].
//
// In JSON it is a string of decimal digits: a JSON number above 2^53 - 1 loses digits in most readers.
type ID uint64

// MaxID is the highest ID.
const MaxID ID = 1<<63 - 1

// String returns the ID in decimal digits.
func (id ID) String() string {
	return strconv.FormatUint(uint64(id), 10)
}

// MarshalJSON writes the ID as a string of decimal digits.
func (id ID) MarshalJSON() ([]byte, error) {
	buffer := make([]byte, 0, 22)
	buffer = append(buffer, '"')
	buffer = strconv.AppendUint(buffer, uint64(id), 10)
	return append(buffer, '"'), nil
}

// UnmarshalJSON reads what MarshalJSON writes, and leaves the ID as it is for null. It refuses a JSON number, whose
// writer may have lost digits.
func (id *ID) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	text, err := strconv.Unquote(string(data))
	if err != nil || len(data) < 2 || data[0] != '"' {
		return errors.New("snowlane: an ID in JSON is a string of decimal digits")
	}
	return id.UnmarshalText([]byte(text))
}

// MarshalText writes the ID in decimal digits.
func (id ID) MarshalText() ([]byte, error) {
	return strconv.AppendUint(nil, uint64(id), 10), nil
}

// UnmarshalText reads what MarshalText writes.
func (id *ID) UnmarshalText(text []byte) error {
	value, err := readDecimal(string(text))
	if err != nil {
		return err
	}
	*id = value
	return nil
}
