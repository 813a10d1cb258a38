package snowlane

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// TextForm is a way to write an ID as text; docs/text-forms.md in the repository says what each is for.
type TextForm string

// The text forms.
const (
	Decimal      TextForm = "decimal"
	Hex          TextForm = "hex"
	Base32       TextForm = "base32"
	Base58       TextForm = "base58"
	Base62       TextForm = "base62"
	SerialNumber TextForm = "serial"
	UUID         TextForm = "uuid"
	TypedID      TextForm = "typed"
)

// TextForms returns all text forms.
func TextForms() []TextForm {
	return []TextForm{Decimal, Hex, Base32, Base58, Base62, SerialNumber, UUID, TypedID}
}

// TextFormat says how to write an ID.
type TextFormat struct {
	Form TextForm
	// SerialPrefix comes before the digits of a serial number: 0 to 16 characters of A-Z and 0-9.
	SerialPrefix string
	// UTCOffset is that of the time in a serial number: whole minutes, at most 18 h either way.
	UTCOffset time.Duration
	// CheckSymbol adds a check symbol to base 32.
	CheckSymbol bool
	// TypePrefix comes before the underscore of a typed ID, which must have a prefix: a letter of a-z, then 0 to 15
	// characters of a-z and 0-9.
	TypePrefix string
}

// TextReadOptions says how to read a text. The zero value means the defaults.
type TextReadOptions struct {
	// Form is that of the text; if empty, it is detected.
	Form TextForm
	// UTCOffset is the one with which a serial number was written.
	UTCOffset time.Duration
	// TypePrefix is the prefix that a typed ID must have; the text is then read only as a typed ID. Empty: any prefix.
	TypePrefix string
	// Now limits detection: no text is taken for an ID that is from more than a day later. Zero: the system's time.
	Now time.Time
}

// TextReading is the result of reading a text.
type TextReading struct {
	// Format is the form of the text, with those of its options that the text shows.
	Format TextFormat
	ID     ID
	// HasID is false for a UUID that holds no ID of the layout and namespace.
	HasID bool
}

const (
	serialPrefixMax = 16
	utcOffsetMax    = 18 * time.Hour
)

// TextCodec writes and reads the text forms of the IDs of one layout and namespace. It is safe for any number of
// goroutines.
type TextCodec struct {
	layout *Layout
	serial serialCodec
	uuid   uuidCodec
}

// NewTextCodec makes the text codec of a layout. The namespace, `default` if the deployment has no other, marks the
// UUIDs; nothing else depends on it.
func NewTextCodec(layout *Layout, namespace string) *TextCodec {
	return &TextCodec{layout: layout, serial: newSerialCodec(layout), uuid: newUUIDCodec(layout, namespace)}
}

// Write writes an ID. It fails with MALFORMED_ID, INVALID_TEXT_FORMAT.
func (c *TextCodec) Write(id ID, format TextFormat) (string, error) {
	if err := checkTextFormat(format); err != nil {
		return "", err
	}
	if id > MaxID {
		return "", &Error{
			Reason: MalformedID, Code: codes.InvalidArgument, Message: "the ID is not from 0 to 2^63 - 1",
			Metadata: map[string]string{"id": id.String()},
		}
	}
	switch format.Form {
	case Decimal:
		return id.String(), nil
	case Hex:
		return fmt.Sprintf("0x%016x", uint64(id)), nil
	case Base32:
		return writeBase32(id, format.CheckSymbol), nil
	case Base58:
		return base58.write(id), nil
	case Base62:
		return base62.write(id), nil
	case TypedID:
		return writeTyped(id, format.TypePrefix), nil
	}
	if !c.layout.contains(id) {
		return "", c.layout.malformedID(id, "does not fit this layout")
	}
	if format.Form == SerialNumber {
		return c.serial.write(id, format.SerialPrefix, format.UTCOffset)
	}
	return c.uuid.write(id)
}

// Read reads a text strictly: each ID has one text in a format, and no other text is accepted, except Crockford's
// aliases and capitals in UUIDs. It fails with MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT.
func (c *TextCodec) Read(text string, options TextReadOptions) (TextReading, error) {
	if err := checkUTCOffset(options.UTCOffset); err != nil {
		return TextReading{}, err
	}
	if options.TypePrefix != "" {
		if options.Form == "" {
			options.Form = TypedID
		}
		if err := checkTextFormat(TextFormat{Form: options.Form, TypePrefix: options.TypePrefix}); err != nil {
			return TextReading{}, err
		}
	}
	switch {
	case options.Form == "":
		return c.detect(text, options)
	case !slices.Contains(TextForms(), options.Form):
		return TextReading{}, invalidTextFormat("there is no text form "+string(options.Form), options.Form)
	default:
		return c.readAs(options.Form, text, options)
	}
}

func (c *TextCodec) readAs(form TextForm, text string, options TextReadOptions) (TextReading, error) {
	reading := TextReading{Format: TextFormat{Form: form}, HasID: true}
	var err error
	switch form {
	case Decimal:
		reading.ID, err = readDecimal(text)
	case Hex:
		reading.ID, err = readHex(text)
	case Base32:
		reading.ID, reading.Format.CheckSymbol, err = readBase32(text)
	case Base58:
		reading.ID, err = base58.readWhole(text, 0)
	case Base62:
		reading.ID, err = base62.readWhole(text, 0)
	case SerialNumber:
		reading.ID, reading.Format.SerialPrefix, err = c.serial.read(text, options.UTCOffset)
		reading.Format.UTCOffset = options.UTCOffset
	case UUID:
		reading.ID, reading.HasID, err = c.uuid.read(text)
	case TypedID:
		reading.ID, reading.Format.TypePrefix, err = readTyped(text, options.TypePrefix)
	}
	if err != nil {
		return TextReading{}, err
	}
	return reading, nil
}

