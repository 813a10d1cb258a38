package snowlane

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

type publicIDVectors struct {
	SipHash []struct {
		Key, Message, Hash string
	}
	Vectors []struct {
		Key          string
		Bits         int
		ID, PublicID string
	}
}

func readPublicIDVectors(t *testing.T) publicIDVectors {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "test", "vectors", "public-ids.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file publicIDVectors
	if err := json.Unmarshal(data, &file); err != nil || len(file.Vectors) == 0 || len(file.SipHash) == 0 {
		t.Fatal(err, "no vectors")
	}
	return file
}

func TestVectorsOfSipHash(t *testing.T) {
	for _, vector := range readPublicIDVectors(t).SipHash {
		key, _ := hex.DecodeString(vector.Key)
		message, _ := hex.DecodeString(vector.Message)
		var blocks []uint64
		for rest := message; ; rest = rest[8:] {
			if len(rest) < 8 {
				last := append(slices.Clone(rest), make([]byte, 8-len(rest))...)
				last[7] = byte(len(message))
				blocks = append(blocks, binary.LittleEndian.Uint64(last))
				break
			}
			blocks = append(blocks, binary.LittleEndian.Uint64(rest))
		}
		hash := sipHash(binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:]), blocks...)
		if found := fmt.Sprintf("%016x", hash); found != vector.Hash {
			t.Errorf("%+v: %s", vector, found)
		}
	}
}

func TestEveryPermutationUpTo16BitsIsOne(t *testing.T) {
	for width := 2; width <= 16; width++ {
		permutation := newNumberPermutation(make([]byte, 16), width)
		isReached := make([]bool, 1<<width)
		for number := range uint64(len(isReached)) {
			image := permutation.apply(number)
			if isReached[image] || permutation.invert(image) != number {
				t.Fatalf("%d bits: %d becomes %d", width, number, image)
			}
			isReached[image] = true
		}
	}
}

func BenchmarkPublicIDHide(b *testing.B) {
	public, err := NewPublicID(make([]byte, 16))
	if err != nil {
		b.Fatal(err)
	}
	id := ID(1)
	for range b.N {
		id, _ = public.Hide(id)
	}
}

func TestVectorsOfPublicIDs(t *testing.T) {
	for _, vector := range readPublicIDVectors(t).Vectors {
		key, _ := hex.DecodeString(vector.Key)
		id, _ := strconv.ParseUint(vector.ID, 10, 64)
		publicID, _ := strconv.ParseUint(vector.PublicID, 10, 64)
		permutation := newNumberPermutation(key, vector.Bits)
		if hidden, shown := permutation.apply(id), permutation.invert(publicID); hidden != publicID || shown != id {
			t.Errorf("%+v: %d %d", vector, hidden, shown)
		}
		if vector.Bits != idBits {
			continue
		}
		public, err := NewPublicID(key)
		if err != nil {
			t.Fatal(err)
		}
		hidden, err := public.Hide(ID(id))
		shown, revealErr := public.Reveal(ID(publicID))
		if hidden != ID(publicID) || shown != ID(id) || err != nil || revealErr != nil {
			t.Errorf("%+v: %d %d %v %v", vector, hidden, shown, err, revealErr)
		}
	}
}

func TestPublicIDsRefuseWhatIsNoID(t *testing.T) {
	public, err := NewPublicID(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []func(ID) (ID, error){public.Hide, public.Reveal} {
		if _, err := call(MaxID + 1); ReasonOf(err) != MalformedID {
			t.Error(err)
		}
	}
	if _, err := NewPublicID(make([]byte, 15)); err == nil {
		t.Error("a key of 15 bytes is accepted")
	}
}
