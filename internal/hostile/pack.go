package hostile

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// Object is an object of git, as it is and as it must not be.
type Object struct {
	Kind  byte // Commit, Tree or Blob
	Data  []byte
	Zeros int64 // a blob of so many zeros, in place of Data
}

// The kinds of objects, as a pack numbers them.
const (
	Commit = 1
	Tree   = 2
	Blob   = 3
)

func (o Object) size() int64 { return max(o.Zeros, int64(len(o.Data))) }

func (o Object) writeTo(w io.Writer) {
	_, _ = w.Write(o.Data)
	zeros := make([]byte, 1<<20)
	for left := o.Zeros; left > 0; left -= int64(len(zeros)) {
		_, _ = w.Write(zeros[:min(left, int64(len(zeros)))])
	}
}

// ID returns the object's id.
func (o Object) ID() string {
	sum := sha1.New()
	fmt.Fprintf(sum, "%s %d\x00", map[byte]string{Commit: "commit", Tree: "tree", Blob: "blob"}[o.Kind], o.size())
	o.writeTo(sum)
	return hex.EncodeToString(sum.Sum(nil))
}

// Pack writes objects as git does, without looking at them.
func Pack(objects ...Object) []byte {
	out := bytes.NewBufferString("PACK\x00\x00\x00\x02")
	_ = binary.Write(out, binary.BigEndian, uint32(len(objects)))
	for _, o := range objects {
		size := o.size()
		b := o.Kind<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			out.WriteByte(b | 0x80)
			b = byte(size & 0x7f)
		}
		out.WriteByte(b)
		z, _ := zlib.NewWriterLevel(out, zlib.BestSpeed)
		o.writeTo(z)
		_ = z.Close()
	}
	sum := sha1.Sum(out.Bytes())
	out.Write(sum[:])
	return out.Bytes()
}

// TreeOf makes a tree of entries "MODE NAME" with the ids of their objects.
func TreeOf(entries ...[2]string) Object {
	var out bytes.Buffer
	for _, e := range entries {
		id, _ := hex.DecodeString(e[1])
		out.WriteString(e[0] + "\x00")
		out.Write(id)
	}
	return Object{Kind: Tree, Data: out.Bytes()}
}

// CommitOf makes a commit of a tree.
func CommitOf(tree Object, parents ...string) Object {
	text := "tree " + tree.ID() + "\n"
	for _, p := range parents {
		text += "parent " + p + "\n"
	}
	who := "W <w@example.com> 1700000000 +0000\n"
	return Object{Kind: Commit, Data: []byte(text + "author " + who + "committer " + who + "\nWork\n")}
}

// Bundle makes a bundle of objects on top of a commit. The last object is what it brings.
func Bundle(base string, objects ...Object) []byte {
	tip := objects[len(objects)-1].ID()
	return append([]byte("# v2 git bundle\n-"+base+" x\n"+tip+" refs/heads/work\n\n"), Pack(objects...)...)
}
