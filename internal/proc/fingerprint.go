package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"runtime"
	"slices"
	"strings"
)

// EnvFingerprint is what is kept of an environment, to tell later which variables of another one are
// as they were. It has salted hashes in place of values, since values may be secrets.
type EnvFingerprint struct {
	Salt   string
	Sums   map[string]string // hashes, by the variable's name
	Values map[string]string // of the variables that IsPlace names
}

// FingerprintEnv returns what is kept of an environment.
func FingerprintEnv(env []string, salt string) EnvFingerprint {
	k := EnvFingerprint{Salt: salt, Sums: map[string]string{}, Values: map[string]string{}}
	for name, value := range variables(env) {
		k.Sums[name] = k.hash(name, value)
		if IsPlace(name) {
			k.Values[name] = value
		}
	}
	return k
}

// Same returns the variables of an environment that are as they were kept, and the names of
// those that are not. A variable that IsPlace names has the value that was kept, or none.
// named lists variables that are taken as they are.
func (k EnvFingerprint) Same(env, named []string) (same, dropped []string) {
	now := variables(env)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		isNamed := func(one string) bool { return SameName(one, name) }
		_, kept := k.Values[name]
		switch {
		case kept || IsPlace(name): // below
		case slices.ContainsFunc(named, isNamed) || k.Sums[name] == k.hash(name, now[name]):
			same = append(same, name+"="+now[name])
		default:
			dropped = append(dropped, name)
		}
	}
	for name, value := range k.Values {
		same = append(same, name+"="+value)
	}
	return same, dropped
}

// hash returns the first half of a variable's SHA-256. That is enough: nobody finds another value with the same half.
func (k EnvFingerprint) hash(name, value string) string {
	sum := sha256.Sum256([]byte(k.Salt + name + "=" + value))
	return hex.EncodeToString(sum[:16])
}

// variables returns the variables of an environment by their names. Of several with one
// name the last counts, as for os/exec.
func variables(env []string) map[string]string {
	last := map[string]string{}
	for _, kv := range env {
		if name, value, is := strings.Cut(kv, "="); is && name != "" {
			if runtime.GOOS == "windows" {
				name = strings.ToUpper(name)
			}
			last[name] = value
		}
	}
	return last
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
