package proc

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"slices"
	"strings"
)

// Kept is what is kept of an environment, to tell later which variables of another one are
// as they were. It has salted hashes in place of values, since values may be secrets.
type Kept struct {
	Salt   string
	Sums   map[string]string // hashes, by the variable's name
	Values map[string]string // of the variables that IsPlace names
}

// Keep returns what is kept of an environment.
func Keep(env []string, salt string) Kept {
	k := Kept{Salt: salt, Sums: map[string]string{}, Values: map[string]string{}}
	sum := k.hash()
	for _, v := range variables(env) {
		k.Sums[v.name] = sum(v)
		if IsPlace(v.name) {
			k.Values[v.name] = v.value
		}
	}
	return k
}

// Same returns the variables of an environment that are as they were kept, and the names of
// those that are not. A variable that IsPlace names has the value that was kept, or none.
// named lists variables that are taken as they are.
func (k Kept) Same(env, named []string) (same, dropped []string) {
	sum := k.hash()
	for _, v := range variables(env) {
		isNamed := func(name string) bool { return SameName(name, v.name) }
		_, kept := k.Values[v.name]
		switch {
		case kept || IsPlace(v.name): // below
		case slices.ContainsFunc(named, isNamed) || k.Sums[v.name] == sum(v):
			same = append(same, v.name+"="+v.value)
		default:
			dropped = append(dropped, v.name)
		}
	}
	for name, value := range k.Values {
		same = append(same, name+"="+value)
	}
	return same, dropped
}

// hash returns a function that hashes a variable. Half of the hash is as hard to meet.
func (k Kept) hash() func(variable) string {
	return func(v variable) string {
		sum := sha256.Sum256([]byte(k.Salt + v.name + "=" + v.value))
		return hex.EncodeToString(sum[:16])
	}
}

type variable struct{ name, value string }

// variables returns the variables of an environment, each once and sorted by name. Of
// several with one name the last counts, as for os/exec.
func variables(env []string) []variable {
	last := make(map[string]string, len(env))
	for _, kv := range env {
		if name, value, is := strings.Cut(kv, "="); is && name != "" {
			if runtime.GOOS == "windows" {
				name = strings.ToUpper(name)
			}
			last[name] = value
		}
	}
	all := make([]variable, 0, len(last))
	for name, value := range last {
		all = append(all, variable{name, value})
	}
	slices.SortFunc(all, func(a, b variable) int { return cmp.Compare(a.name, b.name) })
	return all
}

// IsPlace reports whether a variable says where programs, the user's files or the system's
// files are, or which terminal there is. No such value is a secret, and programs need it.
func IsPlace(name string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return SameName(place, name) })
}

var places = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "TERM",
	"USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
	"SYSTEMDRIVE", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
}
