// Package confine runs a program that can write only below given folders. It does not
// limit what the program reads, nor its network.
package confine

import "slices"

// devices are the files outside of the folders that any program may write.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// seatbelt returns the arguments for macOS's sandbox-exec, from its own name on. The
// folders are parameters, so no path has to be quoted in the profile.
func seatbelt(folders, argv []string) []string {
	args, allowed := []string{"sandbox-exec"}, ""
	for i, folder := range folders {
		name := "FOLDER" + string(rune('A'+i))
		args = append(args, "-D", name+"="+folder)
		allowed += ` (subpath (param "` + name + `"))`
	}
	for _, device := range devices {
		allowed += ` (literal "` + device + `")`
	}
	profile := "(version 1) (allow default) (deny file-write*) (allow file-write*" + allowed + ")"
	return slices.Concat(args, []string{"-p", profile}, argv)
}

// MaxFolders is how many folders a program may write to.
const MaxFolders = 26
