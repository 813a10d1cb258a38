package snowlane

import "strings"

// radix writes IDs as digits of a fixed width.
type radix struct {
	form TextForm
	// alphabet in ascending order of its characters, so that texts sort as the IDs do.
	alphabet string
	// width is the digits of 2^63 - 1.
	width int
	// digits has the digit of each character; -1 if it has none.
	digits [128]int8
}

// The alphabets: Crockford's, https://www.crockford.com/base32.html; Bitcoin's,
// https://github.com/bitcoin/bitcoin/blob/master/src/base58.cpp; and ASCII's order.
var (
	base32 = newRadix(Base32, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13, "IiLl1Oo0")
	base58 = newRadix(Base58, base58Alphabet, 11, "")
	base62 = newRadix(Base62, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11, "")
)

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// newRadix makes a fixed-width number format. aliases has groups of letters, each followed by the digit that they mean;
// if there are any, lower-case letters also count as capitals.
func newRadix(form TextForm, alphabet string, width int, aliases string) *radix {
	r := &radix{form: form, alphabet: alphabet, width: width}
	for index := range r.digits {
		r.digits[index] = -1
	}
	for digit, character := range alphabet {
		r.digits[character] = int8(digit)
		if aliases != "" {
			r.digits[strings.ToLower(string(character))[0]] = int8(digit)
		}
	}
	var letters []rune
	for _, character := range aliases {
		if character > '9' {
			letters = append(letters, character)
			continue
		}
		for _, letter := range letters {
			r.digits[letter] = r.digits[character]
		}
		letters = nil
	}
	return r
}

func (r *radix) write(id ID) string {
	base := ID(len(r.alphabet))
	text := make([]byte, r.width)
	for index := r.width - 1; index >= 0; index-- {
		text[index] = r.alphabet[id%base]
		id /= base
	}
	return string(text)
}

// read reads the digits of a text from start on; false if they are above 2^63 - 1.
func (r *radix) read(text string, start int) (ID, bool, error) {
	base := uint64(len(r.alphabet))
	number, fits := uint64(0), true
	for index := start; index < start+r.width; index++ {
		if index >= len(text) {
			return 0, false, malformedText(r.form, "too_short", index)
		}
		digit := int8(-1)
		if text[index] < 128 {
			digit = r.digits[text[index]]
		}
		if digit < 0 {
			return 0, false, malformedText(r.form, "character", index)
		}
		fits = fits && number <= (uint64(MaxID)-uint64(digit))/base
		number = number*base + uint64(digit)
	}
	return ID(number), fits, nil
}

// readWhole reads a text that ends with its digits, which begin at start.
func (r *radix) readWhole(text string, start int) (ID, error) {
	id, fits, err := r.read(text, start)
	switch {
	case err != nil:
		return 0, err
	case len(text) > start+r.width:
		return 0, malformedText(r.form, "too_long", start+r.width)
	case !fits:
		return 0, malformedText(r.form, "out_of_range", start)
	}
	return id, nil
}

// checkAlphabet has the check symbols of 0 to 36.
const checkAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U"

func writeBase32(id ID, checkSymbol bool) string {
	text := base32.write(id)
	if checkSymbol {
		text += string(checkAlphabet[id%37])
	}
	return text
}

// readBase32 reads 13 symbols, or 14 of which the last is the check symbol.
func readBase32(text string) (id ID, hasCheck bool, err error) {
	id, fits, err := base32.read(text, 0)
	if err != nil {
		return 0, false, err
	}
	check := byte(0)
	if len(text) > base32.width {
		if check = checkSymbolOf(text[base32.width]); check == 0 {
			return 0, false, malformedText(Base32, "character", base32.width)
		}
	}
	switch {
	case len(text) > base32.width+1:
		return 0, false, malformedText(Base32, "too_long", base32.width+1)
	case !fits:
		return 0, false, malformedText(Base32, "out_of_range", 0)
	case check == 0:
		return id, false, nil
	case check != checkAlphabet[id%37]:
		return 0, false, malformedText(Base32, "check_symbol", base32.width)
	}
	return id, true, nil
}

// checkSymbolOf returns the check symbol that a character means; 0 if it means none.
func checkSymbolOf(character byte) byte {
	switch {
	case strings.IndexByte(checkAlphabet, character) >= 0:
		return character
	case character == 'u':
		return 'U'
	case character < 128 && base32.digits[character] >= 0:
		return base32.alphabet[base32.digits[character]]
	}
	return 0
}

const (
	decimalMax = 19
	hexPrefix  = "0x"
	hexWidth   = len(hexPrefix) + 16
)

// readDecimal reads 1 to 19 digits without a leading zero.
func readDecimal(text string) (ID, error) {
	number := uint64(0)
	for index := range len(text) {
		if index == decimalMax {
			return 0, malformedText(Decimal, "too_long", index)
		}
		if text[index] < '0' || text[index] > '9' {
			return 0, malformedText(Decimal, "character", index)
		}
		number = number*10 + uint64(text[index]-'0')
	}
	switch {
	case text == "":
		return 0, malformedText(Decimal, "too_short", 0)
	case len(text) > 1 && text[0] == '0':
		return 0, malformedText(Decimal, "leading_zero", 0)
	case number > uint64(MaxID):
		return 0, malformedText(Decimal, "out_of_range", 0)
	}
	return ID(number), nil
}

// readHex reads 0x and 16 digits in lower case.
func readHex(text string) (ID, error) {
	number := uint64(0)
	for index := range hexWidth {
		if index >= len(text) {
			return 0, malformedText(Hex, "too_short", index)
		}
		digit := strings.IndexByte("0123456789abcdef", text[index])
		if index < len(hexPrefix) {
			if text[index] != hexPrefix[index] {
				return 0, malformedText(Hex, "character", index)
			}
			continue
		}
		if digit < 0 {
			return 0, malformedText(Hex, "character", index)
		}
		number = number<<4 | uint64(digit)
	}
	switch {
	case len(text) > hexWidth:
		return 0, malformedText(Hex, "too_long", hexWidth)
	case number > uint64(MaxID):
		return 0, malformedText(Hex, "out_of_range", len(hexPrefix))
	}
	return ID(number), nil
}
