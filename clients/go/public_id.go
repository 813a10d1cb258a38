package snowlane

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"google.golang.org/grpc/codes"
)

const (
	publicKeyLengthMin = 16
	// As NIST SP 800-38G has it for format-preserving Feistel networks.
	publicRounds = 10
	idBits       = 63
	// Hashed together with the key, so that the same key yields another SipHash key for another purpose.
	publicKeyPurpose = "snowlane public id 1\x00"
)

// PublicID turns each ID into another number from 0 to 2^63 - 1, and back, under a key. [NewPublicID] makes one.
//
// It hides time, worker, sequence, order and rate from everyone without the key. Equal IDs stay equal. Every number can
// be revealed as some ID, so a public ID is not a permission. Public IDs do not sort by time; a new key changes all of
// them. docs/text-forms.md in the repository says more. It is safe for any number of goroutines.
type PublicID struct {
	permutation numberPermutation
}

// NewPublicID takes a key of at least 16 bytes; 32 from a random source are best. Keep it for as long as public IDs
// must be readable.
func NewPublicID(key []byte) (*PublicID, error) {
	if len(key) < publicKeyLengthMin {
		return nil, fmt.Errorf("snowlane: the key of public IDs has %d bytes; it needs at least %d", len(key), publicKeyLengthMin)
	}
	return &PublicID{permutation: newNumberPermutation(key, idBits)}, nil
}

// Hide returns the public ID of an ID. It fails with MALFORMED_ID for a number that is not an ID.
func (p *PublicID) Hide(id ID) (ID, error) {
	if id > MaxID {
		return 0, noID(id)
	}
	return ID(p.permutation.apply(uint64(id))), nil
}

// Reveal returns the ID of a public ID; under another key, it returns some other ID. It fails with MALFORMED_ID.
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

// numberPermutation is a keyed, reversible permutation of the numbers of some bits, 2 to 63: an alternating Feistel
// network of ten rounds over the higher half of the bits, which is one bit longer where the bits are odd, and the lower
// half. The even rounds change the higher half, the odd rounds the lower one, by SipHash-2-4 of the other half (four
// bytes, lowest first) and the round's number (one byte), cut to its last bits.
type numberPermutation struct {
	key0, key1 uint64
	lowBits    int
	highMask   uint64
}

func newNumberPermutation(key []byte, width int) numberPermutation {
	digest := sha256.Sum256(append([]byte(publicKeyPurpose), key...))
	lowBits := width / 2
	return numberPermutation{
		key0:     binary.LittleEndian.Uint64(digest[:]),
		key1:     binary.LittleEndian.Uint64(digest[8:]),
		lowBits:  lowBits,
		highMask: 1<<(width-lowBits) - 1,
	}
}

func (p numberPermutation) apply(number uint64) uint64 {
	lowMask := p.lowMask()
	high, low := number>>p.lowBits, number&lowMask
	for round := uint64(0); round < publicRounds; round += 2 {
		high ^= p.roundOf(round, low) & p.highMask
		low ^= p.roundOf(round+1, high) & lowMask
	}
	return high<<p.lowBits | low
}

func (p numberPermutation) invert(number uint64) uint64 {
	lowMask := p.lowMask()
	high, low := number>>p.lowBits, number&lowMask
	for round := uint64(publicRounds); round > 0; round -= 2 {
		low ^= p.roundOf(round-1, high) & lowMask
		high ^= p.roundOf(round-2, low) & p.highMask
	}
	return high<<p.lowBits | low
}

func (p numberPermutation) lowMask() uint64 {
	return 1<<p.lowBits - 1
}

// roundOf hashes a half and the number of a round: five bytes, whose count is in the highest byte of the block.
func (p numberPermutation) roundOf(round, half uint64) uint64 {
	return sipHash(p.key0, p.key1, 5<<56|round<<32|half)
}

// sipHash is SipHash-2-4 with a 64-bit result: https://www.aumasson.jp/siphash/siphash.pdf, section 2. The message
// comes in blocks of 8 bytes, the lowest byte first; the last is filled up with zeros, and its highest byte is the
// message's length modulo 256.
func sipHash(key0, key1 uint64, blocks ...uint64) uint64 {
	v0, v1 := key0^0x736f6d6570736575, key1^0x646f72616e646f6d
	v2, v3 := key0^0x6c7967656e657261, key1^0x7465646279746573
	for _, block := range blocks {
		v3 ^= block
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= block
	}
	v2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
