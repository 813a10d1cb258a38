package snowlane_test

import (
	"encoding/json"
	"testing"

	"snowlane.dev/go"
)

func TestNullInJSONLeavesAnIDAsItIs(t *testing.T) {
	var row struct {
		ID    snowlane.ID
		Other *snowlane.ID
		Name  string
	}
	row.ID = 7
	// FIELD F11 (a)
	if err := json.Unmarshal([]byte(`{"ID":null,"Other":null,"Name":"a"}`), &row); err != nil {
		t.Fatal(err)
	}
	if row.ID != 7 || row.Other != nil || row.Name != "a" {
		t.Errorf("%+v", row)
	}
}

func TestAnIDIsAKeyOfAMapAndATextByItself(t *testing.T) {
	text, err := json.Marshal(map[snowlane.ID]snowlane.ID{snowlane.MaxID: 1})
	if err != nil || string(text) != `{"9223372036854775807":"1"}` {
		t.Fatalf("%s %v", text, err)
	}
	var read map[snowlane.ID]snowlane.ID
	if err := json.Unmarshal(text, &read); err != nil || read[snowlane.MaxID] != 1 {
		t.Errorf("%v %v", read, err)
	}
	var id snowlane.ID
	for _, wrong := range []string{"", "01", "9223372036854775808", "1.5", "null"} {
		if err := id.UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q reads as %d", wrong, id)
		}
	}
}
