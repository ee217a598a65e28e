module signet.example/bench/tessera

go 1.25.8

require (
	github.com/transparency-dev/tessera v1.0.3-0.20260821100830-1811ae1a7c40
	golang.org/x/mod v0.39.0
)
