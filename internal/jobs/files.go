package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// readPart returns a part of a file, and how large the file is.
func readPart(f *os.File, at int64) (data []byte, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	data, err = io.ReadAll(io.NewSectionReader(f, at, part))
	return data, info.Size(), err
}

// writePart writes a part of a file, which it makes if it is not there.
func writePart(path string, at int64, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}

// sumOf returns the size of a file and its SHA-256.
func sumOf(path string) (size int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, f)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}
