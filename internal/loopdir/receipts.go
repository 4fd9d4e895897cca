package loopdir

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// Receipts returns the stored results of checks. All of them passed.
func (s *Store) Receipts() (all []decide.Receipt, err error) {
	data, err := s.private(receiptsFile, maxReceipts)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the receipts in %s cannot be used: %w; move the file away to prove everything again",
			filepath.Join(s.state.Name(), receiptsFile), err)
	}
	for i := range all {
		all[i].Passed = true // only checks that passed are stored
	}
	return all, nil
}

// SetReceipts stores the results of checks that passed. The caller holds the lock.
func (s *Store) SetReceipts(all []decide.Receipt) error {
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return replace(s.state, receiptsFile, append(data, '\n'), 0o600, true, nil)
}
