#include "textflag.h"

// The same as in entry_linux_amd64.s.
DATA crash<>+0(SB)/8, $"GOTRACEB"
DATA crash<>+8(SB)/8, $"ACK=cras"
DATA crash<>+16(SB)/8, $"h\x00\x00\x00\x00\x00\x00\x00"
GLOBL crash<>(SB), RODATA, $24

TEXT _rt0_arm64_linux(SB),NOSPLIT|NOFRAME|DUPOK,$0
	MOVD	0(RSP), R0
	ADD	$16, RSP, R1
	ADD	R0<<3, R1, R1
	MOVD	$0x3d47554245444f47, R8  // "GODEBUG="
	MOVD	$0x4f525058414d4f47, R9  // "GOMAXPRO"
	MOVD	$0x4d494c4d454d4f47, R10 // "GOMEMLIM"
	MOVD	$0x3d43474f47000000, R11 // "GOGC="
	MOVD	$0x4245434152544f47, R13 // "GOTRACEB"
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
	CMP	R13, R3
	BEQ	hide
	LSL	$24, R3, R3
	CMP	R11, R3
	BNE	next
hide:
	MOVB	R12, (R2)
	B	next
start:
	MOVD	0(RSP), R0
	ADD	$2, R0 // argc, the arguments and their end
	MOVD	RSP, R1
	SUB	$16, RSP
	MOVD	RSP, R2
move:
	MOVD.P	8(R1), R3
	MOVD.P	R3, 8(R2)
	SUB	$1, R0
	CBNZ	R0, move
	MOVD	$crash<>(SB), R3
	MOVD	R3, (R2)
	MOVD	R3, 8(R2)
	JMP	_rt0_arm64(SB)
