package snowlane

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
)

const (
	publicKeyLengthMin = 16
	// As NIST SP 800-38G has it for format-preserving Feistel networks.
	publicRounds = 10
	idBits       = 63
)

// PublicID turns each ID into another number from 0 to 2^63 - 1, and back, under a key; made by [NewPublicID].
//
// It hides time, worker, sequence, order and distance from whoever lacks the key. It does not hide that two public IDs are equal, and is no permission:
// whoever holds one can use it. Public IDs do not sort; changing the key changes them all. docs/text-forms.md in the repository says more. It is safe
// for any number of goroutines.
type PublicID struct {
	permutation numberPermutation
}

// NewPublicID takes a key of at least 16 bytes; 32 from a random source are best. Keep it as long as the public IDs are to be read.
func NewPublicID(key []byte) (*PublicID, error) {
	if len(key) < publicKeyLengthMin {
		return nil, fmt.Errorf("snowlane: the key of public IDs has %d bytes; %d are the fewest", len(key), publicKeyLengthMin)
	}
	return &PublicID{permutation: newNumberPermutation(key, idBits)}, nil
}

// Hide gives the public ID of an ID. It fails with MALFORMED_ID for a number that is none.
func (p *PublicID) Hide(id ID) (ID, error) {
	if id > MaxID {
		return 0, noID(id)
	}
	return ID(p.permutation.apply(uint64(id))), nil
}

// Reveal gives the ID of a public ID; under another key, some other ID. It fails with MALFORMED_ID.
func (p *PublicID) Reveal(publicID ID) (ID, error) {
	if publicID > MaxID {
		return 0, noID(publicID)
	}
	return ID(p.permutation.invert(uint64(publicID))), nil
}

func noID(id ID) *Error {
	return &Error{
		Reason: MalformedID, Code: codes.InvalidArgument, Message: fmt.Sprintf("the ID %d is not from 0 to 2^63 - 1", id),
		Metadata: map[string]string{"id": id.String()},
	}
}

// numberPermutation is a keyed, reversible permutation of the numbers of some bits, 2 to 64: a Feistel network of ten rounds over two equal halves,
// whose round function is HMAC-SHA-256 of the round's number (one byte) and a half (four bytes, highest first), cut to its last bits. Where the bits
// are odd the network has one bit too many, and is applied again until the result fits.
type numberPermutation struct {
	key            []byte
	bits, halfBits int
}

func newNumberPermutation(key []byte, bits int) numberPermutation {
	return numberPermutation{key: slices.Clone(key), bits: bits, halfBits: (bits + 1) / 2}
}

func (p numberPermutation) apply(number uint64) uint64 {
	for {
		left, right := p.halves(number)
		for round := range publicRounds {
			left, right = right, left^p.roundOf(round, right)
		}
		number = left<<p.halfBits | right
		if number>>p.bits == 0 {
			return number
		}
	}
}

func (p numberPermutation) invert(number uint64) uint64 {
	for {
		left, right := p.halves(number)
		for round := publicRounds - 1; round >= 0; round-- {
			left, right = right^p.roundOf(round, left), left
		}
		number = left<<p.halfBits | right
		if number>>p.bits == 0 {
			return number
		}
	}
}

func (p numberPermutation) halves(number uint64) (left, right uint64) {
	return number >> p.halfBits, number & p.halfMask()
}

func (p numberPermutation) halfMask() uint64 {
	return 1<<p.halfBits - 1
}

func (p numberPermutation) roundOf(round int, half uint64) uint64 {
	digest := hmac.New(sha256.New, p.key)
	digest.Write(binary.BigEndian.AppendUint32([]byte{byte(round)}, uint32(half)))
	sum := digest.Sum(nil)
	return uint64(binary.BigEndian.Uint32(sum[len(sum)-4:])) & p.halfMask()
}
