// Tessera's POSIX storage under load: so many entries whenever a line with their number comes in, each acknowledged once its batch is durable.
//
//	tessera FOLDER BYTES WRITERS BATCH
//
// Built with `go build` where modules can be had; SIGNET_TESSERA names the program for Benchmarks/run.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
)

func number(text string) int {
	count, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return count
}

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ctx := context.Background()
	size, writers, batch := number(os.Args[2]), number(os.Args[3]), number(os.Args[4])
	private, _, err := note.GenerateKey(rand.Reader, "bench.example/tessera")
	if err != nil {
		panic(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		panic(err)
	}
	driver, err := posix.New(ctx, posix.Config{Path: os.Args[1]})
	if err != nil {
		panic(err)
	}
	// No antispam, and its own defaults but for the batch and a checkpoint each second.
	options := tessera.NewAppendOptions().
		WithCheckpointSigner(signer).
		WithCheckpointInterval(time.Second).
		WithBatching(uint(batch), 250*time.Millisecond).
		WithPushback(1 << 20)
	appender, _, _, err := tessera.NewAppender(ctx, driver, options)
	if err != nil {
		panic(err)
	}
	fmt.Println("listening")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		count := number(lines.Text())
		entries := make([][]byte, count)
		for place := range entries {
			entries[place] = make([]byte, size)
			rand.Read(entries[place])
		}
		start := time.Now()
		var group sync.WaitGroup
		for writer := range writers {
			group.Add(1)
			go func() {
				defer group.Done()
				for place := writer; place < count; place += writers {
					if _, err := appender.Add(ctx, tessera.NewEntry(entries[place]))(); err != nil {
						panic(err)
					}
				}
			}()
		}
		group.Wait()
		fmt.Printf("COUNTED %f\n", float64(count)/time.Since(start).Seconds())
	}
}
