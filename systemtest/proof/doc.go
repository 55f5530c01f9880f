// Package proof lets processes visit locks while a nemesis breaks the servers that keep these, and judges what they saw
// and what the resource behind each lock saw.
//
// A run follows a [Schedule], which is drawn from a seed, is text, and can be replayed and made smaller. Visitors are
// processes of the library, and are stopped and killed too; each reaches the servers over lines of its own, which fail
// for it alone. [Record.Judge] says what must not have been.
//
//	go test ./systemtest/proof -run TestProof -v -proof.for 1h -proof.out bin/proof
//	go test ./systemtest/proof -run TestReplay -v -proof.replay bin/proof/redis-17.schedule
package proof
