package docs

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestFleet reads the examples that fleet.md names: units of systemd, objects of Kubernetes, and a script, which it
// runs.
func TestFleet(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents' commands are for a POSIX shell")
	}
	r := newReader(t, "fleet.md", build(t))
	for pattern, kind := range map[string]string{"*.service": "ini", "*.yaml": "yaml"} {
		paths, err := filepath.Glob("../examples/fleet/" + pattern)
		if err != nil || len(paths) != 2 {
			t.Errorf("%s: %q, %v", pattern, paths, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err == nil {
				err = r.do(block{kind: kind, path: path, text: string(text)})
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	script, err := filepath.Abs("../examples/fleet/certificates.sh")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip(err)
	}
	if _, err := r.sh("sh " + script); err != nil {
		t.Fatal(err)
	}
	if _, err := tls.LoadX509KeyPair(r.project+"/cert.pem", r.project+"/key.pem"); err != nil {
		t.Error(err)
	}
	if out, err := r.sh("openssl verify -CAfile ca.pem -verify_ip 10.0.0.1 cert.pem"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// unitKeys are the keys that a unit of systemd may have in our documents, by section.
var unitKeys = map[string][]string{
	"Unit": {"Description", "Wants", "After"},
	"Service": {
		"User", "EnvironmentFile", "Environment", "ExecStart", "ExecReload", "Restart", "RestartSec", "KillMode",
		"TimeoutStopSec", "NoNewPrivileges", "ProtectSystem", "StateDirectory", "LimitNOFILE",
	},
	"Install": {"WantedBy"},
}

// readUnit reads a unit of systemd: its keys, its programs, and the flags of ours. systemd-analyze reads it, too, if it
// is installed.
func (r *reader) readUnit(path, text string) error {
	section, found := "", text
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, value, is := strings.Cut(line, "=")
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case !is || !slices.Contains(unitKeys[section], key):
			return fmt.Errorf("%s: [%s] has no key %s", path, section, key)
		case strings.HasPrefix(key, "Exec"):
			argv := strings.Fields(value)
			if err := r.callable(append([]string{filepath.Base(argv[0])}, argv[1:]...)); err != nil {
				return err
			}
			found = strings.ReplaceAll(found, argv[0]+" ", "/bin/true ") // the program need not be installed there
		case key == "User":
			found = strings.ReplaceAll(found, line, "User=root") // nor be there the user
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return nil
	}
	name := filepath.Base(path)
	r.write(name, found)
	out, err := exec.Command(analyze, "verify", "--man=no", filepath.Join(r.project, name)).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte(name)) {
		return fmt.Errorf("systemd-analyze: %w\n%s", errors.Join(err), out)
	}
	return nil
}

// callable returns an error unless our program has the flags of a command line.
func (r *reader) callable(argv []string) error {
	switch argv[0] {
	case "ralph-runner":
		return r.flags("ralph-runner "+argv[1], argv[2:])
	case "nats-server", "kill":
		return nil
	case "sh": // each of our command lines in it
		for _, line := range strings.Split(argv[len(argv)-1], "||") {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "exec "))
			if err := r.flags(words[0]+" run", words[1:]); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("which program is %s?", argv[0])
}

// flags returns an error unless a command has the flags among some words.
func (r *reader) flags(command string, words []string) error {
	help, err := r.sh(command + " --help")
	if err != nil {
		return err
	}
	for _, word := range words {
		if strings.HasPrefix(word, "-") && !regexp.MustCompile(`(?m)^ +`+word+`\b[^-]`).MatchString(help) {
			return fmt.Errorf("%s has no flag %s", command, word)
		}
	}
	return nil
}

// labels are those of objects of Kubernetes.
type labels map[string]string

// pods are the fields of objects of Kubernetes that our documents use. There are others, but a wrong one is found.
type pods struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	StringData labels `yaml:"stringData"`
	Spec       struct {
		Replicas            int
		ServiceName         string `yaml:"serviceName"`
		PodManagementPolicy string `yaml:"podManagementPolicy"`
		Strategy            struct{ Type string }
		Selector            struct {
			MatchLabels labels `yaml:"matchLabels"`
		}
		Template struct {
			Metadata struct{ Labels labels }
			Spec     pod
		}
	}
}

type pod struct {
	AutomountServiceAccountToken  bool `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int  `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		RunAsUser      int                   `yaml:"runAsUser"`
		FSGroup        int                   `yaml:"fsGroup"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Containers []struct {
		Name, Image   string
		WorkingDir    string `yaml:"workingDir"`
		Command, Args []string
		Env           []struct {
			Name, Value string
			ValueFrom   struct {
				FieldRef struct {
					FieldPath string `yaml:"fieldPath"`
				} `yaml:"fieldRef"`
			} `yaml:"valueFrom"`
		}
		EnvFrom []struct {
			SecretRef struct{ Name string } `yaml:"secretRef"`
		} `yaml:"envFrom"`
		Ports []struct {
			ContainerPort int `yaml:"containerPort"`
		}
		LivenessProbe   probe `yaml:"livenessProbe"`
		ReadinessProbe  probe `yaml:"readinessProbe"`
		Resources       struct{ Requests, Limits struct{ CPU, Memory string } }
		SecurityContext struct {
			AllowPrivilegeEscalation bool                    `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool                    `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct{ Drop []string } `yaml:"capabilities"`
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name     string
		EmptyDir struct {
			SizeLimit string `yaml:"sizeLimit"`
		} `yaml:"emptyDir"`
		Secret struct {
			SecretName string `yaml:"secretName"`
		}
		PersistentVolumeClaim struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
	}
}

type probe struct {
	HTTPGet struct {
		Path string
		Port int
	} `yaml:"httpGet"`
}

// readPods reads objects of Kubernetes: their keys, the names that lead from one to the other, and the flags of our
// program.
func (r *reader) readPods(text string) error {
	secrets := map[string]labels{}
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		d.KnownFields(true)
		var o pods
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if o.Kind == "Secret" {
			secrets[o.Metadata.Name] = o.StringData
			continue
		}
		p := o.Spec.Template.Spec
		for _, c := range p.Containers {
			if err := r.callable(append(c.Command, c.Args...)); err != nil {
				return err
			}
			for i, m := range c.VolumeMounts {
				v := p.Volumes[i]
				if v.Name != m.Name {
					return fmt.Errorf("%s is not a volume", m.MountPath)
				}
				if name := v.Secret.SecretName; name != "" && len(secrets[name]) != o.Spec.Replicas {
					return fmt.Errorf("the secret %s has %d credentials for %d pods", name, len(secrets[name]), o.Spec.Replicas)
				}
			}
		}
		for name, value := range o.Spec.Selector.MatchLabels {
			if o.Spec.Template.Metadata.Labels[name] != value {
				return fmt.Errorf("no pod has the label %s", name)
			}
		}
		if o.Kind != "Deployment" && o.Kind != "StatefulSet" || o.APIVersion != "apps/v1" {
			return fmt.Errorf("there is no %s %s", o.APIVersion, o.Kind)
		}
	}
}
