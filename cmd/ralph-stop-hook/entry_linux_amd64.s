#include "textflag.h"

// Go's runtime reads GODEBUG, GOGC, GOMAXPROCS and GOMEMLIMIT before main, and ends with status 2
// at some values. As a hook that would block every stop. So this entry point, which the linker
// takes in place of the runtime's because of DUPOK, first gives them names in which
// the G is small. proc.Environ gives the names back.
TEXT _rt0_amd64_linux(SB),NOSPLIT|NOFRAME|DUPOK,$0
	MOVQ	0(SP), AX                // argc
	LEAQ	16(SP)(AX*8), SI         // the environment
	MOVQ	$0x3d47554245444f47, R8  // "GODEBUG="
	MOVQ	$0x4f525058414d4f47, R9  // "GOMAXPRO"
	MOVQ	$0x4d494c4d454d4f47, R10 // "GOMEMLIM"
	MOVQ	$0x3d43474f47000000, R11 // "GOGC="
next:
	MOVQ	(SI), DI
	ADDQ	$8, SI
	TESTQ	DI, DI
	JZ	start
	MOVQ	(DI), AX // no fault: the program's path and zeros follow the last variable
	CMPQ	AX, R8
	JEQ	hide
	CMPQ	AX, R9
	JEQ	hide
	CMPQ	AX, R10
	JEQ	hide
	SHLQ	$24, AX
	CMPQ	AX, R11
	JNE	next
hide:
	MOVB	$0x67, (DI) // g
	JMP	next
start:
	JMP	_rt0_amd64(SB)
