package snowlane

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"google.golang.org/grpc/codes"
)

// bits128 is a number of 128 bits.
type bits128 struct{ high, low uint64 }

func (b bits128) or(other bits128) bits128 {
	return bits128{b.high | other.high, b.low | other.low}
}

// left shifts by 0 to 127.
func (b bits128) left(n int) bits128 {
	if n >= 64 {
		return bits128{high: b.low << (n - 64)}
	}
	return bits128{b.high<<n | b.low>>1>>(63-n), b.low << n}
}

// right shifts by 0 to 127.
func (b bits128) right(n int) bits128 {
	if n >= 64 {
		return bits128{low: b.high >> (n - 64)}
	}
	return bits128{b.high >> n, b.low>>n | b.high<<1<<(63-n)}
}

// lowest keeps the lowest n bits, 0 to 127.
func (b bits128) lowest(n int) bits128 {
	if n >= 64 {
		return bits128{b.high & (1<<(n-64) - 1), b.low}
	}
	return bits128{low: b.low & (1<<n - 1)}
}

const (
	// The bits that version 7 leaves free: rand_a and rand_b of RFC 9562 section 5.7.
	randABits   = 12
	randBBits   = 62
	payloadBits = randABits + randBBits
	uuidWidth   = 36
)

// uuidCodec writes the UUIDs of version 7 that hold the IDs of one layout and namespace: the Unix millisecond of the
// ID's tick in 48 bits; then, in the 74 free bits, the number of the tick within its millisecond (none for ticks of 1
// ms or more), the ID's bits without its timestamp, and a filler.
type uuidCodec struct {
	layout                *Layout
	otherBits, fillerBits int
	filler                bits128
}

func newUUIDCodec(layout *Layout, namespace string) uuidCodec {
	tickBits := bits.Len64(uint64(layout.ticksPerMS() - 1))
	c := uuidCodec{layout: layout, otherBits: layout.bits - layout.timestamp.bits}
	c.fillerBits = payloadBits - tickBits - c.otherBits
	fields := make([]string, len(layout.fields))
	for index, field := range layout.fields {
		fields[index] = fmt.Sprintf("%s:%d", field.Kind, field.Bits)
	}
	seed := fmt.Sprintf("snowlane uuid 1\n%d\n%d\n%s\n%s", layout.epochMS, layout.tickNS, strings.Join(fields, ","), namespace)
	digest := sha256.Sum256([]byte(seed))
	leading := bits128{binary.BigEndian.Uint64(digest[:]), binary.BigEndian.Uint64(digest[8:])}
	c.filler = leading.right(128 - c.fillerBits)
	return c
}

func (c *uuidCodec) write(id ID) (string, error) {
	l := c.layout
	ticks := int64(l.timestamp.of(id))
	ms := l.msDown(ticks)
	if ms < 0 {
		return "", &Error{
			Reason: InvalidTextFormat, Code: codes.InvalidArgument, Message: "an ID from before 1970 cannot be written as a UUID",
			Metadata: map[string]string{"create_ms": fmt.Sprint(ms)},
		}
	}
	below := uint64(id) & (1<<l.timestamp.shift - 1)
	above := uint64(id) >> (l.timestamp.shift + l.timestamp.bits)
	other := bits128{low: above<<l.timestamp.shift | below}
	tick := bits128{low: uint64(ticks % l.ticksPerMS())}
	payload := tick.left(c.otherBits + c.fillerBits).or(other.left(c.fillerBits)).or(c.filler)
	high := uint64(ms)<<16 | 7<<12 | payload.right(randBBits).low
	low := 1<<63 | payload.lowest(randBBits).low
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1)), nil
}

// read reads any UUID; hasID is false if it holds no ID of the layout and namespace.
func (c *uuidCodec) read(text string) (id ID, hasID bool, err error) {
	uuid, err := readUUID(text)
	if err != nil {
		return 0, false, err
	}
	isVersion7 := uuid.high>>12&0xf == 7 && uuid.low>>62 == 2
	payload := bits128{low: uuid.high & (1<<randABits - 1)}.left(randBBits).or(uuid.lowest(randBBits))
	if !isVersion7 || payload.lowest(c.fillerBits) != c.filler {
		return 0, false, nil
	}
	l := c.layout
	ms := int64(uuid.high >> 16)
	wholeTicks := l.ticksUp(ms)
	tickOfMS := int64(payload.right(c.fillerBits + c.otherBits).low)
	ticks := wholeTicks + tickOfMS
	if wholeTicks < 0 || l.msDown(wholeTicks) != ms || tickOfMS >= l.ticksPerMS() || ticks > int64(l.timestamp.max) {
		return 0, false, nil
	}
	other := payload.right(c.fillerBits).lowest(c.otherBits).low
	shift := l.timestamp.shift
	return ID(other>>shift<<(shift+l.timestamp.bits) | uint64(ticks)<<shift | other&(1<<shift-1)), true, nil
}

// readUUID reads 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
func readUUID(text string) (bits128, error) {
	var uuid bits128
	for index := range uuidWidth {
		if index >= len(text) {
			return uuid, malformedText(UUID, "too_short", index)
		}
		character := text[index]
		if index == 8 || index == 13 || index == 18 || index == 23 {
			if character != '-' {
				return uuid, malformedText(UUID, "character", index)
			}
			continue
		}
		digit := strings.IndexByte("0123456789abcdef", character)
		if digit < 0 {
			digit = strings.IndexByte("0123456789ABCDEF", character)
		}
		if digit < 0 {
			return uuid, malformedText(UUID, "character", index)
		}
		uuid = uuid.left(4).or(bits128{low: uint64(digit)})
	}
	if len(text) > uuidWidth {
		return uuid, malformedText(UUID, "too_long", uuidWidth)
	}
	return uuid, nil
}
