package snowlane_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"snowlane.dev/go"
)

// vectorFile is one of test/vectors in the repository, which the tests of every language read; its README has the
// shapes.
type vectorFile struct {
	Namespace string
	NowMS     int64 `json:"nowMs"`
	Layout    string
	Vectors   []vector
}

type vector struct {
	// layouts.json
	Name    string
	EpochMS int64 `json:"epochMs"`
	TickNS  int64 `json:"tickNs"`
	Fields  []struct {
		Kind snowlane.FieldKind
		Bits int
	}
	TimestampMax int64
	// ids.json
	Layout                                  string
	ID                                      *string
	Ticks, DatacenterID, WorkerID, Sequence int64
	CreateTime                              *struct{ Seconds, Nanos int64 }
	Texts                                   []vectorFormat
	// detection.json, refused.json, uuids.json
	Kind             string
	Text             string
	Form             *snowlane.TextForm
	UTCOffsetMinutes int64 `json:"utcOffsetMinutes"`
	TypePrefix       string
	Format           vectorFormat
	Error            snowlane.Reason
	Metadata         map[string]string
	// past.json
	FirstTick, EndTick int64
	LaneBits           []string
	Rows               []struct {
		Tick, Count     int64
		FirstID, LastID *string
	}
	// published-texts.json
	CheckSymbol bool
	Number      string
}

type vectorFormat struct {
	Form             snowlane.TextForm
	SerialPrefix     string
	UTCOffsetMinutes int64 `json:"utcOffsetMinutes"`
	CheckSymbol      bool
	TypePrefix       string
	Text             string
}

func (f vectorFormat) format() snowlane.TextFormat {
	return snowlane.TextFormat{
		Form: f.Form, SerialPrefix: f.SerialPrefix, CheckSymbol: f.CheckSymbol, TypePrefix: f.TypePrefix,
		UTCOffset: time.Duration(f.UTCOffsetMinutes) * time.Minute,
	}
}

func loadVectors(t *testing.T, name string) vectorFile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "test", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	var file vectorFile
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	return file
}

func loadLayouts(t *testing.T) map[string]*snowlane.Layout {
	t.Helper()
	layouts := map[string]*snowlane.Layout{}
	for _, vector := range loadVectors(t, "layouts.json").Vectors {
		spec := snowlane.LayoutSpec{Name: vector.Name, Epoch: time.UnixMilli(vector.EpochMS), Tick: time.Duration(vector.TickNS)}
		for _, field := range vector.Fields {
			spec.Fields = append(spec.Fields, snowlane.LayoutField(field))
		}
		layout, err := snowlane.NewLayout(spec)
		if err != nil {
			t.Fatal(err)
		}
		layouts[vector.Name] = layout
	}
	return layouts
}

func mustID(t *testing.T, text string) snowlane.ID {
	t.Helper()
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return snowlane.ID(id)
}

func TestVectorsOfIDs(t *testing.T) {
	layouts := loadLayouts(t)
	file := loadVectors(t, "ids.json")
	orAbsent := func(value int64, kind snowlane.FieldKind, layout *snowlane.Layout) int64 {
		for _, field := range layout.Fields() {
			if field.Kind == kind {
				return value
			}
		}
		return -1
	}
	for _, vector := range file.Vectors {
		layout := layouts[vector.Layout]
		id := mustID(t, *vector.ID)
		parsed, err := layout.Parse(id)
		if err != nil {
			t.Fatal(err)
		}
		want := snowlane.ParsedID{
			ID: id, Layout: layout, Ticks: vector.Ticks,
			CreateTime:   time.Unix(vector.CreateTime.Seconds, vector.CreateTime.Nanos).UTC(),
			DatacenterID: orAbsent(vector.DatacenterID, snowlane.DatacenterField, layout),
			WorkerID:     orAbsent(vector.WorkerID, snowlane.WorkerField, layout),
			Sequence:     orAbsent(vector.Sequence, snowlane.SequenceField, layout),
		}
		if parsed != want {
			t.Errorf("%s %s: got %+v, want %+v", vector.Layout, *vector.ID, parsed, want)
		}
		first, last, err := layout.IDRange(parsed.CreateTime, parsed.CreateTime.Add(layout.Tick()))
		if err != nil || first > id || last < id {
			t.Errorf("%s %s: its range is %d to %d, %v", vector.Layout, *vector.ID, first, last, err)
		}
		codec := snowlane.NewTextCodec(layout, file.Namespace)
		for _, text := range vector.Texts {
			checkText(t, codec, id, text)
		}
	}
}

