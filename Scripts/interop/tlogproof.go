// Command tlogproof checks and makes C2SP tlog-proofs with golang.org/x/mod's note and tlog packages, so
// that Signet's own code is measured against one that shares nothing with it.
//
//	tlogproof verify PROOF ENTRY VKEY       exit 0 if the entry is in the log that VKEY signed for
//	tlogproof make DIR                      writes made.tlog-proof, made.entry and made.policy
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == "verify":
		err = verify(os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) == 3 && os.Args[1] == "make":
		err = makeProof(os.Args[2])
	default:
		err = fmt.Errorf("usage: tlogproof verify PROOF ENTRY VKEY | tlogproof make DIR")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tlogproof:", err)
		os.Exit(1)
	}
}

func verify(proofFile, entryFile, vkey string) error {
	text, err := os.ReadFile(proofFile)
	if err != nil {
		return err
	}
	entry, err := os.ReadFile(entryFile)
	if err != nil {
		return err
	}
	index, path, signed, err := parse(text)
	if err != nil {
		return err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	opened, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return fmt.Errorf("not a checkpoint of %s", verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return err
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil {
		return err
	}
	return tlog.CheckRecord(path, size, root, index, tlog.RecordHash(entry))
}

// parse reads header, optional extra line, index, hashes, empty line and note.
func parse(text []byte) (index int64, path tlog.RecordProof, signed []byte, err error) {
	head, signed, found := bytes.Cut(text, []byte("\n\n"))
	if !found {
		return 0, nil, nil, fmt.Errorf("no empty line after the hashes")
	}
	lines := strings.Split(string(head), "\n")
	if lines[0] != "c2sp.org/tlog-proof@v1" {
		return 0, nil, nil, fmt.Errorf("unknown header")
	}
	lines = lines[1:]
	if len(lines) > 0 && strings.HasPrefix(lines[0], "extra ") {
		lines = lines[1:]
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "index ") {
		return 0, nil, nil, fmt.Errorf("no index line")
	}
	index, err = strconv.ParseInt(strings.TrimPrefix(lines[0], "index "), 10, 64)
	if err != nil {
		return 0, nil, nil, err
	}
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return 0, nil, nil, err
		}
		path = append(path, hash)
	}
	return index, path, signed, nil
}

// makeProof grows a log of a thousand entries under a fresh key and proves one of them.
func makeProof(folder string) error {
	const size, index = 1000, 421
	name := "interop.example/log"
	skey, vkey, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return err
	}
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			hashes[i] = stored[index]
		}
		return hashes, nil
	})
	for i := int64(0); i < size; i++ {
		hashes, err := tlog.StoredHashes(i, entry(i), reader)
		if err != nil {
			return err
		}
		stored = append(stored, hashes...)
	}
	root, err := tlog.TreeHash(size, reader)
	if err != nil {
		return err
	}
	path, err := tlog.ProveRecord(size, index, reader)
	if err != nil {
		return err
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		return err
	}
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", name, size, root)}, signer)
	if err != nil {
		return err
	}
	var proof bytes.Buffer
	fmt.Fprintf(&proof, "c2sp.org/tlog-proof@v1\nextra %s\nindex %d\n",
		base64.StdEncoding.EncodeToString([]byte("made elsewhere")), index)
	for _, hash := range path {
		fmt.Fprintln(&proof, hash)
	}
	fmt.Fprintf(&proof, "\n%s", signed)
	for file, content := range map[string][]byte{
		"made.tlog-proof": proof.Bytes(), "made.entry": entry(index),
		"made.policy": []byte("log " + vkey + "\nquorum none\n"),
	} {
		if err := os.WriteFile(filepath.Join(folder, file), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func entry(i int64) []byte { return []byte(fmt.Sprintf("entry %d of a log made elsewhere\n", i)) }
