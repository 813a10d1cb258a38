// A model of GORM with an ID of Snowlane. Saves one order, then prints each order with the time in its ID.
package main

import (
	"context"
	"fmt"
	"os"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"snowlane.dev/go"
)

var ids *snowlane.Buffer

// Order gets its ID from the hook below, before it is inserted.
type Order struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	Article string
}

// TableName keeps the examples apart.
func (Order) TableName() string { return "orders_gorm" }

// BeforeCreate is called by GORM.
func (order *Order) BeforeCreate(*gorm.DB) error {
	if order.ID != 0 {
		return nil
	}
	id, err := ids.NextID(context.Background())
	order.ID = int64(id)
	return err
}

func main() {
	client, err := snowlane.NewClient(snowlane.Options{Endpoints: []string{os.Getenv("SNOWLANE_URL")}})
	check(err)
	defer client.Close()
	ids, err = client.Prefetch(snowlane.BufferOptions{})
	check(err)
	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{})
	check(err)
	check(db.AutoMigrate(&Order{}))

	check(db.Create(&Order{Article: "tea"}).Error)
	var orders []Order
	check(db.Order("id").Find(&orders).Error)
	layout, err := client.Layout(context.Background())
	check(err)
	for _, order := range orders {
		parsed, err := layout.Parse(snowlane.ID(order.ID))
		check(err)
		fmt.Println(order.ID, parsed.CreateTime.Format("2006-01-02T15:04:05.000Z07:00"))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
