package worktree

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The types of objects in a pack, of gitformat-pack(5).
const (
	typeOffDelta = 6
	typeRefDelta = 7
)

// errPack is what is wrong with a pack that cannot be read.
var errPack = errors.New("its objects cannot be read")

// scanPack reads a pack as gitformat-pack(5) has it, without keeping anything of it. It refuses one whose objects have
// more than limit bytes together, before git unpacks any: a few KB can hold 1 GB. ids is the length of an id in bytes.
func scanPack(in *bufio.Reader, limit int64, ids int) error {
	head := make([]byte, 12)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:4]) != "PACK" {
		return errPack
	}
	count := binary.BigEndian.Uint32(head[8:])
	left := limit
	var z io.ReadCloser
	for range count {
		kind, size, err := entryHead(in)
		if err != nil {
			return err
		}
		if err := skipBase(in, kind, ids); err != nil {
			return err
		}
		if z == nil {
			z, err = zlib.NewReader(in)
		} else {
			err = z.(zlib.Resetter).Reset(in, nil)
		}
		if err != nil {
			return errPack
		}
		// What a delta makes is told at its beginning, not in the entry.
		body, whole := bufio.NewReader(io.LimitReader(z, int64(min(size, 1<<62))+1)), size
		if kind >= typeOffDelta {
			if _, err := binary.ReadUvarint(body); err != nil {
				return errPack
			}
			whole, err = binary.ReadUvarint(body)
			if err != nil {
				return errPack
			}
		}
		left -= int64(min(max(whole, size), 1<<62)) + perObject
		if left < 0 {
			return fmt.Errorf("its objects have more than %d bytes", limit)
		}
		if _, err := io.Copy(io.Discard, body); err != nil {
			return errPack
		}
	}
	return nil
}

// perObject is what an object counts in addition to its bytes. So the number of objects is bounded, too.
const perObject = 64

// entryHead reads the type and the size of an object: four bits of the size are beside the type.
func entryHead(in *bufio.Reader) (kind byte, size uint64, err error) {
	b, err := in.ReadByte()
	if err != nil {
		return 0, 0, errPack
	}
	kind, size = b>>4&7, uint64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		b, err = in.ReadByte()
		if err != nil || shift > 60 {
			return 0, 0, errPack
		}
		size |= uint64(b&0x7f) << shift
	}
	if kind == 0 || kind == 5 {
		return 0, 0, errPack
	}
	return kind, size, nil
}

// skipBase reads over the name of a delta's base: an id, or how far back it is.
func skipBase(in *bufio.Reader, kind byte, ids int) error {
	switch kind {
	case typeRefDelta:
		if _, err := in.Discard(ids); err != nil {
			return errPack
		}
	case typeOffDelta:
		for n := 0; ; n++ {
			b, err := in.ReadByte()
			if err != nil || n > 9 {
				return errPack
			}
			if b&0x80 == 0 {
				return nil
			}
		}
	}
	return nil
}
