#include "textflag.h"

// Go's runtime reads GODEBUG, GOGC, GOMAXPROCS and GOMEMLIMIT before main, and ends with status 2
// at some values. As a hook that would block every stop. So this entry point, which the linker
// takes in place of the runtime's because of DUPOK, first gives them names in which
// the G is small. proc.Environ gives the names back. And it puts GOTRACEBACK=crash before all
// variables: then the runtime, whatever ends it, ends by SIGABRT, which is no status 2.
DATA crash<>+0(SB)/8, $"GOTRACEB"
DATA crash<>+8(SB)/8, $"ACK=cras"
DATA crash<>+16(SB)/8, $"h\x00\x00\x00\x00\x00\x00\x00"
GLOBL crash<>(SB), RODATA, $24

TEXT _rt0_amd64_linux(SB),NOSPLIT|NOFRAME|DUPOK,$0
	MOVQ	0(SP), AX                // argc
	LEAQ	16(SP)(AX*8), SI         // the environment
	MOVQ	$0x3d47554245444f47, R8  // "GODEBUG="
	MOVQ	$0x4f525058414d4f47, R9  // "GOMAXPRO"
	MOVQ	$0x4d494c4d454d4f47, R10 // "GOMEMLIM"
	MOVQ	$0x4245434152544f47, R12 // "GOTRACEB"
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
	CMPQ	AX, R12
	JEQ	hide
	SHLQ	$24, AX
	CMPQ	AX, R11
	JNE	next
hide:
	MOVB	$0x67, (DI) // g
	JMP	next
start:
	MOVQ	0(SP), AX
	SUBQ	$16, SP // stays aligned, so there are two
	XORQ	CX, CX
move: // argc, the arguments and their end
	MOVQ	16(SP)(CX*8), DX
	MOVQ	DX, 0(SP)(CX*8)
	INCQ	CX
	LEAQ	1(AX), DX
	CMPQ	CX, DX
	JLE	move
	LEAQ	crash<>(SB), DX
	MOVQ	DX, 0(SP)(CX*8)
	MOVQ	DX, 8(SP)(CX*8)
	JMP	_rt0_amd64(SB)
