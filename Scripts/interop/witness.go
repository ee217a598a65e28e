// A log and a witness over golang.org/x/mod (packages note and tlog), which know nothing of Signet.
//
//	witness make-log FOLDER                    a new log key; prints the log's verifier key
//	witness submit FOLDER URL WITNESS-KEY      has ever larger checkpoints cosigned, and tries what must be refused
//	witness serve LOG-KEY                      prints its verifier key and its address, and cosigns for that log
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const origin = "interop.example/gopher"

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// hashes is the log's tree, as tlog stores it.
type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, index := range indexes {
		out = append(out, h[index])
	}
	return out, nil
}

// grown is a tree of count entries; from entry 9 on, branch makes them other ones.
func grown(count int64, branch string) hashes {
	var h hashes
	for index := int64(0); index < count; index++ {
		entry := fmt.Sprintf("entry %d", index)
		if index >= 9 {
			entry += branch
		}
		more, err := tlog.StoredHashes(index, []byte(entry), h)
		check(err)
		h = append(h, more...)
	}
	return h
}

// cosignature is the signature type 0x04 of C2SP tlog-cosignature, which x/mod does not have.
type cosignature struct {
	name   string
	hash   uint32
	public ed25519.PublicKey
	secret ed25519.PrivateKey
}

func keyHash(name string, material []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), material...))
	return binary.BigEndian.Uint32(sum[:])
}

func newCosignature(name string, public ed25519.PublicKey, secret ed25519.PrivateKey) *cosignature {
	return &cosignature{name, keyHash(name, append([]byte{4}, public...)), public, secret}
}

func parseCosignature(vkey string) *cosignature {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		log.Fatal("not a verifier key")
	}
	material, err := base64.StdEncoding.DecodeString(parts[2])
	check(err)
	if len(material) != 33 || material[0] != 4 {
		log.Fatal("not a witness's key")
	}
	key := newCosignature(parts[0], material[1:], nil)
	if fmt.Sprintf("%08x", key.hash) != parts[1] {
		log.Fatal("the key's hash is wrong")
	}
	return key
}

func (c *cosignature) String() string {
	return fmt.Sprintf("%s+%08x+%s", c.name, c.hash, base64.StdEncoding.EncodeToString(append([]byte{4}, c.public...)))
}
func (c *cosignature) Name() string    { return c.name }
func (c *cosignature) KeyHash() uint32 { return c.hash }
func (c *cosignature) message(at uint64, text []byte) []byte {
	return append([]byte(fmt.Sprintf("cosignature/v1\ntime %d\n", at)), text...)
}
func (c *cosignature) Verify(text, signature []byte) bool {
	if len(signature) != 72 {
		return false
	}
	at := binary.BigEndian.Uint64(signature)
	now := uint64(time.Now().Unix())
	return at+300 > now && at < now+300 && ed25519.Verify(c.public, c.message(at, text), signature[8:])
}
func (c *cosignature) Sign(text []byte) ([]byte, error) {
	at := uint64(time.Now().Unix())
	return append(binary.BigEndian.AppendUint64(nil, at), ed25519.Sign(c.secret, c.message(at, text))...), nil
}

// request is an add-checkpoint body.
func request(signer note.Signer, tree hashes, old, size int64) []byte {
	root, err := tlog.TreeHash(size, tree)
	check(err)
	text := fmt.Sprintf("%s\n%d\n%s\n", origin, size, root)
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	check(err)
	body := fmt.Sprintf("old %d\n", old)
	if old > 0 && old < size {
		proof, err := tlog.ProveTree(size, old, tree)
		check(err)
		for _, hash := range proof {
			body += hash.String() + "\n"
		}
	}
	return append([]byte(body+"\n"), signed...)
}