// detect reads a text in the one form that it can be in, judged by its shape and, if the shape says little, by whether
// its time is plausible.
func (c *TextCodec) detect(text string, options TextReadOptions) (TextReading, error) {
	candidates, err := detectForms(text, c.serial.digitCount)
	if err != nil {
		return TextReading{}, err
	}
	now := options.Now
	if now.IsZero() {
		now = time.Now()
	}
	var readings []TextReading
	var fault error
	for _, form := range candidates {
		reading, err := c.readAs(form, text, options)
		switch {
		case err != nil:
			fault = err
		case form != Base32 && form != Base58 && form != Base62, c.isFromBefore(reading.ID, now.Add(24*time.Hour)):
			readings = append(readings, reading)
		}
	}
	switch {
	case len(readings) == 1:
		return readings[0], nil
	case len(readings) == 0 && fault != nil:
		return TextReading{}, fault
	case len(readings) == 0:
		return TextReading{}, malformedText(candidates[len(candidates)-1], "future", 0)
	}
	names := make([]string, len(readings))
	for index, reading := range readings {
		names[index] = string(reading.Format.Form)
	}
	joined := strings.Join(names, ",")
	return TextReading{}, &Error{
		Reason: AmbiguousText, Code: codes.InvalidArgument, Message: "the text can be read as " + joined + ": say which",
		Metadata: map[string]string{"candidates": joined},
	}
}

func (c *TextCodec) isFromBefore(id ID, t time.Time) bool {
	return c.layout.contains(id) && time.UnixMilli(c.layout.msDown(int64(c.layout.timestamp.of(id)))).Before(t)
}

// detectTextMax is above the longest text of any form, which is a serial number of 56 characters.
const detectTextMax = 64

// detectForms names the forms that a text can be in, judged by its shape alone.
func detectForms(text string, serialDigits int) ([]TextForm, error) {
	for index := range len(text) {
		if index == detectTextMax {
			return nil, malformedText("", "too_long", index)
		}
		if text[index] <= ' ' || text[index] >= 127 {
			return nil, malformedText("", "character", index)
		}
	}
	isNumber := strings.Trim(text, "0123456789") == "" && (text == "0" || !strings.HasPrefix(text, "0"))
	switch {
	case text == "":
		return nil, malformedText("", "too_short", 0)
	case strings.HasPrefix(text, "0x"):
		return []TextForm{Hex}, nil
	case strings.Contains(text, typeSeparator):
		return []TextForm{TypedID}, nil
	case strings.Contains(text, "-"):
		return []TextForm{UUID}, nil
	case len(text) >= serialDigits && strings.Trim(text[len(text)-serialDigits:], "0123456789") == "":
		return []TextForm{SerialNumber}, nil
	case isNumber:
		// This comes before the widths: 11 or 13 digits are far more often a number than another form without a single
		// letter.
		return []TextForm{Decimal}, nil
	case len(text) == base32.width || len(text) == base32.width+1:
		return []TextForm{Base32}, nil
	case len(text) == base58.width && strings.ContainsAny(text, "0OIl"):
		return []TextForm{Base62}, nil
	case len(text) == base58.width:
		return []TextForm{Base58, Base62}, nil
	default:
		return nil, malformedText("", "no_form", 0)
	}
}

// checkTextFormat checks that the options of a format are in range, and that its form uses them.
func checkTextFormat(format TextFormat) error {
	form := format.Form
	switch {
	case !slices.Contains(TextForms(), form):
		return invalidTextFormat("there is no text form "+string(form), form)
	case form != SerialNumber && format.SerialPrefix != "":
		return invalidTextFormat("only serial numbers have a prefix", form)
	case form != SerialNumber && format.UTCOffset != 0:
		return invalidTextFormat("only serial numbers have an offset from UTC", form)
	case form != Base32 && format.CheckSymbol:
		return invalidTextFormat("only base 32 has a check symbol", form)
	case len(format.SerialPrefix) > serialPrefixMax || strings.Trim(format.SerialPrefix, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "":
		return invalidTextFormat("the prefix of a serial number is not 0 to 16 characters of A-Z and 0-9", form)
	case form == TypedID && !isTypePrefix(format.TypePrefix):
		return invalidTextFormat("the prefix of a typed ID is not a letter of a-z and 0 to 15 characters of a-z and 0-9", form)
	case form != TypedID && format.TypePrefix != "":
		return invalidTextFormat("only typed IDs have a type prefix", form)
	}
	return checkUTCOffset(format.UTCOffset)
}

func checkUTCOffset(offset time.Duration) error {
	if offset%time.Minute == 0 && offset.Abs() <= utcOffsetMax {
		return nil
	}
	return invalidTextFormat(fmt.Sprintf("the offset %v is not whole minutes, at most 18 h either way", offset), SerialNumber)
}

func invalidTextFormat(message string, form TextForm) *Error {
	return &Error{
		Reason: InvalidTextFormat, Code: codes.InvalidArgument, Message: message, Metadata: map[string]string{"form": string(form)},
	}
}

// malformedText makes the error of a text. position counts the characters before the one at fault, all of which are
// ASCII.
func malformedText(form TextForm, reason string, position int) *Error {
	metadata := map[string]string{"reason": reason, "position": fmt.Sprint(position)}
	subject := "the text"
	if form != "" {
		metadata["form"] = string(form)
		subject = "as " + string(form) + ", the text"
	}
	return &Error{
		Reason: MalformedText, Code: codes.InvalidArgument, Message: fmt.Sprintf("%s is malformed at position %d: %s", subject, position, reason),
		Metadata: metadata,
	}
}
