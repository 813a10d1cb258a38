package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"time"
)

// The layout, from the lowest bit up: how far a field is shifted, and its highest value.
const (
	epochMs         int64 = 1288834974657
	tickMs          int64 = 1
	ticksPerMs      int64 = 1
	timeShift             = 22
	timeMax         int64 = 2199023255551
	timeBits              = 41
	datacenterShift       = 17
	datacenterMax   int64 = 31
	workerShift           = 12
	workerMax       int64 = 31
	sequenceShift         = 0
	sequenceMax     int64 = 4095
	allBits               = 63
)

func check(name string, value, max int64) error {
	if value < 0 || value > max {
		return fmt.Errorf("%s is not from 0 to %d: %d", name, max, value)
	}
	return nil
}

func compose(tick, datacenter, worker, sequence int64) (int64, error) {
	for _, err := range []error{
		check("time", tick, timeMax),
		check("datacenter", datacenter, datacenterMax),
		check("worker", worker, workerMax),
		check("sequence", sequence, sequenceMax),
	} {
		if err != nil {
			return 0, err
		}
	}
	return tick<<timeShift | datacenter<<datacenterShift | worker<<workerShift | sequence<<sequenceShift, nil
}

func tickOf(unixMs int64) int64 {
	if unixMs < epochMs {
		return -1
	}
	return (unixMs - epochMs) * ticksPerMs / tickMs
}

func Make(unixMs, datacenter, worker, sequence int64) (int64, error) {
	return compose(tickOf(unixMs), datacenter, worker, sequence)
}

type Parts struct{ UnixMs, Datacenter, Worker, Sequence int64 }

func Decode(id int64) (Parts, error) {
	if err := check("ID", id, int64(uint64(1)<<allBits-1)); err != nil {
		return Parts{}, err
	}
	tick := id >> timeShift & int64(uint64(1)<<timeBits-1)
	return Parts{
		UnixMs:     epochMs + tick*tickMs/ticksPerMs,
		Datacenter: id >> datacenterShift & datacenterMax,
		Worker:     id >> workerShift & workerMax,
		Sequence:   id >> sequenceShift & sequenceMax,
	}, check("time", tick, timeMax)
}

// Generator: one for each worker ID at a time, and none that starts again within a tick: nothing here checks that.
type Generator struct {
	Datacenter, Worker int64
	mutex              sync.Mutex
	last, sequence     int64
}

func (g *Generator) Next() (int64, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	now := tickOf(time.Now().UnixMilli())
	// A clock that was set back, and a full tick, go on from the last time.
	if now > g.last {
		g.last, g.sequence = now, 0
	} else if g.sequence < sequenceMax {
		g.sequence++
	} else {
		g.last, g.sequence = g.last+1, 0
	}
	return compose(g.last, g.Datacenter, g.Worker, g.sequence)
}

func main() {
	values := []int64{}
	for index := 2; index < len(os.Args); index++ {
		value, err := strconv.ParseInt(os.Args[index], 10, 64)
		if err != nil {
			log.Fatal(err)
		}
		values = append(values, value)
	}
	var id int64
	var err error
	switch {
	case len(values) == 4 && os.Args[1] == "make":
		id, err = Make(values[0], values[1], values[2], values[3])
	case len(values) > 0 && os.Args[1] == "decode":
		for _, id := range values {
			parts, err := Decode(id)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(parts.UnixMs, parts.Datacenter, parts.Worker, parts.Sequence)
		}
		return
	default:
		id, err = (&Generator{}).Next()
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}
