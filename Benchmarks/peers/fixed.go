// A TLS server that answers every request with the same bytes: what Go's net/http costs when it has nothing to do.
//
//	fixed CERTIFICATE KEY PORT BYTES
package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
)

func main() {
	count, err := strconv.Atoi(os.Args[4])
	if err != nil {
		panic(err)
	}
	body := make([]byte, count)
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[3])
	if err != nil {
		panic(err)
	}
	answer := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", os.Args[4])
		w.Write(body)
	}
	// An empty map: HTTP/1.1 alone, as the others speak it.
	server := http.Server{
		Handler:      http.HandlerFunc(answer),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	fmt.Println("listening on " + os.Args[3])
	panic(server.ServeTLS(listener, os.Args[1], os.Args[2]))
}