func checkText(t *testing.T, codec *snowlane.TextCodec, id snowlane.ID, want vectorFormat) {
	t.Helper()
	text, err := codec.Write(id, want.format())
	if err != nil || text != want.Text {
		t.Errorf("%d: wrote %q %v, want %q", id, text, err, want.Text)
	}
	options := snowlane.TextReadOptions{Form: want.Form, UTCOffset: want.format().UTCOffset}
	reading, err := codec.Read(want.Text, options)
	if err != nil || !reading.HasID || reading.ID != id || reading.Format != want.format() {
		t.Errorf("%q: read %+v %v, want %d", want.Text, reading, err, id)
	}
}

func TestVectorsOfDetection(t *testing.T) {
	layouts := loadLayouts(t)
	file := loadVectors(t, "detection.json")
	for _, vector := range file.Vectors {
		codec := snowlane.NewTextCodec(layouts[vector.Layout], file.Namespace)
		reading, err := codec.Read(vector.Text, snowlane.TextReadOptions{
			Now: time.UnixMilli(file.NowMS), UTCOffset: time.Duration(vector.UTCOffsetMinutes) * time.Minute,
		})
		if err != nil || reading.Format != vector.Format.format() || reading.HasID != (vector.ID != nil) {
			t.Errorf("%q: read %+v %v", vector.Text, reading, err)
		} else if reading.HasID && reading.ID != mustID(t, *vector.ID) {
			t.Errorf("%q: read %d, want %s", vector.Text, reading.ID, *vector.ID)
		}
	}
}

func TestVectorsOfUUIDs(t *testing.T) {
	file := loadVectors(t, "uuids.json")
	codec := snowlane.NewTextCodec(loadLayouts(t)[file.Layout], file.Namespace)
	for _, vector := range file.Vectors {
		reading, err := codec.Read(vector.Text, snowlane.TextReadOptions{Form: snowlane.UUID})
		if err != nil || reading.HasID != (vector.ID != nil) || (reading.HasID && reading.ID != mustID(t, *vector.ID)) {
			t.Errorf("%q: read %+v %v", vector.Text, reading, err)
		}
	}
}

func TestVectorsOfRefusals(t *testing.T) {
	layouts := loadLayouts(t)
	file := loadVectors(t, "refused.json")
	for _, vector := range file.Vectors {
		codec := snowlane.NewTextCodec(layouts[vector.Layout], file.Namespace)
		var err error
		switch vector.Kind {
		case "text":
			options := snowlane.TextReadOptions{Now: time.UnixMilli(file.NowMS), TypePrefix: vector.TypePrefix}
			if vector.Form != nil {
				options.Form = *vector.Form
			}
			_, err = codec.Read(vector.Text, options)
		case "format":
			_, err = codec.Write(1, vector.Format.format())
		case "id":
			id, parseErr := strconv.ParseUint(*vector.ID, 10, 64)
			if parseErr != nil {
				// What no ID of this language can be, such as a negative number.
				continue
			}
			_, err = codec.Write(snowlane.ID(id), vector.Format.format())
		}
		var failure *snowlane.Error
		if !errors.As(err, &failure) || failure.Reason != vector.Error {
			t.Errorf("%+v: got %v", vector, err)
		} else if vector.Metadata != nil && !maps.Equal(failure.Metadata, vector.Metadata) {
			t.Errorf("%q as %v: got %v, want %v", vector.Text, vector.Form, failure.Metadata, vector.Metadata)
		}
	}
}

