//go:build !windows

package shop

const lineEnding = "unix-line" // fine: CoV

// Asks the compiler whether a type fits, and binds nothing.
var _ Seller = (*Shop)(nil) // fine: CoI

var open *Shop // flag: CoI module-mutable

func SetOpen(shop *Shop) {
	open = shop
}

func Sell(items []string) string {
	for _, item := range items {
		if item != "" {
			return open.Sell(item)
		}
	}
	_, last := open.Last()
	return last
}

func ending() string {
	lineEnding := "unix-line" // fine: CoV
	return lineEnding
}
