package snowlane

// typeSeparator separates the prefix of a typed ID from its number.
const typeSeparator = "_"

const typePrefixMax = 16

var typedRadix = newRadix(TypedID, base58Alphabet, 11, "")

func writeTyped(id ID, prefix string) string {
	return prefix + typeSeparator + typedRadix.write(id)
}

// readTyped reads what writeTyped writes. The prefix ends at the first separator; expected is the only prefix that is
// accepted; if it is empty, any prefix is.
func readTyped(text, expected string) (ID, string, error) {
	for index := range len(text) {
		if index > 0 && text[index:index+1] == typeSeparator {
			prefix := text[:index]
			if expected != "" && prefix != expected {
				return 0, "", malformedText(TypedID, "prefix", 0)
			}
			id, err := typedRadix.readWhole(text, index+len(typeSeparator))
			return id, prefix, err
		}
		if index == typePrefixMax || !isOfTypePrefix(text[index], index) {
			return 0, "", malformedText(TypedID, "prefix", index)
		}
	}
	return 0, "", malformedText(TypedID, "too_short", len(text))
}

func isTypePrefix(prefix string) bool {
	for index := range len(prefix) {
		if !isOfTypePrefix(prefix[index], index) {
			return false
		}
	}
	return prefix != "" && len(prefix) <= typePrefixMax
}

// isOfTypePrefix reports whether a prefix may have a character at a given position.
func isOfTypePrefix(character byte, index int) bool {
	return character >= 'a' && character <= 'z' || index > 0 && character >= '0' && character <= '9'
}