func TestPresetsAreThoseOfTheVectors(t *testing.T) {
	var names []string
	for _, vector := range loadVectors(t, "layouts.json").Vectors {
		if strings.HasPrefix(vector.Name, "custom-") {
			continue
		}
		names = append(names, vector.Name)
		preset, err := snowlane.Preset(vector.Name)
		if err != nil {
			t.Fatal(err)
		}
		want := loadLayouts(t)[vector.Name]
		if preset.Epoch() != want.Epoch() || preset.Tick() != want.Tick() || !slices.Equal(preset.Fields(), want.Fields()) {
			t.Errorf("%s differs", vector.Name)
		}
	}
	if !slices.Equal(snowlane.PresetNames(), names) {
		t.Errorf("presets %v, in the vectors %v", snowlane.PresetNames(), names)
	}
	_, err := snowlane.Preset("facebook")
	expectReason(t, err, snowlane.InvalidLayout)
}

func TestPublishedTexts(t *testing.T) {
	twitter, _ := snowlane.Preset("twitter")
	codec := snowlane.NewTextCodec(twitter, "default")
	for _, vector := range loadVectors(t, "published-texts.json").Vectors {
		format := snowlane.TextFormat{Form: *vector.Form, CheckSymbol: vector.CheckSymbol}
		number := mustID(t, vector.Number)
		text, err := codec.Write(number, format)
		if err != nil || text != vector.Text {
			t.Errorf("%d: wrote %q %v, want %q", number, text, err, vector.Text)
		}
		reading, err := codec.Read(vector.Text, snowlane.TextReadOptions{Form: format.Form})
		if err != nil || reading.ID != number {
			t.Errorf("%q: read %+v %v", vector.Text, reading, err)
		}
	}
}

func TestPublishedUUIDsHoldNoIDOfOurs(t *testing.T) {
	twitter, _ := snowlane.Preset("twitter")
	for _, vector := range loadVectors(t, "published-uuids.json").Vectors {
		reading, err := snowlane.NewTextCodec(twitter, "default").Read(vector.Text, snowlane.TextReadOptions{})
		if err != nil || reading.HasID || reading.Format.Form != snowlane.UUID {
			t.Errorf("%q: read %+v %v", vector.Text, reading, err)
		}
	}
}

