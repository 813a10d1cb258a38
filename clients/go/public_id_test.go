package snowlane

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestVectorsOfPublicIDs(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "test", "vectors", "public-ids.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Key          string
			Bits         int
			ID, PublicID string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Vectors) == 0 {
		t.Fatal(err, "no vectors")
	}
	for _, vector := range file.Vectors {
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
