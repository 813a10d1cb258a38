package snowlane

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// PresetNames are the names of the built-in layouts, the default first.
func PresetNames() []string {
	names := make([]string, len(presets))
	for index, preset := range presets {
		names[index] = preset.name
	}
	return names
}

// presets are the layouts that the server has under the same names; src/snowflake/presets.ts in the repository names
// their sources.
var presets = []*Layout{
	preset("twitter", 1_288_834_974_657, time.Millisecond, fields(41, 5, 5, 12)),
	preset("discord", 1_420_070_400_000, time.Millisecond, fields(41, 5, 5, 12)),
	preset("instagram", 1_314_220_021_721, time.Millisecond, fields(40, 0, 13, 10)),
	preset("sonyflake", 1_409_529_600_000, 10*time.Millisecond, []LayoutField{
		{TimestampField, 39}, {SequenceField, 8}, {WorkerField, 16},
	}),
	preset("baidu", 1_463_673_600_000, time.Second, fields(28, 0, 22, 13)),
	preset("javascript", 1_767_225_600_000, time.Millisecond, fields(41, 0, 6, 6)),
	preset("leaf", 1_288_834_974_657, time.Millisecond, fields(41, 0, 10, 12)),
	preset("cosid", 1_577_203_200_000, time.Millisecond, fields(41, 0, 10, 12)),
	preset("tsid", 1_577_836_800_000, time.Millisecond, fields(41, 0, 10, 12)),
	preset("clickhouse", 0, time.Millisecond, fields(41, 0, 10, 12)),
	preset("pgedge", 1_672_531_200_000, time.Millisecond, fields(41, 0, 10, 12)),
	preset("pgedge-2.3", 1_672_531_200_000, time.Millisecond, []LayoutField{
		{TimestampField, 41}, {SequenceField, 12}, {WorkerField, 10},
	}),
	preset("hazelcast", 1_514_764_800_000, time.Millisecond, []LayoutField{
		{TimestampField, 41}, {SequenceField, 6}, {WorkerField, 16},
	}),
	preset("yitter", 1_582_136_402_000, time.Millisecond, fields(51, 0, 6, 6)),
	preset("mastodon", 0, time.Millisecond, []LayoutField{{TimestampField, 47}, {SequenceField, 16}}),
}

func fields(timestamp, datacenter, worker, sequence int) []LayoutField {
	all := []LayoutField{{TimestampField, timestamp}}
	if datacenter > 0 {
		all = append(all, LayoutField{DatacenterField, datacenter})
	}
	return append(all, LayoutField{WorkerField, worker}, LayoutField{SequenceField, sequence})
}

func preset(name string, epochMS int64, tick time.Duration, fields []LayoutField) *Layout {
	layout, err := NewLayout(LayoutSpec{Name: name, Epoch: time.UnixMilli(epochMS), Tick: tick, Fields: fields})
	if err != nil {
		panic(err)
	}
	return layout
}

// Preset returns a built-in layout by its name, one of [PresetNames]. It fails with INVALID_LAYOUT.
func Preset(name string) (*Layout, error) {
	for _, preset := range presets {
		if preset.name == name {
			return preset, nil
		}
	}
	return nil, &Error{
		Reason: InvalidLayout, Code: codes.InvalidArgument,
		Message:  fmt.Sprintf("there is no layout %q; there are: %s", name, strings.Join(PresetNames(), ", ")),
		Metadata: map[string]string{"layout": name},
	}
}

// WithEpoch returns the layout with another epoch. It fails with INVALID_LAYOUT.
func (l *Layout) WithEpoch(epoch time.Time) (*Layout, error) {
	return NewLayout(LayoutSpec{Name: l.name, Epoch: epoch, Tick: l.Tick(), Fields: l.fields})
}