func TestIDRanges(t *testing.T) {
	twitter, _ := snowlane.Preset("twitter")
	sonyflake, _ := snowlane.Preset("sonyflake")
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	first, last, err := twitter.IDRange(at, at.Add(time.Millisecond))
	if err != nil || last-first != 1<<22-1 {
		t.Errorf("%d %d %v", first, last, err)
	}
	_, before, _ := sonyflake.IDRange(at.Add(-time.Second), at.Add(time.Nanosecond))
	after, _, _ := sonyflake.IDRange(at.Add(time.Nanosecond), at.Add(time.Second))
	if after != before+1 {
		t.Errorf("neighbours: %d, %d", before, after)
	}
	all, end, err := twitter.IDRange(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || all != 0 || end != snowlane.MaxID {
		t.Errorf("%d %d %v", all, end, err)
	}
	for _, interval := range [][2]time.Time{{at, at}, {at, at.Add(-1)}, {at.Add(1), at.Add(2)}, {time.Unix(0, 0), time.Unix(1, 0)}} {
		_, _, err := twitter.IDRange(interval[0], interval[1])
		expectReason(t, err, snowlane.InvalidTimeRange)
	}
}

func TestJSON(t *testing.T) {
	type row struct{ ID snowlane.ID }
	data, err := json.Marshal(row{snowlane.MaxID})
	if err != nil || string(data) != `{"ID":"9223372036854775807"}` {
		t.Errorf("%s %v", data, err)
	}
	var back row
	if err := json.Unmarshal(data, &back); err != nil || back.ID != snowlane.MaxID {
		t.Errorf("%v %v", back, err)
	}
	for _, bad := range []string{`{"ID":9223372036854775807}`, `{"ID":"-1"}`, `{"ID":"9223372036854775808"}`, `{"ID":""}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestLayoutsThatCannotBe(t *testing.T) {
	epoch := time.UnixMilli(0)
	for _, spec := range []snowlane.LayoutSpec{
		{Epoch: epoch, Tick: time.Millisecond},
		{Epoch: epoch, Tick: time.Millisecond, Fields: []snowlane.LayoutField{{snowlane.TimestampField, 63}}},
		{Epoch: epoch, Tick: time.Millisecond, Fields: []snowlane.LayoutField{{snowlane.TimestampField, 41}, {snowlane.TimestampField, 2}}},
		{Epoch: epoch, Tick: time.Millisecond, Fields: []snowlane.LayoutField{{snowlane.TimestampField, 41}, {snowlane.WorkerField, 33}}},
		{Epoch: epoch, Tick: time.Millisecond, Fields: []snowlane.LayoutField{{snowlane.TimestampField, 41}, {"shard", 3}}},
		{Epoch: epoch, Tick: 3 * time.Microsecond, Fields: []snowlane.LayoutField{{snowlane.TimestampField, 41}}},
		{Epoch: epoch, Tick: 0, Fields: []snowlane.LayoutField{{snowlane.TimestampField, 41}}},
		{Epoch: epoch.Add(1), Tick: time.Millisecond, Fields: []snowlane.LayoutField{{snowlane.TimestampField, 41}}},
	} {
		_, err := snowlane.NewLayout(spec)
		expectReason(t, err, snowlane.InvalidLayout)
	}
}

// pastClaim assigns IDs to the rows of a claim of the past.
type pastClaim struct {
	FirstTick, EndTick            int64
	LaneBits                      []int64
	Numbers                       int64 // of the sequence field
	TimestampShift, SequenceShift int
	nextSlot                      int64
}

// next returns the ID of the next row; ticks must come sorted. It returns false if the claim has no room left.
func (c *pastClaim) next(rowTick int64) (int64, bool) {
	capacity := int64(len(c.LaneBits)) * c.Numbers
	slot := max(c.nextSlot, (rowTick-c.FirstTick)*capacity)
	c.nextSlot = slot + 1
	tick, place := c.FirstTick+slot/capacity, slot%capacity
	id := tick<<c.TimestampShift | c.LaneBits[place/c.Numbers] | place%c.Numbers<<c.SequenceShift
	return id, tick < c.EndTick
}

func newPastClaim(t *testing.T, layout *snowlane.Layout, vector vector) *pastClaim {
	t.Helper()
	claim := &pastClaim{Numbers: 1, FirstTick: vector.FirstTick, EndTick: vector.EndTick}
	for _, bits := range vector.LaneBits {
		claim.LaneBits = append(claim.LaneBits, int64(mustID(t, bits)))
	}
	shift := 0
	for _, field := range slices.Backward(layout.Fields()) {
		switch field.Kind {
		case snowlane.TimestampField:
			claim.TimestampShift = shift
		case snowlane.SequenceField:
			claim.SequenceShift, claim.Numbers = shift, int64(1)<<field.Bits
		}
		shift += field.Bits
	}
	return claim
}

func TestVectorsOfPastClaims(t *testing.T) {
	layouts := loadLayouts(t)
	for _, vector := range loadVectors(t, "past.json").Vectors {
		claim := newPastClaim(t, layouts[vector.Layout], vector)
		for _, run := range vector.Rows {
			for row := range run.Count {
				id, found := claim.next(run.Tick)
				for _, end := range []struct {
					row  int64
					text *string
				}{{0, run.FirstID}, {run.Count - 1, run.LastID}} {
					if row != end.row {
						continue
					}
					if found != (end.text != nil) || (found && id != int64(mustID(t, *end.text))) {
						t.Errorf("%s from %d, row %d of tick %d: %d %t", vector.Layout, vector.FirstTick, row, run.Tick, id, found)
					}
				}
			}
		}
	}
}
