#include "textflag.h"

// The same as in entry_linux_amd64.s.
TEXT _rt0_arm64_linux(SB),NOSPLIT|NOFRAME|DUPOK,$0
	MOVD	0(RSP), R0
	ADD	$16, RSP, R1
	ADD	R0<<3, R1, R1
	MOVD	$0x3d47554245444f47, R8  // "GODEBUG="
	MOVD	$0x4f525058414d4f47, R9  // "GOMAXPRO"
	MOVD	$0x4d494c4d454d4f47, R10 // "GOMEMLIM"
	MOVD	$0x3d43474f47000000, R11 // "GOGC="
	MOVD	$0x67, R12               // g
next:
	MOVD.P	8(R1), R2
	CBZ	R2, start
	MOVD	(R2), R3
	CMP	R8, R3
	BEQ	hide
	CMP	R9, R3
	BEQ	hide
	CMP	R10, R3
	BEQ	hide
	LSL	$24, R3, R3
	CMP	R11, R3
	BNE	next
hide:
	MOVB	R12, (R2)
	B	next
start:
	JMP	_rt0_arm64(SB)
