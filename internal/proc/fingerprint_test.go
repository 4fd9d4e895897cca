package proc

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestFingerprint compares environments with one that was kept.
func TestFingerprint(t *testing.T) {
	then := []string{"PATH=/bin", "HOME=/h", "SAME=s", "OTHER=o", "EMPTY=", "TWICE=1", "TWICE=2", "GONE=g", "x"}
	kept := FingerprintEnv(then, "salt")
	now := []string{
		"PATH=/own", "XDG_CONFIG_HOME=/own", "SAME=s", "OTHER=p", "EMPTY=", "TWICE=2", "TWICE=1", "NEW=n", "ASKED=a",
		"x",
		"=C:=C:\\", "EMPTY2=", "SAM=Es",
	}
	same, dropped := kept.Same(now, []string{"ASKED", "ABSENT"})
	slices.Sort(same)
	if want := []string{"ASKED=a", "EMPTY=", "HOME=/h", "PATH=/bin", "SAME=s"}; !slices.Equal(same, want) {
		t.Errorf("same: %q, want %q", same, want)
	}
	if want := []string{"EMPTY2", "NEW", "OTHER", "SAM", "TWICE"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped: %q, want %q", dropped, want)
	}
	if same, _ := kept.Same([]string{"same=s", "Path=/own"}, nil); runtime.GOOS != "windows" &&
		slices.Contains(same, "same=s") {
		t.Errorf("another case is another variable: %q", same)
	}
	if text := fmt.Sprint(kept.Sums); strings.Contains(text, "/bin") || len(kept.Sums["SAME"]) != 32 {
		t.Errorf("not hashes: %s", text)
	}
	if other := FingerprintEnv(then, "other salt"); other.Sums["SAME"] == kept.Sums["SAME"] {
		t.Error("the salt makes no difference")
	}
}

// TestFingerprintEmpty has no hashes: nothing is as it was.
func TestFingerprintEmpty(t *testing.T) {
	none := EnvFingerprint{Values: map[string]string{"PATH": "/bin"}}
	same, _ := none.Same([]string{"A=1", "PATH=/own", "HOME=/own"}, nil)
	if !slices.Equal(same, []string{"PATH=/bin"}) {
		t.Errorf("%q", same)
	}
}

func BenchmarkSame(b *testing.B) {
	var env []string
	for i := range 60 {
		env = append(env, fmt.Sprintf("VARIABLE_%d=%s", i, strings.Repeat("x", 40)))
	}
	kept := FingerprintEnv(env, "salt")
	for b.Loop() {
		kept.Same(env, nil)
	}
}