func post(url string, body []byte) (int, string, string) {
	response, err := http.Post(url+"/add-checkpoint", "text/plain", bytes.NewReader(body))
	check(err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	check(err)
	return response.StatusCode, response.Header.Get("Content-Type"), string(answer)
}

func expect(what string, got, want any) {
	if got != want {
		log.Fatalf("%s: %v instead of %v", what, got, want)
	}
	fmt.Printf("ok %s: %v\n", what, want)
}

func submit(folder, url, vkey string) {
	secret, err := os.ReadFile(filepath.Join(folder, "log.key"))
	check(err)
	signer, err := note.NewSigner(string(secret))
	check(err)
	public, err := os.ReadFile(filepath.Join(folder, "log.vkey"))
	check(err)
	logKey, err := note.NewVerifier(string(public))
	check(err)
	witness := parseCosignature(vkey)
	tree := grown(40, "")
	var old int64
	for _, size := range []int64{1, 2, 8, 8, 13, 31} {
		body := request(signer, tree, old, size)
		status, _, answer := post(url, body)
		expect(fmt.Sprintf("from %d to %d", old, size), status, 200)
		_, signed, _ := bytes.Cut(body, []byte("\n\n"))
		opened, err := note.Open(append(signed, answer...), note.VerifierList(logKey, witness))
		check(err)
		expect("signatures that x/mod verifies", len(opened.Sigs), 2)
		old = size
	}
	status, kind, answer := post(url, request(signer, tree, 8, 40))
	expect("another old size", fmt.Sprintf("%d %s %s", status, kind, answer), "409 text/x.tlog.size 31\n")
	status, _, _ = post(url, request(signer, grown(40, "!"), 31, 40))
	expect("a fork", status, 422)
	status, _, _ = post(url, request(signer, grown(40, "!"), 31, 31))
	expect("another root of the same size", status, 422)
	status, _, _ = post(url, bytes.Replace(request(signer, tree, 31, 40), []byte("old 31"), []byte("old 41"), 1))
	expect("an old size above the new one", status, 400)
	strangerKey, _, err := note.GenerateKey(rand.Reader, origin)
	check(err)
	stranger, err := note.NewSigner(strangerKey)
	check(err)
	status, _, _ = post(url, request(stranger, tree, 31, 40))
	expect("another key", status, 403)
	status, _, _ = post(url, bytes.Replace(request(signer, tree, 31, 40), []byte(origin), []byte(origin+"2"), 1))
	expect("another origin", status, 404)
	sum := sha256.Sum256([]byte(origin))
	response, err := http.Get(url + "/" + hex.EncodeToString(sum[:]) + "/checkpoint")
	check(err)
	shown, err := io.ReadAll(response.Body)
	check(err)
	opened, err := note.Open(shown, note.VerifierList(logKey, witness))
	check(err)
	expect("what monitors see", fmt.Sprint(strings.Split(opened.Text, "\n")[1], " ", len(opened.Sigs)), "31 2")
}

// serve is a witness of one log. It keeps its state in memory.
func serve(vkey string) {
	logKey, err := note.NewVerifier(vkey)
	check(err)
	public, secret, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	witness := newCosignature("interop.example/gopher-witness", public, secret)
	var lock sync.Mutex
	var size int64
	var root tlog.Hash
	http.HandleFunc("/add-checkpoint", func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		status, answer := func() (int, string) {
			body, err := io.ReadAll(r.Body)
			check(err)
			head, signed, found := bytes.Cut(body, []byte("\n\n"))
			lines := strings.Split(string(head), "\n")
			old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
			if !found || err != nil {
				return 400, ""
			}
			opened, err := note.Open(signed, note.VerifierList(logKey))
			if err != nil {
				return 403, ""
			}
			text := strings.Split(opened.Text, "\n")
			if text[0] != logKey.Name() {
				return 404, ""
			}
			newSize, err := strconv.ParseInt(text[1], 10, 64)
			check(err)
			newRoot, err := tlog.ParseHash(text[2])
			check(err)
			if old != size {
				w.Header().Set("Content-Type", "text/x.tlog.size")
				return 409, fmt.Sprintf("%d\n", size)
			}
			if old > 0 {
				var proof tlog.TreeProof
				for _, line := range lines[1:] {
					hash, err := tlog.ParseHash(line)
					check(err)
					proof = append(proof, hash)
				}
				if err := consistent(proof, newSize, newRoot, size, root); err != nil {
					return 422, ""
				}
			}
			size, root = newSize, newRoot
			signature, err := witness.Sign([]byte(opened.Text))
			check(err)
			line := append(binary.BigEndian.AppendUint32(nil, witness.hash), signature...)
			return 200, "\u2014 " + witness.name + " " + base64.StdEncoding.EncodeToString(line) + "\n"
		}()
		w.WriteHeader(status)
		io.WriteString(w, answer)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("%s\nhttp://%s\n", witness, listener.Addr())
	check(http.Serve(listener, nil))
}

func consistent(proof tlog.TreeProof, size int64, root tlog.Hash, old int64, oldRoot tlog.Hash) error {
	if size == old {
		if root != oldRoot || len(proof) > 0 {
			return errors.New("another root")
		}
		return nil
	}
	return tlog.CheckTree(proof, size, root, old, oldRoot)
}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "make-log":
		secret, public, err := note.GenerateKey(rand.Reader, origin)
		check(err)
		check(os.WriteFile(filepath.Join(os.Args[2], "log.key"), []byte(secret), 0o600))
		check(os.WriteFile(filepath.Join(os.Args[2], "log.vkey"), []byte(public), 0o644))
		fmt.Println(public)
	case len(os.Args) == 5 && os.Args[1] == "submit":
		submit(os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) == 3 && os.Args[1] == "serve":
		serve(os.Args[2])
	default:
		log.Fatal("usage: witness make-log FOLDER | submit FOLDER URL WITNESS-KEY | serve LOG-KEY")
	}
}
