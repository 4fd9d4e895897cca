#!/bin/sh
: <<'CMD'
@echo off
rem Windows runs the lines up to CMD, every other system those below; see run.cmd. The
rem client ignores what Windows says to the lines above.
for %%i in (ralph-runner.exe) do set "RALPH_BINARY=%%~$PATH:i"
if not defined RALPH_BINARY exit /b 0
"%RALPH_BINARY%" mcp
exit /b
CMD
# Runs the server of ralph-runner. Where there is no ralph-runner, it is a server
# without tools: the client tells the model of a server that fails, in each session.
unset GODEBUG GOGC GOMAXPROCS GOMEMLIMIT
runner=$(command -v ralph-runner) && exec "$runner" mcp
while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"id": *\("[^"\\]*"\|[0-9][0-9]*\).*/\1/p')
	case $id:$line in
	:*) ;; # a notice, which gets no answer
	*'"method":"initialize"'*)
		echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"ralph","version":"0"}}}'
		;;
	*'"method":"ping"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{}}' ;;
	*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"ralph-runner is not installed"}}' ;;
	esac
done
