package shop

import (
	"net/http"
	"time"
)

const Timeout = 5 * time.Minute // fine: CoM

var open = map[string]int{} // flag: CoI module-mutable

func Open(name string) { open[name] = 1 }

func IsOpen(name string) bool { return open[name] == 1 }

func Handle(ctx Context, w http.ResponseWriter, r *http.Request, opts Options) { // fine: CoP
	serve(ctx, w, r, opts)
}

func Place(street string, city string, zip string, country string) string { // flag: CoP many-positional
	return street + city + zip + country
}

type Order struct {
	Status int
	total  int
}

func (o *Order) IsShipped() bool {
	return o.Status == 4 // flag: CoM coded-value
}

func isServerError(code int) bool {
	return code/100 == 5 // fine: CoM
}

func Start(server *Server) {
	server.Run()
	time.Sleep(2 * time.Second) // flag: CoTm sleep-sync
	server.Ping()
}

func Poll(server *Server) {
	for !server.Ready() {
		time.Sleep(time.Second) // fine: CoTm
	}
}

func Encode(value interface{}) string { // flag: CoT
	return render(value)
}
