module example.com/shop

go 1.25.0

require (
	gorm.io/driver/postgres v1.6.3
	gorm.io/gorm v1.31.2
)
